//! The reservations of the jobs that wait, in order of arrival and in order of their starts.

use crate::min_demand::{Least, MinDemand, Tournament};
use crate::policy::machine_profiles::Slot;
use crate::queue::QueuedJob;
use sim_core::Time;
use std::collections::VecDeque;
use std::ops::Index;

/// Reservations, each in the place in which its job arrived, until the places close up; and the places in order of reserved
/// starts, then of arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// `None` where a job has left.
    places: Vec<Option<Reservation>>,
    /// How many had arrived before the one in each place.
    arrivals: Vec<u64>,
    arrived: u64,
    /// So many places are filled before they close up.
    room: usize,
    order: VecDeque<(Time, usize)>,
    claims: Tournament<Claim>,
}

/// A job that waits, and the start that it is promised; `None` if it can never start, by expectations.
#[derive(Copy, Clone, Debug)]
pub(super) struct Reservation {
    pub(super) waiting: QueuedJob,
    pub(super) slot: Option<Slot>,
}

/// The least that some jobs demand, and the latest start that any of them holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) least: MinDemand,
    pub(super) latest: Time,
}

impl Least for Claim {
    const NOTHING: Self = Self { least: MinDemand::NOTHING, latest: Time::ZERO };

    fn and(self, other: Self) -> Self {
        Self { least: self.least.and(other.least), latest: self.latest.max(other.latest) }
    }
}

impl Reservation {
    /// The reserved start; that of a job without a reservation is the last instant there is.
    pub(super) fn start(&self) -> Time {
        self.slot.map_or(Time::MAX, |slot| slot.start)
    }

    pub(super) fn claim(&self) -> Claim {
        Claim { least: MinDemand::of(&self.waiting.request), latest: self.start() }
    }
}

impl Held {
    const SMALLEST: usize = 16;

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// By reserved start; of those with the same, in order of arrival.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Reservation> {
        self.order.iter().map(|(_, place)| self.at(*place))
    }

    /// The place of the reservation with this number, counted in order of starts.
    pub(super) fn place(&self, number: usize) -> usize {
        self.order[number].1
    }

    /// The reservation in a place.
    pub(super) fn at(&self, place: usize) -> &Reservation {
        self.places[place].as_ref().expect("a place in use")
    }

    /// The places in use, in order of arrival.
    pub(super) fn in_order_of_arrival(&self) -> impl Iterator<Item = usize> {
        self.places.iter().enumerate().filter(|(_, held)| held.is_some()).map(|(place, _)| place)
    }

    /// The places and their starts, in order of reserved starts, of those that start later than `after`.
    pub(super) fn later_than(&self, after: Time) -> impl Iterator<Item = (Time, usize)> {
        self.order.range(self.order.partition_point(|(start, _)| *start <= after)..).copied()
    }

    /// The places, in order of reserved starts.
    pub(super) fn in_order_of_starts(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|(_, place)| *place)
    }

    /// What the jobs in all places claim, to be walked through in order of arrival.
    pub(super) const fn claims(&self) -> &Tournament<Claim> {
        &self.claims
    }

    /// How many had arrived before the job in this place.
    pub(super) fn arrival(&self, place: usize) -> u64 {
        self.arrivals[place]
    }

    /// The first place of those that arrived after so many others.
    pub(super) fn place_of_arrival(&self, arrival: u64) -> usize {
        self.arrivals.partition_point(|other| *other < arrival)
    }

    /// A job joins behind all others.
    pub(super) fn push(&mut self, reservation: Reservation) {
        if self.places.len() == self.room {
            self.close_up();
        }
        let place = self.places.len();
        self.places.push(Some(reservation));
        self.arrivals.push(self.arrived);
        self.arrived += 1;
        self.claims.join(place, reservation.claim());
        self.enter(reservation.start(), place);
    }

    /// Takes out the first job, if its start is not later than `now`.
    pub(super) fn pop_due(&mut self, now: Time) -> Option<Reservation> {
        let (_, place) = self.order.pop_front_if(|(start, _)| *start <= now)?;
        let reservation = self.places[place].take();
        self.claims.set(place, Claim::NOTHING);
        if self.order.is_empty() {
            self.places.clear();
            self.arrivals.clear();
        }
        reservation
    }

    /// The job in a place has another slot.
    pub(super) fn settle(&mut self, place: usize, slot: Option<Slot>) {
        let held = self.places[place].as_mut().expect("a place in use");
        let before = held.start();
        held.slot = slot;
        let (after, claim) = (held.start(), held.claim());
        self.claims.set(place, claim);
        if before != after {
            let position = self.order.partition_point(|other| *other < (before, place));
            self.order.remove(position);
            self.enter(after, place);
        }
    }

    fn enter(&mut self, start: Time, place: usize) {
        let position = self.order.partition_point(|other| *other < (start, place));
        self.order.insert(position, (start, place));
    }

    /// Drops the empty places, and makes room for as many jobs again as there are.
    fn close_up(&mut self) {
        let mut moved = vec![0; self.places.len()];
        let mut next = 0;
        for place in 0..self.places.len() {
            if self.places[place].is_some() {
                moved[place] = next;
                self.places.swap(next, place);
                self.arrivals.swap(next, place);
                next += 1;
            }
        }
        self.places.truncate(next);
        self.arrivals.truncate(next);
        self.order.iter_mut().for_each(|(_, place)| *place = moved[*place]);
        self.room = (2 * next).next_power_of_two().max(Self::SMALLEST);
        self.claims.plant(self.room, self.places.iter().flatten().map(Reservation::claim));
    }
}

/// In order of reserved starts.
impl Index<usize> for Held {
    type Output = Reservation;

    fn index(&self, number: usize) -> &Reservation {
        self.at(self.place(number))
    }
}
