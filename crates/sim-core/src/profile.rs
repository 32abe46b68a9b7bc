//! Availability over time: the number of free processors, from now into the planned future.

mod block;

use crate::time::{Span, Time};
use block::Block;
use std::ops::ControlFlow;

/// Free processors as a step function of time. Beyond the last step everything is free again, unless reserved for ever.
///
/// The steps are kept in sorted blocks; neighbouring steps differ. [`earliest`](Self::earliest) walks along the steps
/// and skips blocks that are wide enough throughout, that contain no stretch both wide and long enough, or that are too
/// short. A profile of n steps has about √n blocks of about √n steps. Below a few thousand steps nothing is skipped,
/// because a walk is cheaper than a survey of the blocks. [`reserve`](Self::reserve) and [`cancel`](Self::cancel) touch
/// the steps they cover.
#[derive(Debug)]
pub struct AvailabilityProfile {
    capacity: u32,
    /// Never empty, nor is any block. The first step also stands for all earlier time.
    blocks: Vec<Block>,
    len: usize,
}

/// Position of a step: its block, and its index in that block.
type Position = (usize, usize);

impl AvailabilityProfile {
    /// Number of blocks above which surveying them pays.
    const MANY: usize = 32;

    /// Returns a profile of `capacity` processors that are free for ever.
    pub fn new(capacity: u32) -> Self {
        Self { capacity, blocks: vec![Block::of(vec![Time::ZERO], vec![capacity])], len: 1 }
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
        let chunks = begins.chunks(Block::SMALL).zip(frees.chunks(Block::SMALL));
        let blocks = chunks.map(|(begins, frees)| Block::of(begins.to_vec(), frees.to_vec())).collect();
        Self { capacity, blocks, len: begins.len() }
    }

    /// Total number of processors.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Processors free at the instant `at`.
    pub fn free_at(&self, at: Time) -> u32 {
        let (block, step) = self.find(at);
        self.blocks[block].free(step)
    }

    /// Number of steps kept; memory is proportional to it.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns true if nothing is reserved.
    pub fn is_empty(&self) -> bool {
        self.len == 1 && self.blocks[0].free(0) == self.capacity
    }

    /// Returns the earliest start, not before `from`, at which `processors` stay free for `span`. `None` if the request
    /// is wider than what is free in the end.
    pub fn earliest(&self, from: Time, span: Span, processors: u32) -> Option<Time> {
        self.earliest_before(from, Time::MAX, span, processors, Time::MAX)
    }

    /// Returns the earliest start in `[from, before)` at which `processors` stay free for `span`, or until `until` if
    /// that comes first. `None` if there is no such start. A job that is to hold them from `until` on for as long thus
    /// learns if it can start earlier.
    ///
    /// Reads steps that begin at `before` or later only to measure a stretch that began earlier. `before` is not later
    /// than `until`.
    pub fn earliest_before(&self, from: Time, before: Time, span: Span, processors: u32, until: Time) -> Option<Time> {
        debug_assert!(
            before <= until,
            "a start before {before} s is asked for, but what is needed only until {until} s"
        );
        let (first, mut step) = self.find(from);
        let mut start = from;
        // Steps before the first one are dropped; the first one stands for all earlier time and decides for a start in
        // the past.
        if self.blocks[0].free(0) < processors {
            start = start.max(self.blocks[0].from());
        }
        for (number, block) in self.blocks.iter().enumerate().skip(first) {
            // Invariant: enough processors are free from `start` to the beginning of this block. A block that is wide
            // throughout preserves it; any other block is searched from `step` on.
            if start >= before {
                return None;
            }
            let end = self.blocks.get(number + 1).map(Block::from).filter(|end| *end < until);
            let Some(end) = end else {
                return block.walk_until(step, start, before, span, processors, until);
            };
            if !block.is_wide(processors) {
                start = match block.search(step, end, start, span, processors) {
                    ControlFlow::Break(found) => return Some(found).filter(|found| *found < before),
                    ControlFlow::Continue(wide) => wide,
                };
            }
            step = 0;
        }
        None
    }

    /// Returns true if `processors` are free at `start` and throughout `[start, start + span)`.
    pub fn fits(&self, start: Time, span: Span, processors: u32) -> bool {
        let end = start.saturating_add(span);
        let (first, step) = self.find(start);
        let (present, later) = self.blocks[first..].split_first().expect("a step is always in force");
        present.free(step) >= processors
            && present.stays_wide(step + 1, end, processors)
            && later.iter().take_while(|block| block.from() < end).all(|block| block.stays_wide(0, end, processors))
    }

    /// Returns the first instant of `[start, start + span)` at which fewer than `processors` are free, and the number
    /// free then. `None` if they [fit](Self::fits). Takes time proportional to the steps on the way.
    pub fn shortfall(&self, start: Time, span: Span, processors: u32) -> Option<(Time, u32)> {
        let (end, free) = (start.saturating_add(span), self.free_at(start));
        if free < processors {
            return Some((start, free));
        }
        self.steps().filter(|(from, _)| *from > start && *from < end).find(|(_, free)| *free < processors)
    }

