//! Neighbouring steps of a profile, and what is known of them as a whole.

use crate::time::{Span, Time};
use std::ops::{ControlFlow, Range};

#[derive(Debug)]
pub(super) struct Block {
    /// `(from, free)`: so many are free from that instant to the next step.
    steps: Vec<(Time, u32)>,
    /// No step has fewer free.
    least: u32,
    /// No stretch within the block in which 2ⁿ processors are free is longer than the n-th of these.
    longest: [Span; Self::LEVELS],
}

impl Block {
    /// A block of so many steps is not worth splitting.
    pub(super) const SMALL: usize = 128;

    /// Widths that are told apart: 1, 2, 4, … processors.
    const LEVELS: usize = 16;

    pub(super) const fn of(steps: Vec<(Time, u32)>) -> Self {
        Self { steps, least: 0, longest: [Span::MAX; Self::LEVELS] }
    }

    pub(super) const fn len(&self) -> usize {
        self.steps.len()
    }

    /// The instant at which the first step begins.
    pub(super) fn from(&self) -> Time {
        self.steps[0].0
    }

    /// Free processors of one step.
    pub(super) fn free(&self, step: usize) -> u32 {
        self.steps[step].1
    }

    pub(super) fn steps(&self) -> &[(Time, u32)] {
        &self.steps
    }

    /// The step in force at the instant `at`; the first, if it begins later.
    pub(super) fn find(&self, at: Time) -> usize {
        self.steps.partition_point(|(from, _)| *from <= at).saturating_sub(1)
    }

    /// Whether `processors` are known to be free throughout.
    pub(super) const fn is_wide(&self, processors: u32) -> bool {
        self.least >= processors
    }

    /// Whether `processors` are free in each step, from `step` on, that begins before `end`.
    pub(super) fn stays_wide(&self, step: usize, end: Time, processors: u32) -> bool {
        self.is_wide(processors)
            || self.steps[step..].iter().take_while(|(at, _)| *at < end).all(|(_, free)| *free >= processors)
    }

    /// [`walk`](Self::walk), where the next block begins at `end`: what is known of the block saves most of it. Goes on
    /// with the instant from which enough are free until `end`, which may be `end`.
    pub(super) fn search(
        &self,
        step: usize,
        end: Time,
        start: Time,
        span: Span,
        processors: u32,
    ) -> ControlFlow<Time, Time> {
        if end.since(start) >= span {
            if self.longest[level(processors)] >= span {
                return self.walk(step, start, span, processors).map_continue(|wide| wide.unwrap_or(end));
            }
            // Only the stretch that has come in from before may be long enough.
            let narrow = self.steps[step..].iter().find(|(_, free)| *free < processors);
            if narrow.is_some_and(|(at, _)| suffices(start, *at, span)) {
                return ControlFlow::Break(start);
            }
        }
        // No stretch that ends in this block is long enough. What counts is where its last one begins.
        let last = self.steps[step..].iter().rposition(|(_, free)| *free < processors);
        ControlFlow::Continue(last.map_or(start, |last| self.steps.get(step + last + 1).map_or(end, |(at, _)| *at)))
    }

    /// Looks for a stretch, from `step` on, in which `processors` are free for `span`, by leaping from one that is wide
    /// enough to the next, until one is also long enough. They are free from `start` up to `step`. Breaks off with the
    /// beginning of that stretch, else goes on with that of the last one, if it reaches the block's end.
    pub(super) fn walk(
        &self,
        step: usize,
        mut start: Time,
        span: Span,
        processors: u32,
    ) -> ControlFlow<Time, Option<Time>> {
        let mut steps = &self.steps[step..];
        while let Some(narrow) = steps.iter().position(|(_, free)| *free < processors) {
            if suffices(start, steps[narrow].0, span) {
                return ControlFlow::Break(start);
            }
            let Some(length) = steps[narrow..].iter().position(|(_, free)| *free >= processors) else {
                return ControlFlow::Continue(None);
            };
            steps = &steps[narrow + length..];
            start = steps[0].0;
        }
        ControlFlow::Continue(Some(start))
    }

