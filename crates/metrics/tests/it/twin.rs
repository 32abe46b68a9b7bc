//! The slow plain twins: all values collected, then sorted and summed.

/// Σ x / n.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Σ w·x / Σ w.
pub(crate) fn weighted_mean(values: &[f64], weights: &[f64]) -> f64 {
    let products: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
    products / weights.iter().sum::<f64>()
}

/// The ⌈p·n⌉-th smallest value, p in thousandths so that the rank is computed in integers.
pub(crate) fn nearest_rank(values: &[f64], thousandths: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (thousandths * sorted.len()).div_ceil(1000).max(1);
    sorted[rank - 1]
}

/// Returns true if two sums of a few hundred terms agree except for rounding.
pub(crate) fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}
