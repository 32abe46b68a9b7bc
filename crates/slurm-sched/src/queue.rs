//! The queue: which pending jobs a pass looks at, and in which order.

use crate::limits::Demand;
use crate::nodes::NodeSet;
use crate::select::Need;
use std::cmp::Reverse;

/// Pending job in one of its partitions.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The job's number.
    pub job: u32,
    /// The partition's index.
    pub partition: usize,
    /// The partition's `PriorityTier`.
    pub tier: u32,
    /// The job's priority in this partition.
    pub priority: u32,
    /// Submission.
    pub submit: i64,
    /// Time since which its begin time has come and its dependencies are met.
    pub eligible: i64,
    /// Whole nodes and CPUs that it needs.
    pub need: Need,
    /// `--time-min` in seconds, if given.
    pub limit_min: Option<i64>,
    /// Nodes that it must have.
    pub required: Option<NodeSet>,
    /// Nodes that it must not have.
    pub excluded: Option<NodeSet>,
    /// What limits count of it, with its user, association and time limit.
    pub demand: Demand,
}

impl Entry {
    /// Time for which the backfill pass searches a place.
    pub(crate) fn least_limit(&self) -> i64 {
        self.limit_min.unwrap_or(self.demand.limit)
    }
}

/// Sorts entries as both passes take them: tier, priority, submission, number (SPEC 3.2). Entries
/// of one job keep the order in which the job names its partitions.
pub(crate) fn sort(queue: &mut [Entry]) {
    queue.sort_by_key(|entry| (Reverse(entry.tier), Reverse(entry.priority), entry.submit, entry.job));
}
