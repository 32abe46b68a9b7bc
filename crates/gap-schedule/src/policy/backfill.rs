//! Backfilling in order of arrival, with any number of reservations that are kept from pass to pass.

use crate::machine::site;
use crate::min_demand::MinDemand;
use crate::policy::Policy;
use crate::policy::free_processor_tree::FreeProcessorTree;
use crate::policy::held_reservations::Reservation;
use crate::policy::machine_profiles::{MachineProfiles, Slot};
use crate::policy::readings::Placement;
use crate::policy::telling::tell_starts;
use crate::queue::{Queue, QueuedJob};
use crate::reason::{Reason, ReasonProbe};
use crate::running::RunningJob;
use crate::view::{Starts, View};
use serde::{Deserialize, Serialize};
use sim_core::{JobId, SiteId, SiteSet, Time};
use std::cell::Cell;

/// Backfilling with any number of reservations: none, one (EASY), some, or one for each job that waits (conservative
/// backfilling, CONS).
///
/// At each pass, the jobs take their turns in order of arrival. A job starts if it can start now and touches no
/// reservation, until its expected end, on whichever machine it can; of several, on the fastest (R5). Else it is
/// given a reservation, if fewer jobs than the depth says have one: at the earliest instant, over all machines, at
/// which it fits between what runs, by the expected ends, and the reservations before it; of several machines with the
/// same instant, on the fastest.
///
/// The schedule is that of a pass that lays out all reservations anew, in order of arrival. So when a job ends early, every
/// reservation is reconsidered (*compression*); so it is when a machine fails or has been repaired. That of the job which
/// has waited longest never moves to a later instant, where estimates are upper bounds; those of others do not as long as
/// estimates are exact, but what moves ahead after an early end may then be in their way.
///
/// At depth 1 this is [`Easy`](crate::Easy), which is faster. A job without an estimate is expected to run for ever:
/// no reservation can rest on its end. A job that can never start, by expectations, has its turn all the same, and counts
/// as one that has a reservation.
///
/// Reservations are kept from pass to pass, and only those machines are planned anew whose jobs did not end as expected, or
/// that a job then leaves or comes to. As long as estimates are exact, an arrival costs one search per machine, and an
/// end nothing, if all jobs that wait have reservations. An operation is one search for the earliest start of one job on
/// one machine, or one step past jobs or machines in search of one that can start now.
///
/// Sources: A. W. Mu'alem and D. G. Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
/// scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001 (conservative backfilling); Klusáček et al.,
/// "Comparison of multi-criteria scheduling techniques" (2008), §5 (several machines, reservation depth).
#[derive(Clone, Debug, Default)]
pub struct Backfill {
    depth: Depth,
    placement: Placement,
    /// The jobs that have waited longest, as many as the depth says, in order of arrival.
    reservations: Vec<Reservation>,
    /// The first reserved start.
    next: Option<Time>,
    /// Kept for its memory only.
    former: Vec<Reservation>,
    /// The others that have had their turn, and could not start.
    behind: Queue,
    /// Those that have come since the last pass.
    newcomers: Vec<QueuedJob>,
    profiles: MachineProfiles,
    free_tree: FreeProcessorTree,
    /// Whether a job has ended since the last pass.
    freed: bool,
    /// By rank: the machines whose profiles no longer hold, in ascending order.
    stale: Vec<usize>,
    operations: u64,
}

/// How many jobs that wait hold a reservation.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// At most so many. With none, whoever fits starts.
    Jobs(u32),
    /// All of them.
    #[default]
    All,
}

impl Depth {
    /// Whether one more job may hold a reservation, beside those that do.
    pub const fn allows_beside(self, holders: usize) -> bool {
        match self {
            Self::Jobs(jobs) => holders < jobs as usize,
            Self::All => true,
        }
    }
}

impl Backfill {
    /// The policy with `depth` reservations, and nobody waiting.
    pub fn new(depth: Depth, placement: Placement) -> Self {
        Self { depth, placement, ..Self::default() }
    }

    /// Conservative backfilling: every job that waits holds a reservation.
    pub fn conservative() -> Self {
        Self::new(Depth::All, Placement::Fastest)
    }

