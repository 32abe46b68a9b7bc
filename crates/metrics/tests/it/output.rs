//! Intervals over replications.

use metrics::ConfidenceInterval;
use proptest::prelude::*;
use rand_distr::{Distribution, StandardNormal};
use sim_core::{Purpose, Streams};

fn close(a: Option<f64>, b: f64) -> bool {
    (a.expect("there is an interval") - b).abs() <= 1e-6 * b.abs().max(1.0)
}

/// Mean 5.5, s² = 55/6, t₉ = 2.262157, half-width 2.262157 · √(55/60) = 2.165850.
#[test]
fn ten_replications_by_hand() {
    let values: Vec<f64> = (1..=10).map(f64::from).collect();
    let interval = ConfidenceInterval::of(&values);
    assert!(close(Some(interval.mean), 5.5));
    assert!(close(interval.half_width(), 2.165_850));
    assert!(close(interval.low, 3.334_150));
    assert!(close(interval.high, 7.665_850));
}

#[test]
fn a_single_run_has_no_interval_and_says_so() {
    let single = ConfidenceInterval::of(&[12.5]);
    assert_eq!((single.low, single.high, single.half_width()), (None, None, None));
    assert_eq!(single.replications_for(0.1), None);
    assert_eq!(format!("{single:.2}"), "12.50 (single run)");
    let exact = ConfidenceInterval::exact(12.5);
    assert!(exact.is_exact() && !single.is_exact());
    assert_eq!(format!("{exact:.2}"), "12.50 (exact)");
}

#[test]
fn replications_that_agree_have_a_degenerate_interval_and_a_higher_level_a_wider_one() {
    let same = ConfidenceInterval::of(&[0.1; 49]);
    assert_eq!((same.low, same.high), (Some(0.1), Some(0.1)));
    assert_eq!(same.replications_for(0.001), Some(49));
    let values = [3.0, 5.0, 4.0];
    let widths = [0.8, 0.95, 0.99].map(|level| ConfidenceInterval::at(level, &values).half_width());
    assert!(widths.is_sorted(), "{widths:?}");
}

/// s = 1, mean 10: 2 % requires t·1/√n ≤ 0.2, which holds for 99 replications (t₉₈ = 1.98447, 0.19945) and not for 98
/// (t₉₇ = 1.98472, 0.20049).
#[test]
fn the_wanted_precision_gives_the_replications() {
    let deviation = (9.0_f64 / 10.0).sqrt();
    let values: Vec<f64> = (0..10).map(|i| 10.0 + if i % 2 == 0 { deviation } else { -deviation }).collect();
    let interval = ConfidenceInterval::of(&values);
    assert_eq!(interval.replications_for(0.02), Some(99));
    assert_eq!(interval.replications_for(0.5), Some(10)); // reached already
    let zero = ConfidenceInterval::of(&[-1.0, 1.0]);
    assert_eq!(zero.replications_for(0.1), None);
    assert_eq!(ConfidenceInterval::of(&[1.0, 2.0]).replications_for(1e-9), None);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (level, values, precision, why) in [
        (0.95, &[][..], 1.0, "an interval needs at least one replication"),
        (0.95, &[1.0, 2.0], 0.0, "a relative precision of 0 cannot be reached"),
        (0.0, &[1.0, 2.0], 1.0, "a confidence level lies between 0 and 1, not at 0"),
        (1.0, &[1.0, 2.0], 1.0, "a confidence level lies between 0 and 1, not at 1"),
    ] {
        let made = || ConfidenceInterval::at(level, values).replications_for(precision);
        let panic = std::panic::catch_unwind(made).expect_err(why);
        let words = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref().copied());
        assert_eq!(words, Some(why));
    }
}

/// An interval at 95 % covers the true mean in 95 of 100 experiments, within the error of 4 000 experiments.
#[test]
fn intervals_cover_as_often_as_they_say() {
    const EXPERIMENTS: u32 = 4_000;
    for (replications, level) in [(2, 0.95), (5, 0.9), (10, 0.95), (20, 0.99)] {
        let covered = (0..EXPERIMENTS)
            .filter(|&experiment| {
                let mut stream = Streams::new(7, experiment).stream(Purpose("coverage"), replications);
                let values: Vec<f64> = (0..replications)
                    .map(|_| 50.0 + 3.0 * Distribution::<f64>::sample(&StandardNormal, &mut stream))
                    .collect();
                let interval = ConfidenceInterval::at(level, &values);
                interval.low <= Some(50.0) && Some(50.0) <= interval.high
            })
            .count();
        let share = covered as f64 / f64::from(EXPERIMENTS);
        let stderr = (level * (1.0 - level) / f64::from(EXPERIMENTS)).sqrt();
        assert!((share - level).abs() < 4.0 * stderr, "{replications} replications at {level}: covered {share}");
    }
}

proptest! {
    #[test]
    fn the_estimated_replications_reach_the_precision(
        values in prop::collection::vec(1.0..100.0_f64, 2..30),
        precision in 0.01..0.5_f64,
    ) {
        let interval = ConfidenceInterval::of(&values);
        let n = interval.replications_for(precision).expect("the mean is positive");
        prop_assert!(n >= values.len());
        // As many values with the same variance and mean have the wanted precision, except for n − 1 in place of n.
        if n > values.len() {
            let shrunk = interval.half_width().unwrap() / interval.mean * (values.len() as f64 / n as f64).sqrt();
            prop_assert!(shrunk <= precision * 12.71 / 1.95, "t only falls as n grows");
            prop_assert!(shrunk >= precision * 0.5 * ((n - 1) as f64 / n as f64));
        }
    }

    #[test]
    fn an_interval_survives_a_file(values in prop::collection::vec(-1e9..1e9_f64, 1..5)) {
        let interval = ConfidenceInterval::of(&values);
        let text = serde_json::to_string(&interval).unwrap();
        prop_assert_eq!(serde_json::from_str::<ConfidenceInterval>(&text).unwrap(), interval);
    }
}
