//! Availability over time: the number of free processors, from now into the planned future.

use crate::time::{Span, Time};

/// Free processors as a step function of time. Beyond the last step everything is free again, unless reserved for ever.
///
/// The steps are sorted, and neighbouring ones differ, so profiles are equal if they have the same steps.
/// [`earliest`](Self::earliest) walks from one stretch that is wide enough to the next; [`reserve`](Self::reserve) and
/// [`cancel`](Self::cancel) touch the steps they cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AvailabilityProfile {
    capacity: u32,
    /// Instant at which each step begins. Never empty; the first step also stands for all earlier time.
    begins: Vec<Time>,
    /// Free processors of each step. Separate from the instants, because walks read only this vector.
    free: Vec<u32>,
}

impl AvailabilityProfile {
    /// Returns a profile of `capacity` processors that are free for ever.
    pub fn new(capacity: u32) -> Self {
        Self { capacity, begins: vec![Time::ZERO], free: vec![capacity] }
    }

    /// Returns a profile of `capacity` processors from `now` on, some of which are held until the instants of `ends`.
    /// The ends are later than `now` and ascend; each states the number of processors that it frees.
    pub fn held_until(capacity: u32, now: Time, ends: impl DoubleEndedIterator<Item = (Time, u32)>) -> Self {
        let (mut begins, mut frees, mut free) = (Vec::new(), Vec::new(), capacity);
        for (end, processors) in ends.rev() {
            if begins.last() != Some(&end) {
                begins.push(end);
                frees.push(free);
            }
            free -= processors;
        }
        begins.push(now);
        frees.push(free);
        begins.reverse();
        frees.reverse();
        Self { capacity, begins, free: frees }
    }

    /// Number of steps kept; memory is proportional to it.
    pub const fn steps(&self) -> usize {
        self.begins.len()
    }

    /// Returns the earliest start, not before `from`, at which `processors` stay free for `span`. `None` if the request
    /// is wider than what is free in the end.
    pub fn earliest(&self, from: Time, span: Span, processors: u32) -> Option<Time> {
        self.earliest_before(from, Time::MAX, span, processors, Time::MAX)
    }

    /// Returns the earliest start in `[from, before)` at which `processors` stay free for `span`, or until `until` if
    /// that comes first. `None` if there is no such start. A job that is to hold them from `until` on for as long thus
    /// learns if it can start earlier. `before` is not later than `until`.
    pub fn earliest_before(&self, from: Time, before: Time, span: Span, processors: u32, until: Time) -> Option<Time> {
        debug_assert!(
            before <= until,
            "a start before {before} s is asked for, but what is needed only until {until} s"
        );
        let (mut step, mut start) = (self.find(from), from);
        // Steps before the first one are dropped; the first one stands for all earlier time and decides for a start in
        // the past.
        if self.free[0] < processors {
            start = start.max(self.begins[0]);
        }
        // Invariant: enough processors are free from `start` to the beginning of `step`.
        while start < before {
            let Some(narrow) = self.next(step, |free| free < processors) else { return Some(start) };
            let end = self.begins[narrow];
            if end >= until || end > start && end.since(start) >= span {
                return Some(start);
            }
            step = self.next(narrow, |free| free >= processors)?;
            start = self.begins[step];
        }
        None
    }

    /// Returns true if `processors` are free at `start` and throughout `[start, start + span)`.
    pub fn fits(&self, start: Time, span: Span, processors: u32) -> bool {
        self.shortfall(start, span, processors).is_none()
    }

    /// Returns the first instant of `[start, start + span)` at which fewer than `processors` are free, and the number
    /// free then. `None` if they [fit](Self::fits). Takes time proportional to the steps on the way.
    pub fn shortfall(&self, start: Time, span: Span, processors: u32) -> Option<(Time, u32)> {
        let first = self.find(start);
        let narrow = self.next(first, |free| free < processors)?;
        let at = if narrow == first { start } else { self.begins[narrow] };
        (narrow == first || at < start.saturating_add(span)).then_some((at, self.free[narrow]))
    }

    /// Reserves `processors` in `[start, start + span)`.
    ///
    /// # Panics
    ///
    /// If they are not free there.
    pub fn reserve(&mut self, start: Time, span: Span, processors: u32) {
        self.change(start, span, |free| {
            free.checked_sub(processors).unwrap_or_else(|| {
                panic!("{processors} processors reserved from {start} s for {span} s where only {free} are free")
            })
        });
    }

    /// Returns `processors` to `[start, start + span)`.
    ///
    /// # Panics
    ///
    /// If more would be free than the capacity.
    pub fn cancel(&mut self, start: Time, span: Span, processors: u32) {
        let capacity = self.capacity;
        self.change(start, span, |free| {
            let free = free + processors;
            assert!(free <= capacity, "{free} of {capacity} processors would be free after cancelling at {start} s");
            free
        });
    }

    /// Drops all steps before `now`, so that memory is proportional to what is planned.
    pub fn forget_before(&mut self, now: Time) {
        let present = self.find(now);
        if present > 0 {
            self.begins.drain(..present);
            self.free.drain(..present);
        }
    }

    /// Returns the step in force at the instant `at`; the first, if it begins later.
    fn find(&self, at: Time) -> usize {
        // Many callers look up the present instant.
        if self.begins.get(1).is_none_or(|second| *second > at) {
            return 0;
        }
        self.begins.partition_point(|from| *from <= at) - 1
    }

    /// Applies `new` to the free processors of each step in `[start, start + span)`.
    fn change(&mut self, start: Time, span: Span, new: impl Fn(u32) -> u32) {
        if span.is_zero() {
            return;
        }
        let end = start.saturating_add(span);
        // Make a step begin at both ends, so that the steps between them change whole. `first` comes first, since it
        // may move `last`.
        let first = self.cut(start);
        let last = if end == Time::MAX { self.steps() } else { self.cut(end) };
        self.free[first..last].iter_mut().for_each(|free| *free = new(*free));
        // Neighbours must differ: the changed stretch may now equal the step before or behind it.
        self.join(last);
        self.join(first);
    }

    /// Makes a step begin at `at` and returns it.
    fn cut(&mut self, at: Time) -> usize {
        let step = self.find(at);
        if self.begins[step] >= at {
            return step;
        }
        self.begins.insert(step + 1, at);
        self.free.insert(step + 1, self.free[step]);
        step + 1
    }

    /// Removes the step, if it exists and equals the one before it.
    fn join(&mut self, step: usize) {
        if step > 0 && self.free.get(step) == Some(&self.free[step - 1]) {
            self.begins.remove(step);
            self.free.remove(step);
        }
    }

    /// Returns the first step, not before `from`, for whose free processors `is` holds.
    #[inline]
    fn next(&self, from: usize, is: impl Fn(u32) -> bool) -> Option<usize> {
        /// Number of widths compared at once: a few instructions, whatever the outcome.
        const AT_ONCE: usize = 8;
        /// Number of steps compared one by one first, since most searches end within them.
        const NEAR: usize = 8;
        let near = self.steps().min(from + NEAR);
        if let Some(place) = self.free[from..near].iter().position(|free| is(*free)) {
            return Some(from + place);
        }
        let mut at = near;
        while let Some(chunk) = self.free.get(at..at + AT_ONCE) {
            if chunk.iter().fold(false, |any, free| any | is(*free)) {
                break;
            }
            at += AT_ONCE;
        }
        self.free[at..].iter().position(|free| is(*free)).map(|place| at + place)
    }
}
