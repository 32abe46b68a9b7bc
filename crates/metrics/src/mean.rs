//! Mean of a stream of values, in constant memory: [`Mean`].

/// Count, mean, minimum and maximum of the values seen so far.
///
/// The mean is a compensated sum divided by the count, so its error is at most about one unit in the last place for any number of
/// values, and values that are whole numbers (seconds of a log) are summed exactly.
///
/// ```
/// let mut mean = metrics::Mean::default();
/// assert_eq!(mean.mean(), None);
/// for value in [2.0, 4.0, 9.0] {
///     mean.add(value);
/// }
/// assert_eq!(mean.mean(), Some(5.0));
/// ```
#[derive(Copy, Clone, Debug)]
pub struct Mean {
    count: u64,
    sum: Sum,
    min: f64,
    max: f64,
}

impl Default for Mean {
    fn default() -> Self {
        Self { count: 0, sum: Sum::default(), min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl Mean {
    /// Adds one value.
    ///
    /// # Panics
    ///
    /// Panics if `value` is infinite or NaN: one such value would invalidate the mean of all others.
    #[track_caller]
    #[inline]
    pub fn add(&mut self, value: f64) {
        assert!(value.is_finite(), "a mean cannot take in {value}");
        self.count += 1;
        self.sum.add(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    pub(crate) fn append(&mut self, other: &Self) {
        self.count += other.count;
        self.sum.add(other.sum.total());
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of values added.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Σ x / n, or `None` without values. Always between the minimum and the maximum.
    pub fn mean(&self) -> Option<f64> {
        // Rounding could carry the mean of equal values one digit past them.
        (self.count > 0).then(|| (self.sum.total() / as_f64(self.count)).clamp(self.min, self.max))
    }
}

/// Counts stay far below 2⁵³, where every whole number is an `f64`.
pub(crate) const fn as_f64(count: u64) -> f64 {
    count as f64
}

/// Sum that carries its own rounding error along (Kahan–Babuška; the error term is Knuth's exact TwoSum).
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let taken = sum - self.sum;
        self.lost += (self.sum - (sum - taken)) + (value - taken);
        self.sum = sum;
    }

    #[inline]
    pub(crate) fn total(&self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the sums are exact")]
mod tests {
    use super::*;

    #[test]
    fn a_large_value_does_not_swallow_small_ones() {
        let mut sum = Sum::default();
        for value in [1e16, 1.0, 1.0, 1.0, -1e16] {
            sum.add(value);
        }
        assert_eq!(sum.total(), 3.0); // a plain sum says 4
    }

    #[test]
    #[should_panic(expected = "a mean cannot take in NaN")]
    fn a_mean_takes_in_no_nan() {
        Mean::default().add(f64::NAN);
    }
}
