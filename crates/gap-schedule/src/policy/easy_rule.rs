//! EASY's rule on several machines, whatever the order of the queue.

use crate::machine::{Machine, site};
use crate::min_demand::MinDemand;
use crate::policy::free_processor_tree::FreeProcessorTree;
use crate::policy::line::Line;
use crate::policy::readings::{BackfillReadings, BackfillRule};
use crate::policy::telling::{Telling, no_room};
use crate::queue::QueuedJob;
use crate::reason::{Reason, ReasonProbe, ReservedStart, Right};
use crate::running::RunningJob;
use crate::view::{Starts, View};
use sim_core::{Request, Span, Time};
use std::cell::Cell;

/// The rule, and what it knows of the machines from pass to pass. It is described at [`Easy`](crate::Easy).
#[derive(Clone, Debug, Default)]
pub(super) struct EasyRule {
    readings: BackfillReadings,
    free_tree: FreeProcessorTree,
    fastest: Option<Machine>,
    /// What this pass has started before the head was found.
    in_turn: Vec<(usize, RunningJob)>,
    operations: u64,
}

/// What the head of the queue is promised.
#[derive(Copy, Clone, Debug)]
struct Reservation {
    machine: usize,
    /// When the head starts there.
    at: Time,
    /// Time until then. Of a job that is never expected to end, one nanosecond less than for ever.
    window: Span,
    /// Processors of the machine that the head leaves over then.
    extra: u32,
}

impl EasyRule {
    pub(super) fn new(readings: BackfillReadings) -> Self {
        Self { readings, ..Self::default() }
    }

    /// Steps and looks so far, as counted by [`Easy`](crate::Easy).
    pub(super) const fn operations(&self) -> u64 {
        self.operations
    }

    /// Initializes the state of each machine.
    pub(super) fn begin(&mut self, view: &View<'_>) {
        self.free_tree = FreeProcessorTree::new(view.machines, view.free, self.readings.placement);
        self.fastest = view.machines.iter().max_by(|one, other| one.speed.total_cmp(&other.speed)).copied();
    }

    /// Starts jobs of `line` in their turn as long as they fit, makes a reservation for the first that does not, the
    /// head, and starts those behind it that do it no harm. The head, if there is one.
    pub(super) fn pass(
        &mut self,
        line: &mut impl Line,
        view: &View<'_>,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) -> Option<QueuedJob> {
        let head = self.take_turns(line, view, starts, telling)?;
        // Most passes end here: the search for a reservation would be for nobody but those who are told of it.
        if telling.listens() || self.leaves_room(line) {
            self.pass_by(&head, line, view, starts, telling);
        }
        Some(head)
    }

    /// Starts jobs of `line` in their turn as long as they fit. The first that does not, if there is one.
    pub(super) fn take_turns(
        &mut self,
        line: &mut impl Line,
        view: &View<'_>,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) -> Option<QueuedJob> {
        self.free_tree.update(view.free);
        self.in_turn.clear();
        loop {
            let next = telling.next(line, starts)?;
            let Some(machine) = self.free_tree.first(&next.request, &mut self.operations) else {
                telling.waits(&next, starts, || no_room(&next, view, |machine| self.free_tree.free(machine)));
                return Some(next);
            };
            telling.starts(&next, site(machine), Right::InTurn, starts);
            self.start(&next, machine, starts);
            self.in_turn.push((machine, view.machines[machine].running(next.job, &next.request, view.now)));
        }
    }

    /// Whether a job ahead is narrow enough for what is left.
    pub(super) fn leaves_room(&mut self, line: &impl Line) -> bool {
        let most = self.free_tree.most();
        let steps = Cell::new(0);
        let narrow = line.has_where(|least| {
            steps.set(steps.get() + 1);
            least.processors <= most
        });
        self.operations += steps.get();
        narrow
    }

    /// Makes a reservation for the head, and starts those of `line`, all behind it, that do it no harm.
    pub(super) fn pass_by(
        &mut self,
        head: &QueuedJob,
        line: &mut impl Line,
        view: &View<'_>,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) {
        let promise = self.reserve(&head.request, view);
        let Reservation { machine, at, .. } = promise;
        telling.tells(head, starts, || Reason::Reserved { machine: site(machine), start: at });
        let by = ReservedStart { job: head.job, start: at, processors: head.request.processors };
        match self.readings.rule {
            BackfillRule::MachineAware => self.backfill(line, (promise, by), view, starts, telling),
            BackfillRule::Strict => self.backfill_strictly(line, (promise, by), view, starts, telling),
        }
    }

    /// The machine, of those that suit the job, where its processors are free first, by the expected ends of what runs
    /// there; of several, the one that R5 prefers.
    fn reserve(&mut self, job: &Request, view: &View<'_>) -> Reservation {
        let need = job.processors;
        self.in_turn.sort_unstable();
        let soonest = view.now.saturating_add(Span::from_nanos(1));
        let mut best: Option<(Time, usize)> = None;
        let mut operations = 0;
        for &machine in self.free_tree.order() {
            operations += 1;
            if !view.suits(machine, job) {
                continue;
            }
            let mut free = self.free_tree.free(machine);
            let mut beside = self.started_on(machine).iter().map(|(_, job)| job).peekable();
            // Whether that is all there is to know of this machine.
            let mut consider = |job: &RunningJob| {
                operations += 1;
                let end = job.expected_end.max(soonest);
                if best.is_some_and(|(at, _)| at <= end) {
                    return true;
                }
                free += job.processors;
                if free >= need {
                    best = Some((end, machine));
                }
                free >= need
            };
            let mut in_order = view.running[machine].iter();
            let known = in_order.any(|job| {
                while let Some(other) = beside.next_if(|other| *other < job) {
                    if consider(other) {
                        return true;
                    }
                }
                consider(job)
            });
            assert!(known || beside.any(consider), "an idle machine has room for every job that suits it");
        }
        self.operations += operations;
        let (at, machine) = best.expect("admission rejects jobs that no machine suits");
        // All releases of that instant count.
        let here = self.started_on(machine).iter().map(|(_, job)| job);
        let released = view.running[machine].iter().chain(here).filter(|job| job.expected_end <= at);
        let free = self.free_tree.free(machine) + released.map(|job| job.processors).sum::<u32>();
        Reservation { machine, at, window: at.since(view.now).min(Span::from_nanos(u64::MAX - 1)), extra: free - need }
    }

