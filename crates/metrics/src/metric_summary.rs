//! Distribution of one metric over the jobs of a run: [`MetricSummary`].

use crate::mean::{Sum, as_f64};
use crate::quantile_sketch::QuantileSketch;

/// Mean, quantiles and processor-weighted mean of one metric, value by value, in bounded memory.
///
/// Means and quantiles are `None` without values.
#[derive(Clone, Debug, Default)]
pub struct MetricSummary {
    // Own sums instead of a `Mean`: a simulator feeds five of these per job, and a run reports no second count.
    sum: Sum,
    weighted_sum: Sum,
    weights: u64,
    quantiles: QuantileSketch,
}

impl MetricSummary {
    /// Adds one job's `value`, with the job's processors as its `weight`.
    ///
    /// # Panics
    ///
    /// Panics if `value` is negative, infinite or NaN.
    #[track_caller]
    #[inline]
    pub fn add(&mut self, value: f64, weight: u32) {
        self.quantiles.add(value);
        self.sum.add(value);
        self.weighted_sum.add(value * f64::from(weight));
        self.weights += u64::from(weight);
    }

    /// Number of values added.
    pub const fn count(&self) -> u64 {
        self.quantiles.count()
    }

    /// Mean over jobs, Σ x / n.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum.total() / as_f64(self.count()))
    }

    /// Mean over jobs, weighted by their processors: Σ w·x / Σ w.
    pub fn weighted_mean(&self) -> Option<f64> {
        (self.weights > 0).then(|| self.weighted_sum.total() / as_f64(self.weights))
    }

    /// The `p`-quantile by nearest rank, within [`QuantileSketch::RELATIVE_ERROR`].
    ///
    /// # Panics
    ///
    /// Panics if `p` is not between 0 and 1.
    #[track_caller]
    pub fn quantile(&self, p: f64) -> Option<f64> {
        self.quantiles.quantile(p)
    }

    /// The 0.5-quantile.
    pub fn median(&self) -> Option<f64> {
        self.quantile(0.5)
    }

    /// The 0.95-quantile.
    pub fn p95(&self) -> Option<f64> {
        self.quantile(0.95)
    }

    /// The 0.99-quantile.
    pub fn p99(&self) -> Option<f64> {
        self.quantile(0.99)
    }

    /// The largest value, exactly.
    pub fn max(&self) -> Option<f64> {
        self.quantiles.max()
    }
}
