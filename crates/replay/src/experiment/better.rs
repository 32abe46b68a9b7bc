//! What an interval says of a policy, and the colours that mean better and worse.

use super::measure::Metric;
use metrics::{Better, ConfidenceInterval};

/// What the paired interval says of a policy: better than the baseline, worse, or neither.
pub(super) fn better(metric: Metric, difference: &ConfidenceInterval) -> Option<bool> {
    let is_high = metric.better() == Better::Larger;
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
