//! Reservations of all waiting jobs, kept from instant to instant.

use crate::min_demand::MinDemand;
use crate::order::Priority;
use crate::policy::machine_profiles::{END, MachineProfiles, ReservedSlot, SHORTEST, promise};
use crate::policy::readings::{CompressOrder, Placement};
use crate::queue::QueuedJob;
use crate::reason::Reason;
use crate::view::{RunningJob, View};
use sim_core::{SiteId, Span, Time};

/// Waiting jobs, each with its reservation, and the running jobs. [`Conservative`](crate::Conservative) documents the
/// treatment of reservations after events.
#[derive(Clone, Debug, Default)]
pub(super) struct Reservations {
    /// Waiting jobs in order of arrival, which defines their places.
    pub(super) held: Vec<HeldReservation>,
    pub(super) profiles: MachineProfiles,
    placement: Placement,
    order: CompressOrder,
    /// Order of turns, unless it goes by reserved starts.
    turns: Priority,
    /// True if a job has ended since the last update.
    ended: bool,
    /// True if the last compression has moved a job, so that another may find more to move.
    is_loose: bool,
    /// True if a job has ended earlier than expected since the last update.
    ended_early: bool,
    /// True after another unexpected event.
    pub(super) is_stale: bool,
    /// True if a job had outlived its estimate at the last update; and the time of that update.
    is_overdue: bool,
    now: Time,
}

/// Waiting job and its reservation; `None` if by expectations it can never start.
#[derive(Copy, Clone, Debug)]
pub(super) struct HeldReservation {
    pub(super) waiting: QueuedJob,
    pub(super) slot: Option<ReservedSlot>,
}

impl HeldReservation {
    /// Reserved start; without a reservation, the last instant of time.
    pub(super) fn start(&self) -> Time {
        self.slot.map_or(Time::MAX, |slot| slot.start)
    }
}

impl Reservations {
    pub(super) fn new(placement: Placement, order: CompressOrder, turns: Priority) -> Self {
        Self { placement, order, turns, ..Self::default() }
    }

    /// Initializes the state of each machine. Jobs that run already enter the plan at the first update.
    pub(super) fn begin(&mut self, view: &View<'_>) {
        self.profiles = MachineProfiles::new(view.machines, self.placement);
        self.is_stale = view.running.iter().any(|running| !running.is_empty());
    }

