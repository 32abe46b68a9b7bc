//! Jobs that wait, in an order of their own.

use crate::min_demand::MinDemand;
use crate::order::{Priority, Turn};
use crate::policy::line::Line;
use crate::queue::QueuedJob;
use crate::view::View;
use sim_core::{JobId, Time};
use std::collections::BTreeSet;

/// The jobs that wait, by a [`Priority`]; of those with equal keys, by arrival.
///
/// In an order that time does not change, jobs join and leave where they stand. In one that it does, the queue is sorted at each
/// [`refresh`](Self::refresh).
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedQueue {
    priority: Priority,
    /// In ascending order.
    places: Vec<Place>,
    /// The job of each place, and what it demands: apart, since a walk looks at many demands and few jobs.
    jobs: Vec<QueuedJob>,
    demands: Vec<MinDemand>,
    /// The jobs that have come since the last refresh: many start at once, and never join the others.
    newcomers: Vec<(QueuedJob, u64)>,
    arrivals: u64,
    /// The jobs that have not waited for the threshold, by submission, if there is a threshold.
    patient: BTreeSet<(Time, JobId)>,
}

/// A turn, and the arrival that decides between equal ones.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    turn: Turn,
    arrival: u64,
}

/// A walk along jobs in their order that passes over some.
#[derive(Clone, Debug)]
pub(super) struct Walk<'a> {
    pub(super) jobs: &'a [QueuedJob],
    /// What each of them demands.
    pub(super) demands: &'a [MinDemand],
    /// The jobs that are passed over, in ascending order.
    pub(super) gone: &'a [JobId],
    /// The next job.
    pub(super) at: usize,
}

impl OrderedQueue {
    /// An empty queue.
    pub(super) fn new(priority: Priority) -> Self {
        Self { priority, ..Self::default() }
    }

    const fn is_sorted_each_time(&self) -> bool {
        self.priority.order.changes_with_time()
    }

    /// The job comes to wait, behind all that wait already as far as ties are concerned.
    pub(super) fn push(&mut self, job: &QueuedJob) {
        if !self.is_sorted_each_time() {
            self.newcomers.push((*job, self.arrivals));
            self.arrivals += 1;
        }
    }

    /// The job leaves, if it is here.
    pub(super) fn remove(&mut self, job: &QueuedJob) {
        if let Some(newcomer) = self.newcomers.iter().position(|(other, _)| other.job == job.job) {
            self.newcomers.remove(newcomer);
        } else if !self.is_sorted_each_time() {
            self.take_out(job);
        }
    }

    fn insert(&mut self, job: &QueuedJob, arrival: u64, now: Time) {
        let place = Place { turn: self.priority.turn(job, now), arrival };
        let at = self.places.partition_point(|other| *other < place);
        self.places.insert(at, place);
        self.jobs.insert(at, *job);
        self.demands.insert(at, MinDemand::of(&job.request));
    }

    /// Takes the job out of the order, if it is there, and returns its arrival.
    fn take_out(&mut self, job: &QueuedJob) -> Option<u64> {
        let is_patient = self.patient.remove(&(job.submit, job.job));
        let turn = self.priority.turn(job, if is_patient { job.submit } else { Time::MAX });
        let first = self.places.partition_point(|other| other.turn < turn);
        let at = first + self.jobs[first..].iter().position(|other| other.job == job.job)?;
        self.jobs.remove(at);
        self.demands.remove(at);
        Some(self.places.remove(at).arrival)
    }

    /// Puts the queue into its order at the present instant. Needed before a [`walk`](Self::walk).
    pub(super) fn refresh(&mut self, view: &View<'_>) {
        if self.is_sorted_each_time() {
            let mut sorted: Vec<(Turn, &QueuedJob)> =
                view.queue.iter().map(|job| (self.priority.turn(job, view.now), job)).collect();
            sorted.sort_by_key(|(turn, _)| *turn);
            self.jobs.clear();
            self.jobs.extend(sorted.iter().map(|(_, job)| **job));
            self.demands.clear();
            self.demands.extend(sorted.iter().map(|(_, job)| MinDemand::of(&job.request)));
            return;
        }
        for (job, arrival) in std::mem::take(&mut self.newcomers) {
            self.insert(&job, arrival, view.now);
            if self.is_patient(job.submit, view.now) {
                self.patient.insert((job.submit, job.job));
            }
        }
        while let Some((_, job)) = self.patient.first().filter(|(submit, _)| !self.is_patient(*submit, view.now)) {
            let job = *view.queue.get(*job).expect("a job that is patient waits");
            let arrival = self.take_out(&job).expect("a job that is patient has a place");
            self.insert(&job, arrival, view.now);
        }
    }

    fn is_patient(&self, submit: Time, now: Time) -> bool {
        self.priority.threshold.is_some_and(|threshold| now.saturating_since(submit) < threshold)
    }

    /// A walk along all jobs but those that are `gone`, which are in ascending order.
    pub(super) fn walk<'a>(&'a self, gone: &'a [JobId]) -> Walk<'a> {
        Walk { jobs: &self.jobs, demands: &self.demands, gone, at: 0 }
    }
}

impl Line for Walk<'_> {
    fn next(&mut self) -> Option<QueuedJob> {
        self.next_where(|_| true)
    }

    fn next_where(&mut self, worth: impl Fn(MinDemand) -> bool) -> Option<QueuedJob> {
        while let Some(ahead) = self.demands[self.at..].iter().position(|demand| worth(*demand)) {
            let job = self.jobs[self.at + ahead];
            self.at += ahead + 1;
            if self.gone.binary_search(&job.job).is_err() {
                return Some(job);
            }
        }
        self.at = self.demands.len();
        None
    }

    fn has_where(&self, worth: impl Fn(MinDemand) -> bool) -> bool {
        self.clone().next_where(worth).is_some()
    }
}
