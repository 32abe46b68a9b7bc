//! The event calendar: a priority queue in the total order `(time, priority, order of posting)`, and the priorities.
//!
//! A heap of 16-byte keys stands over a slab of events, which never move. Cancelling empties the event's slot in O(1).
//! Its key is dropped when it surfaces, or when such dead keys outnumber the live ones, so memory follows the pending
//! events. The spent key of the last event stays on top of the heap until the next event takes its place.

use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Priority of an event among those of the same instant: the smallest goes first; among equals, the one posted earlier.
///
/// The priority belongs to the event's type ([`Prioritized`]), so a rule such as "processors are released before new
/// jobs arrive, and decisions come last" is written once per model. Priorities lie between 0 and 15; the four named
/// ones leave room for a model's own in between.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventPriority(u8);

impl EventPriority {
    /// A job, a task or a reservation ends and its processors become free.
    pub const RELEASE: Self = Self(2);
    /// A job or a message arrives.
    pub const ARRIVE: Self = Self(6);
    /// A policy decides, once it has seen the whole instant.
    pub const DECIDE: Self = Self(10);

    /// Returns a priority of the model's own, 0 (first) to 15 (last).
    ///
    /// # Panics
    ///
    /// If `priority` is above 15.
    pub const fn new(priority: u8) -> Self {
        assert!(priority < 16, "a priority lies between 0 and 15");
        Self(priority)
    }
}

/// Event with a priority among simultaneous ones. Every event type implements it.
pub trait Prioritized {
    /// Priority of this event.
    fn priority(&self) -> EventPriority;
}

/// Handle of a posted event, used to cancel it. A key is never reused.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct EventKey(Key);

/// `time (64 bits) | priority (4) | order of posting (36) | slot (24)`. Keys compare in that order; orders of posting
/// are distinct, so the slot never decides.
type Key = u128;

const SLOT_BITS: u32 = 24;
const ORDER_BITS: u32 = 36;
const MAX_PENDING: usize = 1 << SLOT_BITS;
const MAX_POSTED: u64 = 1 << ORDER_BITS;

const fn slot_of(key: Key) -> usize {
    (key & ((1 << SLOT_BITS) - 1)) as usize
}

const fn time_of(key: Key) -> Time {
    Time::from_nanos((key >> 64) as u64)
}

/// Pending events of type `E`, next one first.
#[derive(Clone, Debug)]
pub struct Calendar<E> {
    keys: BinaryHeap<Reverse<Key>>,
    slots: Vec<CalendarSlot<E>>,
    vacant: Vec<usize>,
    posted: u64,
    live: usize,
}

#[derive(Clone, Debug)]
struct CalendarSlot<E> {
    /// Key of the event in this slot, or of the last one that was in it.
    key: Key,
    event: Option<E>,
}

impl<E> Default for Calendar<E> {
    /// An empty calendar.
    fn default() -> Self {
        Self { keys: BinaryHeap::new(), slots: Vec::new(), vacant: Vec::new(), posted: 0, live: 0 }
    }
}

impl<E> Calendar<E> {
    /// Posts `event` for the instant `at`; O(log n).
    ///
    /// # Panics
    ///
    /// Beyond 16 million pending events or 68 billion posted ones.
    #[inline]
    pub fn post(&mut self, at: Time, priority: EventPriority, event: E) -> EventKey {
        assert!(self.posted < MAX_POSTED, "a calendar takes {MAX_POSTED} events in all");
        // Prefer the place of a spent key on top of the heap: one descent replaces a removal and an insertion, and most
        // events post another one. Then prefer a vacant slot: the slab never exceeds the highest number of pending events.
        let spent = self.spent_top();
        let slot = spent.or_else(|| self.vacant.pop()).unwrap_or(self.slots.len());
        assert!(slot < MAX_PENDING, "a calendar holds {MAX_PENDING} events at once");
        let key = u128::from(at.as_nanos()) << 64
            | u128::from(priority.0) << (ORDER_BITS + SLOT_BITS)
            | u128::from(self.posted) << SLOT_BITS
            | slot as u128;
        let filled = CalendarSlot { key, event: Some(event) };
        if slot == self.slots.len() {
            self.slots.push(filled);
        } else {
            self.slots[slot] = filled;
        }
        self.posted += 1;
        self.live += 1;
        if spent.is_some() {
            *self.keys.peek_mut().expect("a spent key is on top") = Reverse(key);
        } else {
            self.keys.push(Reverse(key));
        }
        EventKey(key)
    }