    /// When and where the job is promised to start, as of the last pass.
    pub fn promised(&self, job: JobId) -> Option<(Time, SiteId)> {
        let reservation = self.reservations.iter().find(|reservation| reservation.waiting.job == job)?;
        reservation.slot.map(|slot| (slot.start, site(self.profiles.index(slot.rank))))
    }

    /// Why the job waits, which had its turn after `starts`: what runs, and the reservations of those whose turn came before,
    /// as they were then.
    fn refusal(&self, job: &QueuedJob, holders: usize, view: &View<'_>, starts: &Starts) -> Reason {
        let mut profiles = MachineProfiles::new(view.machines, self.placement);
        for rank in profiles.ranks() {
            profiles.look_again(rank, view);
            profiles.clear(rank, view);
        }
        let mut promised: Vec<(QueuedJob, Slot)> = Vec::new();
        let mut holders = self.reservations[..holders].iter().peekable();
        let mut has_holder = false;
        // In order of arrival, both those who have started and those who hold a reservation.
        for other in view.queue {
            if let Some(held) = holders.next_if(|held| held.waiting.job == other.job) {
                has_holder = true;
                if let Some(slot) = held.slot {
                    profiles.reserve(slot, &other.request);
                    promised.push((*other, slot));
                }
            } else if let Some((_, machine)) = starts.iter().find(|(start, _)| *start == other.job) {
                let slot = Slot { start: view.now, rank: profiles.rank(machine.index()) };
                profiles.start(slot, &other.request, has_holder);
            }
        }
        let promised = promised.iter().map(|(other, slot)| (other, *slot));
        profiles.obstacle(job, view.now, promised).unwrap_or(Reason::Kept)
    }

    /// Tells those who wait on, now that the pass is over.
    fn tell_waiting(&self, view: &View<'_>, starts: &Starts, probe: &mut dyn ReasonProbe) {
        let waits = |job: &QueuedJob| !starts.iter().any(|(other, _)| *other == job.job);
        for (place, job) in view.queue.iter().enumerate().filter(|(_, job)| waits(job)) {
            if !probe.follows(job.job) {
                continue;
            }
            let earlier: Vec<JobId> = view.queue.iter().take(place).map(|other| other.job).collect();
            let before: Starts = starts.iter().filter(|(other, _)| earlier.contains(other)).copied().collect();
            let held = self.reservations.iter().position(|held| held.waiting.job == job.job);
            let holders = held.unwrap_or(self.reservations.len());
            probe.observe(job.job, self.refusal(job, holders, view, &before), &before);
            if let Some(number) = held {
                probe.observe(job.job, self.profiles.promise(self.reservations[number].slot), &before);
            }
        }
    }

    /// Notes that a machine's profile no longer holds.
    fn invalidate(&mut self, rank: usize) {
        if let Err(place) = self.stale.binary_search(&rank) {
            self.stale.insert(place, rank);
        }
    }

    /// The job starts now, as reserved or at once.
    fn start(&mut self, waiting: &QueuedJob, slot: Slot, promised: bool, starts: &mut Starts) {
        let passes = !promised && !self.reservations.is_empty();
        if promised {
            self.profiles.start_reserved(slot, &waiting.request);
        } else {
            self.profiles.start(slot, &waiting.request, passes);
        }
        // The next pass will expect of these jobs something else than this one does.
        let is_endless = waiting.request.estimate.is_none();
        if passes && is_endless || self.profiles.takes_no_time(slot.rank, &waiting.request) {
            self.invalidate(slot.rank);
        }
        let machine = self.profiles.index(slot.rank);
        self.free_tree.set(machine, self.free_tree.free(machine) - waiting.request.processors);
        starts.push((waiting.job, site(machine)));
    }

    /// Starts the jobs whose reserved start has come.
    fn start_due(&mut self, now: Time, starts: &mut Starts) {
        let mut reservations = std::mem::take(&mut self.reservations);
        for reservation in &reservations {
            if let Some(slot) = reservation.due(now) {
                self.start(&reservation.waiting, slot, true, starts);
            }
        }
        reservations.retain(|reservation| reservation.due(now).is_none());
        self.next = reservations.iter().filter_map(|reservation| reservation.slot).map(|slot| slot.start).min();
        self.reservations = reservations;
    }

    /// The machine has failed, or has been repaired.
    fn look_again(&mut self, machine: SiteId, view: &View<'_>) {
        let machine = machine.index();
        let rank = self.free_tree.rank(machine);
        self.free_tree.set(machine, view.free[machine]);
        self.profiles.look_again(rank, view);
        self.invalidate(rank);
    }

