//! Lublin & Feitelson.

#![expect(clippy::disallowed_methods, reason = "what is expected, within a tolerance: any machine's functions do")]

use super::{check_counts, check_distribution, check_refused, jobs};
use sim_core::testkit::mean_and_stderr;
use sim_core::{Span, Time};
use statrs::distribution::{ContinuousCDF, Gamma};
use workload::model::{Lublin, LublinClass, ModelJob, WorkloadModel};

/// Returns one class of the published model alone.
fn alone(queue: usize) -> Lublin {
    Lublin { classes: vec![Lublin::default().classes[queue]], start_hour: 0 }
}

/// Returns the published model for interactive jobs, for batch jobs, and for jobs of one kind.
fn all() -> [Lublin; 3] {
    [alone(0), alone(1), Lublin::typeless(128)]
}

fn gamma(shape: f64, scale: f64) -> Gamma {
    Gamma::new(shape, 1.0 / scale).expect("a shape and a rate")
}

/// Returns the probability below the logarithm `x` in the two-stage uniform distribution.
fn two_stage(class: &LublinClass, x: f64) -> f64 {
    let part = |low: f64, high: f64| ((x - low) / (high - low)).clamp(0.0, 1.0);
    class.lower_part * part(class.low, class.medium) + (1.0 - class.lower_part) * part(class.medium, class.high)
}

#[test]
fn sizes_are_two_stage_uniform_with_serial_jobs_and_powers_of_two() {
    for model in all() {
        let class = model.classes[0];
        let mut counts = vec![0; 129];
        for job in jobs(&model, 50_000) {
            counts[job.job.processors as usize] += 1;
        }
        let probabilities: Vec<f64> = (0_u32..129)
            .map(|size| {
                let serial = if size == 1 { class.serial } else { 0.0 };
                let size = f64::from(size);
                let any = two_stage(&class, (size + 0.5).log2()) - two_stage(&class, (size - 0.5).max(0.0).log2());
                let exponent = size.log2();
                let power = if exponent >= 0.0 && exponent.fract() == 0.0 {
                    two_stage(&class, exponent + 0.5) - two_stage(&class, exponent - 0.5)
                } else {
                    0.0
                };
                serial + class.power_of_two * power + (1.0 - class.serial - class.power_of_two) * any
            })
            .collect();
        check_counts("sizes", &counts, &probabilities);
    }
}

#[test]
fn run_times_are_hyper_gamma_and_depend_on_the_size() {
    let [.., typeless] = all();
    // Shapes of one and below, which no published class has.
    let flat = LublinClass { a1: 0.4, b1: 2.0, a2: 1.0, b2: 1.0, ..typeless.classes[0] };
    for model in all().into_iter().chain([Lublin { classes: vec![flat], start_hour: 0 }]) {
        let class = model.classes[0];
        let jobs = jobs(&model, 60_000);
        for processors in [1, 2, 4, 8] {
            let runtimes: Vec<f64> = jobs
                .iter()
                .filter(|job| job.job.processors == processors)
                .map(|job| job.job.runtime.as_secs_f64())
                .collect();
            assert!(runtimes.len() > 1_000, "{} of {processors} processors", runtimes.len());
            let first = (class.pa * f64::from(processors) + class.pb).clamp(0.0, 1.0);
            let (one, other) = (gamma(class.a1, class.b1), gamma(class.a2, class.b2));
            let mixture = |logarithm: f64| first * one.cdf(logarithm) + (1.0 - first) * other.cdf(logarithm);
            let all = mixture(12.0);
            check_distribution("run times", runtimes, |seconds| mixture(seconds.ln().min(12.0)) / all);
        }
    }
}

/// The gaps, with the cycle of the day removed, have the logarithm of the paper's distribution.
#[test]
fn arrivals_without_the_cycle_have_the_gaps_of_the_paper() {
    for model in all() {
        let class = model.classes[0];
        let cycle = gamma(class.cycle_shape, class.cycle_scale);
        // The cycle begins with the eleventh half-hour of the day.
        let weight = |slot: u32| {
            let middle = f64::from(11 + (slot + 38) % 48);
            cycle.cdf(middle + 0.5) - cycle.cdf(middle - 0.5)
        };
        let weights: Vec<f64> = (0..48).map(weight).collect();
        let day: f64 = weights.iter().sum();
        // Arrivals up to this second at a steady rate, in half-hours.
        let points = |job: &ModelJob| {
            let half_hours = job.job.submit.as_secs_f64() / 1_800.0 + 16.0;
            let (days, rest) = ((half_hours / 48.0).floor(), half_hours % 48.0);
            let of_slot = |(slot, weight): (u32, &f64)| weight * (rest - f64::from(slot)).clamp(0.0, 1.0);
            48.0 * (days + (0..).zip(&weights).map(of_slot).sum::<f64>() / day)
        };
        let points: Vec<f64> = jobs(&Lublin { start_hour: 8, ..model }, 20_000).iter().map(points).collect();
        let gaps = points.windows(2).map(|pair| 1_800.0 * (pair[1] - pair[0])).collect();
        let logarithm = gamma(class.arrival_shape * class.rush_to_all, class.arrival_scale);
        check_distribution("gaps", gaps, |gap| logarithm.cdf(gap.ln()) / logarithm.cdf(13.0));
    }
}

