//! The queue: which pending jobs a pass looks at, and in which order.

use crate::limits::Demand;
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
    /// Time limit in seconds.
    pub limit: i64,
    /// Whole nodes and CPUs that it needs.
    pub need: Need,
    /// The user's index.
    pub user: usize,
    /// The association's index.
    pub association: usize,
    /// What limits count of it.
    pub demand: Demand,
}

/// Sorts entries as both passes take them: tier, priority, submission, number (SPEC 3.2).
pub(crate) fn sort(queue: &mut [Entry]) {
    queue.sort_by_key(|entry| (Reverse(entry.tier), Reverse(entry.priority), entry.submit, entry.job, entry.partition));
}
