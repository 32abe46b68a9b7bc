//! Waiting jobs, in any order.

use crate::order::Priority;
use crate::policy::pass::JobLine;
use crate::queue::QueuedJob;
use crate::view::View;
use sim_core::JobId;

/// Waiting jobs by a [`Priority`]; of those with equal keys, by arrival. In order of arrival, the view itself is used; in
/// another order, the queue is sorted at each pass.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedQueue {
    pub(super) priority: Priority,
    sorted: Vec<QueuedJob>,
}

impl OrderedQueue {
    pub(super) fn new(priority: Priority) -> Self {
        Self { priority, ..Self::default() }
    }

    /// Returns the jobs in their order at the present instant, except for those that are `gone`, which are in ascending order.
    pub(super) fn line<'a>(&'a mut self, view: &View<'a>, gone: &[JobId]) -> JobLine<'a> {
        // A single job is sorted in every order.
        if gone.is_empty() && (self.priority.is_arrival() || view.queue.len() == 1) {
            return JobLine::ByArrival(view.queue.iter());
        }
        let jobs = view.queue.iter().filter(|job| gone.binary_search(&job.job).is_err());
        sort(&mut self.sorted, jobs.map(|job| (self.priority.turn(job, view.now), job)));
        JobLine::Sorted(self.sorted.iter())
    }
}

/// Replaces the jobs by others, in the order of their keys; those with equal keys stay in the given order.
pub(super) fn sort<'a>(jobs: &mut Vec<QueuedJob>, keyed: impl Iterator<Item = (impl Ord + Copy, &'a QueuedJob)>) {
    let mut sorted: Vec<_> = keyed.collect();
    sorted.sort_by_key(|(key, _)| *key);
    jobs.clear();
    jobs.extend(sorted.iter().map(|(_, job)| **job));
}
