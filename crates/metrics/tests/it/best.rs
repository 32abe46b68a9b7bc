//! The set of policies that may be the best.

use metrics::ConfidenceInterval;
use metrics::best::{Standing, standings};
use rand_distr::{Distribution, Normal};
use sim_core::{Purpose, Streams};

/// Intervals of half-width 1 at any level; none with the last policy.
#[track_caller]
fn check(values: &[f64], expected: &[Standing]) {
    let interval = |a: usize, b: usize, _: f64| {
        let difference = values[a] - values[b];
        (a.max(b) < 3).then_some((difference - 1.0, difference + 1.0))
    };
    assert_eq!(standings(values, interval), expected, "{values:?}");
}

#[test]
fn a_policy_may_be_the_best_unless_another_is_significantly_better() {
    use Standing::{Best, MayBeBest, Unknown, Worse};
    check(&[5.0, 5.5, 7.0], &[Best, MayBeBest, Worse]);
    check(&[7.0, 5.0, 5.0, 9.0], &[Worse, Best, MayBeBest, Unknown]);
    check(&[f64::NAN, 5.0], &[Unknown, Best]);
    check(&[5.0], &[Best]);
    check(&[], &[]);
}

#[test]
fn the_true_best_of_five_equal_policies_but_one_is_in_the_set_in_95_of_100_experiments() {
    let normal = Normal::new(0.0, 1.0).expect("a deviation");
    let holds = |experiment: u64| {
        let mut stream = Streams::new(experiment, 0).stream(Purpose("values"), 0);
        // The first is slightly better than the others.
        let sample: Vec<Vec<f64>> = (0..5)
            .map(|policy| {
                (0..10).map(|_| f64::from(u8::from(policy > 0)) / 100.0 + normal.sample(&mut stream)).collect()
            })
            .collect();
        let means: Vec<f64> = sample.iter().map(|values| ConfidenceInterval::of(values).mean).collect();
        let interval = |a: usize, b: usize, level: f64| {
            let differences: Vec<f64> = sample[a].iter().zip(&sample[b]).map(|(a, b)| a - b).collect();
            let interval = ConfidenceInterval::at(level, &differences);
            interval.low.zip(interval.high)
        };
        matches!(standings(&means, interval)[0], Standing::Best | Standing::MayBeBest)
    };
    let held = (0..400).filter(|experiment| holds(*experiment)).count();
    assert!(held >= 380, "{held} of 400");
}
