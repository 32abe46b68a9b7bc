//! The reservations of all jobs that wait, kept from instant to instant.

use crate::machine::{Machine, site};
use crate::min_demand::MinDemand;
use crate::order::Priority;
use crate::policy::held_reservations::{HeldReservation, HeldReservations};
use crate::policy::machine_profiles::{END, MachineProfiles, ReservedSlot, SHORTEST};
use crate::policy::readings::{CompressOrder, Placement};
use crate::queue::QueuedJob;
use crate::reason::Reason;
use crate::running::RunningJob;
use crate::view::View;
use sim_core::{JobId, Request, SiteId, Span, Time};

/// Jobs that wait, each with the start that it is promised, and what runs. What becomes of reservations when something
/// happens is described at [`Conservative`](crate::Conservative).
///
/// A job keeps its reservation while an earlier start is looked for: its own slot is behind that, and the search ends there. Where
/// every job has the earliest start that there was when its turn was last, a better one must touch what has become free since
/// ([`Freed`]). All look at everything where the plan was laid out again, since something happened that nothing announced.
#[derive(Clone, Debug, Default)]
pub(super) struct Reservations {
    held: HeldReservations,
    profiles: MachineProfiles,
    placement: Placement,
    pub(super) order: CompressOrder,
    /// The order of turns, unless it goes by reserved starts.
    pub(super) turns: Priority,
    /// Kept only if every job is always given the earliest start there is.
    freed: Option<Freed>,
    /// Whether a job has ended since the last update.
    ended: bool,
    /// Whether the last compression has moved a job, so that another may find more to move.
    is_loose: bool,
    /// Whether a job has ended earlier than expected since the last update.
    ended_early: bool,
    /// Whether something else has happened that was not expected: a machine has failed or has been repaired, say.
    pub(super) is_stale: bool,
    /// Whether a job had outlived its estimate at the last update, and when that was.
    is_overdue: bool,
    now: Time,
}

/// By machine, the first and the last instant of what has become free and has not been offered to all: since the last compression,
/// and during it.
#[derive(Clone, Debug, Default)]
struct Freed(Vec<[Option<(Time, Time)>; 2]>);

impl Freed {
    /// Processors have become free between two instants.
    fn add(&mut self, rank: usize, (from, to): (Time, Time)) {
        let [new, _] = &mut self.0[rank];
        let (first, last) = new.unwrap_or((from, to));
        *new = Some((first.min(from), last.max(to)));
    }

    /// Between which instants a job of this length may now start that could not before, if there may be such an instant earlier
    /// than `before`. From `until` on, what it needs has been free all along.
    #[inline]
    fn window(&self, rank: usize, span: Span, (before, until): (Time, Time)) -> Option<(Time, Time)> {
        let end = before.saturating_add(span).min(until);
        let touched = self.0[rank].iter().flatten().filter(|(from, _)| *from < end);
        let (from, to) = touched.copied().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
        Some((Time::from_nanos(from.as_nanos().saturating_sub(span.as_nanos())), to))
    }

    /// A compression has ended: what it has made free has not been offered to those that had their turns before.
    fn end_compression(&mut self) {
        self.0.iter_mut().for_each(|freed| *freed = [None, freed[0]]);
    }
}

impl Reservations {
    /// No job waits. If it is `greedy`, each job is [inserted](Self::insert) with the earliest start there is, and none is
    /// ever moved to another.
    pub(super) fn new(placement: Placement, order: CompressOrder, greedy: bool) -> Self {
        Self { placement, order, freed: greedy.then(Freed::default), ..Self::default() }
    }

    /// Initializes the state of each machine, on which nothing runs.
    pub(super) fn begin(&mut self, machines: &[Machine]) {
        self.profiles = MachineProfiles::new(machines, self.placement);
        if let Some(Freed(freed)) = &mut self.freed {
            freed.resize(machines.len(), [None; 2]);
        }
    }

