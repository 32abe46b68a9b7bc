//! Queue of the pending jobs that a pass visits, and its order.

use crate::limits::Demand;
use crate::nodes::NodeSet;
use crate::select::Need;
use crate::workload::array_of;
use std::cmp::Reverse;

/// Pending job in one of its partitions.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub job: u32,
    /// JobId of the array if it is a task of one, and slurmctld has made no job of its own of it, as it does for `aftercorr`.
    pub array: Option<u32>,
    pub partition: usize,
    /// `PriorityTier` of the partition.
    pub tier: u32,
    /// Priority of the job in this partition.
    pub priority: u32,
    pub submit: i64,
    /// Time at which its begin time had come and its dependencies were met.
    pub eligible: i64,
    /// Whole nodes and CPUs that it needs.
    pub need: Need,
    /// `--time-min` in seconds, if given.
    pub limit_min: Option<i64>,
    pub required: Option<NodeSet>,
    pub excluded: Option<NodeSet>,
    /// Demand that counts towards limits, with its user, association and time limit.
    pub demand: Demand,
    /// True if a will-run test may alter its CPUs, on which its next priority depends (SPEC 1.3).
    pub needs_test: bool,
}

impl Entry {
    /// Duration for which the backfill pass searches a slot.
    pub(crate) fn least_limit(&self) -> i64 {
        self.limit_min.unwrap_or(self.demand.limit)
    }
}

/// Sorts entries in the order of both passes: tier, priority, submission, number, task (SPEC 3.2). Entries of one job keep
/// the order in which the job names its partitions.
pub(crate) fn sort(queue: &mut [Entry]) {
    queue.sort_by_key(|entry| (Reverse(entry.tier), Reverse(entry.priority), entry.submit, array_of(entry.job)));
}
