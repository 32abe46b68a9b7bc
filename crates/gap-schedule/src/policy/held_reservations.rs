//! The reservations of the jobs that wait, in order of arrival and in order of their starts.

use crate::policy::machine_profiles::Slot;
use crate::queue::QueuedJob;
use sim_core::Time;
use std::collections::VecDeque;
use std::ops::Index;

/// Reservations, each in the place in which its job arrived, until the places close up; and the places in order of reserved
/// starts, then of arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldReservations {
    /// `None` where a job has left.
    places: Vec<Option<Reservation>>,
    /// Of each place, whether something has become free just before the start of its job, since it last had its turn.
    restless: Vec<bool>,
    /// So many places are filled before they close up.
    room: usize,
    order: VecDeque<(Time, usize)>,
}

/// A job that waits, and the start that it is promised; `None` if it can never start, by expectations.
#[derive(Copy, Clone, Debug)]
pub(super) struct Reservation {
    pub(super) waiting: QueuedJob,
    pub(super) slot: Option<Slot>,
}

impl Reservation {
    /// The reserved start; that of a job without a reservation is the last instant there is.
    pub(super) fn start(&self) -> Time {
        self.slot.map_or(Time::MAX, |slot| slot.start)
    }

    /// The slot, if its start has come.
    pub(super) fn due(&self, now: Time) -> Option<Slot> {
        self.slot.filter(|slot| slot.start <= now)
    }
}

impl HeldReservations {
    const SMALLEST: usize = 16;

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The last reserved start that is not the last instant there is; where time begins, if there is none.
    pub(super) fn last_start(&self) -> Time {
        self.order.iter().rev().map(|(start, _)| *start).find(|start| *start < Time::MAX).unwrap_or(Time::ZERO)
    }

    /// By reserved start; of those with the same, in order of arrival.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Reservation> + Clone {
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

    /// Something has become free between two instants: those who start when it ends, or within, may be able to start earlier.
    pub(super) fn disturb(&mut self, from: Time, to: Time) {
        let first = self.order.partition_point(|(start, _)| *start <= from);
        for (_, place) in self.order.range(first..).take_while(|(start, _)| *start <= to) {
            self.restless[*place] = true;
        }
    }

    /// The job in a place has its turn. Whether it has been disturbed since the last one.
    pub(super) fn calm(&mut self, place: usize) -> bool {
        std::mem::take(&mut self.restless[place])
    }

    /// A job joins behind all others.
    pub(super) fn push(&mut self, reservation: Reservation) {
        if self.places.len() == self.room {
            self.close_up();
        }
        let place = self.places.len();
        self.places.push(Some(reservation));
        self.restless.push(false);
        self.enter(reservation.start(), place);
    }

    /// Takes out the first job, if its start is not later than `now`.
    pub(super) fn pop_due(&mut self, now: Time) -> Option<Reservation> {
        let (_, place) = self.order.pop_front_if(|(start, _)| *start <= now)?;
        let reservation = self.places[place].take();
        if self.order.is_empty() {
            self.places.clear();
            self.restless.clear();
        }
        reservation
    }

    /// The job in a place has another slot.
    pub(super) fn settle(&mut self, place: usize, slot: Option<Slot>) {
        let held = self.places[place].as_mut().expect("a place in use");
        let before = held.start();
        held.slot = slot;
        let after = held.start();
        if after < before {
            // Most move past few others.
            let mut position = self.order.partition_point(|other| *other < (before, place));
            while position > 0 && self.order[position - 1] > (after, place) {
                self.order.swap(position - 1, position);
                position -= 1;
            }
            self.order[position] = (after, place);
        } else if after > before {
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
        for (held, place) in self.places.iter().zip(&mut moved) {
            *place = next;
            next += usize::from(held.is_some());
        }
        let mut places = self.places.iter();
        self.restless.retain(|_| places.next().is_some_and(Option::is_some));
        self.places.retain(Option::is_some);
        self.order.iter_mut().for_each(|(_, place)| *place = moved[*place]);
        self.room = (2 * next).next_power_of_two().max(Self::SMALLEST);
    }
}

/// In order of reserved starts.
impl Index<usize> for HeldReservations {
    type Output = Reservation;

    fn index(&self, number: usize) -> &Reservation {
        self.at(self.place(number))
    }
}
