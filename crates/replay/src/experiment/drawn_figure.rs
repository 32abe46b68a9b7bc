//! One picture of an experiment with its data, and the colours that mean better and worse.

use super::measure::Metric;
use anyhow::Result;
use lab::chart::Picture;
use lab::table::{number, optional};
use metrics::ConfidenceInterval;

/// A picture, what to see in it, and its data in the tidy form.
pub(super) struct DrawnFigure {
    pub(super) picture: Picture,
    pub(super) caption: String,
    pub(super) data: Vec<u8>,
}

/// Rows of a picture's data.
pub(super) struct Data(csv::Writer<Vec<u8>>);

impl Data {
    pub(super) fn new() -> Result<Self> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"])?;
        Ok(Self(table))
    }

    pub(super) fn add(
        &mut self,
        figure: &str,
        series: &str,
        x: &str,
        metric: &str,
        estimate: &ConfidenceInterval,
    ) -> Result<()> {
        let (mean, low, high) = (number(estimate.mean), optional(estimate.low), optional(estimate.high));
        let series = lab::terminal::csv_name(series);
        let x = lab::terminal::csv_name(x);
        let reps = estimate.replications.to_string();
        Ok(self.0.write_record([figure, &series, &x, metric, &mean, &low, &high, &reps])?)
    }

    pub(super) fn finish(self) -> Result<Vec<u8>> {
        Ok(self.0.into_inner()?)
    }
}

/// What the paired interval says of a policy: better than the baseline, worse, or neither.
pub(super) fn better(metric: Metric, difference: &ConfidenceInterval) -> Option<bool> {
    let is_high = metric.is_better_high();
    if difference.lies_above(0.0) {
        Some(is_high)
    } else if difference.lies_below(0.0) {
        Some(!is_high)
    } else {
        None
    }
}

/// Colours of the charts: blue and vermilion, told apart by those who see no red.
pub(super) const BETTER: usize = 0;
pub(super) const WORSE: usize = 1;
