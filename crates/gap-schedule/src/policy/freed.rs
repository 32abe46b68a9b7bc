//! Who may move ahead when something has become free.

use crate::min_demand::Least as _;
use crate::policy::held::{Claim, Held, Reservation};
use crate::policy::machine_profiles::MachineProfiles;
use sim_core::{Span, Stretches, Time};

/// An interval in which processors of a plan have become free, and have not been offered to all yet.
#[derive(Copy, Clone, Debug)]
pub(super) struct Freed {
    pub(super) rank: usize,
    pub(super) from: Time,
    pub(super) to: Time,
    /// Only to those that arrived before so many others have they yet to be offered.
    pub(super) before_arrival: u64,
}

/// The search, in order of arrival, for jobs that may move ahead into what has become free in one interval.
///
/// Who had no better start before can only have one now that touches the interval, on that machine, and does not begin later than
/// it ends. So his job is as narrow and as short as one of the [`Stretches`] around the interval; or, where what he has
/// is behind him as he moves, the stretch reaches up to his start. Nobody else is looked at.
#[derive(Clone, Debug)]
pub(super) struct Hunt {
    freed: Freed,
    /// On the only machine, who starts no later than this has no use for the interval.
    after: Time,
    stretches: Stretches,
    /// The places of those whose reserved starts a stretch reaches, last first.
    near: Vec<usize>,
    /// Whose turn has been.
    passed: usize,
    end: usize,
    /// Whose turn is next.
    next: Option<usize>,
}

impl Hunt {
    /// From the job in place `from` on.
    pub(super) fn new(
        freed: Freed,
        from: usize,
        longest: Span,
        held: &Held,
        profiles: &MachineProfiles,
        now: Time,
    ) -> Self {
        let after = if profiles.ranks().len() == 1 { freed.from } else { Time::ZERO };
        let end = held.place_of_arrival(freed.before_arrival);
        let mut near = Vec::new();
        let reached = || held.later_than(freed.from.max(now)).take_while(|(start, _)| *start <= freed.to);
        let free = profiles.free_before(freed.rank, reached().map(|(start, _)| start));
        for ((_, place), free) in reached().zip(free) {
            let Reservation { waiting, slot } = held.at(place);
            let is_here = slot.is_some_and(|slot| slot.rank == freed.rank);
            if is_here && waiting.request.processors <= free && place >= from {
                near.push(place);
            }
        }
        near.sort_unstable_by(|one, other| other.cmp(one));
        let stretches = Stretches::default();
        let mut hunt = Self { freed, after, stretches, near, passed: from, end, next: None };
        hunt.look_again(longest, held, profiles, now);
        hunt
    }

    /// What is free has changed.
    pub(super) fn look_again(&mut self, longest: Span, held: &Held, profiles: &MachineProfiles, now: Time) {
        let Freed { rank, from, to, .. } = self.freed;
        self.stretches = profiles.stretches(rank, now, from, to, longest);
        self.find_next(held, profiles);
    }

    /// Whose turn is next.
    pub(super) const fn next(&self) -> Option<usize> {
        self.next
    }

    /// The jobs up to this place have had their turn.
    pub(super) fn pass(&mut self, place: usize, held: &Held, profiles: &MachineProfiles) {
        if self.passed <= place {
            self.passed = place + 1;
            self.find_next(held, profiles);
        }
    }

    fn find_next(&mut self, held: &Held, profiles: &MachineProfiles) {
        let far = held.claims().next(self.passed, &|claim| self.suits(claim, profiles));
        while self.near.pop_if(|place| *place < self.passed).is_some() {}
        let next = [far, self.near.last().copied()].into_iter().flatten().min();
        self.next = next.filter(|place| *place < self.end);
    }

    /// Whether a stretch is wide and long enough for one of those who claim this.
    fn suits(&self, claim: Claim, profiles: &MachineProfiles) -> bool {
        let Claim { least, latest } = claim;
        claim != Claim::NOTHING
            && latest > self.after
            && self.stretches.longest(least.processors) >= profiles.takes(self.freed.rank, least.estimate)
    }

    /// Whether the job in this place may move, whosever turn it is.
    pub(super) fn may_take_in(&self, place: usize, held: &Held, profiles: &MachineProfiles) -> bool {
        self.suits(held.at(place).claim(), profiles) || self.near.binary_search_by(|near| place.cmp(near)).is_ok()
    }

    /// The machine.
    pub(super) const fn rank(&self) -> usize {
        self.freed.rank
    }

    /// When it begins, and when it ends.
    pub(super) const fn interval(&self) -> (Time, Time) {
        (self.freed.from, self.freed.to)
    }
}
