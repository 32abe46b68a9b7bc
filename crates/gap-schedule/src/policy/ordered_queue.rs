//! Waiting jobs, in any order.

use crate::min_demand::MinDemand;
use crate::order::{Priority, Turn};
use crate::policy::pass::JobLine;
use crate::queue::QueuedJob;
use crate::view::{Starts, View};
use sim_core::{JobId, Time};

/// Waiting jobs by a [`Priority`]; of those with equal keys, by arrival.
///
/// In order of arrival, the view itself is used. In another order that does not change with time, jobs are inserted and
/// removed in place. In an order that does, or with a threshold, the queue is sorted at each pass.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedQueue {
    priority: Priority,
    /// Turns in ascending order, if they are kept.
    turns: Vec<Turn>,
    /// Job of each turn, and its demand.
    jobs: Vec<QueuedJob>,
    demands: Vec<MinDemand>,
    /// Jobs that have arrived since the queue was last put into its order: many start at once, and never join the others.
    newcomers: Vec<QueuedJob>,
}

impl OrderedQueue {
    /// Returns an empty queue.
    pub(super) fn new(priority: Priority) -> Self {
        Self { priority, ..Self::default() }
    }

    /// Returns true if the order is that of arrival.
    pub(super) fn is_by_arrival(&self) -> bool {
        self.priority.is_arrival()
    }

    /// Returns true if turns stay the same from pass to pass, so that they are kept.
    fn is_kept(&self) -> bool {
        !self.is_by_arrival() && !self.priority.order.changes_with_time() && self.priority.threshold.is_none()
    }

    /// Adds a job, behind all present jobs as far as ties are concerned.
    pub(super) fn push(&mut self, job: &QueuedJob) {
        if self.is_kept() {
            self.newcomers.push(*job);
        }
    }

    /// Removes the jobs that a pass has started.
    pub(super) fn remove(&mut self, starts: &Starts, view: &View<'_>) {
        if !self.is_kept() {
            return;
        }
        for (job, _) in starts {
            if let Some(newcomer) = self.newcomers.iter().position(|other| other.job == *job) {
                self.newcomers.remove(newcomer);
                continue;
            }
            let turn = self.priority.turn(view.queue.get(*job).expect("a job that is started has waited"), view.now);
            let first = self.turns.partition_point(|other| *other < turn);
            let equal = self.jobs[first..].iter().position(|other| other.job == *job);
            let at = first + equal.expect("a job that waits has a place");
            self.turns.remove(at);
            self.jobs.remove(at);
            self.demands.remove(at);
        }
    }

    /// Returns the jobs in their order at the present instant, except for those that are `gone`, which are in ascending order.
    pub(super) fn line<'a>(&'a mut self, view: &View<'a>, gone: &'a [JobId]) -> JobLine<'a> {
        // A single job is sorted in every order.
        if self.is_by_arrival() || view.queue.len() == 1 {
            return JobLine::by_arrival(view, gone);
        }
        if self.is_kept() {
            self.take_in_newcomers(view.now);
        } else {
            self.sort(view);
        }
        JobLine::sorted(&self.jobs, &self.demands, gone)
    }

    fn sort(&mut self, view: &View<'_>) {
        let turns = view.queue.iter().map(|job| (self.priority.turn(job, view.now), job));
        let mut sorted: Vec<(Turn, &QueuedJob)> = turns.collect();
        sorted.sort_by_key(|(turn, _)| *turn);
        self.jobs.clear();
        self.jobs.extend(sorted.iter().map(|(_, job)| **job));
        self.demands.clear();
        self.demands.extend(sorted.iter().map(|(_, job)| MinDemand::of(&job.request)));
    }

    fn take_in_newcomers(&mut self, now: Time) {
        for job in self.newcomers.drain(..) {
            let turn = self.priority.turn(&job, now);
            let at = self.turns.partition_point(|other| *other <= turn);
            self.turns.insert(at, turn);
            self.jobs.insert(at, job);
            self.demands.insert(at, MinDemand::of(&job.request));
        }
    }
}
