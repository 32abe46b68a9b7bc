//! Block of neighbouring steps of a profile, with a summary of them.

use crate::time::{Span, Time};
use std::ops::{ControlFlow, Range};

#[derive(Debug)]
pub(super) struct Block {
    /// Instant at which each step begins.
    begins: Vec<Time>,
    /// Free processors of each step, until the next one begins. Separate from the instants, because walks read only this vector.
    free: Vec<u32>,
    /// Lower bound of the free processors of every step.
    least: u32,
    /// Upper bound, for each n, of the longest stretch within the block in which 2ⁿ processors are free.
    longest: [Span; Self::LEVELS],
}

impl Block {
    /// Maximum number of steps of a block that is not worth splitting.
    pub(super) const SMALL: usize = 128;

    /// Number of distinguished widths: 1, 2, 4, … processors.
    const LEVELS: usize = 16;

    pub(super) const fn of(begins: Vec<Time>, free: Vec<u32>) -> Self {
        Self { begins, free, least: 0, longest: [Span::MAX; Self::LEVELS] }
    }

    pub(super) const fn len(&self) -> usize {
        self.begins.len()
    }

    /// Instant at which the first step begins.
    pub(super) fn from(&self) -> Time {
        self.begins[0]
    }

    /// Free processors of one step.
    pub(super) fn free(&self, step: usize) -> u32 {
        self.free[step]
    }

    /// Returns the beginning of each step with the number of processors then free.
    pub(super) fn steps(&self) -> impl Iterator<Item = (Time, u32)> {
        self.begins.iter().copied().zip(self.free.iter().copied())
    }

    /// Returns the step in force at the instant `at`; the first, if it begins later.
    pub(super) fn find(&self, at: Time) -> usize {
        // Many callers look up the present instant.
        if self.begins.get(1).is_none_or(|second| *second > at) {
            return 0;
        }
        self.begins.partition_point(|from| *from <= at) - 1
    }

    /// Returns true if `processors` are known to be free throughout.
    pub(super) const fn is_wide(&self, processors: u32) -> bool {
        self.least >= processors
    }

    /// Returns true if `processors` are free in each step, from `step` on, that begins before `end`.
    pub(super) fn stays_wide(&self, step: usize, end: Time, processors: u32) -> bool {
        self.is_wide(processors) || self.narrow_from(step, processors).is_none_or(|narrow| self.begins[narrow] >= end)
    }

