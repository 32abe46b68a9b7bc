//! Means and quantiles of any values, against the twins.

#![expect(clippy::disallowed_methods, reason = "what is expected, within a tolerance: any machine's functions do")]

use crate::twin;
use metrics::{Mean, QuantileSketch};
use proptest::prelude::*;
use sketches_ddsketch::{Config, DDSketch};

/// Zeros, whole seconds with many ties, and values over many octaves.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), (0..100_u32).prop_map(f64::from), (-30.0..64.0_f64).prop_map(f64::exp2)]
}

fn values() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(value(), 1..300)
}

fn sketch(values: &[f64]) -> QuantileSketch {
    let mut sketch = QuantileSketch::default();
    values.iter().for_each(|&value| sketch.add(value));
    sketch
}

#[test]
fn whole_numbers_up_to_2048_are_exact() {
    let values: Vec<f64> = (1..=2048).map(f64::from).collect();
    let sketch = sketch(&values);
    for rank in 1..=2048 {
        assert_eq!(sketch.quantile(f64::from(rank) / 2048.0), Some(f64::from(rank)));
    }
}

#[test]
fn infinity_a_negative_value_and_a_percentage_are_refused() {
    for (value, p, why) in [
        (f64::INFINITY, 0.5, "quantiles cannot take in inf"),
        (-1.0, 0.5, "quantiles cannot take in -1"),
        (1.0, 95.0, "there is no 95-quantile: 0 is the minimum, 1 the maximum"),
    ] {
        let panic = std::panic::catch_unwind(|| sketch(&[value]).quantile(p)).expect_err(why);
        assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some(why));
    }
}

proptest! {
    #[test]
    fn every_quantile_is_within_its_bound(values in values(), thousandths in 0..=1000_usize) {
        let exact = twin::nearest_rank(&values, thousandths);
        let sketched = sketch(&values).quantile(thousandths as f64 / 1000.0).expect("there are values");
        prop_assert!((sketched - exact).abs() <= exact * QuantileSketch::RELATIVE_ERROR, "{sketched}, not {exact}");
        prop_assert!(sketched <= exact);
    }

    #[test]
    fn quantiles_never_decrease(values in values()) {
        let sketch = sketch(&values);
        let all: Vec<_> = (0..=100_u32).map(|percent| sketch.quantile(f64::from(percent) / 100.0)).collect();
        prop_assert!(all.is_sorted());
    }

    #[test]
    fn quantiles_do_not_depend_on_the_order_of_values(values in values(), shuffled in any::<prop::sample::Index>()) {
        let mut rotated = values.clone();
        rotated.reverse();
        rotated.rotate_left(shuffled.index(values.len()));
        let (one, other) = (sketch(&values), sketch(&rotated));
        for p in [0.0, 0.1, 0.5, 0.95, 0.99, 1.0] {
            prop_assert_eq!(one.quantile(p), other.quantile(p));
        }
    }

    /// An independent implementation of the sketch, its bins spaced by logarithms. It counts ranks from ⌊q·(n − 1)⌋, so the query is
    /// in the middle between two ranks.
    #[test]
    fn an_independent_implementation_agrees(values in values(), thousandths in 0..1000_usize) {
        let mut theirs = DDSketch::new(Config::new(QuantileSketch::RELATIVE_ERROR, 1 << 16, 1e-12));
        values.iter().for_each(|&value| theirs.add(value));
        let rank = (thousandths * values.len()).div_ceil(1000).max(1);
        prop_assume!(rank < values.len());
        let theirs = theirs.quantile((rank as f64 - 0.5) / (values.len() as f64 - 1.0)).unwrap().unwrap();
        let ours = sketch(&values).quantile(thousandths as f64 / 1000.0).unwrap();
        prop_assert!((ours - theirs).abs() <= 2.01 * QuantileSketch::RELATIVE_ERROR * theirs, "{ours} and {theirs}");
    }

    #[test]
    fn the_mean_equals_the_twin(values in values()) {
        let mut mean = Mean::default();
        values.iter().for_each(|&value| mean.add(value));
        prop_assert!(twin::close(mean.mean().unwrap(), twin::mean(&values)));
    }
}
