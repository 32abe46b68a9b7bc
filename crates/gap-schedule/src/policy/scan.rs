//! EASY's rule on several machines, job by job and machine by machine.

use crate::grid::GridView;
use crate::policy::readings::{BackfillReadings, BackfillRule, Placement};
use crate::queue::Waiting;
use crate::running::RunningJob;
use sim_core::{JobId, SiteId, Span, Time};

/// One pass over a queue in any order, and the operations that such passes take.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan {
    /// Free processors of each machine, less what this pass has started.
    free: Vec<u32>,
    /// The most that any machine has free.
    most: u32,
    /// What this pass has started before the head was found.
    in_turn: Vec<(usize, RunningJob)>,
    /// When processors of one machine come back, and how many.
    ends: Vec<(Time, u32)>,
    pub(super) operations: u64,
}

/// What the head of the queue is promised.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Reservation {
    machine: usize,
    at: Time,
    /// Processors of the machine that the head leaves over then.
    extra: u32,
}

impl Scan {
    /// Starts jobs of `queue` in their turn as long as they fit, makes a reservation for the first that does not, the
    /// head, and starts those behind it that do it no harm. The head, if there is one.
    pub(super) fn pass<'a>(
        &mut self,
        queue: impl IntoIterator<Item = &'a Waiting>,
        readings: BackfillReadings,
        view: &GridView<'_>,
        starts: &mut Vec<(JobId, SiteId)>,
    ) -> Option<JobId> {
        self.free.clear();
        self.free.extend(view.free);
        self.most = self.free.iter().copied().max().unwrap_or(0);
        self.in_turn.clear();
        let mut queue = queue.into_iter();
        let head = loop {
            let next = queue.next()?;
            let Some(machine) = self.choose(next, readings.placement, view, |_| true) else {
                break next;
            };
            self.start(next, machine, starts);
            self.in_turn.push((machine, view.machines[machine].running(next.job, &next.request, view.now)));
        };
        let mut promise = self.reserve(head, readings.placement, view);
        // A job without an estimate counts as `Span::MAX` and must not seem to end by any instant, not even "never".
        let window = promise.at.since(view.now).min(Span::from_nanos(u64::MAX - 1));
        let fastest = view.machines.iter().max_by(|one, other| one.speed.total_cmp(&other.speed));
        let fastest = fastest.expect("admission rejects jobs where there is no machine");
        for next in queue {
            let need = next.request.processors;
            if readings.rule == BackfillRule::Strict && fastest.expects(&next.request) > window {
                // Too long for the fastest machine, so for all: counted as looked at on each.
                self.operations += self.free.len() as u64;
                continue;
            }
            let in_time = |machine: usize| view.machines[machine].expects(&next.request) <= window;
            let harmless = |machine: usize| match readings.rule {
                BackfillRule::Strict => in_time(machine),
                BackfillRule::MachineAware => machine != promise.machine || need <= promise.extra || in_time(machine),
            };
            if let Some(machine) = self.choose(next, readings.placement, view, harmless) {
                self.start(next, machine, starts);
                if machine == promise.machine && !in_time(machine) {
                    promise.extra -= need;
                }
            }
        }
        Some(head.job)
    }

    /// The machine for the job among those that have room and are `allowed`. One operation for each machine looked at;
    /// a job that no machine has room for counts as looked at on all of them, which is then not done.
    fn choose(
        &mut self,
        job: &Waiting,
        placement: Placement,
        view: &GridView<'_>,
        allowed: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        if job.request.processors > self.most {
            self.operations += self.free.len() as u64;
            return None;
        }
        let mut chosen: Option<usize> = None;
        for (machine, free) in self.free.iter().enumerate() {
            self.operations += 1;
            if *free < job.request.processors || !allowed(machine) {
                continue;
            }
            if placement == Placement::FirstFit {
                return Some(machine);
            }
            if chosen.is_none_or(|other| placement.prefers(&view.machines[machine], &view.machines[other])) {
                chosen = Some(machine);
            }
        }
        chosen
    }

    fn start(&mut self, job: &Waiting, machine: usize, starts: &mut Vec<(JobId, SiteId)>) {
        self.free[machine] -= job.request.processors;
        self.most = self.free.iter().copied().max().unwrap_or(0);
        starts.push((job.job, site(machine)));
    }

    /// The machine on which the job can start earliest, by the expected ends of what runs there; of several, the one that
    /// R5 prefers.
    fn reserve(&mut self, job: &Waiting, placement: Placement, view: &GridView<'_>) -> Reservation {
        let mut best: Option<Reservation> = None;
        for (machine, place) in view.machines.iter().enumerate() {
            self.operations += 1;
            if !place.suits(&job.request) {
                continue;
            }
            let found = self.earliest(machine, job.request.processors, view);
            let better = |best: Reservation| {
                found.at < best.at || found.at == best.at && placement.prefers(place, &view.machines[best.machine])
            };
            if best.is_none_or(better) {
                best = Some(found);
            }
        }
        best.expect("admission rejects jobs wider than the widest machine")
    }

    /// When `need` processors of the machine will be free. As in [`Running::shadow`](crate::Running::shadow), a job
    /// that outlives its estimate is expected to end at any moment, and all releases of one instant count.
    fn earliest(&mut self, machine: usize, need: u32, view: &GridView<'_>) -> Reservation {
        let soonest = view.now.saturating_add(Span::from_nanos(1));
        let in_turn = self.in_turn.iter().filter(|(place, _)| *place == machine).map(|(_, job)| job);
        self.ends.clear();
        self.ends.extend(
            view.running[machine].iter().chain(in_turn).map(|job| (job.expected_end.max(soonest), job.processors)),
        );
        self.operations += self.ends.len() as u64;
        self.ends.sort_unstable();
        let mut free = self.free[machine];
        let mut at = None;
        for (end, processors) in &self.ends {
            if at.is_some_and(|at| at < *end) {
                break;
            }
            free += processors;
            if free >= need {
                at = Some(*end);
            }
        }
        let at = at.expect("an idle machine has room for every job that suits it");
        Reservation { machine, at, extra: free - need }
    }
}

/// The machine's number as others know it.
pub(super) fn site(machine: usize) -> SiteId {
    SiteId(u32::try_from(machine).expect("fewer than 2^32 machines"))
}