    /// All of them, by reserved start, then in order of arrival.
    pub(super) const fn held(&self) -> &HeldReservations {
        &self.held
    }

    /// The promised start of the job, and its machine.
    pub(super) fn promised(&self, job: JobId) -> Option<(Time, SiteId)> {
        let reservation = self.held.iter().find(|held| held.waiting.job == job)?;
        reservation.slot.map(|slot| (slot.start, self.machine(slot)))
    }

    /// The jobs whose promised start has come.
    pub(super) fn due(&self, now: Time) -> Vec<JobId> {
        let due = self.held.iter().filter(|held| held.slot.is_some_and(|slot| slot.start <= now));
        due.map(|held| held.waiting.job).collect()
    }

    /// The reason why the job waits, and its promise.
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

    /// The first reserved start that may come without anything else happening at that instant.
    ///
    /// Behind a job that has outlived its estimate, starts are planned for the next instant, and behind jobs that are expected
    /// to take no time for the instants after that: all of them wait for its end.
    pub(super) fn next_start(&self) -> Option<Time> {
        let brief = if self.is_overdue { SHORTEST * (self.held.len() as u64 + 1) } else { Span::ZERO };
        let soon = self.now.saturating_add(brief);
        self.held.next_start(soon).filter(|start| *start < END)
    }

    /// The machines, in order of preference.
    pub(super) fn ranks(&self) -> std::ops::Range<usize> {
        self.profiles.ranks()
    }

    /// The machine of a slot.
    pub(super) fn machine(&self, slot: ReservedSlot) -> SiteId {
        site(self.profiles.index(slot.rank))
    }

    /// A job has ended.
    pub(super) fn finish(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        let rank = self.profiles.rank(machine.index());
        self.ended = true;
        if job.expected_end == Time::MAX {
            // What never ends does not hold in the plan what it holds in fact.
            self.is_stale = true;
        } else if job.expected_end > view.now {
            // A plan that is stale will be laid out again, and may hold what was expected of this job before.
            if !self.is_stale {
                self.profiles.give_back(rank, job, view.now);
                self.offer(rank, (view.now, job.expected_end), view.now);
            }
            self.ended_early = true;
        }
        self.is_stale |= job.expected_end < view.now;
    }

    /// Takes note of all that has happened, and `compresses` the plan if something has that was not expected. Whether
    /// reservations may have changed.
    pub(super) fn update(&mut self, compresses: bool, view: &View<'_>) -> bool {
        self.profiles.forget_before(view.now);
        let is_overdue = self.profiles.ranks().any(|rank| self.profiles.is_overdue(rank, view));
        let is_stale = std::mem::replace(&mut self.is_stale, is_overdue) || is_overdue;
        (self.is_overdue, self.now) = (is_overdue, view.now);
        if is_stale {
            self.mend(view);
        }
        let ended = std::mem::take(&mut self.ended);
        // Without an early end, a compression finds what the one before it has left, if that has moved any job. In order of
        // reserved starts none is made for that reason: on one machine, it would find nothing.
        let again = self.order == CompressOrder::Arrival && self.is_loose && ended;
        let freed = std::mem::take(&mut self.ended_early) || again;
        if compresses && (is_stale || freed) {
            self.is_loose = self.compress(view.now, |_| true, is_stale);
        } else if is_stale {
            // A start at the end of all time promises nothing.
            self.compress(view.now, |slot| slot.is_none_or(|slot| slot.start >= END), true);
        }
        is_stale || compresses && freed
    }

