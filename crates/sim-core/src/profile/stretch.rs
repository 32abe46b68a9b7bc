//! Stretches of time in which enough processors are free, seen from one instant of them.

use super::block::Block;
use super::{AvailabilityProfile, Position};
use crate::time::{Span, Time};

/// For each level, an open stretch in which that many are free, and its beginning: the more, the later.
type Open = Vec<(Time, u32)>;

impl AvailabilityProfile {
    /// Since when `processors` have been free without a break up to `at`, or `from`, if that is later. `None` if they are not
    /// free just before `at`, or that is not after `from`.
    pub fn free_since(&self, from: Time, at: Time, processors: u32) -> Option<Time> {
        let (last, step) = self.find_before(at)?;
        let mut since = at;
        for (number, block) in self.blocks[..=last].iter().enumerate().rev() {
            let steps = if number == last { step + 1 } else { block.len() };
            let narrow = block.last_narrow(steps, processors);
            let wide = narrow.map_or(0, |narrow| narrow + 1);
            if wide < steps {
                since = block.begin(wide);
            }
            if narrow.is_some() || since <= from {
                break;
            }
        }
        let is_first = since == self.blocks[0].from() && self.blocks[0].free(0) >= processors;
        let since = if is_first { from } else { since.max(from) };
        (since < at).then_some(since)
    }

    /// Passes to `note` stretches, all from `now` on, that overlap `[from, to)`: free processors and length. For any
    /// number of processors from `least` on the longest such stretch is passed, of that many or more; of lengths from `long` on, it
    /// may be passed as lasting for ever. `open` is a scratch buffer, reused across calls.
    pub fn overlapping_stretches(
        &self,
        now: Time,
        (from, to): (Time, Time),
        (least, long): (u32, Span),
        open: &mut Vec<(Time, u32)>,
        mut note: impl FnMut(u32, Time, Span),
    ) {
        let from = from.max(now);
        let least = least.max(1);
        if from >= to {
            return;
        }
        let first = self.find(from);
        self.open_at(first, now, from, (least, long), open);
        let enough = to.saturating_add(long);
        for (at, free) in self.steps_after(first) {
            if at >= enough || open.is_empty() && at >= to {
                break;
            }
            let mut begin = at;
            while let Some((since, level)) = open.pop_if(|(_, level)| *level > free) {
                note(level, since, at.since(since));
                begin = since;
            }
            if begin < to && open.last().is_none_or(|(_, level)| *level < free) && free >= least {
                open.push((begin, free));
            }
        }
        for (since, level) in open.drain(..) {
            note(level, since, Span::MAX);
        }
    }

    /// The stretches under way at `from`, which falls into the step at `first`.
    fn open_at(&self, first: Position, now: Time, from: Time, (least, long): (u32, Span), open: &mut Open) {
        open.clear();
        let mut level = self.blocks[first.0].free(first.1);
        let mut begin = from;
        for (at, free) in self.steps_before(Some(first)) {
            if level < least {
                break;
            }
            if free < level {
                open.push((begin, level));
                level = free;
            }
            begin = at;
            if begin <= now || from.since(begin) >= long {
                break;
            }
        }
        // The first step that is kept stands for all time before.
        let begin = if begin <= self.blocks[0].from() { now } else { begin.max(now) };
        if level >= least {
            open.push((begin, level));
        }
        open.reverse();
    }

    /// The step in force just before an instant; `None` if that is where time begins.
    fn find_before(&self, at: Time) -> Option<Position> {
        Some(self.find(Time::from_nanos(at.as_nanos().checked_sub(1)?)))
    }

    /// The steps from the one at a position to the first one, backwards.
    fn steps_before(&self, position: Option<Position>) -> impl Iterator<Item = (Time, u32)> {
        let (block, step) = position.unwrap_or((0, 0));
        let len = if position.is_some() { step + 1 } else { 0 };
        let last = self.blocks[block].steps_in(0..len).rev();
        last.chain(self.blocks[..block].iter().rev().flat_map(|block| block.steps().rev()))
    }

    /// The steps after the one at a position.
    fn steps_after(&self, (block, step): Position) -> impl Iterator<Item = (Time, u32)> {
        let present = &self.blocks[block];
        let first = present.steps_in(step + 1..present.len());
        first.chain(self.blocks[block + 1..].iter().flat_map(Block::steps))
    }
}
