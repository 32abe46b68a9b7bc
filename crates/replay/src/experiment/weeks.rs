//! Estimates from one replay of a log, over its blocks: `method = "weeks"` uses them in place of replications.

use super::design::{Against, Claim, Design};
use super::measure::Metric;
use crate::simulate::held::{Placement, blocks_of};
use metrics::backlog::Trend;
use metrics::{Blocks, ConfidenceInterval, Estimate, Refusal};
use serde::{Deserialize, Serialize};
use sim_core::{Job, Time};

/// Estimates of one policy on one log, by the metrics of the design.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Weeks {
    pub(super) means: Vec<Option<Estimate>>,
    /// Differences to the baseline.
    pub(super) differences: Vec<Option<Estimate>>,
    /// Differences to each policy, at the level of comparisons with the best.
    pub(super) simultaneous: Vec<Vec<Option<Estimate>>>,
    /// Differences of the claims about this policy.
    pub(super) claims: Vec<Option<Estimate>>,
}

/// Interval at 95 %. Its replications are the blocks.
pub(super) const fn interval(estimate: &Estimate) -> ConfidenceInterval {
    let Estimate { mean, low, high, blocks, .. } = *estimate;
    ConfidenceInterval { mean, low, high, replications: blocks, level: ConfidenceInterval::LEVEL }
}

/// Sums over the jobs of one policy by block; `is_saturated` is its saturation.
pub(crate) struct Replayed {
    blocks: Blocks,
    pub(crate) is_saturated: bool,
}

impl Replayed {
    /// Creates the sums over the jobs submitted within an interval.
    pub(crate) fn new(jobs: &[Job], placements: &[Placement], submitted: (Time, Time), trend: &Trend) -> Self {
        let blocks = blocks_of(jobs, placements, submitted);
        Self { blocks, is_saturated: trend.is_saturated() }
    }

    /// Estimates of each policy, against all others.
    pub(super) fn weeks(all: &[Self], design: &Design) -> Vec<Weeks> {
        let others = f64::from(u32::try_from(all.len()).unwrap_or(u32::MAX).saturating_sub(1).max(1));
        let level = 1.0 - (1.0 - ConfidenceInterval::LEVEL) / others;
        let one = |policy: usize| {
            let ours: &Self = &all[policy];
            let against = |theirs: &Self, level: f64| {
                design.metrics.iter().map(|metric| ours.difference(theirs, metric, 1.0, level)).collect()
            };
            let claimed = |claim: &Claim| match claim.bound {
                Against::Policy(other) if claim.policy == policy => {
                    ours.difference(&all[other], claim.metric, claim.share(), ConfidenceInterval::LEVEL)
                }
                _ => None,
            };
            Weeks {
                means: design.metrics.iter().map(|metric| ours.mean(metric)).collect(),
                differences: against(&all[design.baseline], ConfidenceInterval::LEVEL),
                simultaneous: all.iter().map(|theirs| against(theirs, level)).collect(),
                claims: design.claims.iter().map(claimed).collect(),
            }
        };
        (0..all.len()).map(one).collect()
    }

    pub(crate) fn mean(&self, metric: Metric) -> Option<Estimate> {
        let estimate = self.blocks.mean(metric.name())?;
        Some(if self.is_saturated { estimate.refused(Refusal::Saturated) } else { estimate })
    }

    /// Metric of this policy less a share of that of another one.
    pub(crate) fn difference(&self, theirs: &Self, metric: Metric, share: f64, level: f64) -> Option<Estimate> {
        let estimate = self.blocks.difference_at(&theirs.blocks.scaled(share), metric.name(), level)?;
        let is_saturated = self.is_saturated || theirs.is_saturated;
        Some(if is_saturated { estimate.refused(Refusal::Saturated) } else { estimate })
    }
}
