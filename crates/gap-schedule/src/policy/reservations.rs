//! The reservations of all jobs that wait, kept from instant to instant.

use crate::machine::{Machine, site};
use crate::min_demand::MinDemand;
use crate::order::Priority;
use crate::policy::freed::{Disturbances, FreedStretches};
use crate::policy::held_reservations::{HeldReservations, Reservation, Turn};
use crate::policy::machine_profiles::{END, MachineProfiles, SHORTEST, Slot};
use crate::policy::readings::{CompressOrder, Placement};
use crate::queue::QueuedJob;
use crate::reason::Reason;
use crate::running::RunningJob;
use crate::view::View;
use sim_core::{JobId, Request, SiteId, Span, Time};

/// Jobs that wait, each with the start that it is promised, and what runs. What becomes of reservations when something
/// happens is described at [`Conservative`](crate::Conservative).
///
/// Whether a job can move ahead is found out while it keeps what it has: as long as it would start earlier, its own reservation is
/// behind it, and the search ends there. Where every job has the earliest start that there was when its turn was last, a
/// better one must touch what has become free since ([`FreedStretches`]): either just before its own start, or in a stretch that is
/// wide and long enough for it. Who has neither is passed over. All look at everything where the plan was laid out anew, since
/// something happened that nobody expected.
#[derive(Clone, Debug, Default)]
pub(super) struct Reservations {
    held: HeldReservations,
    profiles: MachineProfiles,
    order: CompressOrder,
    /// Who has his turn before whom, unless it goes by reserved starts.
    turns: Priority,
    /// Whether every job is always given the earliest start there is.
    is_greedy: bool,
    /// What has become free, and has not been offered to all; kept only if the plan is greedy.
    freed: FreedStretches,
    /// The same, for those who start just behind; only where what becomes free is measured.
    disturbances: Disturbances,
    /// How many must wait for what becomes free to be measured.
    measures_from: usize,
    /// Whether a job has ended since the last update.
    ended: bool,
    /// Whether the last compression has moved a job, so that another may find more to move.
    is_loose: bool,
    /// Whether a job has ended earlier than expected since the last update.
    ended_early: bool,
    /// Whether something else has happened that was not expected.
    is_stale: bool,
    /// Whether a job had outlived its estimate at the last update, and when that was.
    is_overdue: bool,
    now: Time,
}

impl Reservations {
    /// Where so many wait, measuring costs less than it saves.
    const MANY: usize = 256;

    /// Nobody waits, and nothing runs.
    pub(super) fn new(machines: &[Machine], placement: Placement, order: CompressOrder) -> Self {
        let (profiles, freed) = (MachineProfiles::new(machines, placement), FreedStretches::default());
        Self { profiles, freed, order, measures_from: Self::MANY, ..Self::default() }
    }

    /// The same, where turns are not in order of arrival.
    pub(super) fn with_turns(self, turns: Priority) -> Self {
        Self { turns, ..self }
    }

    /// The same, where whoever [inserts](Self::insert) a job gives it the earliest start there is, and nobody ever moves one to
    /// another.
    pub(super) fn greedy(self) -> Self {
        let machines = self.profiles.ranks().map(|rank| self.profiles.plan(rank).capacity());
        Self { is_greedy: true, freed: FreedStretches::new(machines), ..self }
    }

    /// The same, where what becomes free is measured if so many wait.
    pub(super) fn measuring_from(self, waiting: Option<usize>) -> Self {
        Self { measures_from: waiting.unwrap_or(Self::MANY), ..self }
    }

    /// All of them, by reserved start, then in order of arrival.
    pub(super) const fn held(&self) -> &HeldReservations {
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
        self.held.later_than(soon).map(|(start, _)| start).next().filter(|start| *start < END)
    }

    /// The machines, in order of preference.
    pub(super) fn ranks(&self) -> std::ops::Range<usize> {
        self.profiles.ranks()
    }

