//! Distribution of values, in constant memory.

use crate::draw::count_of;
use serde::Serialize;
use std::collections::BTreeMap;

/// Distribution of values. All zero if there are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Number of values.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation over mean; 0 if the mean is 0.
    pub variation: f64,
    /// Least value.
    pub min: f64,
    /// Quantile 0.1, to within 1 % like all quantiles here; exact where values within 2 % of it are equal.
    pub p10: f64,
    /// Quantile 0.25.
    pub p25: f64,
    /// Quantile 0.5.
    pub median: f64,
    /// Quantile 0.75.
    pub p75: f64,
    /// Quantile 0.9.
    pub p90: f64,
    /// Quantile 0.99.
    pub p99: f64,
    /// Largest value.
    pub max: f64,
    /// Counts between 0, 1, 2, 5, 10, 20, 50, … up to the largest value.
    pub histogram: Vec<Bin>,
}

/// Number of values between two numbers.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Lower bound, included.
    pub from: f64,
    /// Upper bound, excluded.
    pub to: f64,
    /// Number of values.
    pub count: u64,
}

/// Collects values, none below zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gather {
    count: f64,
    total: u64,
    mean: f64,
    /// Sum of squared distances from the mean (Welford 1962).
    squares: f64,
    min: f64,
    max: f64,
    /// Number of zeros; and by logarithm, number and sum of similar values.
    zeros: u64,
    alike: BTreeMap<i32, (u64, f64)>,
    /// Counts in the bins of the histogram.
    bins: Vec<u64>,
}

/// Values whose logarithms differ by less than this are grouped.
const WIDTH: f64 = 0.02;

impl Gather {
    pub(crate) fn add(&mut self, value: f64) {
        self.add_many(value, 1);
    }

    /// Adds the same value several times.
    pub(super) fn add_many(&mut self, value: f64, times: u64) {
        debug_assert!(value >= 0.0, "{value} is below zero");
        if times == 0 {
            return;
        }
        let weight = count_of(times);
        self.min = if self.total == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.total += times;
        self.count += weight;
        let distance = value - self.mean;
        self.mean += distance * weight / self.count;
        self.squares += weight * distance * (value - self.mean);
        if value > 0.0 {
            #[expect(clippy::cast_possible_truncation, reason = "logarithms are small")]
            let key = libm::floor(libm::log(value) / WIDTH) as i32;
            let (number, sum) = self.alike.entry(key).or_default();
            *number += times;
            *sum += value * weight;
        } else {
            self.zeros += times;
        }
        let bin = bin_of(value);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += times;
    }

    pub(super) fn finish(&self) -> Spread {
        if self.total == 0 {
            return Spread::default();
        }
        let deviation = libm::sqrt(self.squares / self.count);
        Spread {
            count: self.total,
            mean: self.mean,
            variation: if self.mean > 0.0 { deviation / self.mean } else { 0.0 },
            min: self.min,
            p10: self.quantile(0.1),
            p25: self.quantile(0.25),
            median: self.quantile(0.5),
            p75: self.quantile(0.75),
            p90: self.quantile(0.9),
            p99: self.quantile(0.99),
            max: self.max,
            histogram: (0..)
                .zip(&self.bins)
                .map(|(bin, count)| Bin { from: edge(bin), to: edge(bin + 1), count: *count })
                .collect(),
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns the least value at or below which this share of the values lies.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        if share <= 0.0 {
            return self.min;
        }
        let wanted = share * self.count;
        let mut below = count_of(self.zeros);
        if self.zeros > 0 && below >= wanted {
            return 0.0;
        }
        for (number, sum) in self.alike.values() {
            below += count_of(*number);
            if below >= wanted {
                return (sum / count_of(*number)).clamp(self.min, self.max);
            }
        }
        self.max
    }
}

/// Returns the bin edges 0, 1, 2, 5, 10, 20, 50, …
fn edge(position: u32) -> f64 {
    match position.checked_sub(1) {
        None => 0.0,
        Some(position) => [1.0, 2.0, 5.0][position as usize % 3] * libm::exp10(f64::from(position / 3)).round(),
    }
}

fn bin_of(value: f64) -> usize {
    (1..).take_while(|position| edge(*position) <= value).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A sorted list is the slow twin.
        #[test]
        fn quantiles_are_those_of_the_sorted_list(
            mut values in prop::collection::vec(prop_oneof![0..20_u32, 0..1_000_000_u32], 1..200),
        ) {
            let mut gather = Gather::default();
            values.iter().for_each(|value| gather.add(f64::from(*value)));
            let spread = gather.finish();
            values.sort_unstable();
            let at = |percent: usize| f64::from(values[(values.len() * percent).div_ceil(100).max(1) - 1]);
            let quantiles = [(10, spread.p10), (25, spread.p25), (50, spread.median), (75, spread.p75),
                (90, spread.p90), (99, spread.p99)];
            for (percent, quantile) in quantiles {
                prop_assert!((quantile - at(percent)).abs() <= 0.021 * at(percent), "{percent} %: {quantile}");
            }
            let count = f64::from(u32::try_from(values.len()).expect("few"));
            let mean = values.iter().map(|value| f64::from(*value)).sum::<f64>() / count;
            prop_assert!((spread.mean - mean).abs() <= 1e-9 * mean.max(1.0));
            for bin in &spread.histogram {
                let inside = values.iter().filter(|value| (bin.from..bin.to).contains(&f64::from(**value))).count();
                prop_assert_eq!(inside as u64, bin.count);
            }
            prop_assert_eq!(spread.histogram.iter().map(|bin| bin.count).sum::<u64>(), values.len() as u64);
        }
    }

    #[test]
    fn equal_values_are_exact_and_edges_are_round() {
        let mut gather = Gather::default();
        gather.add_many(3_600.0, 7);
        gather.add_many(0.0, 2);
        let spread = gather.finish();
        assert_eq!(
            [spread.p10, spread.median, spread.max].map(f64::to_bits),
            [0.0, 3_600.0, 3_600.0].map(f64::to_bits)
        );
        assert_eq!(Gather::default().finish(), Spread::default());
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(|at| edge(at).to_string()).join(" "), "0 1 2 5 10 20 50 100 200");
    }
}
