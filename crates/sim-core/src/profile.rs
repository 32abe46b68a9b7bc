//! Availability over time: how many processors are free, from now into the planned future.

mod block;

use crate::time::{Span, Time};
use block::Block;
use std::ops::ControlFlow;

/// Free processors as a step function of time. Beyond the last step everything is free again, unless reserved for ever.
///
/// Kept as sorted blocks of steps, in which neighbours differ. [`earliest`](Self::earliest) walks along the steps, and
/// passes over blocks that are wide enough throughout, or have no stretch that is both wide and long enough, or are too
/// short. With n steps there are some √n blocks of some √n steps; of fewer than a few thousand, not enough is known
/// to leap, since a walk is cheaper than finding it out. [`reserve`](Self::reserve) and [`cancel`](Self::cancel) touch
/// the steps they cover.
#[derive(Debug)]
pub struct AvailabilityProfile {
    capacity: u32,
    /// Never empty, and no block is. The first step stands for all time before.
    blocks: Vec<Block>,
    len: usize,
}

/// Where a step stands: the block, and the place in it.
type Position = (usize, usize);

impl AvailabilityProfile {
    /// Number of blocks from which on a survey of them pays.
    const MANY: usize = 32;

    /// `capacity` processors, free for ever.
    pub fn new(capacity: u32) -> Self {
        Self { capacity, blocks: vec![Block::of(vec![Time::ZERO], vec![capacity])], len: 1 }
    }

    /// `capacity` processors, seen from `now` on, of which some are held until the instants of `ends`: later ones, in ascending order,
    /// each with the processors that it frees.
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

    /// Processors in all.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Processors free at the instant `at`.
    pub fn free_at(&self, at: Time) -> u32 {
        let (block, step) = self.find(at);
        self.blocks[block].free(step)
    }

    /// Number of steps kept: what memory follows.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is reserved.
    pub fn is_empty(&self) -> bool {
        self.len == 1 && self.blocks[0].free(0) == self.capacity
    }

    /// The earliest start, not before `from`, at which `processors` stay free for `span`. `None` if they never do:
    /// the request is wider than what is free in the end.
    pub fn earliest(&self, from: Time, span: Span, processors: u32) -> Option<Time> {
        self.earliest_before(from, Time::MAX, span, processors, Time::MAX)
    }

    /// The earliest start, not before `from` and earlier than `before`, at which `processors` stay free for `span`, or until
    /// `until`, if that comes first: a job that holds them from `until` on for as long finds so whether it can start earlier. `None`
    /// if there is no such start.
    ///
    /// Looks at no step that begins at `before` or later but to see how long a stretch lasts that has begun earlier. `before` is
    /// not later than `until`.
    pub fn earliest_before(&self, from: Time, before: Time, span: Span, processors: u32, until: Time) -> Option<Time> {
        debug_assert!(
            before <= until,
            "a start before {before} s is asked for, but what is needed only until {until} s"
        );
        let (first, mut step) = self.find(from);
        let mut start = from;
        // Steps before the first one are forgotten; it stands for all time before, so a start in the past is judged
        // by it.
        if self.blocks[0].free(0) < processors {
            start = start.max(self.blocks[0].from());
        }
        for (number, block) in self.blocks.iter().enumerate().skip(first) {
            // Invariant: from `start` to the beginning of this block enough processors are free. A block that is wide
            // throughout keeps it; another is searched from `step` on.
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

    /// Whether `processors` are free at `start` and throughout `[start, start + span)`.
    pub fn fits(&self, start: Time, span: Span, processors: u32) -> bool {
        let end = start.saturating_add(span);
        let (first, step) = self.find(start);
        let (present, later) = self.blocks[first..].split_first().expect("a step is always in force");
        present.free(step) >= processors
            && present.stays_wide(step + 1, end, processors)
            && later.iter().take_while(|block| block.from() < end).all(|block| block.stays_wide(0, end, processors))
    }

    /// The first instant of `[start, start + span)` at which fewer than `processors` are free, and how many are: what keeps
    /// them from [fitting](Self::fits). `None` if they fit. Takes time with every step on the way.
    pub fn shortfall(&self, start: Time, span: Span, processors: u32) -> Option<(Time, u32)> {
        let (end, free) = (start.saturating_add(span), self.free_at(start));
        if free < processors {
            return Some((start, free));
        }
        self.steps().filter(|(from, _)| *from > start && *from < end).find(|(_, free)| *free < processors)
    }

    /// Takes `processors` out of `[start, start + span)`.
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

    /// Puts `processors` back into `[start, start + span)`.
    ///
    /// # Panics
    ///
    /// If more would be free than there are.
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

    /// Forgets all steps before `now`: memory follows what is planned, not what has been.
    pub fn forget_before(&mut self, now: Time) {
        let (block, step) = self.find(now);
        if (block, step) > (0, 0) {
            self.len -= step + self.blocks.drain(..block).map(|block| block.len()).sum::<usize>();
            self.blocks[0].forget(step);
        }
    }

    /// The step in force at the instant `at`.
    fn find(&self, at: Time) -> Position {
        let block = self.blocks[1..].partition_point(|block| block.from() <= at);
        (block, self.blocks[block].find(at))
    }

    /// What is free throughout `[start, start + span)` becomes what `new` makes of it, which is something else.
    fn change(&mut self, start: Time, span: Span, new: impl Fn(u32) -> u32) {
        if span.is_zero() {
            return;
        }
        let end = start.saturating_add(span);
        // Steps begin at both ends, so that what lies between can be changed whole; `first` first, since it may move
        // `last`.
        let first = self.cut(start);
        let last = if end == Time::MAX { self.end() } else { self.cut(end) };
        for (index, block) in (first.0..).zip(&mut self.blocks[first.0..=last.0]) {
            let from = if index == first.0 { first.1 } else { 0 };
            let to = if index == last.0 { last.1 } else { block.len() };
            block.change(from..to, &new);
        }
        // Neighbours must differ: the changed stretch may now equal what is before or behind it.
        self.join(last);
        self.join(first);
        // From the last on, since blocks that empty, split or merge move those behind them.
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

    /// Removes the step at `position`, if there is one, and if it changes nothing.
    fn join(&mut self, (block, step): Position) {
        let earlier = block.checked_sub(1).map(|earlier| {
            let earlier = &self.blocks[earlier];
            earlier.free(earlier.len() - 1)
        });
        let before = self.blocks[block].len();
        self.blocks[block].join(step, earlier);
        self.len -= before - self.blocks[block].len();
    }

    /// After a change in a block: keeps its size within bounds, and finds out what is needed to leap over it.
    fn settle(&mut self, block: usize) {
        let len = self.blocks[block].len();
        if len == 0 {
            self.blocks.remove(block);
        } else if len > Block::SMALL && len > self.len.isqrt() {
            let later = self.blocks[block].split();
            self.blocks.insert(block + 1, later);
            self.survey(block + 1);
            self.survey(block);
            // From here on leaping pays: all that was left unknown is found out once.
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

    /// Finds out what is needed to leap over a block, if there are enough of them to make up for it.
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

/// Copies into what has memory already without asking for more.
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

/// The same steps, in whatever blocks.
impl PartialEq for AvailabilityProfile {
    fn eq(&self, other: &Self) -> bool {
        self.capacity == other.capacity && self.len == other.len && self.steps().eq(other.steps())
    }
}

impl Eq for AvailabilityProfile {}

#[cfg(test)]
mod tests;
