//! Reservations of the waiting jobs, in order of arrival and in order of their starts.

use crate::policy::machine_profiles::ReservedSlot;
use crate::queue::QueuedJob;
use sim_core::Time;
use std::collections::VecDeque;
use std::ops::Index;

/// Reservations in order of arrival, which defines their places, and an index by reserved start, then arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldReservations {
    by_arrival: Vec<HeldReservation>,
    order: VecDeque<(Time, u64)>,
    arrivals: u64,
}

/// Waiting job and its reservation; `None` if by expectations it can never start.
#[derive(Copy, Clone, Debug)]
pub(super) struct HeldReservation {
    pub(super) waiting: QueuedJob,
    pub(super) slot: Option<ReservedSlot>,
    arrival: u64,
}

impl HeldReservation {
    /// Reserved start; without a reservation, the last instant of time.
    fn start(&self) -> Time {
        self.slot.map_or(Time::MAX, |slot| slot.start)
    }
}

impl HeldReservations {
    /// Number of waiting jobs, which is the number of places.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Iterates over the reservations by reserved start, then by arrival.
    pub(super) fn iter(&self) -> impl Iterator<Item = &HeldReservation> + Clone {
        self.in_order_of_starts().map(|place| self.at(place))
    }

    /// Iterates over the places by reserved start.
    pub(super) fn in_order_of_starts(&self) -> impl Iterator<Item = usize> + Clone {
        self.order.iter().map(|(_, arrival)| self.place_of(*arrival))
    }

    /// Returns the place of the reservation with this number in the order of starts.
    pub(super) fn place(&self, number: usize) -> usize {
        self.place_of(self.order[number].1)
    }

    /// Returns the reservation in a place.
    pub(super) fn at(&self, place: usize) -> &HeldReservation {
        &self.by_arrival[place]
    }

    /// Returns the first reserved start that is later than `after`.
    pub(super) fn next_start(&self, after: Time) -> Option<Time> {
        let next = self.order.partition_point(|(start, _)| *start <= after);
        self.order.get(next).map(|(start, _)| *start)
    }

    /// Appends a job behind all others.
    pub(super) fn push(&mut self, waiting: QueuedJob, slot: Option<ReservedSlot>) {
        let reservation = HeldReservation { waiting, slot, arrival: self.arrivals };
        self.arrivals += 1;
        self.by_arrival.push(reservation);
        self.enter((reservation.start(), reservation.arrival));
    }

    /// Removes the first job, if its start is not later than `now`.
    pub(super) fn pop_due(&mut self, now: Time) -> Option<HeldReservation> {
        let (_, arrival) = self.order.pop_front_if(|(start, _)| *start <= now)?;
        Some(self.by_arrival.remove(self.place_of(arrival)))
    }

    /// Replaces the slot of the job in a place.
    pub(super) fn settle(&mut self, place: usize, slot: Option<ReservedSlot>) {
        let held = &mut self.by_arrival[place];
        let before = (held.start(), held.arrival);
        held.slot = slot;
        let after = (held.start(), held.arrival);
        if after != before {
            let position = self.order.partition_point(|other| *other < before);
            self.order.remove(position);
            self.enter(after);
        }
    }

    /// Replaces the slot, but leaves the order of starts unchanged until all are [sorted](Self::sort).
    pub(super) fn move_ahead(&mut self, place: usize, slot: ReservedSlot) {
        self.by_arrival[place].slot = Some(slot);
    }

    /// Restores the order of starts after jobs have moved, most of them past few others.
    pub(super) fn sort(&mut self) {
        let mut order = std::mem::take(&mut self.order);
        order.iter_mut().for_each(|(start, arrival)| *start = self.at(self.place_of(*arrival)).start());
        order.make_contiguous().sort();
        self.order = order;
    }

    fn enter(&mut self, key: (Time, u64)) {
        let position = self.order.partition_point(|other| *other < key);
        self.order.insert(position, key);
    }

    fn place_of(&self, arrival: u64) -> usize {
        self.by_arrival.partition_point(|held| held.arrival < arrival)
    }
}

/// Indexed by the order of reserved starts.
impl Index<usize> for HeldReservations {
    type Output = HeldReservation;

    fn index(&self, number: usize) -> &HeldReservation {
        self.at(self.place(number))
    }
}
