//! Waiting jobs, in any order.

use crate::min_demand::MinDemand;
use crate::order::{Priority, Turn};
use crate::policy::pass::JobLine;
use crate::queue::QueuedJob;
use crate::view::{Starts, View};
use sim_core::{JobId, Time};
use std::collections::BTreeSet;

/// Waiting jobs by a [`Priority`]; of those with equal keys, by arrival.
///
/// In order of arrival, the view itself is used. In another order that does not change with time, jobs are inserted and
/// removed in place. In an order that does, the queue is sorted at each pass.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedQueue {
    priority: Priority,
    /// Turns in ascending order.
    places: Vec<OrderedPlace>,
    /// Job of each place, and its demand.
    jobs: Vec<QueuedJob>,
    demands: Vec<MinDemand>,
    /// Jobs that have arrived since the queue was last put into its order: many start at once, and never join the others.
    newcomers: Vec<(QueuedJob, u64)>,
    arrivals: u64,
    /// Jobs that have not waited for the threshold, by submission, if there is a threshold.
    patient: BTreeSet<(Time, JobId)>,
}

/// Turn, and the arrival that breaks ties.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OrderedPlace {
    turn: Turn,
    arrival: u64,
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

    /// Adds a job, behind all present jobs as far as ties are concerned.
    pub(super) fn push(&mut self, job: &QueuedJob) {
        if !self.is_by_arrival() && !self.priority.order.changes_with_time() {
            self.newcomers.push((*job, self.arrivals));
            self.arrivals += 1;
        }
    }

    /// Removes the jobs that a pass has started.
    pub(super) fn remove(&mut self, starts: &Starts, view: &View<'_>) {
        if self.is_by_arrival() || self.priority.order.changes_with_time() {
            return;
        }
        for (job, _) in starts {
            if let Some(newcomer) = self.newcomers.iter().position(|(other, _)| other.job == *job) {
                self.newcomers.remove(newcomer);
            } else {
                self.take_out(view.queue.get(*job).expect("a job that is started has waited"));
            }
        }
    }

    fn insert(&mut self, job: &QueuedJob, arrival: u64, now: Time) {
        let place = OrderedPlace { turn: self.priority.turn(job, now), arrival };
        let at = self.places.partition_point(|other| *other < place);
        self.places.insert(at, place);
        self.jobs.insert(at, *job);
        self.demands.insert(at, MinDemand::of(&job.request));
    }

    /// Removes the job from the order and returns its arrival.
    fn take_out(&mut self, job: &QueuedJob) -> u64 {
        let is_patient = self.patient.remove(&(job.submit, job.job));
        let turn = self.priority.turn(job, if is_patient { job.submit } else { Time::MAX });
        let first = self.places.partition_point(|other| other.turn < turn);
        let equal = self.jobs[first..].iter().position(|other| other.job == job.job);
        let at = first + equal.expect("a job that waits has a place");
        self.jobs.remove(at);
        self.demands.remove(at);
        self.places.remove(at).arrival
    }

    /// Returns the jobs in their order at the present instant, except for those that are `gone`, which are in ascending order.
    pub(super) fn line<'a>(&'a mut self, view: &View<'a>, gone: &'a [JobId]) -> JobLine<'a> {
        // A single job is sorted in every order.
        if self.is_by_arrival() || view.queue.len() == 1 {
            return JobLine::by_arrival(view, gone);
        }
        if self.priority.order.changes_with_time() {
            self.sort(view);
        } else {
            self.refresh(view);
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

    /// Inserts the newcomers, and moves the jobs ahead that have waited for the threshold by now.
    fn refresh(&mut self, view: &View<'_>) {
        let threshold = self.priority.threshold;
        let is_patient = |submit| threshold.is_some_and(|threshold| view.now.saturating_since(submit) < threshold);
        for (job, arrival) in std::mem::take(&mut self.newcomers) {
            self.insert(&job, arrival, view.now);
            if is_patient(job.submit) {
                self.patient.insert((job.submit, job.job));
            }
        }
        while let Some((_, job)) = self.patient.first().filter(|(submit, _)| !is_patient(*submit)) {
            let job = *view.queue.get(*job).expect("a job that is patient waits");
            let arrival = self.take_out(&job);
            self.insert(&job, arrival, view.now);
        }
    }
}