    /// Returns the slot of the key on top of the heap, if its event has happened or been cancelled.
    fn spent_top(&self) -> Option<usize> {
        let Reverse(key) = self.keys.peek()?;
        Some(slot_of(*key)).filter(|slot| self.slots[*slot].event.is_none())
    }

    /// Cancels the event and returns it; O(1) amortised. `None` if it has already happened or been cancelled.
    pub fn cancel(&mut self, key: EventKey) -> Option<E> {
        let slot = &mut self.slots[slot_of(key.0)];
        // The event has happened, and another one occupies its slot.
        if slot.key != key.0 {
            return None;
        }
        let event = slot.event.take()?;
        self.live -= 1;
        // Amortised: dropping costs as much as there are keys, and happens only after that many were cancelled. The 64
        // spares small calendars the work.
        if self.keys.len() > 2 * self.live + 64 {
            let Self { keys, slots, vacant, .. } = self;
            keys.retain(|Reverse(key)| {
                let live = slots[slot_of(*key)].event.is_some();
                if !live {
                    vacant.push(slot_of(*key));
                }
                live
            });
        }
        Some(event)
    }

    /// Returns the instant of the next event.
    pub fn next_time(&mut self) -> Option<Time> {
        self.surface().map(time_of)
    }

    /// Drops the spent keys on top of the heap, and returns the key of the next event.
    #[inline]
    fn surface(&mut self) -> Option<Key> {
        loop {
            let Reverse(key) = *self.keys.peek()?;
            if self.slots[slot_of(key)].event.is_some() {
                return Some(key);
            }
            // A cancelled event surfaces. Its slot becomes vacant only now, because its key was still in the heap.
            self.keys.pop();
            self.vacant.push(slot_of(key));
        }
    }

    /// Returns true if no event is pending up to and including this instant. Returns `false` also where a cancelled
    /// event has not surfaced, since this method changes nothing.
    #[inline]
    pub(crate) fn has_nothing_until(&self, at: Time) -> bool {
        // The children of the top come right behind it.
        let next = if self.spent_top().is_some() { 1..3 } else { 0..1 };
        self.keys.as_slice().iter().take(next.end).skip(next.start).all(|Reverse(key)| time_of(*key) > at)
    }

    /// Removes and returns the next event, with its instant; O(log n).
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let key = self.surface()?;
        let event = self.slots[slot_of(key)].event.take()?;
        self.live -= 1;
        Some((time_of(key), event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_ahead_errs_on_one_side_only() {
        let (mut calendar, at) = (Calendar::default(), Time::from_secs);
        let keys = [3, 5, 4].map(|second| calendar.post(at(second), EventPriority::ARRIVE, second));
        calendar.pop();
        assert!(calendar.has_nothing_until(at(3)) && !calendar.has_nothing_until(at(4)));
        calendar.cancel(keys[2]);
        assert!(!calendar.has_nothing_until(at(4)), "a cancelled one may count");
    }

    /// All events but one are cancelled. The keys of ten surface one by one, in `next_time` or in `pop`; those of many are dropped together.
    #[test]
    fn memory_follows_the_pending_events() {
        for (cancelled, look_first) in [(10, true), (10, false), (1_000, false)] {
            let mut calendar = Calendar::default();
            for round in 0..100 {
                let at = Time::from_secs(round);
                let keys: Vec<_> = (0..cancelled).map(|_| calendar.post(at, EventPriority::ARRIVE, round)).collect();
                calendar.post(at, EventPriority::DECIDE, round);
                for key in keys {
                    assert_eq!(calendar.cancel(key), Some(round));
                    assert!(calendar.keys.len() <= 2 * calendar.live + 64, "{} keys", calendar.keys.len());
                }
                assert!(!look_first || calendar.next_time() == Some(at));
                assert_eq!((calendar.pop(), calendar.next_time()), (Some((at, round)), None));
            }
            assert_eq!((calendar.slots.len(), calendar.vacant.len()), (cancelled + 1, cancelled + 1));
        }
    }
}
