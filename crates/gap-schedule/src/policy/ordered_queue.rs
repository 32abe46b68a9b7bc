//! Waiting jobs, in any order.

use crate::min_demand::MinDemand;
use crate::order::Priority;
use crate::policy::pass::JobLine;
use crate::queue::QueuedJob;
use crate::view::View;
use sim_core::JobId;

/// Waiting jobs by a [`Priority`]; of those with equal keys, by arrival. In order of arrival, the view itself is used; in
/// another order, the queue is sorted at each pass.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedQueue {
    priority: Priority,
    sorted: SortedJobs,
}

/// Jobs in some order, and their demands: separate, since a walk visits many demands and few jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct SortedJobs {
    jobs: Vec<QueuedJob>,
    demands: Vec<MinDemand>,
}

impl OrderedQueue {
    pub(super) fn new(priority: Priority) -> Self {
        Self { priority, ..Self::default() }
    }

    /// Returns true if the order is that of arrival.
    pub(super) fn is_by_arrival(&self) -> bool {
        self.priority.is_arrival()
    }

    /// Returns the jobs in their order at the present instant, except for those that are `gone`, which are in ascending order.
    pub(super) fn line<'a>(&'a mut self, view: &View<'a>, gone: &'a [JobId]) -> JobLine<'a> {
        // A single job is sorted in every order.
        if self.is_by_arrival() || view.queue.len() == 1 {
            return JobLine::by_arrival(view, gone);
        }
        self.sorted.sort(view.queue.iter().map(|job| (self.priority.turn(job, view.now), job)));
        self.sorted.line(gone)
    }
}

impl SortedJobs {
    /// Replaces the jobs by others, in the order of their keys; those with equal keys stay in the given order.
    pub(super) fn sort<'a>(&mut self, keyed: impl Iterator<Item = (impl Ord + Copy, &'a QueuedJob)>) {
        let mut sorted: Vec<_> = keyed.collect();
        sorted.sort_by_key(|(key, _)| *key);
        self.jobs.clear();
        self.jobs.extend(sorted.iter().map(|(_, job)| **job));
        self.demands.clear();
        self.demands.extend(self.jobs.iter().map(|job| MinDemand::of(&job.request)));
    }

    /// Returns the jobs except for those that are `gone`, which are in ascending order.
    pub(super) fn line<'a>(&'a self, gone: &'a [JobId]) -> JobLine<'a> {
        JobLine::sorted(&self.jobs, &self.demands, gone)
    }
}
