//! One pass of a policy along its queue, with the reasons that it reports.

use crate::min_demand::MinDemand;
use crate::queue::{QueuedJob, WaitingJobs};
use crate::reason::{Reason, ReasonProbe, Right};
use crate::view::{Starts, View, site};
use sim_core::JobId;
use std::cmp::Reverse;

/// One pass along the queue: the view, the jobs that it starts, and a probe for the reasons. With the probe `()`, it is
/// the walk alone.
pub(super) struct QueuePass<'a, R: ?Sized> {
    pub(super) view: &'a View<'a>,
    pub(super) starts: &'a mut Starts,
    probe: &'a mut R,
    /// Number of jobs whose turn has come.
    turns: usize,
    /// True if the places of jobs are reported at their turns.
    counts: bool,
    /// Jobs that have had their turn and still wait.
    passed: Vec<JobId>,
}

/// Waiting jobs in the order of their turns, on a walk that never goes back.
#[derive(Clone, Debug)]
pub(super) struct JobLine<'a> {
    ahead: Ahead<'a>,
    /// Jobs that are skipped, in ascending order.
    gone: &'a [JobId],
}

#[derive(Clone, Debug)]
enum Ahead<'a> {
    ByArrival(WaitingJobs<'a>),
    Sorted(&'a [QueuedJob], &'a [MinDemand]),
}

impl<'a> JobLine<'a> {
    /// Returns the jobs in order of arrival.
    pub(super) fn by_arrival(view: &View<'a>, gone: &'a [JobId]) -> Self {
        Self { ahead: Ahead::ByArrival(view.queue.iter()), gone }
    }

    /// Returns the jobs in the order of `jobs`, which have these demands.
    pub(super) fn sorted(jobs: &'a [QueuedJob], demands: &'a [MinDemand], gone: &'a [JobId]) -> Self {
        Self { ahead: Ahead::Sorted(jobs, demands), gone }
    }

    /// Advances to the next job.
    fn next(&mut self) -> Option<QueuedJob> {
        loop {
            let next = match &mut self.ahead {
                Ahead::ByArrival(jobs) => jobs.next().copied(),
                sorted => sorted.next_where(|_| true),
            };
            if next.is_none_or(|job| self.gone.binary_search(&job.job).is_err()) {
                return next;
            }
        }
    }

    /// Advances to the next job whose demands are `worth` a start, as [`WaitingJobs::next_where`] does.
    fn next_where(&mut self, worth: impl Fn(MinDemand) -> bool) -> Option<QueuedJob> {
        loop {
            let next = self.ahead.next_where(&worth);
            if next.is_none_or(|job| self.gone.binary_search(&job.job).is_err()) {
                return next;
            }
        }
    }

    /// Returns true if there is such a job ahead.
    pub(super) fn has_where(&self, worth: impl Fn(MinDemand) -> bool) -> bool {
        self.clone().next_where(worth).is_some()
    }
}

impl Ahead<'_> {
    fn next_where(&mut self, worth: impl Fn(MinDemand) -> bool) -> Option<QueuedJob> {
        match self {
            Self::ByArrival(jobs) => jobs.next_where(worth).copied(),
            Self::Sorted(jobs, demands) => {
                let next = demands.iter().position(|demand| worth(*demand)).unwrap_or(demands.len());
                let job = jobs.get(next).copied();
                let rest = demands.len().min(next + 1);
                (*jobs, *demands) = (&jobs[rest..], &demands[rest..]);
                job
            }
        }
    }
}

impl<'a, R: ReasonProbe + ?Sized> QueuePass<'a, R> {
    /// Returns the pass before the first turn.
    pub(super) const fn new(view: &'a View<'a>, starts: &'a mut Starts, probe: &'a mut R) -> Self {
        Self { view, starts, probe, turns: 0, counts: true, passed: Vec::new() }
    }

    /// Returns true if the probe listens in this pass.
    #[inline]
    pub(super) fn listens(&self) -> bool {
        self.probe.listens()
    }

    /// Returns the next job of the line, whose turn it is.
    #[inline]
    pub(super) fn next(&mut self, line: &mut JobLine<'_>) -> Option<QueuedJob> {
        let next = line.next()?;
        self.turns += 1;
        if self.counts && self.probe.follows(next.job) {
            self.probe.observe(next.job, Reason::Turn { place: self.turns }, self.starts);
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
        if !self.listens() {
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
    #[inline]
    pub(super) fn report_places(&mut self, line: &mut JobLine<'_>) {
        if self.listens() {
            while self.next(line).is_some() {}
            self.counts = false;
        }
    }

    /// Records that the job has had its turn and still waits.
    #[inline]
    pub(super) fn refuse(&mut self, job: &QueuedJob, reason: impl FnOnce() -> Reason) {
        if self.listens() {
            self.passed.push(job.job);
            self.report(job, reason);
        }
    }

    /// Reports another reason of the job.
    #[inline]
    pub(super) fn report(&mut self, job: &QueuedJob, reason: impl FnOnce() -> Reason) {
        if self.probe.follows(job.job) {
            self.probe.observe(job.job, reason(), self.starts);
        }
    }

    /// Starts the job on the machine of that index.
    #[inline]
    pub(super) fn start(&mut self, job: &QueuedJob, machine: usize, right: Right) {
        let machine = site(machine);
        if self.probe.follows(job.job) {
            let reason = Reason::Starts { machine, right, passed: self.passed.clone() };
            self.probe.observe(job.job, reason, self.starts);
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
