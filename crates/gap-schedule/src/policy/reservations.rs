//! Reservations of all waiting jobs, kept from instant to instant.

use crate::min_demand::MinDemand;
use crate::order::Priority;
use crate::policy::held_reservations::{HeldReservation, HeldReservations};
use crate::policy::machine_profiles::{END, MachineProfiles, ReservedSlot, SHORTEST};
use crate::policy::readings::{CompressOrder, Placement};
use crate::queue::QueuedJob;
use crate::reason::Reason;
use crate::view::{Machine, RunningJob, View, site};
use sim_core::{JobId, Request, SiteId, Span, Time};

/// Waiting jobs, each with its reservation, and the running jobs. [`Conservative`](crate::Conservative) documents the
/// treatment of reservations after events.
#[derive(Clone, Debug, Default)]
pub(super) struct Reservations {
    held: HeldReservations,
    profiles: MachineProfiles,
    placement: Placement,
    pub(super) order: CompressOrder,
    /// Order of turns, unless it goes by reserved starts.
    pub(super) turns: Priority,
    /// True if a job has ended since the last update.
    ended: bool,
    /// True if the last compression has moved a job, so that another may find more to move.
    is_loose: bool,
    /// True if a job has ended earlier than expected since the last update.
    ended_early: bool,
    /// True after another unexpected event, such as a failure or a repair.
    pub(super) is_stale: bool,
    /// True if a job had outlived its estimate at the last update; and the time of that update.
    is_overdue: bool,
    now: Time,
}

impl Reservations {
    /// Returns an empty set.
    pub(super) fn new(placement: Placement, order: CompressOrder) -> Self {
        Self { placement, order, ..Self::default() }
    }

    /// Initializes the state of each machine, on which nothing runs.
    pub(super) fn begin(&mut self, machines: &[Machine]) {
        self.profiles = MachineProfiles::new(machines, self.placement);
    }

    /// All reservations, by reserved start, then by arrival.
    pub(super) const fn held(&self) -> &HeldReservations {
        &self.held
    }

    /// Returns the reserved start of the job, and its machine.
    pub(super) fn promised(&self, job: JobId) -> Option<(Time, SiteId)> {
        let reservation = self.held.iter().find(|held| held.waiting.job == job)?;
        reservation.slot.map(|slot| (slot.start, self.machine(slot)))
    }

    /// Returns the jobs whose reserved start has come.
    pub(super) fn due(&self, now: Time) -> Vec<JobId> {
        let due = self.held.iter().filter(|held| held.slot.is_some_and(|slot| slot.start <= now));
        due.map(|held| held.waiting.job).collect()
    }

    /// Returns the reason why the job waits, and its reservation.
    pub(super) fn reasons(&self, job: JobId, now: Time) -> (Reason, Reason) {
        let own = self.held.iter().find(|held| held.waiting.job == job).expect("a job that waits is held");
        let mut profiles = self.profiles.clone();
        if let Some(slot) = own.slot {
            profiles.cancel(slot, &own.waiting.request);
        }
        let others = self.held.iter().filter(|held| held.waiting.job != job);
        let promised = others.filter_map(|held| held.slot.map(|slot| (&held.waiting, slot)));
        let obstacle = profiles.obstacle(&own.waiting, now, promised);
        (obstacle.unwrap_or(Reason::Kept), profiles.promise(own.slot))
    }

    /// Returns the first reserved start that may come without another event at that instant.
    ///
    /// Behind a job that has outlived its estimate, starts are planned for the next instant, and behind jobs that are
    /// expected to take no time for the instants after that: all of them wait for its end.
    pub(super) fn next_start(&self) -> Option<Time> {
        let brief = if self.is_overdue { SHORTEST * (self.held.len() as u64 + 1) } else { Span::ZERO };
        let soon = self.now.saturating_add(brief);
        self.held.next_start(soon).filter(|start| *start < END)
    }

    /// Machines, in order of preference.
    pub(super) fn ranks(&self) -> std::ops::Range<usize> {
        self.profiles.ranks()
    }

    /// Machine of a slot.
    pub(super) fn machine(&self, slot: ReservedSlot) -> SiteId {
        site(self.profiles.index(slot.rank))
    }

    /// Records that a job has ended.
    pub(super) fn finish(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        let rank = self.profiles.rank(machine.index());
        self.ended = true;
        if job.expected_end == Time::MAX {
            // A job that never ends does not hold in the plan what it holds in fact.
            self.is_stale = true;
        } else if job.expected_end > view.now {
            // A stale plan will be laid out again, and may still hold the former expectation of this job.
            if !self.is_stale {
                self.profiles.give_back(rank, job, view.now);
            }
            self.ended_early = true;
        }
        self.is_stale |= job.expected_end < view.now;
    }