    /// The machine of a slot.
    pub(super) fn machine(&self, slot: Slot) -> SiteId {
        site(self.profiles.index(slot.rank))
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
                self.offer(rank, (view.now, job.expected_end), view.now);
            }
            self.ended_early = true;
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
        let freed = std::mem::take(&mut self.ended_early) || again;
        if is_stale {
            self.freed.clear();
        }
        if compresses && (is_stale || freed) {
            self.is_loose = self.compress(view.now, |_| true, is_stale || !self.is_greedy);
        } else if is_stale {
            // A start at the end of all time promises nothing.
            self.compress(view.now, |slot| slot.is_none_or(|slot| slot.start >= END), true);
        }
        is_stale || compresses && freed
    }

    /// Keeps the reservations that are still possible after what has happened, and gives the others anew.
    fn mend(&mut self, view: &View<'_>) {
        let turns: Vec<usize> = self.in_turn().filter(|place| self.held.is_taken(*place)).collect();
        let Self { profiles, held, .. } = self;
        profiles.ranks().for_each(|rank| profiles.clear(rank, view));
        for place in &turns {
            let Reservation { waiting, slot } = *held.at(*place);
            let request = waiting.request;
            let slot = slot.filter(|slot| {
                slot.start >= view.now && profiles.fits(slot.rank, MinDemand::of(&request), request.sites, slot.start)
            });
            if let Some(slot) = slot {
                profiles.reserve(slot, &request);
            }
            held.settle(*place, slot, profiles.takes_in(slot, &request));
        }
        for place in turns {
            let Reservation { waiting, slot: None } = *held.at(place) else { continue };
            let slot = profiles.best(profiles.ranks(), &waiting.request, view.now);
            if let Some(slot) = slot {
                profiles.reserve(slot, &waiting.request);
            }
            held.settle(place, slot, profiles.takes_in(slot, &waiting.request));
        }
    }

    /// Lets those jobs move to earlier starts that `may`, and looks for one `everywhere`, or only where something has become free.
    /// Whether one has.
    fn compress(&mut self, now: Time, may: impl Fn(Option<Slot>) -> bool, everywhere: bool) -> bool {
        let mut moved = false;
        let mut asked = (u32::MAX, Span::ZERO);
        self.profiles.forget_before(now);
        for place in self.in_turn() {
            let turn = self.held.take_turn(place, self.disturbances.clock());
            let disturbed = self.disturbances.touch(turn.start, turn.last);
            if !turn.is_taken {
                continue;
            }
            asked = (asked.0.min(turn.processors), asked.1.max(turn.takes));
            if (everywhere || disturbed || self.may_leap(place, &turn))
                && may(self.held.at(place).slot)
                && self.move_ahead(place, everywhere, disturbed, now)
            {
                moved = true;
            }
        }
        if moved {
            self.held.sort();
        }
        let last = self.held.last_start();
        self.freed.end_compression(now, last, asked);
        if self.held.len() >= self.measures_from {
            self.disturbances.span(now, last);
        }
        moved
    }

    /// Whether something may have become free in which the job could start, ahead of its reservation.
    #[inline]
    fn may_leap(&self, place: usize, turn: &Turn) -> bool {
        let Self { profiles, held, freed, .. } = self;
        if turn.start == Time::MAX {
            return true;
        }
        let may = |rank, span| freed.may_hold(rank, turn.processors, span, turn.start);
        if profiles.ranks().len() == 1 {
            return may(0, turn.takes);
        }
        let estimate = MinDemand::of(&held.at(place).waiting.request).estimate;
        profiles.ranks().any(|rank| may(rank, profiles.takes(rank, estimate)))
    }

    /// Lets the job in a place move to an earlier start, if there is one. Whether there was. If it is not to look `everywhere`,
    /// then only where something has become free; just before its start only if it has been `disturbed` there.
    fn move_ahead(&mut self, place: usize, everywhere: bool, disturbed: bool, now: Time) -> bool {
        let Self { profiles, held, freed, .. } = self;
        let Reservation { waiting, slot } = held.at(place);
        let request = waiting.request;
        let Some(slot) = *slot else {
            let best = profiles.best(profiles.ranks(), &request, now);
            if let Some(best) = best {
                profiles.reserve(best, &request);
                held.move_ahead(place, Some(best), profiles.takes_in(Some(best), &request));
            }
            return best.is_some();
        };
        // Nobody starts before the present instant.
        if slot.start <= now {
            return false;
        }
        let leap = |rank, span, bounds| {
            if everywhere { Some((now, Time::MAX)) } else { freed.window(rank, request.processors, span, bounds) }
        };
        let Some(best) = profiles.best_before(slot, &request, now, leap, disturbed) else { return false };
        let left = profiles.advance(slot, best, &request);
        held.move_ahead(place, Some(best), profiles.takes_in(Some(best), &request));
        self.offer(slot.rank, left, now);
        true
    }

    /// Notes that something has become free on a machine, from one instant to another.
    fn offer(&mut self, rank: usize, (from, to): (Time, Time), now: Time) {
        if !self.is_greedy || to <= now {
            return;
        }
        if self.held.len() < self.measures_from {
            self.freed.add_unmeasured(rank, (from.max(now), to));
        } else {
            self.freed.add(rank, self.profiles.plan(rank), (from, to), now);
            self.disturbances.add(from, to);
        }
    }

    /// The places in the order in which their jobs have their turns; in order of arrival, those of jobs that have left, too.
    fn in_turn(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { held, order, turns, now, .. } = self;
        let mut sorted: Vec<usize> = Vec::new();
        if *order == CompressOrder::Reserved {
            sorted.extend(held.in_order_of_starts());
        } else if !turns.is_arrival() {
            sorted.extend((0..held.places()).filter(|place| held.is_taken(*place)));
            sorted.sort_by_cached_key(|place| (turns.turn(&held.at(*place).waiting, *now), *place));
        }
        let count = if sorted.is_empty() { held.places() } else { sorted.len() };
        (0..count).map(move |number| sorted.get(number).copied().unwrap_or(number))
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
        for rank in self.profiles.ranks() {
            let MinDemand { processors, estimate } = MinDemand::of(&waiting.request);
            self.freed.expect(processors, self.profiles.takes(rank, estimate));
        }
        if let Some(slot) = slot {
            self.profiles.reserve(slot, &waiting.request);
        }
        let takes = self.profiles.takes_in(slot, &waiting.request);
        self.held.push(Reservation { waiting, slot }, takes, self.disturbances.clock());
    }

    /// Lets others have the slot of the reservation with this number, until [`settle`](Self::settle).
    pub(super) fn lift(&mut self, number: usize) {
        let Reservation { waiting, slot } = &self.held[number];
        if let Some(slot) = *slot {
            self.profiles.cancel(slot, &waiting.request);
        }
    }

    /// Gives the reservation with this number, which has been lifted, its old slot or another.
    pub(super) fn settle(&mut self, number: usize, slot: Slot) {
        let request = self.held[number].waiting.request;
        self.profiles.reserve(slot, &request);
        self.held.settle(self.held.place(number), Some(slot), self.profiles.takes_in(Some(slot), &request));
    }

    /// Starts the jobs whose reserved start has come.
    pub(super) fn start_due(&mut self, now: Time, mut start: impl FnMut(&QueuedJob, SiteId, Time)) {
        while let Some(Reservation { waiting, slot }) = self.held.pop_due(now) {
            let slot = slot.expect("a job without a reservation is not due");
            self.profiles.start_reserved(slot, &waiting.request);
            // Such a job holds its processors otherwise when it runs than when it waits.
            let is_endless = waiting.request.estimate.is_none();
            self.is_stale |= is_endless || self.profiles.takes_no_time(slot.rank, &waiting.request);
            start(&waiting, site(self.profiles.index(slot.rank)), slot.start);
        }
    }
}