    /// Like [`walk`](Self::walk), but uses the summary of the block to save most of it; the next block begins at `end`.
    /// Continues with the instant from which enough are free until `end`, which may be `end`.
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
            // Only the stretch that comes in from the previous block may be long enough.
            let narrow = self.narrow_from(step, processors);
            if narrow.is_some_and(|narrow| suffices(start, self.begins[narrow], span)) {
                return ControlFlow::Break(start);
            }
        }
        // No stretch that ends in this block is long enough. Only the beginning of its last one matters.
        let last = self.free[step..].iter().rposition(|free| *free < processors);
        ControlFlow::Continue(last.map_or(start, |last| self.begins.get(step + last + 1).map_or(end, |begin| *begin)))
    }

    /// Searches, from `step` on, for a stretch in which `processors` are free for `span`: skips from one wide enough to
    /// the next, until one is also long enough. They are free from `start` up to `step`. Breaks with the beginning of
    /// that stretch; otherwise continues with that of the last one, if it reaches the block's end.
    pub(super) fn walk(
        &self,
        mut step: usize,
        mut start: Time,
        span: Span,
        processors: u32,
    ) -> ControlFlow<Time, Option<Time>> {
        while let Some(narrow) = self.narrow_from(step, processors) {
            if suffices(start, self.begins[narrow], span) {
                return ControlFlow::Break(start);
            }
            let Some(wide) = self.wide_from(narrow, processors) else { return ControlFlow::Continue(None) };
            (step, start) = (wide, self.begins[wide]);
        }
        ControlFlow::Continue(Some(start))
    }

    /// Like [`walk`](Self::walk), in the last block that matters: all is free from `until` on, and the stretch must
    /// begin earlier than `before`.
    pub(super) fn walk_until(
        &self,
        mut step: usize,
        mut start: Time,
        before: Time,
        span: Span,
        processors: u32,
        until: Time,
    ) -> Option<Time> {
        while start < before {
            let Some(narrow) = self.narrow_from(step, processors) else { return Some(start) };
            let at = self.begins[narrow];
            if at >= until || suffices(start, at, span) {
                return Some(start);
            }
            step = self.wide_from(narrow, processors)?;
            start = self.begins[step];
        }
        None
    }

    /// Returns the first step from `step` on in which fewer than `processors` are free.
    #[inline]
    fn narrow_from(&self, step: usize, processors: u32) -> Option<usize> {
        find_from(&self.free, step, |free| free < processors)
    }

    /// Returns the first step from `step` on in which `processors` are free.
    #[inline]
    fn wide_from(&self, step: usize, processors: u32) -> Option<usize> {
        find_from(&self.free, step, |free| free >= processors)
    }

    /// Makes a step begin at `at`, which falls into `step`. Returns the new step, or `step` if it begins then or later.
    pub(super) fn cut(&mut self, step: usize, at: Time) -> usize {
        if self.begins[step] >= at {
            return step;
        }
        self.insert(step + 1, at, self.free[step]);
        step + 1
    }

    /// Removes a step, if it exists and equals the one before it; `earlier` are free before the block's first.
    pub(super) fn join(&mut self, step: usize, earlier: Option<u32>) {
        let Some(free) = self.free.get(step) else { return };
        let earlier = if step == 0 { earlier } else { Some(self.free[step - 1]) };
        if earlier == Some(*free) {
            self.remove(step);
        }
    }

    fn insert(&mut self, step: usize, begin: Time, free: u32) {
        self.begins.insert(step, begin);
        self.free.insert(step, free);
    }

    fn remove(&mut self, step: usize) {
        self.begins.remove(step);
        self.free.remove(step);
    }

    /// Drops the steps before `step`. The summary stays valid for the remaining ones.
    pub(super) fn forget(&mut self, step: usize) {
        self.begins.drain(..step);
        self.free.drain(..step);
    }

    /// Applies `new` to the free processors of some steps.
    pub(super) fn change(&mut self, steps: Range<usize>, new: impl Fn(u32) -> u32) {
        self.free[steps].iter_mut().for_each(|free| *free = new(*free));
    }

    /// Computes the summary of the block, where the next block begins at `end`.
    pub(super) fn survey(&mut self, end: Time) {
        let mut since = [Time::ZERO; Self::LEVELS];
        // A stretch is open for each level below `open`.
        let mut open = 0;
        self.longest = [Span::ZERO; Self::LEVELS];
        for (at, free) in self.begins.iter().copied().zip(self.free.iter().copied()).chain([(end, 0)]) {
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
        self.least = self.free.iter().copied().min().unwrap_or(0);
    }

    /// Resets the summary to the bounds that always hold.
    pub(super) const fn unknown(&mut self) {
        self.least = 0;
        self.longest = [Span::MAX; Self::LEVELS];
    }

    /// Splits off the later half.
    pub(super) fn split(&mut self) -> Self {
        let half = self.len() / 2;
        Self::of(self.begins.split_off(half), self.free.split_off(half))
    }

    /// Appends the steps of the next block.
    pub(super) fn append(&mut self, mut next: Self) {
        self.begins.append(&mut next.begins);
        self.free.append(&mut next.free);
    }
}

/// Level of the widest distinguished width that is not wider than `processors`, which are at least 1.
const fn level(processors: u32) -> usize {
    let level = processors.ilog2() as usize;
    if level < Block::LEVELS { level } else { Block::LEVELS - 1 }
}

/// Returns the first index, not before `from`, for which `is` holds.
#[inline]
fn find_from(free: &[u32], from: usize, is: impl Fn(u32) -> bool) -> Option<usize> {
    /// Number of widths compared at once: a few instructions, whatever the outcome.
    const AT_ONCE: usize = 8;
    /// Number of steps compared one by one first, since most searches end within them.
    const NEAR: usize = 8;
    let near = free.len().min(from + NEAR);
    if let Some(place) = free[from..near].iter().position(|free| is(*free)) {
        return Some(from + place);
    }
    let mut at = near;
    while let Some(chunk) = free.get(at..at + AT_ONCE) {
        if chunk.iter().fold(false, |any, free| any | is(*free)) {
            break;
        }
        at += AT_ONCE;
    }
    free[at..].iter().position(|free| is(*free)).map(|place| at + place)
}

/// Returns true if the stretch from `start` to `end` is not empty and holds `span`.
fn suffices(start: Time, end: Time, span: Span) -> bool {
    end > start && end.since(start) >= span
}

impl Clone for Block {
    fn clone(&self) -> Self {
        Self { begins: self.begins.clone(), free: self.free.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        self.begins.clone_from(&source.begins);
        self.free.clone_from(&source.free);
        (self.least, self.longest) = (source.least, source.longest);
    }
}
