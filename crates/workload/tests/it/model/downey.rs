//! Downey.

#![expect(clippy::disallowed_methods, reason = "what is expected, within a tolerance: any machine's functions do")]

use super::{check_counts, check_distribution, check_refused, jobs};
use workload::model::{Downey, WorkloadModel};

#[test]
fn sizes_are_uniform_on_a_logarithmic_scale() {
    let mut counts = vec![0; 401];
    for job in jobs(&Downey::default(), 50_000) {
        counts[job.job.processors as usize] += 1;
    }
    let below = |size: f64| (size.max(1.0).ln() / 400_f64.ln()).min(1.0);
    let probabilities: Vec<f64> =
        (0_u32..401).map(f64::from).map(|size| below(size + 0.5) - below(size - 0.5)).collect();
    check_counts("sizes", &counts, &probabilities);
}

#[test]
fn work_is_uniform_on_a_logarithmic_scale() {
    // On one processor, work is run time.
    let model = Downey { processors: 1, ..Downey::default() };
    let runtimes = jobs(&model, 20_000).iter().map(|job| job.job.runtime.as_secs_f64()).collect();
    // The published line: P(L < t) = −0.18 + 0.10 ln t.
    check_distribution("work", runtimes, |seconds| (-0.18 + 0.10 * seconds.ln()).clamp(0.0, 1.0));
}

#[test]
fn arrivals_are_a_poisson_process() {
    let model = Downey { interarrival: 1e5, ..Downey::default() };
    let submits: Vec<f64> = jobs(&model, 20_000).iter().map(|job| job.job.submit.as_secs_f64()).collect();
    // A gap between whole seconds is at most a second off, which moves the distribution by a hundred-thousandth.
    let gaps = submits.windows(2).map(|pair| pair[1] - pair[0]).collect();
    check_distribution("gaps", gaps, |seconds| 1.0 - (-seconds / 1e5).exp());
}

#[test]
fn the_speedup_is_that_of_the_paper() {
    let speedup = Downey::speedup;
    // One processor has speed-up one; enough of them reach the average parallelism, and no more.
    for sigma in [0.0, 0.5, 1.0, 1.5, 2.0] {
        for average in [1.0, 2.5, 16.0, 100.0] {
            assert!((speedup(1, average, sigma) - 1.0).abs() < 1e-12, "A {average}, sigma {sigma}");
            assert!((speedup(1_000, average, sigma) - average).abs() < 1e-12, "A {average}, sigma {sigma}");
            let all: Vec<f64> = (1..1_000).map(|processors| speedup(processors, average, sigma)).collect();
            assert!(all.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12), "A {average}, sigma {sigma}");
            assert!((1_u32..).zip(&all).all(|(processors, speedup)| *speedup <= f64::from(processors) + 1e-12));
        }
    }
    // More variation means less speed-up.
    assert!(speedup(8, 8.0, 0.0) > speedup(8, 8.0, 0.5) && speedup(8, 8.0, 0.5) > speedup(8, 8.0, 2.0));
    // Both branches meet at σ = 1: A n / (A + (n − 1)/2) and 2 n A / (n + 2 A − 1).
    for processors in 1..16 {
        let n = f64::from(processors);
        assert!((speedup(processors, 8.0, 1.0) - 16.0 * n / (n + 15.0)).abs() < 1e-12, "{processors}");
    }
}

#[test]
fn impossible_parameters_are_named() {
    let check = |model: Downey, message: &str| check_refused(&model, message);
    let model = Downey::default();
    check(Downey { processors: 0, ..model }, "processors: expected at least 1, found 0");
    check(Downey { shortest: 0.0, ..model }, "shortest: expected seconds above 0 and up to 1e9, found 0");
    check(Downey { longest: 1.0, ..model }, "longest: expected at least shortest, and up to 1e9, found 1");
    check(Downey { variation: f64::NAN, ..model }, "variation: expected 0 to 1e9, found NaN");
    check(Downey { interarrival: -1.0, ..model }, "interarrival: expected seconds above 0 and up to 1e9, found -1");
    assert_eq!(model.validate(), Ok(()));
}
