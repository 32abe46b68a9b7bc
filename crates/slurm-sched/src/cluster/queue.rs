//! Queue of the pending jobs that a pass visits, and the decisions of a pass.

use crate::cluster::limits::Demand;
use crate::cluster::nodes::NodeSet;
use crate::cluster::select::Need;
use crate::site::workload::array_of;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Job in one of its partitions: all that passes and priorities depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub job: u32,
    /// JobId of the array if it is a task of one, and slurmctld has made no job of its own of it, as it does for `aftercorr`.
    pub array: Option<u32>,
    pub partition: usize,
    /// True if the partition's limits let the job into the queue.
    pub is_admitted: bool,
    /// `PriorityTier` of the partition.
    pub tier: u32,
    pub priority: u32,
    pub nice: i64,
    pub submit: i64,
    /// Time at which its begin time had come and its dependencies were met.
    pub eligible: i64,
    /// Time since which the job gains age: that time, or its release; `None` before.
    pub ages_from: Option<i64>,
    pub need: Need,
    /// Number of CPUs: those requested, and after the first successful test those of the nodes found.
    pub cpus: u64,
    /// `--time-min` in seconds, if given.
    pub limit_min: Option<i64>,
    pub required: Option<NodeSet>,
    pub excluded: Option<NodeSet>,
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

/// Start of a job, now or planned.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Start {
    pub job: u32,
    pub partition: usize,
    pub nodes: NodeSet,
    /// Planned start and end, the latter rounded as in the table; `None` for a start now.
    pub planned: Option<(i64, i64)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pass {
    pub starts: Vec<Start>,
    /// True if the pass changed jobs (SPEC 0.4): it started one; main: skipped one behind a blocked job; backfill: moved one to
    /// a later slot.
    pub changed: bool,
    /// Main: the jobs that did not fit and block, with the index of the partition.
    pub blocked: Vec<(u32, usize)>,
    /// Backfill: jobs tested, in order, with the index of the partition.
    pub tested: Vec<(u32, usize)>,
    /// Backfill: planned starts.
    pub plans: Vec<Start>,
    /// Backfill: CPUs of the nodes that the last successful will-run test of each job found.
    pub found: BTreeMap<u32, u64>,
    /// Backfill: true if the pass marked nodes as planned, which changes them, as does the next pass, which removes the marks.
    pub marks_nodes: bool,
}
