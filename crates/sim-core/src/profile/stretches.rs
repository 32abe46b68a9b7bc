//! Stretches of a profile around an interval in which something has changed.

use super::{AvailabilityProfile, Block, Position};
use crate::time::{Span, Time};
use std::ops::ControlFlow;

/// How long the longest stretch of a [profile](AvailabilityProfile) is, of those that touch some interval, for each number of
/// processors that are free throughout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretches {
    /// Widths ascend, and lengths descend.
    by_width: Vec<(u32, Span)>,
}

impl Stretches {
    /// The length of the longest in which so many processors are free; nothing, if there is none.
    #[inline]
    pub fn longest(&self, processors: u32) -> Span {
        let place = self.by_width.partition_point(|(width, _)| *width < processors);
        self.by_width.get(place).map_or(Span::ZERO, |(_, span)| *span)
    }
}

impl AvailabilityProfile {
    /// The earliest start, not before `from` and earlier than `before`, at which `processors` stay free for `span`, or until
    /// `until`, if that comes first: whoever holds them from `until` on for as long asks so whether he can start earlier. `None`
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
        if self.blocks[0].free(0) < processors {
            start = start.max(self.blocks[0].from());
        }
        for (number, block) in self.blocks.iter().enumerate().skip(first) {
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

    /// The processors free right before each of these instants, which ascend.
    pub fn free_before(&self, instants: impl IntoIterator<Item = Time>) -> impl Iterator<Item = u32> {
        let mut position = None;
        instants.into_iter().map(move |at| {
            let (mut block, mut step) = position.unwrap_or_else(|| self.find(at));
            if position.is_none() && self.blocks[block].steps()[step].0 == at {
                (block, step) = self.step_before((block, step)).unwrap_or_default();
            }
            while let Some((next, from)) = self.next_step((block, step))
                && from < at
            {
                (block, step) = next;
            }
            position = Some((block, step));
            self.blocks[block].free(step)
        })
    }

    /// The stretches that touch the interval from `from` to `to`, as far as they lie behind `now`. One that is longer than
    /// `longest` may be told as one that is as long.
    pub fn stretches(&self, now: Time, from: Time, to: Time, longest: Span) -> Stretches {
        let from = from.max(now);
        let mut profile = Vec::new();
        if from >= to {
            return Stretches::default();
        }
        let (block, step) = self.find(from);
        self.look_back((block, step), now, from, longest, &mut profile);
        profile.reverse();
        // Forth: what is free up to `to`, and behind that the least from there on.
        let (mut position, mut begins) = ((block, step), from);
        let mut least = u32::MAX;
        let end = loop {
            let free = self.blocks[position.0].free(position.1);
            if begins >= to {
                least = least.min(free);
                if least == 0 || begins.since(to) >= longest {
                    break Some(begins);
                }
                profile.push((begins, least));
            } else {
                least = free;
                profile.push((begins, free));
            }
            let Some((next, at)) = self.next_step(position) else { break None };
            (position, begins) = (next, at);
        };
        Stretches { by_width: widest(&profile, end) }
    }

    /// The steps before `from` down to `now`, latest first, as far as something stays free from there to `from`.
    fn look_back(&self, at: Position, now: Time, from: Time, longest: Span, found: &mut Vec<(Time, u32)>) {
        let (mut block, mut step) = at;
        let mut least = u32::MAX;
        let mut ends = from;
        loop {
            let (begins, free) = self.blocks[block].steps()[step];
            least = least.min(free);
            if least == 0 || ends <= now {
                return;
            }
            let begins = begins.max(now);
            if begins < ends {
                found.push((begins, least));
            }
            ends = begins;
            if from.since(begins) >= longest {
                return;
            }
            let Some(earlier) = self.step_before((block, step)) else { return };
            (block, step) = earlier;
        }
    }

    /// The step before one.
    fn step_before(&self, (block, step): Position) -> Option<Position> {
        if step > 0 {
            return Some((block, step - 1));
        }
        let earlier = block.checked_sub(1)?;
        Some((earlier, self.blocks[earlier].len() - 1))
    }

    /// The step behind one, and when it begins.
    fn next_step(&self, (block, step): Position) -> Option<(Position, Time)> {
        let here = self.blocks[block].steps();
        if let Some((from, _)) = here.get(step + 1) {
            return Some(((block, step + 1), *from));
        }
        self.blocks.get(block + 1).map(|next| ((block + 1, 0), next.from()))
    }
}

/// The longest stretch of each width in these steps, the last of which lasts to `end`, or for ever.
fn widest(steps: &[(Time, u32)], end: Option<Time>) -> Vec<(u32, Span)> {
    let mut found: Vec<(u32, Span)> = Vec::new();
    // Stretches that are under way: since when, and how wide. Each is wider than the one before it.
    let mut open: Vec<(Time, u32)> = Vec::new();
    let last = (end.unwrap_or(Time::MAX), 0);
    for (at, free) in steps.iter().copied().chain([last]) {
        let mut since = at;
        while let Some((began, width)) = open.pop_if(|(_, width)| *width > free) {
            let endless = end.is_none() && at == Time::MAX;
            found.push((width, if endless { Span::MAX } else { at.since(began) }));
            since = began;
        }
        if free > open.last().map_or(0, |(_, width)| *width) {
            open.push((since, free));
        }
    }
    found.sort_unstable_by(|one, other| other.cmp(one));
    let mut longest = Span::ZERO;
    found.retain(|(_, span)| {
        let is_longer = *span > longest;
        longest = longest.max(*span);
        is_longer
    });
    found.reverse();
    found
}
