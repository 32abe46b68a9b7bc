//! Multiple comparisons with the best: [`standings`], and ranks: [`ranks`].

use crate::mean::as_f64;
use crate::output::ConfidenceInterval;
use std::cmp::Ordering;

/// Standing of one policy among several that are compared by a metric for which less is better.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The policy with the smallest value.
    Best,
    /// A policy that may be the best: no policy is significantly better.
    MayBeBest,
    /// A policy that is significantly worse than the best.
    Worse,
    /// A policy without an interval of its difference to the smallest value, and without a significantly better one.
    Unknown,
}

/// Standings of policies with these mean values. `interval(a, b, level)` returns the interval of the paired difference of the values of `a`
/// and `b` at a confidence level.
///
/// A policy may be the best unless another one is significantly better (J. C. Hsu, "Constrained simultaneous confidence intervals
/// for multiple comparisons with the best", Annals of Statistics 12(3), 1984; for paired samples B. L. Nelson and F. J.
/// Matejcik, Management Science 41(12), 1995). Each of k policies is compared with k − 1 others at 1 − 0.05 / (k − 1), so that
/// the best one is among those that may be with 95 % at least, under any dependence of the samples (Bonferroni).
///
/// ```
/// use metrics::best::{Standing, standings};
/// use metrics::ConfidenceInterval;
///
/// let waits = [[50.0, 62.0, 41.0, 58.0], [49.0, 63.0, 40.0, 58.5], [80.0, 95.0, 70.0, 90.0]]; // by policy and replication
/// let mean = |policy: usize| waits[policy].iter().sum::<f64>() / 4.0;
/// let difference = |a: usize, b: usize, level: f64| {
///     let differences: Vec<f64> = waits[a].iter().zip(&waits[b]).map(|(a, b)| a - b).collect();
///     let interval = ConfidenceInterval::at(level, &differences);
///     interval.low.zip(interval.high)
/// };
/// let found = standings(&[mean(0), mean(1), mean(2)], difference);
/// assert_eq!(found, [Standing::MayBeBest, Standing::Best, Standing::Worse]);
/// ```
pub fn standings(values: &[f64], interval: impl Fn(usize, usize, f64) -> Option<(f64, f64)>) -> Vec<Standing> {
    let there: Vec<usize> = (0..values.len()).filter(|policy| values[*policy].is_finite()).collect();
    let best = there.iter().copied().min_by(|a, b| values[*a].total_cmp(&values[*b]));
    let others = as_f64(there.len().saturating_sub(1).max(1) as u64);
    let level = 1.0 - (1.0 - ConfidenceInterval::LEVEL) / others;
    let standing = |policy: usize| {
        if best == Some(policy) {
            return Standing::Best;
        }
        let against =
            |other: &usize| *other != policy && interval(policy, *other, level).is_some_and(|(low, _)| low > 0.0);
        match best {
            Some(_) if there.contains(&policy) && there.iter().any(against) => Standing::Worse,
            Some(best) if there.contains(&policy) && interval(policy, best, level).is_some() => Standing::MayBeBest,
            _ => Standing::Unknown,
        }
    };
    (0..values.len()).map(standing).collect()
}

/// The rank of each value, 1 for the smallest; equal values share the mean of their ranks, as in rank statistics.
///
/// ```
/// assert_eq!(metrics::best::ranks(&[30.0, 10.0, 30.0, 20.0]), [3.5, 1.0, 3.5, 2.0]);
/// ```
pub fn ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|value| {
            let count = |is: fn(Ordering) -> bool| values.iter().filter(|other| is(other.total_cmp(value))).count();
            as_f64(count(Ordering::is_lt) as u64) + (as_f64(count(Ordering::is_eq) as u64) + 1.0) / 2.0
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
