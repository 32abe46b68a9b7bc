//! Distribution as a table of quantiles.

use serde::{Deserialize, Serialize};

/// Distribution of numbers from 0 on, as its quantiles at [`Quantiles::AT`]. In between, the distribution is uniform on
/// a logarithmic scale, or on a linear one if the lower quantile is zero.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quantiles(pub [f64; 17]);

impl Quantiles {
    /// Quantile levels of the table, from the least value to the largest.
    pub const AT: [f64; 17] =
        [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0];

    /// Returns the number below which this share of the distribution lies.
    pub fn at(&self, share: f64) -> f64 {
        let above = Self::AT.partition_point(|at| *at <= share).clamp(1, 16);
        let (low, high) = (self.0[above - 1], self.0[above]);
        let part = (share - Self::AT[above - 1]) / (Self::AT[above] - Self::AT[above - 1]);
        if low > 0.0 {
            // Equal ends are kept to the last bit.
            if low < high { low * libm::pow(high / low, part) } else { low }
        } else {
            low + part * (high - low)
        }
    }

    /// Returns true if the quantiles ascend from `least` or above to `most` or below.
    pub(super) fn is_within(&self, least: f64, most: f64) -> bool {
        self.0.is_sorted() && self.0[0] >= least && self.0[16] <= most
    }
}
