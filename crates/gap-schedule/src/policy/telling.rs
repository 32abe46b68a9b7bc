//! How a pass tells its reasons as it goes along the queue.

use crate::machine::site;
use crate::min_demand::MinDemand;
use crate::policy::line::Line;
use crate::queue::QueuedJob;
use crate::reason::{Reason, ReasonProbe, Right};
use crate::view::{Starts, View};
use sim_core::{JobId, SiteId};

/// A walk along the queue, of which somebody may be told. For `()`, it is the walk alone.
pub(super) struct Telling<'a, R: ?Sized> {
    probe: &'a mut R,
    /// How many have come to their turn.
    turns: usize,
    /// Whether those who come are told their place.
    counts: bool,
    /// Who has had his turn, and waits on.
    passed: Vec<JobId>,
}

impl<'a, R: ReasonProbe + ?Sized> Telling<'a, R> {
    /// Nobody has had his turn.
    pub(super) const fn new(probe: &'a mut R) -> Self {
        Self { probe, turns: 0, counts: true, passed: Vec::new() }
    }

    /// Whether anybody listens.
    #[inline]
    pub(super) fn listens(&self) -> bool {
        self.probe.listens()
    }

    /// Whether anybody wants to hear of this job.
    #[inline]
    pub(super) fn follows(&self, job: JobId) -> bool {
        self.probe.follows(job)
    }

    /// The next in the line.
    #[inline]
    pub(super) fn next(&mut self, line: &mut impl Line, starts: &Starts) -> Option<QueuedJob> {
        let next = line.next()?;
        self.comes(&next, starts);
        Some(next)
    }

    /// The next in the line whose demands are `worth` a start, see [`Line::next_where`]. Where somebody listens, those before
    /// it are looked at one by one, and `refusal` says what is told of them.
    #[inline]
    pub(super) fn next_where(
        &mut self,
        line: &mut impl Line,
        worth: impl Fn(MinDemand) -> bool,
        starts: &Starts,
        mut refusal: impl FnMut(&QueuedJob) -> Reason,
    ) -> Option<QueuedJob> {
        if !self.listens() {
            return line.next_where(worth);
        }
        loop {
            let next = self.next(line, starts)?;
            if worth(MinDemand::of(&next.request)) {
                return Some(next);
            }
            self.waits(&next, starts, || refusal(&next));
        }
    }

    /// Nobody of the line starts; `refusal` says why, where somebody listens.
    #[inline]
    pub(super) fn refuse_all(
        &mut self,
        line: &mut impl Line,
        starts: &Starts,
        refusal: impl FnMut(&QueuedJob) -> Reason,
    ) {
        if self.listens() {
            self.next_where(line, |_| false, starts, refusal);
        }
    }

    /// Walks to the end of the line to tell everybody's place, where somebody listens. Those who come later, by another line,
    /// have been told.
    #[inline]
    pub(super) fn tell_places(&mut self, line: &mut impl Line, starts: &Starts) {
        if self.listens() {
            while self.next(line, starts).is_some() {}
            self.counts = false;
        }
    }

    /// The job comes to its turn.
    #[inline]
    pub(super) fn comes(&mut self, job: &QueuedJob, starts: &Starts) {
        self.turns += 1;
        if self.counts && self.follows(job.job) {
            self.probe.observe(job.job, Reason::Turn { place: self.turns }, starts);
        }
    }

    /// The job has had its turn, and waits on.
    #[inline]
    pub(super) fn waits(&mut self, job: &QueuedJob, starts: &Starts, reason: impl FnOnce() -> Reason) {
        if self.listens() {
            self.passed.push(job.job);
            self.tells(job, starts, reason);
        }
    }

    /// What else is to be said of the job.
    #[inline]
    pub(super) fn tells(&mut self, job: &QueuedJob, starts: &Starts, reason: impl FnOnce() -> Reason) {
        if self.follows(job.job) {
            self.probe.observe(job.job, reason(), starts);
        }
    }

    /// The job starts, and is not yet among `starts`.
    #[inline]
    pub(super) fn starts(&mut self, job: &QueuedJob, machine: SiteId, right: Right, starts: &Starts) {
        if self.follows(job.job) {
            let reason = Reason::Starts { machine, right, passed: self.passed.clone() };
            self.probe.observe(job.job, reason, starts);
        }
    }
}

/// Tells those who have started, of a policy whose turns are in order of arrival and that lets some of those who wait hold
/// reservations: `due` are those whose promised start had come.
pub(super) fn tell_starts(due: &[JobId], view: &View<'_>, starts: &Starts, probe: &mut dyn ReasonProbe) {
    for (number, (job, machine)) in starts.iter().enumerate() {
        if !probe.follows(*job) {
            continue;
        }
        let passed = passed_by_arrival(*job, view, starts);
        let right = match (due.contains(job), passed.is_empty()) {
            (true, _) => Right::Reserved,
            (false, true) => Right::InTurn,
            (false, false) => Right::Backfilled,
        };
        probe.observe(*job, Reason::Starts { machine: *machine, right, passed }, &starts[..number].to_vec());
    }
}

/// Those who have arrived before the job and wait on, when `starts` start.
fn passed_by_arrival(job: JobId, view: &View<'_>, starts: &Starts) -> Vec<JobId> {
    let before = view.queue.iter().map(|other| other.job).take_while(|other| *other != job);
    before.filter(|other| !starts.iter().any(|(start, _)| start == other)).collect()
}

/// The machine with most processors free, of those that suit the job, and how many those are.
pub(super) fn no_room(job: &QueuedJob, view: &View<'_>, free: impl Fn(usize) -> u32) -> Reason {
    let suitable = (0..view.machines.len()).filter(|machine| view.suits(*machine, &job.request));
    // Of several, the first.
    let most = suitable.map(|machine| (free(machine), std::cmp::Reverse(machine))).max();
    let (free, std::cmp::Reverse(machine)) = most.expect("admission rejects jobs that no machine suits");
    Reason::NoRoom { machine: site(machine), free }
}
