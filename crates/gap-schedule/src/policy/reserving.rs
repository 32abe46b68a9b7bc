//! Engine of backfilling: turns, reservations, and the jobs that start around them.

mod one;

use crate::min_demand::{MinDemand, Tournament};
use crate::policy::machine_profiles::{MachineProfiles, ReservedSlot, promise};
use crate::policy::pass::{JobLine, QueuePass};
use crate::policy::readings::{BackfillReadings, Placement};
use crate::queue::QueuedJob;
use crate::reason::{Reason, Right};
use crate::view::{Machine, RunningJob, View, site};
use sim_core::{Request, SiteSet, Time};
use std::cell::Cell;

/// Number of waiting jobs that hold a reservation; by default one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Depth {
    /// At most this number. With 0, every job that fits starts.
    Jobs(u32),
    /// All waiting jobs.
    All,
}

impl Default for Depth {
    fn default() -> Self {
        Self::Jobs(1)
    }
}

impl Depth {
    /// Returns true if one more job may hold a reservation.
    pub const fn allows_beside(self, holders: usize) -> bool {
        match self {
            Self::Jobs(jobs) => holders < jobs as usize,
            Self::All => true,
        }
    }
}

/// Engine of backfilling: jobs have their turns in the order of a [`JobLine`]; those that cannot start get
/// reservations, and the others may start if they delay no reservation.
///
/// A single reservation is found in the sorted ends of the running jobs, without a profile (the module `one`). Any
/// other number uses profiles of all machines, which are laid out at each pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Reserving {
    pub(super) depth: Depth,
    /// [`BackfillReadings::rule`] applies to a single reservation only.
    pub(super) readings: BackfillReadings,
    /// True if the holders are kept for the next pass. Then no reservation is skipped for the reason that it would
    /// delay no job of this one.
    pub(super) keeps_holders: bool,
    /// True if jobs that are left after the turns come up again in another order, and are reported there.
    pub(super) resorts: bool,
    /// Jobs that hold a reservation, in the order in which they got it.
    pub(super) holders: Vec<QueuedJob>,
    free_tree: FreeProcessorTree,
    /// Expected availability of each machine, unless there is one reservation.
    profiles: MachineProfiles,
    /// Reservations in the profiles, if a probe listens.
    promised: Vec<(QueuedJob, ReservedSlot)>,
    /// Jobs that this pass has started before the head was found, if there is one reservation.
    in_turn: Vec<(usize, RunningJob)>,
    /// Operations so far with one reservation: see [`OrderedBackfill::operations`](crate::OrderedBackfill::operations).
    pub(super) operations: Cell<u64>,
}

impl Reserving {
    pub(super) fn new(depth: Depth, readings: BackfillReadings) -> Self {
        Self { depth, readings, ..Self::default() }
    }

    pub(super) fn begin(&mut self, view: &View<'_>) {
        self.free_tree = FreeProcessorTree::new(view.machines, self.readings.placement);
        self.profiles = MachineProfiles::new(view.machines, self.readings.placement);
    }

    pub(super) const fn allows_another(&self) -> bool {
        self.depth.allows_beside(self.holders.len())
    }

    /// Starts the jobs of `line` in their turns and gives reservations to those that cannot start, up to the maximum.
    /// Returns true if a job that is left may start.
    pub(super) fn take_turns(&mut self, line: &mut JobLine<'_>, pass: &mut QueuePass<'_>) -> bool {
        pass.view.free.iter().enumerate().for_each(|(machine, free)| self.free_tree.set(machine, *free));
        self.holders.clear();
        match self.depth {
            Depth::Jobs(1) => self.find_head(line, pass),
            _ => self.reserve_many(line, pass),
        }
        // Most passes end here: no job behind the head would profit from the search for its reservation.
        (self.depth == Depth::Jobs(0) || !self.holders.is_empty()) && (pass.listens || self.leaves_room(line))
    }

    /// Starts the jobs of `line` that delay none of the holders, in order.
    pub(super) fn backfill(&mut self, line: &mut JobLine<'_>, pass: &mut QueuePass<'_>) {
        if !pass.listens {
            line.narrow(self.free_tree.most());
        }
        match self.depth {
            Depth::Jobs(1) => self.backfill_behind_one(line, pass),
            _ => self.backfill_behind_many(line, pass),
        }
    }

    /// Returns false if no job ahead is narrow enough for the processors that are left.
    fn leaves_room(&self, line: &JobLine<'_>) -> bool {
        let most = self.free_tree.most();
        let worth = |least: MinDemand| {
            self.operations.update(|steps| steps + 1);
            least.processors <= most
        };
        line.may_have(worth)
    }