    /// Updates the plan after the events of this instant, and `compresses` it if one of them was unexpected. Returns
    /// true if reservations may have changed.
    pub(super) fn update(&mut self, compresses: bool, view: &View<'_>) -> bool {
        self.profiles.forget_before(view.now);
        let is_overdue = self.profiles.ranks().any(|rank| self.profiles.is_overdue(rank, view));
        let is_stale = std::mem::replace(&mut self.is_stale, is_overdue) || is_overdue;
        (self.is_overdue, self.now) = (is_overdue, view.now);
        if is_stale {
            self.mend(view);
        }
        let ended = std::mem::take(&mut self.ended);
        // Without an early end, a compression finds what the previous one has left, if that has moved any job. In order
        // of reserved starts this is skipped: on one machine, it would find nothing.
        let again = self.order == CompressOrder::Arrival && self.is_loose && ended;
        let freed = std::mem::take(&mut self.ended_early) || again;
        if compresses && (is_stale || freed) {
            self.is_loose = self.compress(view.now, |_| true);
        } else if is_stale {
            // A start at the end of time is no reservation.
            self.compress(view.now, |slot| slot.is_none_or(|slot| slot.start >= END));
        }
        is_stale || compresses && freed
    }

    /// Keeps the reservations that are still possible, and gives the other jobs new ones.
    fn mend(&mut self, view: &View<'_>) {
        let turns: Vec<usize> = self.in_turn().collect();
        let Self { profiles, held, .. } = self;
        profiles.ranks().for_each(|rank| profiles.clear(rank, view));
        for place in &turns {
            let HeldReservation { waiting, slot, .. } = *held.at(*place);
            let request = waiting.request;
            let slot = slot.filter(|slot| {
                slot.start >= view.now && profiles.fits(slot.rank, MinDemand::of(&request), request.sites, slot.start)
            });
            if let Some(slot) = slot {
                profiles.reserve(slot, &request);
            }
            held.settle(*place, slot);
        }
        for place in turns {
            let HeldReservation { waiting, slot: None, .. } = *held.at(place) else { continue };
            let slot = profiles.best(profiles.ranks(), &waiting.request, view.now, None);
            if let Some(slot) = slot {
                profiles.reserve(slot, &waiting.request);
            }
            held.settle(place, slot);
        }
    }

    /// Moves the jobs that `may` to earlier starts. Returns true if a job has moved.
    fn compress(&mut self, now: Time, may: impl Fn(Option<ReservedSlot>) -> bool) -> bool {
        let mut moved = false;
        for place in self.in_turn() {
            moved |= may(self.held.at(place).slot) && self.move_ahead(place, now);
        }
        if moved {
            self.held.sort();
        }
        moved
    }

    /// Moves the job in a place to an earlier start. Returns false if there is none.
    fn move_ahead(&mut self, place: usize, now: Time) -> bool {
        let HeldReservation { waiting: QueuedJob { request, .. }, slot, .. } = *self.held.at(place);
        // No job starts before the present instant.
        if slot.is_some_and(|slot| slot.start <= now) {
            return false;
        }
        let Some(best) = self.profiles.best(self.profiles.ranks(), &request, now, slot) else { return false };
        match slot {
            Some(slot) => self.profiles.advance(slot, best, &request),
            None => self.profiles.reserve(best, &request),
        }
        self.held.move_ahead(place, best);
        true
    }

    /// Iterates over the places in the order of turns.
    fn in_turn(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { held, order, turns, now, .. } = self;
        let mut sorted: Vec<usize> = Vec::new();
        if *order == CompressOrder::Reserved {
            sorted.extend(held.in_order_of_starts());
        } else if !turns.is_arrival() {
            sorted.extend(0..held.len());
            sorted.sort_by_cached_key(|place| (turns.turn(&held.at(*place).waiting, *now), *place));
        }
        (0..held.len()).map(move |number| sorted.get(number).copied().unwrap_or(number))
    }

    /// Returns the earliest start for the job, on the most preferred machine.
    pub(super) fn earliest(&self, request: &Request, now: Time) -> Option<ReservedSlot> {
        self.profiles.best(self.profiles.ranks(), request, now, None)
    }

    /// Returns the earliest start for the job on one machine.
    pub(super) fn earliest_on(&self, rank: usize, request: &Request, now: Time) -> Option<ReservedSlot> {
        self.profiles.best([rank], request, now, None)
    }

    /// Adds a job with this reservation.
    pub(super) fn insert(&mut self, waiting: QueuedJob, slot: Option<ReservedSlot>) {
        if let Some(slot) = slot {
            self.profiles.reserve(slot, &waiting.request);
        }
        self.held.push(waiting, slot);
    }

    /// Frees the slot of the reservation with this number, until [`settle`](Self::settle).
    pub(super) fn lift(&mut self, number: usize) {
        let HeldReservation { waiting, slot, .. } = &self.held[number];
        if let Some(slot) = *slot {
            self.profiles.cancel(slot, &waiting.request);
        }
    }

    /// Assigns a slot, old or new, to the lifted reservation with this number.
    pub(super) fn settle(&mut self, number: usize, slot: ReservedSlot) {
        let request = self.held[number].waiting.request;
        self.profiles.reserve(slot, &request);
        self.held.settle(self.held.place(number), Some(slot));
    }

    /// Starts the jobs whose reserved start has come.
    pub(super) fn start_due(&mut self, now: Time, mut start: impl FnMut(&QueuedJob, SiteId, Time)) {
        while let Some(HeldReservation { waiting, slot, .. }) = self.held.pop_due(now) {
            let slot = slot.expect("a job without a reservation is not due");
            // Such a job holds its processors differently when it runs and when it waits.
            let is_endless = waiting.request.estimate.is_none();
            self.is_stale |= is_endless || self.profiles.takes_no_time(slot.rank, &waiting.request);
            start(&waiting, site(self.profiles.index(slot.rank)), slot.start);
        }
    }
}
