//! From replications to conclusions: [`ConfidenceInterval`].
//!
//! One run gives one number per metric, and the jobs within a run depend on one another. The unit of statistics is therefore
//! the *replication*, an independent run with its own random numbers (Law & Kelton, "Simulation modeling and
//! analysis", 3rd edition, 2000, chapter 9). Policies are compared on common random numbers,
//! replication by replication, which cancels the influence of the workload (ibid., §§ 10.2.1 and 11.2).

use crate::mean::{Mean, as_f64};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::fmt;

/// A mean over independent replications with its confidence interval.
///
/// mean ± t · s / √n, where s² is the sample variance between replications and t the (1 + level)/2-quantile of
/// Student's t with n − 1 degrees of freedom (Law & Kelton, eq. 4.12). Exact for normal replications; means over many
/// jobs are nearly normal.
///
/// One replication has a mean but no interval: `low` and `high` are `None`, and it prints as a single run. Equal replications
/// have the interval [mean, mean]. A deterministic value has no interval either, but is certain:
/// [`exact`](Self::exact).
///
/// ```
/// use metrics::ConfidenceInterval;
///
/// let waits = ConfidenceInterval::of(&[41.0, 44.0, 38.0, 45.0, 42.0]); // mean wait of five replications, in seconds
/// assert_eq!(format!("{waits:.1}"), "42.0 ± 3.4 (95 %, 5 replications)");
/// assert_eq!(ConfidenceInterval::of(&[41.0]).to_string(), "41 (single run)");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceInterval {
    /// Mean over replications.
    pub mean: f64,
    /// Lower end; `None` for a single run or an exact value.
    pub low: Option<f64>,
    /// Upper end; `None` for a single run or an exact value.
    pub high: Option<f64>,
    /// Number of replications.
    pub replications: usize,
    /// Share of such intervals that cover the true mean: 0.95 by default, 1 for an exact value.
    pub level: f64,
}

impl ConfidenceInterval {
    /// The customary confidence level, 95 %.
    pub const LEVEL: f64 = 0.95;

    /// The interval at 95 % for one value per replication.
    ///
    /// # Panics
    ///
    /// Panics if there are no values, or one is infinite or NaN.
    #[track_caller]
    pub fn of(replications: &[f64]) -> Self {
        Self::at(Self::LEVEL, replications)
    }

    /// A deterministic value from one run: every further run would give the same.
    ///
    /// ```
    /// use metrics::ConfidenceInterval;
    ///
    /// let wait = ConfidenceInterval::exact(41.0);
    /// assert!(wait.is_exact() && wait.half_width().is_none());
    /// assert_eq!(wait.to_string(), "41 (exact)");
    /// ```
    pub const fn exact(value: f64) -> Self {
        Self { mean: value, low: None, high: None, replications: 1, level: 1.0 }
    }

    /// Returns true if it is an [`exact`](Self::exact) value.
    pub fn is_exact(&self) -> bool {
        self.level >= 1.0
    }

    /// The interval at another confidence level, for example 0.99.
    ///
    /// # Panics
    ///
    /// Panics if there are no values, one is infinite or NaN, or `level` is not strictly between 0 and 1.
    #[track_caller]
    pub fn at(level: f64, replications: &[f64]) -> Self {
        assert!(level > 0.0 && level < 1.0, "a confidence level lies between 0 and 1, not at {level}");
        let mut values = Mean::default();
        replications.iter().for_each(|&value| values.add(value));
        let mean = values.mean().expect("an interval needs at least one replication");
        let count = replications.len();
        let half = (count > 1).then(|| {
            // In two passes, so that equal values give exactly zero.
            let squares: f64 = replications.iter().map(|value| (value - mean).powi(2)).sum();
            let n = as_f64(count as u64);
            t_quantile(level, count) * (squares / (n - 1.0) / n).sqrt()
        });
        Self { mean, low: half.map(|half| mean - half), high: half.map(|half| mean + half), replications: count, level }
    }

    /// The same quantity in another unit, into which `convert` converts each value; it increases.
    #[must_use]
    pub fn map(&self, convert: impl Fn(f64) -> f64) -> Self {
        Self { mean: convert(self.mean), low: self.low.map(&convert), high: self.high.map(&convert), ..*self }
    }

