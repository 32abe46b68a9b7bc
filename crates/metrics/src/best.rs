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