    /// Keeps the reservations that are still possible after what has happened, and gives the other jobs new ones.
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
            let slot = profiles.best(profiles.ranks(), &waiting.request, view.now);
            if let Some(slot) = slot {
                profiles.reserve(slot, &waiting.request);
            }
            held.settle(place, slot);
        }
    }

    /// Lets those jobs move to earlier starts that `may`, and looks for one `everywhere`, or only where something has become free.
    /// Whether one has.
    fn compress(&mut self, now: Time, may: impl Fn(Option<ReservedSlot>) -> bool, everywhere: bool) -> bool {
        let mut moved = false;
        for place in self.in_turn() {
            moved |= may(self.held.at(place).slot) && self.move_ahead(place, everywhere, now);
        }
        if moved {
            self.held.sort();
        }
        if let Some(freed) = &mut self.freed {
            freed.end_compression();
        }
        moved
    }

    /// Lets the job in a place move to an earlier start, if there is one. Whether there was.
    fn move_ahead(&mut self, place: usize, everywhere: bool, now: Time) -> bool {
        let Self { profiles, held, freed, .. } = self;
        let HeldReservation { waiting, slot, .. } = held.at(place);
        let request = waiting.request;
        let Some(slot) = *slot else {
            let Some(best) = profiles.best(profiles.ranks(), &request, now) else { return false };
            profiles.reserve(best, &request);
            held.move_ahead(place, best);
            return true;
        };
        // No job starts before the present instant.
        if slot.start <= now {
            return false;
        }
        let window = |rank, span, bounds| match &*freed {
            Some(freed) if !everywhere => freed.window(rank, span, bounds),
            _ => Some((now, Time::MAX)),
        };
        let Some(best) = profiles.best_before(slot, &request, now, window) else { return false };
        let left = profiles.advance(slot, best, &request);
        held.move_ahead(place, best);
        self.offer(slot.rank, left, now);
        true
    }

    /// Notes that something has become free on a machine, from one instant to another.
    fn offer(&mut self, rank: usize, (from, to): (Time, Time), now: Time) {
        if let Some(freed) = self.freed.as_mut().filter(|_| to > now) {
            freed.add(rank, (from.max(now), to));
        }
    }

    /// The places in the order in which their jobs have their turns.
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

    /// The earliest start for the job, on the most preferred machine.
    pub(super) fn earliest(&mut self, request: &Request, now: Time) -> Option<ReservedSlot> {
        self.profiles.best(self.profiles.ranks(), request, now)
    }

    /// The earliest start for the job on one machine.
    pub(super) fn earliest_on(&mut self, rank: usize, request: &Request, now: Time) -> Option<ReservedSlot> {
        self.profiles.best([rank], request, now)
    }

    /// The job joins, with this reservation.
    pub(super) fn insert(&mut self, waiting: QueuedJob, slot: Option<ReservedSlot>) {
        if let Some(slot) = slot {
            self.profiles.reserve(slot, &waiting.request);
        }
        self.held.push(waiting, slot);
    }

    /// Lets others have the slot of the reservation with this number, until [`settle`](Self::settle).
    pub(super) fn lift(&mut self, number: usize) {
        let HeldReservation { waiting, slot, .. } = &self.held[number];
        if let Some(slot) = *slot {
            self.profiles.cancel(slot, &waiting.request);
        }
    }

    /// Gives the reservation with this number, which has been lifted, its old slot or another.
    pub(super) fn settle(&mut self, number: usize, slot: ReservedSlot) {
        let request = self.held[number].waiting.request;
        self.profiles.reserve(slot, &request);
        self.held.settle(self.held.place(number), Some(slot));
    }

    /// Starts the jobs whose reserved start has come.
    pub(super) fn start_due(&mut self, now: Time, mut start: impl FnMut(&QueuedJob, SiteId, Time)) {
        while let Some(HeldReservation { waiting, slot, .. }) = self.held.pop_due(now) {
            let slot = slot.expect("a job without a reservation is not due");
            // Such a job holds its processors otherwise when it runs than when it waits.
            let is_endless = waiting.request.estimate.is_none();
            self.is_stale |= is_endless || self.profiles.takes_no_time(slot.rank, &waiting.request);
            start(&waiting, site(self.profiles.index(slot.rank)), slot.start);
        }
    }
}