    /// Reserves `processors` in `[start, start + span)`.
    ///
    /// # Panics
    ///
    /// If they are not free there.
    pub fn reserve(&mut self, start: Time, span: Span, processors: u32) {
        if processors == 0 {
            return;
        }
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
        if processors == 0 {
            return;
        }
        let capacity = self.capacity;
        self.change(start, span, |free| {
            let free = free + processors;
            assert!(free <= capacity, "{free} of {capacity} processors would be free after cancelling at {start} s");
            free
        });
    }

    /// Drops all steps before `now`, so that memory is proportional to what is planned.
    pub fn forget_before(&mut self, now: Time) {
        let (block, step) = self.find(now);
        if (block, step) > (0, 0) {
            self.len -= step + self.blocks.drain(..block).map(|block| block.len()).sum::<usize>();
            self.blocks[0].forget(step);
        }
    }

    /// Returns the step in force at the instant `at`.
    fn find(&self, at: Time) -> Position {
        let block = self.blocks[1..].partition_point(|block| block.from() <= at);
        (block, self.blocks[block].find(at))
    }

    /// Applies `new` to the free processors of each step in `[start, start + span)`; `new` must change every value.
    fn change(&mut self, start: Time, span: Span, new: impl Fn(u32) -> u32) {
        if span.is_zero() {
            return;
        }
        let end = start.saturating_add(span);
        // Make a step begin at both ends, so that the steps between them change whole. `first` comes first, since it
        // may move `last`.
        let first = self.cut(start);
        let last = if end == Time::MAX { self.end() } else { self.cut(end) };
        for (index, block) in (first.0..).zip(&mut self.blocks[first.0..=last.0]) {
            let from = if index == first.0 { first.1 } else { 0 };
            let to = if index == last.0 { last.1 } else { block.len() };
            block.change(from..to, &new);
        }
        // Neighbours must differ: the changed stretch may now equal the step before or behind it.
        self.join(last);
        self.join(first);
        // In descending order, since blocks that empty, split or merge move those behind them.
        for block in (first.0..=last.0).rev() {
            self.settle(block);
        }
    }

    /// The position after the last step.
    fn end(&self) -> Position {
        let last = self.blocks.len() - 1;
        (last, self.blocks[last].len())
    }

    /// Makes a step begin at `at` and returns its position.
    fn cut(&mut self, at: Time) -> Position {
        let (block, step) = self.find(at);
        let before = self.blocks[block].len();
        let step = self.blocks[block].cut(step, at);
        self.len += self.blocks[block].len() - before;
        (block, step)
    }

    /// Removes the step at `position`, if it exists and equals the one before it.
    fn join(&mut self, (block, step): Position) {
        let earlier = block.checked_sub(1).map(|earlier| {
            let earlier = &self.blocks[earlier];
            earlier.free(earlier.len() - 1)
        });
        let before = self.blocks[block].len();
        self.blocks[block].join(step, earlier);
        self.len -= before - self.blocks[block].len();
    }

    /// Restores the invariants of a block after a change: keeps its size within bounds and surveys it again.
    fn settle(&mut self, block: usize) {
        let len = self.blocks[block].len();
        if len == 0 {
            self.blocks.remove(block);
        } else if len > Block::SMALL && len > self.len.isqrt() {
            let later = self.blocks[block].split();
            self.blocks.insert(block + 1, later);
            self.survey(block + 1);
            self.survey(block);
            // Skipping pays from here on: survey all blocks, which were unknown so far.
            if self.blocks.len() == Self::MANY {
                (0..Self::MANY).for_each(|block| self.survey(block));
            }
        } else if self.blocks.get(block + 1).is_some_and(|next| len + next.len() <= Block::SMALL / 2) {
            let next = self.blocks.remove(block + 1);
            self.blocks[block].append(next);
            self.survey(block);
        } else {
            self.survey(block);
        }
    }

    /// Surveys a block, if there are enough blocks to make up for the cost.
    fn survey(&mut self, block: usize) {
        if self.blocks.len() < Self::MANY {
            self.blocks[block].unknown();
        } else {
            let end = self.blocks.get(block + 1).map_or(Time::MAX, Block::from);
            self.blocks[block].survey(end);
        }
    }

    fn steps(&self) -> impl Iterator<Item = (Time, u32)> {
        self.blocks.iter().flat_map(Block::steps)
    }
}

/// Reuses the memory of the target in `clone_from`.
impl Clone for AvailabilityProfile {
    fn clone(&self) -> Self {
        Self { capacity: self.capacity, blocks: self.blocks.clone(), len: self.len }
    }

    fn clone_from(&mut self, source: &Self) {
        self.capacity = source.capacity;
        self.blocks.clone_from(&source.blocks);
        self.len = source.len;
    }
}

/// Equal if the steps are the same, however they are divided into blocks.
impl PartialEq for AvailabilityProfile {
    fn eq(&self, other: &Self) -> bool {
        self.capacity == other.capacity && self.len == other.len && self.steps().eq(other.steps())
    }
}

impl Eq for AvailabilityProfile {}

#[cfg(test)]
mod tests;
