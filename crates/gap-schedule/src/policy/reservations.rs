//! The reservations of all jobs that wait, kept from instant to instant.

use crate::min_demand::MinDemand;
use crate::multi_cluster::Machine;
use crate::order::Priority;
use crate::policy::machine_profiles::{END, MachineProfiles, SHORTEST, Slot};
use crate::policy::readings::{CompressOrder, Placement};
use crate::policy::{View, site};
use crate::queue::QueuedJob;
use crate::reason::Reason;
use crate::running::RunningJob;
use sim_core::{JobId, Request, SiteId, Span, Time};
use std::collections::VecDeque;

/// Jobs that wait, each with the start that it is promised, and what runs. What becomes of reservations when something
/// happens is described at [`Conservative`](crate::Conservative).
#[derive(Clone, Debug, Default)]
pub(super) struct Reservations {
    /// By reserved start, then in order of arrival.
    held: VecDeque<Reservation>,
    /// How many have come.
    arrivals: u64,
    profiles: MachineProfiles,
    order: CompressOrder,
    /// Who has his turn before whom, unless it goes by reserved starts.
    turns: Priority,
    /// Whether a job has ended since the last update.
    ended: bool,
    /// Whether the last compression has moved a job, so that another may find more to move.
    is_loose: bool,
    /// Whether a job has ended earlier than expected since the last update.
    freed: bool,
    /// Whether something else has happened that was not expected.
    is_stale: bool,
    /// Whether a job had outlived its estimate at the last update, and when that was.
    is_overdue: bool,
    now: Time,
}

/// A job that waits, and the start that it is promised; `None` if it can never start, by expectations.
#[derive(Clone, Debug)]
pub(super) struct Reservation {
    pub(super) waiting: QueuedJob,
    pub(super) slot: Option<Slot>,
    arrival: u64,
}

impl Reservations {
    /// Nobody waits, and nothing runs.
    pub(super) fn new(machines: &[Machine], placement: Placement, order: CompressOrder) -> Self {
        Self { profiles: MachineProfiles::new(machines, placement), order, ..Self::default() }
    }

    /// The same, where turns are not in order of arrival.
    pub(super) fn with_turns(self, turns: Priority) -> Self {
        Self { turns, ..self }
    }

    /// All of them, by reserved start, then in order of arrival.
    pub(super) const fn held(&self) -> &VecDeque<Reservation> {
        &self.held
    }

    /// When and where the job is promised to start.
    pub(super) fn promised(&self, job: JobId) -> Option<(Time, SiteId)> {
        let reservation = self.held.iter().find(|held| held.waiting.job == job)?;
        reservation.slot.map(|slot| (slot.start, self.machine(slot)))
    }

    /// Whose promised start has come.
    pub(super) fn due(&self, now: Time) -> Vec<JobId> {
        let due = self.held.iter().filter(|held| held.slot.is_some_and(|slot| slot.start <= now));
        due.map(|held| held.waiting.job).collect()
    }

    /// Why the job waits, and what it is promised.
    pub(super) fn reasons(&self, job: JobId, now: Time) -> (Reason, Reason) {
        let own = self.held.iter().find(|held| held.waiting.job == job).expect("who waits is held");
        let mut profiles = self.profiles.clone();
        if let Some(slot) = own.slot {
            profiles.cancel(slot, &own.waiting.request);
        }
        let others = self.held.iter().filter(|held| held.waiting.job != job);
        let promised = others.filter_map(|held| held.slot.map(|slot| (&held.waiting, slot)));
        let obstacle = profiles.obstacle(&own.waiting, now, promised);
        (obstacle.unwrap_or(Reason::Kept), profiles.promise(own.slot))
    }

    /// The first reserved start that may come without anything else happening at that instant.
    ///
    /// Behind a job that has outlived its estimate, starts are planned for the next instant, and behind jobs that are expected
    /// to take no time for the instants after that: all of them wait for its end.
    pub(super) fn next_start(&self) -> Option<Time> {
        let brief = if self.is_overdue { SHORTEST * (self.held.len() as u64 + 1) } else { Span::ZERO };
        let soon = self.now.saturating_add(brief);
        let passed = self.held.partition_point(|held| held.slot.is_some_and(|slot| slot.start <= soon));
        self.held.get(passed)?.slot.map(|slot| slot.start).filter(|start| *start < END)
    }