    /// Makes all reservations anew, in order of arrival, and starts the jobs that can start now.
    ///
    /// The machines that are `rebuilt` have no reservations but those of jobs that have had their turn. On all others, the
    /// reservations stand: no job has a better slot there than before.
    fn compress(&mut self, view: &View<'_>, starts: &mut Starts) {
        let mut rebuilt = std::mem::take(&mut self.stale);
        for rank in &rebuilt {
            self.profiles.clear(*rank, view);
        }
        self.next = None;
        let mut former = std::mem::replace(&mut self.reservations, std::mem::take(&mut self.former));
        for reservation in former.drain(..) {
            let (waiting, request) = (reservation.waiting, reservation.waiting.request);
            let mut best = self.profiles.best(rebuilt.iter().copied(), &request, view.now);
            let stands = reservation.slot.filter(|slot| rebuilt.binary_search(&slot.rank).is_err());
            if let Some(slot) = stands {
                if best.is_none_or(|best| slot < best) {
                    if slot.start > view.now {
                        self.hold(reservation);
                    } else {
                        self.start(&waiting, slot, true, starts);
                    }
                    continue;
                }
                self.rebuild(slot.rank, &mut rebuilt, view);
            } else if let Some(lost) = reservation.slot {
                // If its place is worse than before, another machine may now be better.
                for rank in self.profiles.ranks() {
                    let is_better = |slot: Slot| best.is_none_or(|best| slot < best);
                    if best.is_none_or(|best| best > lost)
                        && rebuilt.binary_search(&rank).is_err()
                        && self.profiles.at_best(rank, &request, view.now).is_some_and(is_better)
                    {
                        self.rebuild(rank, &mut rebuilt, view);
                        let there = self.profiles.best([rank], &request, view.now);
                        best = [best, there].into_iter().flatten().min();
                    }
                }
            }
            self.take_turn(&waiting, best, view.now, starts);
        }
        self.former = former;
    }

    /// Builds a machine's profile anew, with the reservations of jobs that have had their turn.
    fn rebuild(&mut self, rank: usize, rebuilt: &mut Vec<usize>, view: &View<'_>) {
        self.profiles.clear(rank, view);
        for reservation in &self.reservations {
            if let Some(slot) = reservation.slot.filter(|slot| slot.rank == rank) {
                self.profiles.reserve(slot, &reservation.waiting.request);
            }
        }
        let place = rebuilt.binary_search(&rank).unwrap_err();
        rebuilt.insert(place, rank);
    }

    /// The job starts, or its best slot is reserved.
    fn take_turn(&mut self, waiting: &QueuedJob, best: Option<Slot>, now: Time, starts: &mut Starts) {
        match best {
            Some(slot) if slot.start == now => self.start(waiting, slot, false, starts),
            slot => {
                if let Some(slot) = slot {
                    self.profiles.reserve(slot, &waiting.request);
                }
                self.hold(Reservation { waiting: *waiting, slot });
            }
        }
    }

    /// Keeps a reservation for later.
    fn hold(&mut self, reservation: Reservation) {
        self.next = [self.next, reservation.slot.map(|slot| slot.start)].into_iter().flatten().min();
        self.reservations.push(reservation);
    }

    /// The best slot for a job that comes after all reservations.
    fn best(&mut self, waiting: &QueuedJob, now: Time) -> Option<Slot> {
        self.profiles.best(self.profiles.ranks(), &waiting.request, now)
    }

    /// The most preferred machine on which a job of such demands that may run at these `sites` could start now.
    fn room(&self, least: MinDemand, sites: SiteSet, now: Time, steps: &Cell<u64>) -> Option<Slot> {
        let mut from = 0;
        let mut looked = 0;
        let found = loop {
            let Some(rank) = self.free_tree.next(from, least.processors, &mut looked) else { break None };
            if self.profiles.fits(rank, least, sites, now) {
                break Some(Slot { start: now, rank });
            }
            from = rank + 1;
        };
        steps.set(steps.get() + looked);
        found
    }

