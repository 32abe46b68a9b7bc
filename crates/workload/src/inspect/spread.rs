//! Distribution of values, in constant memory.

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

    pub(super) fn add_many(&mut self, value: f64, times: u64) {
        debug_assert!(value >= 0.0, "{value} is below zero");
        if times == 0 {
            return;
        }
        let weight = times as f64;
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += times;
        let distance = value - self.mean;
        self.mean += distance * weight / self.count as f64;
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
        if self.mean > 0.0 { libm::sqrt(self.squares / self.count as f64) / self.mean } else { 0.0 }
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
        let wanted = share * self.count as f64;
        let mut below = self.zeros as f64;
        if self.zeros > 0 && below >= wanted {
            return 0.0;
        }
        for (number, sum) in self.alike.values() {
            below += *number as f64;
            if below >= wanted {
                return (sum / *number as f64).clamp(self.min, self.max);
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