    /// Half the width of the interval, the number after the ±; `None` for a single run or an exact value.
    pub fn half_width(&self) -> Option<f64> {
        Some((self.high? - self.low?) / 2.0)
    }

    /// Total number of replications that would bring half-width / |mean| down to `precision`, by the variance seen so far; at
    /// least the present number. A precision of 0.05 is a mean known to 5 %.
    ///
    /// The smallest n with t · s / √n ≤ precision · |mean| (Law & Kelton, § 9.4.1, n*ᵣ(γ)). They use γ/(1 + γ) in
    /// place of γ, so that the bound holds against the unknown true mean: pass `gamma / (1.0 + gamma)` to follow them.
    /// It is an estimate, and from few replications a rough one.
    ///
    /// `None` for a single run, for a mean of zero, and if billions would be needed.
    ///
    /// # Panics
    ///
    /// Panics if `precision` is not positive.
    #[track_caller]
    pub fn replications_for(&self, precision: f64) -> Option<usize> {
        assert!(precision > 0.0, "a relative precision of {precision} cannot be reached");
        let half = self.half_width()?;
        let wanted = precision * self.mean.abs();
        if half <= wanted {
            return Some(self.replications);
        }
        if wanted <= 0.0 {
            return None;
        }
        // s, recovered from the half-width.
        let deviation = half * as_f64(self.replications as u64).sqrt() / t_quantile(self.level, self.replications);
        let enough = |n: usize| t_quantile(self.level, n) * deviation / as_f64(n as u64).sqrt() <= wanted;

        // `few` is never enough and `many` always: double, then halve the gap.
        let (mut few, mut many) = (self.replications, 2 * self.replications);
        while !enough(many) {
            let double = u32::try_from(2 * many).ok()?;
            (few, many) = (many, double as usize);
        }
        while many - few > 1 {
            let middle = few.midpoint(many);
            if enough(middle) {
                many = middle;
            } else {
                few = middle;
            }
        }
        Some(many)
    }
}

impl fmt::Display for ConfidenceInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mean.fmt(f)?;
        match self.half_width() {
            Some(half) => {
                f.write_str(" ± ")?;
                half.fmt(f)?;
                write!(f, " ({} %, {} replications)", self.level * 100.0, self.replications)
            }
            None if self.is_exact() => f.write_str(" (exact)"),
            None => f.write_str(" (single run)"),
        }
    }
}

/// The two-sided quantile of Student's t: with `replications` − 1 degrees of freedom, |T| ≤ t with probability `level`.
///
/// By bisection of the tail probability, down to neighbouring `f64`s, which always ends. The library's own inverse (an
/// iteration after algorithm AS 109) does not end for very many degrees of freedom, for example 10⁹.
pub(crate) fn t_quantile(level: f64, replications: usize) -> f64 {
    let student = StudentsT::new(0.0, 1.0, as_f64(replications as u64 - 1)).expect("at least two replications");
    let tail = (1.0 - level) / 2.0;
    let (mut low, mut high) = (0.0, 1.0);
    while student.sf(high) > tail {
        (low, high) = (high, 2.0 * high);
    }
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return high;
        }
        if student.sf(middle) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_student_agree_with_the_tables() {
        for (level, replications, table) in [
            (0.95, 2, 12.706_204_736),
            (0.95, 3, 4.302_652_730),
            (0.95, 5, 2.776_445_105),
            (0.95, 10, 2.262_157_163),
            (0.95, 20, 2.093_024_054),
            (0.95, 31, 2.042_272_456),
            (0.95, 101, 1.983_971_519),
            (0.95, 1001, 1.962_339_081),
            (0.95, 1_000_001, 1.959_966_357),
            (0.99, 10, 3.249_835_542),
            (0.90, 10, 1.833_112_933),
        ] {
            let t = t_quantile(level, replications);
            assert!((t - table).abs() < 1e-8, "level {level}, {replications} replications: {t}, not {table}");
        }
        // Although the ratio of gamma functions has lost digits, the quantile is near that of the normal distribution.
        assert!((t_quantile(0.95, 1_000_000_000) - 1.959_963_985).abs() < 1e-6);
    }
}
