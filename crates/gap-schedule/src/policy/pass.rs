//! One pass of a policy along its queue, in any order, with the reasons that it reports.

use crate::min_demand::MinDemand;
use crate::order::{Key, Priority};
use crate::queue::{Queue, QueuedJob, WaitingJobs};
use crate::reason::{Reason, ReasonProbe, Right};
use crate::view::{Starts, View, site};
use sim_core::JobId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
pub(super) enum JobLine<'a> {
    ByArrival(WaitingJobs<'a>),
    Ranked(RankedJobs<'a>),
}

/// Returns the key of a job, if it has one.
type KeyOf<'a> = dyn Fn(&QueuedJob) -> Option<Key> + 'a;

/// The first jobs, then the others of the queue by key; of those with equal keys, by arrival.
pub(super) struct RankedJobs<'a> {
    first: std::slice::Iter<'a, QueuedJob>,
    queue: &'a Queue,
    /// Key of each job; `None` if it is none of the others.
    key: Box<KeyOf<'a>>,
    /// Keys and slots of the others that have had no turn. They are gathered when the first of them has its turn, and only those
    /// that are worth a start then: a pass never gains processors.
    others: Option<BinaryHeap<Reverse<(Key, usize)>>>,
}

impl<'a> JobLine<'a> {
    /// Returns the jobs of the view by `priority`, except for those that are `gone`, which are in ascending order.
    pub(super) fn by(priority: Priority, view: &View<'a>, gone: &'a [JobId]) -> Self {
        // A single job needs no key.
        if gone.is_empty() && (priority.is_arrival() || view.queue.len() == 1) {
            return Self::ByArrival(view.queue.iter());
        }
        let now = view.now;
        Self::ranked(&[], view, move |job| gone.binary_search(&job.job).is_err().then(|| priority.turn(job, now)))
    }

    /// Returns the `first` jobs, then those of the view that have a key.
    pub(super) fn ranked(
        first: &'a [QueuedJob],
        view: &View<'a>,
        key: impl Fn(&QueuedJob) -> Option<Key> + 'a,
    ) -> Self {
        Self::Ranked(RankedJobs { first: first.iter(), queue: view.queue, key: Box::new(key), others: None })
    }

    fn next(&mut self) -> Option<QueuedJob> {
        match self {
            Self::ByArrival(jobs) => jobs.next().copied(),
            Self::Ranked(jobs) => jobs.next_where(|_| true),
        }
    }

    /// Advances to the next job whose demands are `worth` a start, as [`WaitingJobs::next_where`] does.
    pub(super) fn next_where(&mut self, worth: impl Fn(MinDemand) -> bool) -> Option<QueuedJob> {
        match self {
            Self::ByArrival(jobs) => jobs.next_where(worth).copied(),
            Self::Ranked(jobs) => jobs.next_where(worth),
        }
    }

    /// Returns false if no job ahead has demands that are `worth` a start. True may be an error, in favour of jobs that have had
    /// their turn.
    pub(super) fn may_have(&self, worth: impl Fn(MinDemand) -> bool) -> bool {
        let mut jobs = match self {
            Self::ByArrival(jobs) => jobs.clone(),
            Self::Ranked(jobs) => jobs.queue.iter(),
        };
        jobs.next_where(worth).is_some()
    }

    /// Leaves out jobs wider than `most`, if their keys are known: to find none of them next is cheaper than to pass them one by one.
    pub(super) fn narrow(&mut self, most: u32) {
        if let Self::Ranked(RankedJobs { queue, others: Some(others), .. }) = self {
            others.retain(|Reverse((_, slot))| queue.at(*slot).request.processors <= most);
        }
    }
}

impl RankedJobs<'_> {
    fn next_where(&mut self, worth: impl Fn(MinDemand) -> bool) -> Option<QueuedJob> {
        let Self { first, queue, key, others } = self;
        if let Some(job) = first.find(|job| worth(MinDemand::of(&job.request))) {
            return Some(*job);
        }
        let others = others.get_or_insert_with(|| {
            let mut keyed = Vec::with_capacity(queue.len());
            let mut walk = queue.iter();
            while let Some(job) = walk.next_where(&worth) {
                keyed.extend(key(job).map(|key| Reverse((key, walk.slot()))));
            }
            keyed.into()
        });
        let mut jobs = std::iter::from_fn(|| others.pop().map(|Reverse((_, slot))| queue.at(slot)));
        jobs.find(|job| worth(MinDemand::of(&job.request))).copied()
    }
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