    /// [`walk`](Self::walk), where all is free from `until` on, and the stretch must begin earlier than `before`, in the last
    /// block that matters.
    pub(super) fn walk_until(
        &self,
        step: usize,
        mut start: Time,
        before: Time,
        span: Span,
        processors: u32,
        until: Time,
    ) -> Option<Time> {
        let mut steps = &self.steps[step..];
        while start < before {
            let Some(narrow) = steps.iter().position(|(_, free)| *free < processors) else { return Some(start) };
            let at = steps[narrow].0;
            if at >= until || suffices(start, at, span) {
                return Some(start);
            }
            let length = steps[narrow..].iter().position(|(_, free)| *free >= processors)?;
            steps = &steps[narrow + length..];
            start = steps[0].0;
        }
        None
    }

    /// Makes a step begin at `at`, which falls into `step`. That step, or the given one if it begins then or later.
    pub(super) fn cut(&mut self, step: usize, at: Time) -> usize {
        let (from, free) = self.steps[step];
        if from >= at {
            return step;
        }
        self.steps.insert(step + 1, (at, free));
        step + 1
    }

    /// Removes a step, if there is such a one, and if it changes nothing; `earlier` is the one before the block's first.
    pub(super) fn join(&mut self, step: usize, earlier: Option<(Time, u32)>) {
        let Some((_, free)) = self.steps.get(step) else { return };
        let earlier = if step == 0 { earlier } else { Some(self.steps[step - 1]) };
        if earlier.is_some_and(|(_, before)| before == *free) {
            self.steps.remove(step);
        }
    }

    /// Between two instants, what is free becomes what `new` makes of it, where there are no other blocks.
    pub(super) fn change_between(&mut self, start: Time, end: Time, new: impl Fn(u32) -> u32) {
        let first = self.cut(self.find(start), start);
        let last = if end == Time::MAX { self.len() } else { self.cut(self.find(end), end) };
        self.change(first..last, new);
        self.join(last, None);
        self.join(first, None);
    }

    /// Drops the steps before `step`. What is known holds of the others all the more.
    pub(super) fn forget(&mut self, step: usize) {
        self.steps.drain(..step);
    }

    /// What is free in some steps becomes what `new` makes of it.
    pub(super) fn change(&mut self, steps: Range<usize>, new: impl Fn(u32) -> u32) {
        self.steps[steps].iter_mut().for_each(|(_, free)| *free = new(*free));
    }

    /// Finds out all that is to be known of the block, where the next one begins at `end`.
    pub(super) fn survey(&mut self, end: Time) {
        let mut since = [Time::ZERO; Self::LEVELS];
        // Of each level below `open`, a stretch is under way.
        let mut open = 0;
        self.longest = [Span::ZERO; Self::LEVELS];
        for (at, free) in self.steps.iter().copied().chain([(end, 0)]) {
            let levels = if free == 0 { 0 } else { level(free) + 1 };
            if levels < open {
                for (longest, since) in self.longest[levels..open].iter_mut().zip(&since[levels..open]) {
                    *longest = (*longest).max(at.since(*since));
                }
            } else {
                since[open..levels].fill(at);
            }
            open = levels;
        }
        self.least = self.steps.iter().map(|(_, free)| *free).min().unwrap_or(0);
    }

    /// Forgets what has been found out.
    pub(super) const fn unknown(&mut self) {
        self.least = 0;
        self.longest = [Span::MAX; Self::LEVELS];
    }

    /// Cuts off the later half.
    pub(super) fn split(&mut self) -> Self {
        Self::of(self.steps.split_off(self.steps.len() / 2))
    }

    /// Takes over the steps of the next block.
    pub(super) fn append(&mut self, mut next: Self) {
        self.steps.append(&mut next.steps);
    }
}

/// The widest width told apart that is not wider than `processors`, which are at least 1.
const fn level(processors: u32) -> usize {
    let level = processors.ilog2() as usize;
    if level < Block::LEVELS { level } else { Block::LEVELS - 1 }
}

/// Whether a stretch from `start` to `end` is not empty and holds `span`.
fn suffices(start: Time, end: Time, span: Span) -> bool {
    end > start && end.since(start) >= span
}

impl Clone for Block {
    fn clone(&self) -> Self {
        Self { steps: self.steps.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        self.steps.clone_from(&source.steps);
        (self.least, self.longest) = (source.least, source.longest);
    }
}
