//! The reservations of the jobs that wait, in order of arrival and in order of their starts.

use crate::policy::machine_profiles::Slot;
use crate::queue::QueuedJob;
use sim_core::{Span, Time};
use std::collections::VecDeque;
use std::ops::Index;

/// Reservations, each in the place in which its job arrived, until the places close up; and the places in order of reserved
/// starts, then of arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldReservations {
    /// `None` where a job has left.
    places: Vec<Option<Reservation>>,
    /// Of each place, what a compression looks at first: of most jobs, it looks at nothing else.
    turns: Vec<Turn>,
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

/// What decides whether a job may move when it has its turn.
#[derive(Copy, Clone, Debug)]
pub(super) struct Turn {
    /// The reserved start; without a reservation, the last instant there is.
    pub(super) start: Time,
    /// How long it takes, on the machine where it is to run.
    pub(super) takes: Span,
    pub(super) processors: u32,
    /// Whether a job waits in this place.
    pub(super) is_taken: bool,
    /// When it last had its turn, by the clock of [`Disturbances`](super::freed::Disturbances).
    pub(super) last: u64,
}

impl Reservation {
    /// The reserved start; that of a job without a reservation is the last instant there is.
    pub(super) fn start(&self) -> Time {
        self.slot.map_or(Time::MAX, |slot| slot.start)
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

    /// How many places there are, in use or not; they are numbered in order of arrival.
    pub(super) const fn places(&self) -> usize {
        self.places.len()
    }

    /// The job in a place has its turn, when the clock stands so. What decides whether it may move.
    #[inline]
    pub(super) fn take_turn(&mut self, place: usize, clock: u64) -> Turn {
        let turn = &mut self.turns[place];
        Turn { last: std::mem::replace(&mut turn.last, clock), ..*turn }
    }

    /// Whether a job waits in a place.
    pub(super) fn is_taken(&self, place: usize) -> bool {
        self.places[place].is_some()
    }

    /// The places and their starts, in order of reserved starts, of those that start later than `after`.
    pub(super) fn later_than(&self, after: Time) -> impl Iterator<Item = (Time, usize)> {
        self.order.range(self.order.partition_point(|(start, _)| *start <= after)..).copied()
    }

    /// The places, in order of reserved starts.
    pub(super) fn in_order_of_starts(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|(_, place)| *place)
    }

    /// A job joins behind all others. On the machine of its slot it `takes` so long; `clock` tells when this is.
    pub(super) fn push(&mut self, reservation: Reservation, takes: Span, clock: u64) {
        if self.places.len() == self.room {
            self.close_up();
        }
        let (place, start) = (self.places.len(), reservation.start());
        self.places.push(Some(reservation));
        let processors = reservation.waiting.request.processors;
        self.turns.push(Turn { start, takes, processors, is_taken: true, last: clock });
        self.enter(start, place);
    }

    /// Takes out the first job, if its start is not later than `now`.
    pub(super) fn pop_due(&mut self, now: Time) -> Option<Reservation> {
        let (_, place) = self.order.pop_front_if(|(start, _)| *start <= now)?;
        let reservation = self.places[place].take();
        self.turns[place].is_taken = false;
        if self.order.is_empty() {
            self.places.clear();
            self.turns.clear();
        }
        reservation
    }

    /// The job in a place has another slot, and takes so long there.
    pub(super) fn settle(&mut self, place: usize, slot: Option<Slot>, takes: Span) {
        let before = self.turns[place].start;
        self.move_ahead(place, slot, takes);
        let after = self.turns[place].start;
        if after != before {
            let position = self.order.partition_point(|other| *other < (before, place));
            self.order.remove(position);
            self.enter(after, place);
        }
    }

    /// The same, but it keeps its place in the order of starts until all are [sorted](Self::sort).
    pub(super) fn move_ahead(&mut self, place: usize, slot: Option<Slot>, takes: Span) {
        let held = self.places[place].as_mut().expect("a place in use");
        held.slot = slot;
        let turn = &mut self.turns[place];
        (turn.start, turn.takes) = (held.start(), takes);
    }

    /// Restores the order of starts after jobs have moved, most of them past few others.
    pub(super) fn sort(&mut self) {
        let order = self.order.make_contiguous();
        for number in 0..order.len() {
            let place = order[number].1;
            let key = (self.turns[place].start, place);
            let mut position = number;
            while position > 0 && order[position - 1] > key {
                order[position] = order[position - 1];
                position -= 1;
            }
            order[position] = key;
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
        self.turns.retain(|turn| turn.is_taken);
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
