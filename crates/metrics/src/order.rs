//! Orders of policies: [`ranks`].

use crate::mean::as_f64;
use std::cmp::Ordering;

/// The rank of each value, 1 for the smallest; equal values share the mean of their ranks, as in rank statistics.
///
/// ```
/// assert_eq!(metrics::order::ranks(&[30.0, 10.0, 30.0, 20.0]), [3.5, 1.0, 3.5, 2.0]);
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