    /// The machines, in order of preference.
    pub(super) fn ranks(&self) -> std::ops::Range<usize> {
        self.profiles.ranks()
    }

    /// The machine of a slot.
    pub(super) fn machine(&self, slot: Slot) -> SiteId {
        site(self.profiles.index(slot.rank))
    }

    /// Searches for an earliest start on one machine, so far.
    pub(super) const fn operations(&self) -> u64 {
        self.profiles.searches
    }

    /// A job has ended.
    pub(super) fn finish(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        let rank = self.profiles.rank(machine.index());
        self.ended = true;
        if job.expected_end == Time::MAX {
            // What never ends does not hold in the plan what it holds in fact.
            self.profiles.cut_short(rank, job, view.now);
            self.is_stale = true;
        } else if job.expected_end > view.now {
            if self.is_stale {
                // The plan will be laid out anew, and may hold what was expected of this job before.
                self.profiles.cut_short(rank, job, view.now);
            } else {
                self.profiles.give_back(rank, job, view.now);
            }
            self.freed = true;
        }
        self.is_stale |= job.expected_end < view.now;
    }

    /// A machine has failed, or has been repaired.
    pub(super) fn look_again(&mut self, machine: SiteId, view: &View<'_>) {
        self.profiles.look_again(self.profiles.rank(machine.index()), view);
        self.is_stale = true;
    }

    /// Takes note of all that has happened, and `compresses` the plan if something has that was not expected. Whether
    /// reservations may have changed.
    pub(super) fn update(&mut self, compresses: bool, view: &View<'_>) -> bool {
        self.profiles.begin_pass();
        let is_overdue = self.profiles.ranks().any(|rank| self.profiles.is_overdue(rank, view));
        let is_stale = std::mem::replace(&mut self.is_stale, is_overdue) || is_overdue;
        (self.is_overdue, self.now) = (is_overdue, view.now);
        if is_stale {
            self.mend(view);
        }
        let ended = std::mem::take(&mut self.ended);
        // Without an early end, a compression finds what the one before it has left, if that has moved anybody. In order of
        // reserved starts none is made for that reason: on one machine, it would find nothing.
        let again = self.order == CompressOrder::Arrival && self.is_loose && ended;
        let freed = std::mem::take(&mut self.freed) || again;
        if compresses && (freed || is_stale) {
            self.is_loose = self.compress(view.now, |_| true);
        } else if is_stale {
            // A start at the end of all time promises nothing.
            self.compress(view.now, |slot| slot.is_none_or(|slot| slot.start >= END));
        }
        is_stale || compresses && freed
    }

    /// Keeps the reservations that are still possible after what has happened, and gives the others anew.
    fn mend(&mut self, view: &View<'_>) {
        self.line_up();
        let Self { profiles, held, .. } = self;
        profiles.ranks().for_each(|rank| profiles.clear(rank, view));
        for held in held.iter_mut() {
            let request = held.waiting.request;
            held.slot = held.slot.filter(|slot| {
                slot.start >= view.now && profiles.fits(slot.rank, MinDemand::of(&request), request.sites, slot.start)
            });
            if let Some(slot) = held.slot {
                profiles.reserve(slot, &request);
            }
        }
        for held in held.iter_mut().filter(|held| held.slot.is_none()) {
            let request = held.waiting.request;
            held.slot = profiles.best(profiles.ranks(), &request, view.now);
            if let Some(slot) = held.slot {
                profiles.reserve(slot, &request);
            }
        }
        self.sort();
    }