    /// Returns the places by reserved start, then by arrival.
    pub(super) fn by_start(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.held.len()).collect();
        places.sort_by_key(|place| self.held[*place].start());
        places
    }

    /// Returns the reason why the job in a place waits, and its reservation.
    pub(super) fn reasons(&self, place: usize, now: Time) -> (Reason, Reason) {
        let own = &self.held[place];
        let mut profiles = self.profiles.clone();
        if let Some(slot) = own.slot {
            profiles.cancel(slot, &own.waiting.request);
        }
        let others = self.by_start().into_iter().filter(|other| *other != place).map(|other| &self.held[other]);
        let promised: Vec<_> = others.filter_map(|held| Some((held.waiting, held.slot?))).collect();
        let obstacle = profiles.obstacle(&own.waiting, now, &promised);
        (obstacle.unwrap_or(Reason::Kept), promise(own.slot))
    }

    /// Returns the first reserved start that may come without another event at that instant.
    ///
    /// Behind a job that has outlived its estimate, starts are planned for the next instant, and behind jobs that are
    /// expected to take no time for the instants after that: all of them wait for its end.
    pub(super) fn next_start(&self) -> Option<Time> {
        let brief = if self.is_overdue { SHORTEST * (self.held.len() as u64 + 1) } else { Span::ZERO };
        let soon = self.now.saturating_add(brief);
        self.held.iter().map(HeldReservation::start).filter(|start| *start > soon && *start < END).min()
    }

    pub(super) fn finish(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.ended = true;
        if job.expected_end == Time::MAX {
            // A job that never ends does not hold in the plan what it holds in fact.
            self.is_stale = true;
        } else if job.expected_end > view.now {
            // A stale plan will be laid out again, and may still hold the former expectation of this job.
            if !self.is_stale {
                let rest = job.expected_end.since(view.now);
                self.profiles.plans[machine.index()].cancel(view.now, rest, job.processors);
            }
            self.ended_early = true;
        }
        self.is_stale |= job.expected_end < view.now;
    }

    /// Updates the plan after the events of this instant, and `compresses` it if one of them was unexpected. Returns
    /// true if reservations may have changed.
    pub(super) fn update(&mut self, compresses: bool, view: &View<'_>) -> bool {
        self.profiles.plans.iter_mut().for_each(|plan| plan.forget_before(view.now));
        let mut first_to_end = view.running.iter().filter_map(|running| running.iter().next());
        let is_overdue = first_to_end.any(|job| job.expected_end <= view.now);
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
        profiles.clear(view);
        for place in &turns {
            let HeldReservation { waiting: QueuedJob { request, .. }, slot } = &mut held[*place];
            *slot = slot.filter(|slot| {
                slot.start >= view.now && profiles.fits(slot.machine, MinDemand::of(request), request.sites, slot.start)
            });
            if let Some(slot) = slot {
                profiles.reserve(*slot, request);
            }
        }
        for place in turns {
            let HeldReservation { waiting: QueuedJob { request, .. }, slot: slot @ None } = &mut held[place] else {
                continue;
            };
            *slot = profiles.earliest(request, view.now, None);
            if let Some(slot) = slot {
                profiles.reserve(*slot, request);
            }
        }
    }

    /// Moves the jobs that `may` to earlier starts. Returns true if a job has moved.
    fn compress(&mut self, now: Time, may: impl Fn(Option<ReservedSlot>) -> bool) -> bool {
        let mut moved = false;
        for place in self.in_turn() {
            let HeldReservation { waiting: QueuedJob { request, .. }, slot } = &mut self.held[place];
            // No job starts before the present instant.
            if !may(*slot) || slot.is_some_and(|slot| slot.start <= now) {
                continue;
            }
            let Some(best) = self.profiles.earliest(request, now, *slot) else { continue };
            match slot.replace(best) {
                Some(slot) => self.profiles.advance(slot, best, request),
                None => self.profiles.reserve(best, request),
            }
            moved = true;
        }
        moved
    }

    fn in_turn(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { held, order, turns, now, .. } = self;
        let mut sorted: Vec<usize> = Vec::new();
        if *order == CompressOrder::Reserved {
            sorted = self.by_start();
        } else if !turns.is_arrival() {
            sorted.extend(0..held.len());
            sorted.sort_by_cached_key(|place| turns.turn(&held[*place].waiting, *now));
        }
        (0..held.len()).map(move |number| sorted.get(number).copied().unwrap_or(number))
    }

    pub(super) fn insert(&mut self, waiting: QueuedJob, slot: Option<ReservedSlot>) {
        if let Some(slot) = slot {
            self.profiles.reserve(slot, &waiting.request);
        }
        self.held.push(HeldReservation { waiting, slot });
    }

    pub(super) fn start_due(&mut self, now: Time, mut start: impl FnMut(&QueuedJob, ReservedSlot)) {
        let mut due: Vec<&HeldReservation> = self.held.iter().filter(|held| held.start() <= now).collect();
        due.sort_by_key(|held| held.start());
        for HeldReservation { waiting, slot } in &due {
            let slot = slot.expect("a job without a reservation is not due");
            // Such a job, or one that takes no time, holds its processors differently when it runs and when it waits.
            self.is_stale |= waiting.request.estimate.is_none_or(Span::is_zero);
            start(waiting, slot);
        }
        if !due.is_empty() {
            self.held.retain(|held| held.start() > now);
        }
    }
}
