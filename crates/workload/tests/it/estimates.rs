//! Estimates of run times that policies see: the f-model's draws, and their parsing.

use crate::data::{check_mean, check_option, line, reader, take_in, with};
use crate::model::check_distribution;
use sim_core::Span;
use workload::{Estimates, Intake, LogJob, Options};

fn estimate(job: &LogJob) -> Span {
    job.job.request.estimate.expect("every job of a log has an estimate")
}

/// Returns a thousand jobs of 100 s, with users' estimates of 60 s.
fn hundreds(jobs: u64) -> String {
    (1..=jobs).map(|number| line(number, "0", "100", "1", "1", "60")).collect()
}

#[test]
fn the_f_model_draws_uniformly_between_the_run_time_and_f_plus_1_times_it() {
    let (jobs, intake) = take_in(hundreds(20_000), with(Estimates::FModel(4.0)));
    assert!(intake.repairs().is_empty(), "no job is cut");
    let factors: Vec<f64> =
        jobs.iter().map(|job| estimate(job).as_secs_f64() / job.job.runtime.as_secs_f64()).collect();
    assert!(factors.iter().all(|factor| (1.0..=5.0).contains(factor)));
    check_mean("factors", &factors, 3.0);
    check_distribution("factors", factors, |factor| (factor - 1.0) / 4.0);
}

/// The first draws are part of every published result: if this test fails, all numbers move.
#[test]
fn value_stability() {
    let (jobs, _) = take_in(hundreds(3), Options { seed: 42, ..with(Estimates::FModel(4.0)) });
    let first: Vec<_> = jobs.iter().map(|job| estimate(job).as_nanos()).collect();
    assert_eq!(first, [422_055_815_767, 112_391_125_082, 302_453_390_859]);
}

#[test]
fn an_estimate_of_the_f_model_depends_on_job_number_and_seed_alone() {
    let of = |log: String, seed| {
        let (jobs, _) = take_in(log, Options { seed, ..with(Estimates::FModel(9.0)) });
        jobs.iter().map(|job| (job.record.number, estimate(job))).collect::<Vec<_>>()
    };
    let all = of(hundreds(50), 1);
    assert_eq!(all[40..], of(hundreds(50).lines().skip(40).map(|line| format!("{line}\n")).collect(), 1));
    assert_ne!(all, of(hundreds(50), 2));
}

#[test]
fn estimates_are_read_and_printed() {
    check_option::<Estimates>(
        "exact|user|factor:2.5|request-factor:2|f-model:0|f-model:4.5|mean-of-user:1|mean-of-user:1000",
        "|Exact|exact:|factor|factor:|factor:0.9|factor:nan|factor:inf|factor:-2|request-factor:|request-factor:0.5|\
         f-model:-1|f-model:2e6|mean-of-user|mean-of-user:0|mean-of-user:1001|mean-of-user:1.5",
        "estimates: expected exact, user, factor:F (times the run time) or request-factor:F (times the request) with \
         F from 1 to 1000000, f-model:F with F from 0 to 1000000, or mean-of-user:K with K from 1 to 1000,",
    );
}

#[test]
#[should_panic(expected = "estimates cannot be factor:0.5")]
fn a_factor_is_at_least_1() {
    let _ = Intake::new(reader(hundreds(1)).expect("a log"), with(Estimates::Factor(0.5)));
}
