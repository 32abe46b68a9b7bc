//! Orders of policies: [`ranks`], and the agreement of two orders, [`kendall`].

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

/// Kendall's rank correlation τ_b of two series: the pairs that both order alike less those that they order differently,
/// relative to the pairs that they order at all, with ties taken into account (M. G. Kendall, "The treatment of ties in ranking
/// problems", Biometrika 33(3), 1945). 1 is the same order, −1 the opposite one; `None` if one series has only ties.
///
/// ```
/// assert_eq!(metrics::order::kendall(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), Some(1.0));
/// assert_eq!(metrics::order::kendall(&[1.0, 2.0, 3.0], &[30.0, 20.0, 10.0]), Some(-1.0));
/// ```
///
/// # Panics
///
/// Panics if the numbers of values differ.
#[track_caller]
pub fn kendall(a: &[f64], b: &[f64]) -> Option<f64> {
    assert_eq!(a.len(), b.len(), "two orders of the same things");
    let (mut agree, mut a_orders, mut b_orders) = (0.0, 0.0, 0.0);
    for i in 0..a.len() {
        for j in 0..i {
            let (x, y) = (a[i].total_cmp(&a[j]) as i32, b[i].total_cmp(&b[j]) as i32);
            agree += f64::from(x * y);
            a_orders += f64::from(x.abs());
            b_orders += f64::from(y.abs());
        }
    }
    let orders = a_orders * b_orders;
    (orders > 0.0).then(|| agree / f64::sqrt(orders))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_takes_from_the_correlation_and_two_ties_of_one_pair_do_not() {
        // Pairs: one orders 3, the other 2 of them alike: 2 / √6.
        let tau = kendall(&[1.0, 2.0, 3.0], &[1.0, 2.0, 2.0]).expect("both order");
        assert!((tau - 2.0 / 6.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(kendall(&[1.0, 1.0, 2.0], &[5.0, 5.0, 9.0]), Some(1.0));
        assert_eq!(kendall(&[1.0, 1.0], &[1.0, 2.0]), None);
    }
}