    fn reserve_many(&mut self, line: &mut JobLine<'_>, pass: &mut QueuePass<'_>) {
        let view = pass.view;
        self.profiles.clear(view);
        self.promised.clear();
        while let Some(next) = pass.next(line) {
            let best = self.profiles.earliest(&next.request, view.now, None);
            if let Some(slot) = best.filter(|slot| slot.start == view.now) {
                self.start(&next, slot, pass);
                continue;
            }
            let holds = self.allows_another();
            if holds || !self.resorts {
                pass.refuse(&next, || self.refusal(&next, view.now));
            }
            if !holds {
                return; // There is no reservation at all.
            }
            if let Some(slot) = best {
                self.profiles.reserve(slot, &next.request);
                if pass.listens {
                    self.promised.push((next, slot));
                }
            }
            pass.report(&next, || promise(best));
            self.holders.push(next);
            if !self.allows_another() || !self.keeps_holders && !pass.listens && !self.leaves_room(line) {
                return;
            }
        }
    }

    fn backfill_behind_many(&mut self, line: &mut JobLine<'_>, pass: &mut QueuePass<'_>) {
        let now = pass.view.now;
        loop {
            let worth = |least| self.room(least, SiteSet::ALL, now).is_some();
            let Some(next) = pass.next_where(line, worth, |job| self.refusal(job, now)) else { break };
            // There is room, but possibly only on machines that the job may not use.
            if let Some(slot) = self.room(MinDemand::of(&next.request), next.request.sites, now) {
                self.start(&next, slot, pass);
            } else {
                pass.refuse(&next, || self.refusal(&next, now));
            }
        }
    }

    fn refusal(&self, job: &QueuedJob, now: Time) -> Reason {
        self.profiles.obstacle(job, now, &self.promised).unwrap_or(Reason::Kept)
    }

    /// Starts the job, which may overtake holders of reservations.
    fn start(&mut self, job: &QueuedJob, slot: ReservedSlot, pass: &mut QueuePass<'_>) {
        let passes = !self.holders.is_empty();
        pass.start(job, slot.machine, if passes { Right::Backfilled } else { Right::InTurn });
        self.profiles.start(slot, &job.request, passes);
        self.free_tree.seize(slot.machine, job.request.processors);
    }

    /// Returns the most preferred machine on which a job of such demands that may run at these `sites` could start now.
    fn room(&self, least: MinDemand, sites: SiteSet, now: Time) -> Option<ReservedSlot> {
        let fits = |machine| self.profiles.fits(machine, least, sites, now);
        let machine = self.free_tree.find(least.processors, &Cell::default(), fits)?;
        Some(ReservedSlot { start: now, machine })
    }
}

/// Free processors of machines in an order of preference: finds the most preferred machine with room in O(log n).
#[derive(Clone, Debug, Default)]
struct FreeProcessorTree {
    /// Free processors by rank.
    free: Tournament<u32>,
    /// Machines, the preferred one first.
    order: Vec<usize>,
    /// Rank of each machine in that order.
    ranks: Vec<usize>,
}

impl FreeProcessorTree {
    /// Returns the tree of the machines, without a free processor.
    fn new(machines: &[Machine], placement: Placement) -> Self {
        let order = placement.order(machines);
        let mut ranks = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, machine)| ranks[*machine] = rank);
        Self { free: Tournament::planted(order.len(), [], 0), order, ranks }
    }

    fn free(&self, machine: usize) -> u32 {
        self.free.at(self.ranks[machine])
    }

    /// Largest number of free processors of any machine.
    fn most(&self) -> u32 {
        self.free.root()
    }

    fn seize(&mut self, machine: usize, processors: u32) {
        self.set(machine, self.free(machine) - processors);
    }

    fn set(&mut self, machine: usize, free: u32) {
        self.free.set(self.ranks[machine], free);
    }

    /// Returns the most preferred machine on which `processors` (at least one) are free and that the job `may_use`.
    /// `steps` counts the nodes visited.
    fn find(&self, processors: u32, steps: &Cell<u64>, may_use: impl Fn(usize) -> bool) -> Option<usize> {
        let has_room = |free| {
            steps.update(|steps| steps + 1);
            free >= processors
        };
        self.free.first(has_room, |rank| may_use(self.order[rank])).map(|rank| self.order[rank])
    }

    /// Returns the most preferred machine with room for the job, among those that it may use.
    fn first(&self, job: &Request, steps: &Cell<u64>) -> Option<usize> {
        self.find(job.processors, steps, |machine| job.sites.contains(site(machine)))
    }
}