    /// What this pass has started on the machine before the head was found, once `in_turn` is sorted.
    fn started_on(&self, machine: usize) -> &[(usize, RunningJob)] {
        let from = self.in_turn.partition_point(|(place, _)| *place < machine);
        let to = self.in_turn.partition_point(|(place, _)| *place <= machine);
        &self.in_turn[from..to]
    }

    /// Starts, in their order, the jobs behind the head that do it no harm.
    fn backfill(
        &mut self,
        behind: &mut impl Line,
        (promise, by): (Reservation, ReservedStart),
        view: &View<'_>,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) {
        let Reservation { machine: reserved, at, window, mut extra } = promise;
        // The reserved machine has its own rule, and is out of the others' tree meanwhile.
        let mut left = self.free_tree.free(reserved);
        self.free_tree.set(reserved, 0);
        let in_time = |estimate| view.machines[reserved].takes(estimate) <= window;
        let steps = Cell::new(0);
        loop {
            let most = self.free_tree.most();
            // Of a single job, `MinDemand` is the job itself, so whatever is found may start, if it may run there.
            let on_reserved =
                |least: MinDemand| least.processors <= left && (least.processors <= extra || in_time(least.estimate));
            let worth = |least: MinDemand| {
                steps.set(steps.get() + 1);
                least.processors <= most || on_reserved(least)
            };
            // Where it fits on the reserved machine, what is left over there, and the window, are in its way.
            let refusal = |job: &QueuedJob| {
                if job.request.processors <= left && job.request.sites.contains(site(reserved)) {
                    Reason::Barred { machine: site(reserved), at, left: extra, by: vec![by] }
                } else {
                    let free = |machine| if machine == reserved { left } else { self.free_tree.free(machine) };
                    no_room(job, view, free)
                }
            };
            let Some(next) = telling.next_where(behind, worth, starts, refusal) else { break };
            let need = next.request.processors;
            let elsewhere = self.free_tree.first(&next.request, &mut self.operations);
            let preferred = elsewhere.filter(|other| self.free_tree.rank(*other) < self.free_tree.rank(reserved));
            let may_use_reserved =
                next.request.sites.contains(site(reserved)) && on_reserved(MinDemand::of(&next.request));
            let machine = if preferred.is_none() && may_use_reserved { Some(reserved) } else { elsewhere };
            let Some(machine) = machine else {
                telling.waits(&next, starts, || refusal(&next));
                continue;
            };
            telling.starts(&next, site(machine), Right::Backfilled, starts);
            if machine == reserved {
                left -= need;
                if !in_time(MinDemand::of(&next.request).estimate) {
                    extra -= need;
                }
            } else {
                self.free_tree.set(machine, self.free_tree.free(machine) - need);
            }
            starts.push((next.job, site(machine)));
        }
        self.free_tree.set(reserved, left);
        self.operations += steps.get();
    }

    /// The same, where they must end by the reservation on whatever machine (R6, strictly).
    fn backfill_strictly(
        &mut self,
        behind: &mut impl Line,
        (promise, by): (Reservation, ReservedStart),
        view: &View<'_>,
        starts: &mut Starts,
        telling: &mut Telling<'_, impl ReasonProbe + ?Sized>,
    ) {
        let Reservation { at, window, .. } = promise;
        let fastest = self.fastest.expect("a job is admitted because there is a machine for it");
        let in_time = |estimate| fastest.takes(estimate) <= window;
        let steps = Cell::new(0);
        loop {
            let most = self.free_tree.most();
            let worth = |least: MinDemand| {
                steps.set(steps.get() + 1);
                least.processors <= most && in_time(least.estimate)
            };
            let refusal = |job: &QueuedJob, free_tree: &FreeProcessorTree| match free_tree.first(&job.request, &mut 0) {
                Some(machine) => Reason::Barred { machine: site(machine), at, left: 0, by: vec![by] },
                None => no_room(job, view, |machine| free_tree.free(machine)),
            };
            let next = telling.next_where(behind, worth, starts, |job| refusal(job, &self.free_tree));
            let Some(next) = next else { break };
            let mut rank = 0;
            let mut found_place = false;
            while let Some(found) = self.free_tree.next(rank, next.request.processors, &mut self.operations) {
                let machine = self.free_tree.order()[found];
                let may_use = next.request.sites.contains(site(machine));
                if may_use && view.machines[machine].expects(&next.request) <= window {
                    telling.starts(&next, site(machine), Right::Backfilled, starts);
                    self.start(&next, machine, starts);
                    found_place = true;
                    break;
                }
                rank = found + 1;
            }
            if !found_place {
                telling.waits(&next, starts, || refusal(&next, &self.free_tree));
            }
        }
        self.operations += steps.get();
    }

    fn start(&mut self, job: &QueuedJob, machine: usize, starts: &mut Starts) {
        self.free_tree.set(machine, self.free_tree.free(machine) - job.request.processors);
        starts.push((job.job, site(machine)));
    }
}