    /// Lets those jobs move to earlier starts that `may`. Whether one has.
    fn compress(&mut self, now: Time, may: impl Fn(Option<Slot>) -> bool) -> bool {
        self.line_up();
        let mut moved = false;
        let Self { profiles, held, .. } = self;
        // Nobody starts before the present instant.
        for held in held.iter_mut().filter(|held| may(held.slot) && held.slot.is_none_or(|slot| slot.start > now)) {
            let request = held.waiting.request;
            if let Some(slot) = held.slot {
                profiles.cancel(slot, &request);
            }
            let best = profiles.best(profiles.ranks(), &request, now);
            if let Some(best) = best.filter(|best| held.slot.is_none_or(|slot| best.start < slot.start)) {
                held.slot = Some(best);
                moved = true;
            }
            if let Some(slot) = held.slot {
                profiles.reserve(slot, &request);
            }
        }
        self.sort();
        moved
    }

    /// Puts the jobs into the order in which they have their turns, until they are [sorted](Self::sort) again.
    fn line_up(&mut self) {
        let Self { held, order, turns, now, .. } = self;
        if *order == CompressOrder::Reserved {
            return;
        }
        let held = held.make_contiguous();
        if turns.is_arrival() {
            held.sort_unstable_by_key(|held| held.arrival);
        } else {
            held.sort_by_cached_key(|held| (turns.turn(&held.waiting, *now), held.arrival));
        }
    }

    fn sort(&mut self) {
        self.held.make_contiguous().sort_by_key(Reservation::place);
    }

    /// The earliest start for the job, on the most preferred machine.
    pub(super) fn earliest(&mut self, request: &Request, now: Time) -> Option<Slot> {
        self.profiles.best(self.profiles.ranks(), request, now)
    }

    /// The earliest start for the job on one machine.
    pub(super) fn earliest_on(&mut self, rank: usize, request: &Request, now: Time) -> Option<Slot> {
        self.profiles.best([rank], request, now)
    }

    /// The job joins, with this reservation.
    pub(super) fn insert(&mut self, waiting: QueuedJob, slot: Option<Slot>) {
        if let Some(slot) = slot {
            self.profiles.reserve(slot, &waiting.request);
        }
        self.put(Reservation { waiting, slot, arrival: self.arrivals });
        self.arrivals += 1;
    }

    /// Lets others have the slot of the reservation with this number, until [`settle`](Self::settle).
    pub(super) fn lift(&mut self, number: usize) {
        let Reservation { waiting, slot, .. } = &self.held[number];
        if let Some(slot) = *slot {
            self.profiles.cancel(slot, &waiting.request);
        }
    }

    /// Gives the reservation with this number, which has been lifted, its old slot or another.
    pub(super) fn settle(&mut self, number: usize, slot: Slot) {
        self.profiles.reserve(slot, &self.held[number].waiting.request);
        if self.held[number].slot != Some(slot) {
            let moved = self.held.remove(number).expect("it was just looked at");
            self.put(Reservation { slot: Some(slot), ..moved });
        }
    }

    fn put(&mut self, reservation: Reservation) {
        let place = self.held.partition_point(|held| held.place() < reservation.place());
        self.held.insert(place, reservation);
    }

    /// Starts the jobs whose reserved start has come.
    pub(super) fn start_due(&mut self, now: Time, mut start: impl FnMut(&QueuedJob, SiteId, Time)) {
        let due = self.held.partition_point(|held| held.slot.is_some_and(|slot| slot.start <= now));
        for Reservation { waiting, slot, .. } in self.held.drain(..due) {
            let slot = slot.expect("a job without a reservation is not due");
            self.profiles.start_reserved(slot, &waiting.request);
            // Such a job holds its processors otherwise when it runs than when it waits.
            let is_endless = waiting.request.estimate.is_none();
            self.is_stale |= is_endless || self.profiles.takes_no_time(slot.rank, &waiting.request);
            start(&waiting, site(self.profiles.index(slot.rank)), slot.start);
        }
    }
}

impl Reservation {
    /// In the order of the plan: those without a reservation are last.
    fn place(&self) -> (Time, u64) {
        (self.slot.map_or(Time::MAX, |slot| slot.start), self.arrival)
    }
}
