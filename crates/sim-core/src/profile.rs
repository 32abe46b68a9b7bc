//! Availability over time: how many processors are free, from now into the planned future.

use crate::time::{Span, Time};

/// Free processors as a step function of time. Beyond the last step everything is free again, unless reserved for ever.
///
/// Kept as a sorted vector of steps, in which neighbours differ. Finding the step of an instant is a binary search;
/// `earliest` then walks, `reserve` and `cancel` touch the steps they cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    capacity: u32,
    /// `(from, free)`: so many are free from that instant to the next step. The first step stands for all time before.
    steps: Vec<(Time, u32)>,
}

impl Profile {
    /// `capacity` processors, free for ever.
    pub fn new(capacity: u32) -> Self {
        Self { capacity, steps: vec![(Time::ZERO, capacity)] }
    }

    /// Processors in all.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Processors free at the instant `at`.
    pub fn free_at(&self, at: Time) -> u32 {
        self.steps[self.step_of(at)].1
    }

    /// Number of steps kept: what memory and search follow.
    pub const fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether nothing is reserved.
    pub fn is_empty(&self) -> bool {
        self.steps == [(self.steps[0].0, self.capacity)]
    }

    /// The earliest start, not before `from`, at which `processors` stay free for `span`. `None` if they never do:
    /// the request is wider than what is free in the end.
    pub fn earliest(&self, from: Time, span: Span, processors: u32) -> Option<Time> {
        let mut start = from;
        let mut step = self.step_of(from);
        // Leap from one stretch that is wide enough to the next, until one is also long enough.
        while let Some(length) = self.steps[step..].iter().position(|(_, free)| *free < processors) {
            let narrow = step + length;
            let end = self.steps[narrow].0;
            if length > 0 && end.since(start) >= span {
                break;
            }
            step = narrow + self.steps[narrow..].iter().position(|(_, free)| *free >= processors)?;
            start = self.steps[step].0;
        }
        Some(start)
    }

    /// Whether `processors` are free at `start` and throughout `[start, start + span)`.
    pub fn fits(&self, start: Time, span: Span, processors: u32) -> bool {
        let end = start.saturating_add(span);
        let (present, later) = self.steps[self.step_of(start)..].split_first().expect("a step is always in force");
        present.1 >= processors && later.iter().take_while(|(at, _)| *at < end).all(|(_, free)| *free >= processors)
    }

    /// Takes `processors` out of `[start, start + span)`.
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

    /// Puts `processors` back into `[start, start + span)`.
    ///
    /// # Panics
    ///
    /// If more would be free than there are.
    pub fn cancel(&mut self, start: Time, span: Span, processors: u32) {
        let capacity = self.capacity;
        self.change(start, span, |free| {
            let free = free + processors;
            assert!(free <= capacity, "{free} of {capacity} processors would be free after cancelling at {start} s");
            free
        });
    }

    /// Forgets all steps before `now`: memory follows what is planned, not what has been.
    pub fn forget_before(&mut self, now: Time) {
        let present = self.step_of(now);
        self.steps.drain(..present);
    }

    /// The step in force at the instant `at`.
    fn step_of(&self, at: Time) -> usize {
        self.steps.partition_point(|(from, _)| *from <= at).saturating_sub(1)
    }

    fn change(&mut self, start: Time, span: Span, new: impl Fn(u32) -> u32) {
        if span.is_zero() {
            return;
        }
        let first = self.cut(start);
        let end = start.saturating_add(span);
        let last = if end == Time::MAX { self.steps.len() } else { self.cut(end) };
        for step in &mut self.steps[first..last] {
            step.1 = new(step.1);
        }
        self.join(last);
        self.join(first);
    }

    /// Makes a step begin at `at` and returns its position.
    fn cut(&mut self, at: Time) -> usize {
        let step = self.step_of(at);
        let (from, free) = self.steps[step];
        if from >= at {
            return step;
        }
        self.steps.insert(step + 1, (at, free));
        step + 1
    }

    /// Removes the step at `position` if it changes nothing.
    fn join(&mut self, position: usize) {
        if (1..self.steps.len()).contains(&position) && self.steps[position - 1].1 == self.steps[position].1 {
            self.steps.remove(position);
        }
    }
}