    /// Gives the jobs that have no reservation their turn, in order of arrival.
    fn backfill(&mut self, now: Time, starts: &mut Starts) {
        while self.depth.allows_beside(self.reservations.len())
            && let Some(next) = self.behind.front().copied()
        {
            self.behind.remove(next.job);
            let best = self.best(&next, now);
            self.take_turn(&next, best, now, starts);
        }
        let mut behind = std::mem::take(&mut self.behind);
        let mut walk = behind.iter();
        let first = starts.len();
        let steps = Cell::new(0);
        while let Some(next) = walk.next_where(|least| self.room(least, SiteSet::ALL, now, &steps).is_some()) {
            // There is room, but the job may not be allowed there.
            let room = self.room(MinDemand::of(&next.request), next.request.sites, now, &steps);
            if let Some(slot) = room {
                self.start(next, slot, false, starts);
            }
        }
        for (job, _) in &starts[first..] {
            behind.remove(*job);
        }
        self.operations += steps.get();
        self.behind = behind;
    }

    /// Gives the jobs that have come since the last pass their turn.
    fn receive(&mut self, now: Time, starts: &mut Starts) {
        let mut newcomers = std::mem::take(&mut self.newcomers);
        let steps = Cell::new(0);
        for next in newcomers.drain(..) {
            if self.depth.allows_beside(self.reservations.len()) {
                let best = self.best(&next, now);
                self.take_turn(&next, best, now, starts);
            } else if let Some(slot) = self.room(MinDemand::of(&next.request), next.request.sites, now, &steps) {
                self.start(&next, slot, false, starts);
            } else {
                self.behind.push(next);
            }
        }
        self.operations += steps.get();
        self.newcomers = newcomers;
    }
}

impl Policy for Backfill {
    fn begin(&mut self, view: &View<'_>) {
        self.profiles = MachineProfiles::new(view.machines, self.placement);
        self.free_tree = FreeProcessorTree::new(view.machines, view.free, self.placement);
    }

    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        self.newcomers.push(*job);
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        let machine = machine.index();
        self.free_tree.set(machine, self.free_tree.free(machine) + job.processors);
        self.freed = true;
        let rank = self.free_tree.rank(machine);
        if job.expected_end != view.now {
            self.invalidate(rank);
        }
        if job.expected_end > view.now {
            self.profiles.cut_short(rank, job, view.now);
        }
    }

    fn on_expiry(&mut self, _: &RunningJob, _: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.look_again(machine, view);
    }

    fn on_failure(&mut self, machine: SiteId, _: &[RunningJob], view: &View<'_>) {
        self.look_again(machine, view);
    }

    fn on_repair(&mut self, machine: SiteId, view: &View<'_>) {
        self.look_again(machine, view);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let now = view.now;
        self.profiles.begin_pass();
        let overdue: Vec<usize> = self.profiles.ranks().filter(|rank| self.profiles.is_overdue(*rank, view)).collect();
        overdue.iter().for_each(|rank| self.invalidate(*rank));
        let is_due = self.next.is_some_and(|start| start <= now);
        if is_due {
            // While it waits, a job without an estimate is given more than when it runs: the last instant, too.
            let endless = |reservation: &Reservation| {
                reservation.due(now).filter(|_| reservation.waiting.request.estimate.is_none())
            };
            let ranks: Vec<usize> = self.reservations.iter().filter_map(endless).map(|slot| slot.rank).collect();
            ranks.into_iter().for_each(|rank| self.invalidate(rank));
        }
        let freed = std::mem::take(&mut self.freed) || is_due || !self.stale.is_empty();
        if !self.stale.is_empty() {
            self.compress(view, starts);
        } else if is_due {
            self.start_due(now, starts);
        }
        // As long as nothing is given back, what could not start before cannot start now.
        if freed {
            self.backfill(now, starts);
        }
        self.receive(now, starts);
        // What is expected to end at any moment does not do so when it is expected to.
        overdue.into_iter().for_each(|rank| self.invalidate(rank));
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        let due = self.reservations.iter().filter(|held| held.due(view.now).is_some());
        let due: Vec<JobId> = due.map(|held| held.waiting.job).collect();
        self.schedule(view, starts);
        tell_starts(&due, view, starts, probe);
        self.tell_waiting(view, starts, probe);
    }
}

impl Backfill {
    /// Elementary operations so far, as described above.
    pub fn operations(&self) -> u64 {
        self.operations + self.profiles.searches
    }
}
