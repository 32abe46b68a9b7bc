//! Quantiles of a stream of values, in bounded memory: [`QuantileSketch`].

use crate::mean::as_f64;
use std::iter::repeat_n;

/// A DDSketch: counts of values in bins so narrow that any quantile is known to [`QuantileSketch::RELATIVE_ERROR`].
///
/// The sketch is that of Masson, Rim & Lee, "DDSketch: a fast and fully-mergeable quantile sketch with relative-error
/// guarantees", VLDB 2019, in its variant of bitwise linear interpolation: each octave [2ᵉ, 2ᵉ⁺¹) has 1024 bins of
/// equal width, so the bin of a value is read from the leading bits of its `f64`. Without logarithms, the same
/// values fill the same bins on every machine. Bins are never collapsed, so the result is independent of the order of
/// the values.
///
/// The `p`-quantile is that of *nearest rank*: the ⌈p·n⌉-th smallest of n values, a value that did occur (the median of
/// an even number of values is the lower of the middle two). The number returned is the lower end of that value's bin:
/// at most 0.1 % below the value, never above. Zero, the smallest and the largest value, and whole numbers up to 2048
/// (most waits of a log in seconds) are returned exactly.
///
/// # Memory
///
/// 4 kB per octave between the smallest and the largest value other than zero, for any number of values: at most
/// 256 kB for lengths of 1 ns to 584 years, at most 8 MB for any values.
///
/// ```
/// let mut waits = metrics::QuantileSketch::default();
/// for wait in 1..=1000 {
///     waits.add(f64::from(wait));
/// }
/// let p95 = waits.quantile(0.95).unwrap();
/// assert!((p95 - 950.0).abs() <= 950.0 * metrics::QuantileSketch::RELATIVE_ERROR);
/// assert_eq!(waits.quantile(1.0), Some(1000.0));
/// ```
#[derive(Clone, Debug)]
pub struct QuantileSketch {
    count: u64,
    zeros: u64,
    min: f64,
    max: f64,
    /// `bins[i]` counts the values whose key is `first + i`; whole octaves.
    bins: Vec<u32>,
    first: usize,
}

impl Default for QuantileSketch {
    fn default() -> Self {
        Self { count: 0, zeros: 0, min: f64::INFINITY, max: f64::NEG_INFINITY, bins: Vec::new(), first: 0 }
    }
}

impl QuantileSketch {
    /// Bound on |reported − exact| / exact: the width of a bin over its lower end, 1/1024 or 0.098 %.
    ///
    /// Values below the smallest normal `f64`, 2.2 · 10⁻³⁰⁸, count as zero.
    pub const RELATIVE_ERROR: f64 = 1.0 / BINS_PER_OCTAVE as f64;

    /// Adds one value.
    ///
    /// # Panics
    ///
    /// Panics if `value` is negative, infinite or NaN, and with 2³² values in one bin.
    #[track_caller]
    #[inline]
    pub fn add(&mut self, value: f64) {
        assert!((0.0..f64::INFINITY).contains(&value), "quantiles cannot take in {value}");
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if value < f64::MIN_POSITIVE {
            self.zeros += 1;
            return;
        }
        let key = key_of(value);
        // One comparison for both ends: a key below `first` wraps to a huge number.
        let bin = match self.bins.get_mut(key.wrapping_sub(self.first)) {
            Some(bin) => bin,
            None => {
                self.grow_to_hold(key);
                &mut self.bins[key - self.first]
            }
        };
        *bin = bin.checked_add(1).expect("fewer than 2^32 values in a bin");
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// The `p`-quantile by nearest rank, `p` from 0 (the minimum) to 1 (the maximum), or `None` without values.
    ///
    /// # Panics
    ///
    /// Panics if `p` is not between 0 and 1.
    #[track_caller]
    pub fn quantile(&self, p: f64) -> Option<f64> {
        assert!((0.0..=1.0).contains(&p), "there is no {p}-quantile: 0 is the minimum, 1 the maximum");
        if self.count == 0 {
            return None;
        }
        let rank = self.rank(p);
        // Both ends are known exactly; a bin would only give its lower end.
        if rank == 1 {
            return Some(self.min);
        }
        if rank == self.count {
            return Some(self.max);
        }
        let mut seen = self.zeros;
        if rank <= seen {
            return Some(0.0);
        }
        let bin = self.bins.iter().position(|count| {
            seen += u64::from(*count);
            rank <= seen
        });
        let key = self.first + bin.expect("every value is a zero or in a bin");
        Some(lower_end_of(key).max(self.min)) // the first bin begins below the first value
    }

    /// ⌈p·n⌉, at least 1.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and the count")]
    fn rank(&self, p: f64) -> u64 {
        // A product that rounding has carried past a whole number (0.07 · 100) must not be rounded up once more.
        let rank = (p * as_f64(self.count) * (1.0 - f64::EPSILON)).ceil();
        (rank as u64).clamp(1, self.count)
    }

    #[cold]
    fn grow_to_hold(&mut self, key: usize) {
        // Whole octaves, so that growth is rare: at most once for each octave with values.
        let octave = key - key % BINS_PER_OCTAVE;
        if self.bins.is_empty() {
            self.first = octave;
        }
        if octave < self.first {
            self.bins.splice(0..0, repeat_n(0, self.first - octave));
            self.first = octave;
        } else {
            self.bins.resize(octave + BINS_PER_OCTAVE - self.first, 0);
        }
    }
}

const BITS_PER_OCTAVE: u32 = 10;
const BINS_PER_OCTAVE: usize = 1 << BITS_PER_OCTAVE;
const BITS_WITHIN_BIN: u32 = f64::MANTISSA_DIGITS - 1 - BITS_PER_OCTAVE;

/// Exponent and leading bits of the significand, as one number of 21 bits that grows with the value.
#[inline]
const fn key_of(value: f64) -> usize {
    (value.to_bits() >> BITS_WITHIN_BIN) as usize
}

const fn lower_end_of(key: usize) -> f64 {
    f64::from_bits((key as u64) << BITS_WITHIN_BIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(values: &[f64]) -> QuantileSketch {
        let mut sketch = QuantileSketch::default();
        values.iter().for_each(|&value| sketch.add(value));
        sketch
    }

    #[test]
    fn the_rank_is_not_pushed_up_by_rounding() {
        let sketch = sketch(&[1.0; 100]);
        for percent in 1..=100_u32 {
            assert_eq!(sketch.rank(f64::from(percent) / 100.0), u64::from(percent));
        }
        assert_eq!(sketch.rank(0.0), 1);
    }

    #[test]
    fn memory_follows_the_range_and_not_the_number_of_values() {
        let mut sketch = QuantileSketch::default();
        for nanos in (0..1_000_000_u32).rev() {
            sketch.add(f64::from(nanos) * 1e-9);
        }
        assert_eq!(sketch.bins.len(), 21 * BINS_PER_OCTAVE); // from 2⁻³⁰ s < 1 ns to 2⁻⁹ s > 1 ms
    }
}