/// Log of this model in the archive: 10 000 jobs on 256 processors, of one kind.
#[test]
fn the_mean_size_and_run_time_are_those_of_a_log_that_the_authors_program_wrote() {
    let Some(folder) = test_data::traces() else { return };
    let records: Vec<_> = workload::SwfReader::open(&folder.join("lublin_256.swf.gz"))
        .and_then(Iterator::collect)
        .unwrap_or_else(|error| panic!("{error}"));
    let mine = jobs(&Lublin::typeless(256), 10_000);
    let span = |seconds: Option<Span>| seconds.unwrap_or_default().as_secs_f64();
    let theirs = |value: &dyn Fn(&workload::SwfRecord) -> f64| records.iter().map(value).collect::<Vec<f64>>();
    let ours = |value: &dyn Fn(&ModelJob) -> f64| mine.iter().map(value).collect::<Vec<f64>>();
    let sizes = theirs(&|record| f64::from(record.processors().unwrap_or(1)).ln());
    let runtimes = theirs(&|record| (span(record.runtime) + 1.0).ln()); // they round down, and this up
    let pairs = [
        ("log size", sizes, ours(&|job| f64::from(job.job.processors).ln())),
        ("log run time", runtimes, ours(&|job| job.job.runtime.as_secs_f64().ln())),
    ];
    for (what, theirs, ours) in pairs {
        let [(theirs, their_error), (ours, our_error)] = [theirs, ours].map(|values| mean_and_stderr(&values));
        eprintln!("{what}: {theirs} ± {their_error}, here {ours} ± {our_error}");
        assert!((theirs - ours).abs() < 4.0 * their_error.hypot(our_error), "{what}: {theirs}, here {ours}");
    }
}

#[test]
fn both_classes_draw_whole_seconds_with_exact_estimates() {
    let jobs = jobs(&Lublin::default(), 5_000);
    for job in &jobs {
        assert_eq!(job.job.limit, None);
        assert!(job.job.runtime >= Span::from_secs(1));
        assert_eq!((job.job.runtime.as_nanos() % 1_000_000_000, job.job.submit.as_nanos() % 1_000_000_000), (0, 0));
    }
    let queues = [0, 1].map(|queue| jobs.iter().filter(|job| job.queue == Some(queue)).count());
    assert!(queues.iter().all(|count| *count > 500), "{queues:?}");
}

#[test]
fn a_class_draws_the_same_alone_and_beside_another() {
    let of_interactive = |jobs: Vec<ModelJob>| -> Vec<(Time, u32, Span)> {
        let key = |job: &ModelJob| (job.job.submit, job.job.processors, job.job.runtime);
        jobs.iter().filter(|job| job.queue == Some(0)).map(key).take(500).collect()
    };
    assert_eq!(of_interactive(jobs(&alone(0), 500)), of_interactive(jobs(&Lublin::default(), 5_000)));
}

#[test]
fn the_start_hour_bends_arrivals_alone() {
    let (midnight, morning) = (alone(1), Lublin { start_hour: 10, ..alone(1) });
    let (midnight, morning) = (jobs(&midnight, 200), jobs(&morning, 200));
    assert!(morning[100].job.submit < midnight[100].job.submit, "rush hour comes at once");
    assert!(midnight.iter().zip(&morning).all(|(a, b)| a.job.runtime == b.job.runtime));
}

#[test]
fn impossible_parameters_are_named() {
    let check = |change: &dyn Fn(&mut LublinClass), message: &str| {
        let mut model = alone(1);
        change(&mut model.classes[0]);
        check_refused(&model, message);
    };
    check(&|class| class.serial = 1.5, "serial: expected a share from 0 to 1, found 1.5");
    check(&|class| class.serial = 0.5, "serial + power_of_two: expected a share from 0 to 1, found 1.1686");
    check(&|class| class.low = 6.0, "low, medium, high: expected 0 ≤ low ≤ medium ≤ high < 32, found 6, 5, 7");
    check(&|class| class.b1 = f64::NAN, "b1: expected 0.001 to 10000, found NaN");
    check(&|class| class.a1 = 20.0, "a1 · b1: expected a mean of the logarithm below 12, found 16.46");
    check(&|class| class.pa = f64::INFINITY, "pa: expected a number, found inf");
    check_refused(&Lublin { classes: vec![], start_hour: 0 }, "classes: expected at least 1, found 0");
    check_refused(&Lublin { start_hour: 24, ..alone(0) }, "start_hour: expected 0 to 23, found 24");
    for model in [Lublin::default(), Lublin::typeless(2), Lublin::typeless(100_000)] {
        assert_eq!(model.validate(), Ok(()));
    }
}
