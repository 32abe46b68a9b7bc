//! Plain twin of the profile.

use sim_core::{Span, Time};

/// Plain twin of [`AvailabilityProfile`](sim_core::AvailabilityProfile): one sorted vector of steps, walked from step to step.
#[derive(Clone, Debug)]
pub(crate) struct LinearProfile {
    steps: Vec<(Time, u32)>,
}

impl LinearProfile {
    /// Returns a profile of `capacity` processors that are free for ever.
    pub(crate) fn new(capacity: u32) -> Self {
        Self { steps: vec![(Time::ZERO, capacity)] }
    }

    /// Steps `(from, free)`: `free` processors from that instant to the next step.
    pub(crate) fn steps(&self) -> &[(Time, u32)] {
        &self.steps
    }

    /// Processors free at the instant `at`.
    pub(crate) fn free_at(&self, at: Time) -> u32 {
        self.steps[self.step_of(at)].1
    }

    /// The earliest start, not before `from`, at which `processors` stay free for `span`.
    pub(crate) fn earliest(&self, from: Time, span: Span, processors: u32) -> Option<Time> {
        let mut start = from;
        let mut step = self.step_of(from);
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

    /// Reserves `processors` in `[start, start + span)`.
    pub(crate) fn reserve(&mut self, start: Time, span: Span, processors: u32) {
        self.change(start, span, |free| free - processors);
    }

    /// Returns `processors` to `[start, start + span)`.
    pub(crate) fn cancel(&mut self, start: Time, span: Span, processors: u32) {
        self.change(start, span, |free| free + processors);
    }

    /// Drops all steps before `now`.
    pub(crate) fn forget_before(&mut self, now: Time) {
        let present = self.step_of(now);
        self.steps.drain(..present);
    }

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

    fn cut(&mut self, at: Time) -> usize {
        let step = self.step_of(at);
        let (from, free) = self.steps[step];
        if from >= at {
            return step;
        }
        self.steps.insert(step + 1, (at, free));
        step + 1
    }

    fn join(&mut self, position: usize) {
        if (1..self.steps.len()).contains(&position) && self.steps[position - 1].1 == self.steps[position].1 {
            self.steps.remove(position);
        }
    }
}
