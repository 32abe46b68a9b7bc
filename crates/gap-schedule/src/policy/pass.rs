//! One pass of a policy along its queue, in any order, with the reasons that it reports.

use crate::min_demand::MinDemand;
use crate::order::Priority;
use crate::queue::{Queue, QueuedJob, WaitingJobs};
use crate::reason::{Reason, ReasonProbe, Right};
use crate::view::{Starts, View, site};
use sim_core::JobId;
use std::cmp::Reverse;

pub(super) struct QueuePass<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) starts: &'a mut Starts,
    probe: &'a mut dyn ReasonProbe,
    pub(super) listens: bool,
    turns: usize,
    /// True if the places of jobs are reported at their turns.
    counts: bool,
    /// Jobs that have had their turn and still wait.
    passed: Vec<JobId>,
}

/// Waiting jobs in the order of their turns, on a walk that never goes back.
#[derive(Clone)]
pub(super) enum JobLine<'a> {
    ByArrival(WaitingJobs<'a>),
    Sorted(std::slice::Iter<'a, QueuedJob>),
    /// The first jobs, then the others of the queue by descending rank, searched one by one: cheaper than sorting if few have turns.
    Ranked {
        first: std::slice::Iter<'a, QueuedJob>,
        queue: &'a Queue,
        /// Rank of each job; `None` for the first ones.
        rank: &'a dyn Fn(&QueuedJob) -> Option<u64>,
        /// Rank and slot of the last job that had its turn.
        last: Option<(Reverse<u64>, usize)>,
    },
}

impl JobLine<'_> {
    fn next(&mut self) -> Option<QueuedJob> {
        match self {
            Self::ByArrival(jobs) => jobs.next().copied(),
            Self::Sorted(jobs) => jobs.next().copied(),
            Self::Ranked { .. } => self.next_where(|_| true),
        }
    }

    /// Advances to the next job whose demands are `worth` a start, as [`WaitingJobs::next_where`] does.
    pub(super) fn next_where(&mut self, worth: impl Fn(MinDemand) -> bool) -> Option<QueuedJob> {
        match self {
            Self::ByArrival(jobs) => jobs.next_where(worth).copied(),
            Self::Sorted(jobs) => jobs.find(|job| worth(MinDemand::of(&job.request))).copied(),
            Self::Ranked { first, queue, rank, last } => {
                if let Some(job) = first.find(|job| worth(MinDemand::of(&job.request))) {
                    return Some(*job);
                }
                let mut walk = queue.iter();
                let worthy = std::iter::from_fn(|| walk.next_where(&worth).map(|job| (job, walk.at)));
                let ahead = worthy.filter_map(|(job, slot)| Some(((Reverse(rank(job)?), slot), *job)));
                let (place, job) = ahead.filter(|(place, _)| Some(*place) > *last).min_by_key(|(place, _)| *place)?;
                *last = Some(place);
                Some(job)
            }
        }
    }
}

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

impl<'a> QueuePass<'a> {
    pub(super) fn new(view: &'a View<'a>, starts: &'a mut Starts, probe: &'a mut dyn ReasonProbe) -> Self {
        let listens = probe.listens();
        Self { view, starts, probe, listens, turns: 0, counts: listens, passed: Vec::new() }
    }

    /// Returns the next job of the line, whose turn it is.
    #[inline]
    pub(super) fn next(&mut self, line: &mut JobLine<'_>) -> Option<QueuedJob> {
        let next = line.next()?;
        self.turns += 1;
        if self.counts {
            let place = self.turns;
            self.report(&next, || Reason::Turn { place });
        }
        Some(next)
    }

    /// Returns the next job of the line whose demands are `worth` a start. If the probe listens, the jobs before it are
    /// visited one by one, and each is refused with the reason `refusal`.
    #[inline]
    pub(super) fn next_where(
        &mut self,
        line: &mut JobLine<'_>,
        worth: impl Fn(MinDemand) -> bool,
        refusal: impl Fn(&QueuedJob) -> Reason,
    ) -> Option<QueuedJob> {
        if !self.listens {
            return line.next_where(worth);
        }
        loop {
            let next = self.next(line)?;
            if worth(MinDemand::of(&next.request)) {
                return Some(next);
            }
            self.refuse(&next, || refusal(&next));
        }
    }

    /// Walks to the end of the line to report the place of each job, if the probe listens. Later lines of this pass
    /// report no places.
    pub(super) fn report_places(&mut self, line: &mut JobLine<'_>) {
        if self.listens {
            while self.next(line).is_some() {}
            self.counts = false;
        }
    }

    /// Records that the job has had its turn and still waits.
    #[inline]
    pub(super) fn refuse(&mut self, job: &QueuedJob, reason: impl FnOnce() -> Reason) {
        if self.listens {
            self.passed.push(job.job);
            self.report(job, reason);
        }
    }

    #[inline]
    pub(super) fn report(&mut self, job: &QueuedJob, reason: impl FnOnce() -> Reason) {
        if self.listens && self.probe.follows(job.job) {
            self.probe.observe(job.job, reason(), self.starts);
        }
    }

    #[inline]
    pub(super) fn start(&mut self, job: &QueuedJob, machine: usize, right: Right) {
        let machine = site(machine);
        if self.listens {
            let passed = self.passed.clone();
            self.report(job, || Reason::Starts { machine, right, passed });
        }
        self.starts.push((job.job, machine));
    }
}

/// Refusal of a job that no machine has room for: names the suitable machine with most free processors.
pub(super) fn no_room(job: &QueuedJob, view: &View<'_>, free: impl Fn(usize) -> u32) -> Reason {
    let suitable = (0..view.machines.len()).filter(|machine| view.suits(*machine, &job.request));
    // The first of several.
    let most = suitable.map(|machine| (free(machine), Reverse(machine))).max();
    let (free, Reverse(machine)) = most.expect("admission rejects jobs that no machine suits");
    Reason::NoRoom { machine: site(machine), free }
}
