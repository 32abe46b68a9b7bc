//! Machines and jobs with deadlines: their marginals, their streams, and rejected parameters.

use crate::data::check_mean;
use sim_core::{Job, Streams};
use workload::deadline_mix::{DeadlineMix, Margin};

fn jobs(mix: &DeadlineMix) -> Vec<Job> {
    mix.jobs(&Streams::new(7, 0)).collect()
}

#[test]
fn marginals_are_those_of_the_paper() {
    let mix = DeadlineMix { jobs: 20_000, machines: 20_000, ..DeadlineMix::of_the_paper(3.0) };
    let jobs = jobs(&mix);
    let of = |value: fn(&Job) -> f64| jobs.iter().map(value).collect::<Vec<_>>();
    check_mean("processors", &of(|job| f64::from(job.request.processors)), 4.5);
    check_mean("run time", &of(|job| job.runtime.as_secs_f64()), 1750.0);
    check_mean("deadline or none", &of(|job| f64::from(u8::from(job.request.deadline.is_some()))), 0.7);
    let gaps: Vec<f64> = jobs.windows(2).map(|pair| pair[1].submit.since(pair[0].submit).as_secs_f64()).collect();
    check_mean("interarrival", &gaps, 3.0);
    let margins: Vec<f64> = jobs
        .iter()
        .filter_map(|job| Some(job.request.deadline?.since(job.submit + job.runtime).as_secs_f64()))
        .collect();
    check_mean("margin", &margins, 140.0);
    assert!(margins.iter().all(|margin| (30.0..=250.0).contains(margin)));

    let machines = mix.machines(&Streams::new(7, 0));
    let (processors, speeds): (Vec<f64>, Vec<f64>) =
        machines.into_iter().map(|(processors, speed)| (f64::from(processors), speed)).unzip();
    check_mean("machine processors", &processors, 8.5);
    check_mean("machine speed", &speeds, 400.0);
}

#[test]
fn streams_of_another_load_differ_in_the_scale_of_their_arrivals_alone() {
    let (fast, slow) = (jobs(&DeadlineMix::of_the_paper(1.0)), jobs(&DeadlineMix::of_the_paper(4.0)));
    for (a, b) in fast.iter().zip(&slow) {
        assert_eq!((a.request.processors, a.runtime), (b.request.processors, b.runtime));
        assert!((4.0 * a.submit.as_secs_f64() - b.submit.as_secs_f64()).abs() < 1e-4, "{} and {}", a.submit, b.submit);
        let due = |job: &Job| job.request.deadline.map(|deadline| deadline.since(job.submit));
        assert_eq!(due(a), due(b));
    }
}

#[test]
fn run_times_measured_on_a_machine_for_each_job_are_handed_on_for_the_fastest() {
    let paper = DeadlineMix { jobs: 20_000, ..DeadlineMix::of_the_paper(1.0) };
    let drawn = DeadlineMix { benchmark_speed: Some([200.0, 600.0]), ..paper.clone() };
    let pairs: Vec<(Job, Job)> = jobs(&paper).into_iter().zip(jobs(&drawn)).collect();
    let ratios: Vec<f64> =
        pairs.iter().map(|(one, all)| all.runtime.as_secs_f64() / one.runtime.as_secs_f64()).collect();
    check_mean("speed / highest speed", &ratios, 400.0 / 600.0);
    assert!(ratios.iter().all(|ratio| (0.333..=1.0).contains(ratio)));
    for (one, all) in pairs {
        assert_eq!((one.submit, one.request.deadline), (all.submit, all.request.deadline));
        assert_eq!(all.request.estimate, Some(all.runtime));
    }
}

#[test]
fn another_margin_leaves_everything_else_as_it_is() {
    let paper = DeadlineMix::of_the_paper(1.0);
    let other = DeadlineMix { margin: Margin::Times { times: [1.0, 3.0] }, ..paper.clone() };
    for (a, b) in jobs(&paper).iter().zip(&jobs(&other)) {
        assert_eq!(
            (a.submit, a.runtime, a.request.deadline.is_some()),
            (b.submit, b.runtime, b.request.deadline.is_some())
        );
        if let Some(deadline) = b.request.deadline {
            let times = deadline.since(b.submit).as_secs_f64() / b.runtime.as_secs_f64();
            assert!((1.0..=3.0).contains(&times), "{times}");
        }
    }
}

#[test]
fn value_stability() {
    let due = |job: &Job| job.request.deadline.map(|at| at.as_nanos());
    let first: Vec<_> = DeadlineMix::of_the_paper(1.0)
        .jobs(&Streams::new(42, 0))
        .take(3)
        .map(|job| (job.submit.as_nanos(), job.request.processors, job.runtime.as_nanos(), due(&job)))
        .collect();
    let expected = [
        (732_824_716, 6, 511_440_049_444, Some(611_409_100_086)),
        (865_361_878, 7, 2_943_875_091_946, Some(3_023_978_679_726)),
        (2_047_548_711, 1, 1_309_378_116_445, Some(1_359_221_571_769)),
    ];
    assert_eq!(first, expected);
}

#[test]
fn nonsense_is_refused_by_the_name_of_its_field() {
    let paper = DeadlineMix::of_the_paper(1.0);
    for (mix, message) in [
        (DeadlineMix { jobs: 0, ..paper.clone() }, "jobs: expected at least 1, found 0"),
        (
            DeadlineMix { deadline_share: 1.5, ..paper.clone() },
            "deadline_share: expected a share from 0 to 1, found 1.5",
        ),
        (DeadlineMix { job_processors: [0, 2], ..paper.clone() }, "job_processors: expected [low, high]"),
        (DeadlineMix { machine_speed: [f64::NAN, 2.0], ..paper.clone() }, "machine_speed: expected [low, high]"),
        (DeadlineMix { interarrival: 0.0, ..paper.clone() }, "interarrival: expected a mean above 0"),
        (
            DeadlineMix { runtime: [3.0, 2.0], ..paper },
            "runtime: expected [low, high] with 0 < low ≤ high (a margin may begin at 0), found [3, 2]",
        ),
    ] {
        let error = mix.validate().expect_err(message).to_string();
        assert!(error.starts_with(message), "{error}");
    }
}
