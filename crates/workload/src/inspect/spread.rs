//! Distribution of values, in constant memory.

use crate::draw::count_of;
use serde::ser::{Serialize, SerializeStruct, Serializer};
use std::collections::BTreeMap;

/// Distribution of values, none below zero. All zero if there are none. It is serialized as a table of [`NAMED`](Self::NAMED) quantiles
/// and the other numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// Number of values.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Least value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Sum of squared distances from the mean (Welford 1962).
    squares: f64,
    /// Number of zeros; and by logarithm, number and sum of similar values.
    zeros: u64,
    alike: BTreeMap<i32, (u64, f64)>,
    /// Counts in the bins of the histogram.
    bins: Vec<u64>,
}

/// Number of values between two numbers.
#[derive(Copy, Clone, Debug, PartialEq, serde::Serialize)]
pub struct Bin {
    /// Lower bound, included.
    pub from: f64,
    /// Upper bound, excluded.
    pub to: f64,
    /// Number of values.
    pub count: u64,
}

/// Values whose logarithms differ by less than this are grouped.
const WIDTH: f64 = 0.02;

impl Spread {
    /// Quantiles in the table, with their names.
    pub const NAMED: [(&str, f64); 6] =
        [("p10", 0.1), ("p25", 0.25), ("median", 0.5), ("p75", 0.75), ("p90", 0.9), ("p99", 0.99)];

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
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += times;
        let distance = value - self.mean;
        self.mean += distance * weight / count_of(self.count);
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

    /// Standard deviation over mean; 0 if the mean is 0.
    pub fn variation(&self) -> f64 {
        if self.mean > 0.0 { libm::sqrt(self.squares / count_of(self.count)) / self.mean } else { 0.0 }
    }

    /// Counts between 0, 1, 2, 5, 10, 20, 50, … up to the largest value.
    pub fn histogram(&self) -> Vec<Bin> {
        let bin = |(at, count): (u32, &u64)| Bin { from: edge(at), to: edge(at + 1), count: *count };
        (0..).zip(&self.bins).map(bin).collect()
    }

    /// Returns the least value at or below which this share of the values lies, to within 1 %; exact where values within 2 % of it
    /// are equal.
    pub fn quantile(&self, share: f64) -> f64 {
        if share <= 0.0 {
            return self.min;
        }
        let wanted = share * count_of(self.count);
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

impl Serialize for Spread {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Spread", 6 + Self::NAMED.len())?;
        fields.serialize_field("count", &self.count)?;
        fields.serialize_field("mean", &self.mean)?;
        fields.serialize_field("variation", &self.variation())?;
        fields.serialize_field("min", &self.min)?;
        for (name, share) in Self::NAMED {
            fields.serialize_field(name, &self.quantile(share))?;
        }
        fields.serialize_field("max", &self.max)?;
        fields.serialize_field("histogram", &self.histogram())?;
        fields.end()
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
            let mut spread = Spread::default();
            values.iter().for_each(|value| spread.add(f64::from(*value)));
            values.sort_unstable();
            let at = |percent: usize| f64::from(values[(values.len() * percent).div_ceil(100).max(1) - 1]);
            for percent in [10_u8, 25, 50, 75, 90, 99] {
                let quantile = spread.quantile(f64::from(percent) / 100.0);
                let percent = usize::from(percent);
                prop_assert!((quantile - at(percent)).abs() <= 0.021 * at(percent), "{percent} %: {quantile}");
            }
            let count = f64::from(u32::try_from(values.len()).expect("few"));
            let mean = values.iter().map(|value| f64::from(*value)).sum::<f64>() / count;
            prop_assert!((spread.mean - mean).abs() <= 1e-9 * mean.max(1.0));
            for bin in spread.histogram() {
                let inside = values.iter().filter(|value| (bin.from..bin.to).contains(&f64::from(**value))).count();
                prop_assert_eq!(inside as u64, bin.count);
            }
            prop_assert_eq!(spread.histogram().iter().map(|bin| bin.count).sum::<u64>(), values.len() as u64);
        }
    }

    #[test]
    fn equal_values_are_exact_and_edges_are_round() {
        let mut spread = Spread::default();
        spread.add_many(3_600.0, 7);
        spread.add_many(0.0, 2);
        assert_eq!(
            [spread.quantile(0.1), spread.quantile(0.5), spread.max].map(f64::to_bits),
            [0.0, 3_600.0, 3_600.0].map(f64::to_bits)
        );
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(|at| edge(at).to_string()).join(" "), "0 1 2 5 10 20 50 100 200");
    }
}
