//! Idle processors of one machine over time.

use sim_core::{Span, Time};

/// Idle processors of one machine over time, from the last change on.
#[derive(Clone, Debug, Default)]
pub(super) struct Idle {
    /// Number of idle processors from each instant to the next step. Neighbours differ.
    steps: Vec<(Time, u32)>,
    /// For each width from 1, the last of which stands for all beyond: the longest stretch of time in which this number
    /// of processors is idle and that begins before the last planned start.
    longest: Vec<Span>,
    /// Scratch buffer, empty between measurements.
    open: Vec<(Time, u32)>,
    /// Former steps that a layout replaces; empty between layouts.
    before: Vec<(Time, u32)>,
}

/// Largest width that the longest stretches distinguish.
const WIDTHS: u32 = 64;

impl Idle {
    /// Begins a layout: the steps from `from` on are pushed again, with `idle` processors at first.
    pub(super) fn begin(&mut self, now: Time, from: Time, idle: u32) {
        self.forget_before(now);
        if let Some(first) = self.steps.first_mut() {
            first.0 = now.max(first.0);
        }
        let kept = self.steps.partition_point(|step| step.0 < from);
        // The last step kept is in force until the first one replaced.
        self.before.extend_from_slice(&self.steps[kept.saturating_sub(1)..]);
        self.steps.truncate(kept);
        self.push(from, idle);
    }

    /// Ends a layout. With `rest`, the former steps hold from that instant on; without it, all steps have been pushed.
    pub(super) fn end(&mut self, rest: Option<Time>) {
        if let Some(at) = rest {
            let next = self.before.partition_point(|step| step.0 <= at);
            self.push(at, self.before[next - 1].1);
            self.steps.extend_from_slice(&self.before[next..]);
        }
        self.before.clear();
    }

    /// Appends a step: `idle` processors from `at`, which is not before any other step.
    pub(super) fn push(&mut self, at: Time, idle: u32) {
        if self.steps.last().is_some_and(|last| last.0 == at) {
            self.steps.pop();
        }
        if self.steps.last().is_none_or(|last| last.1 != idle) {
            self.steps.push((at, idle));
        }
    }

    pub(super) fn forget_before(&mut self, now: Time) {
        let past = self.steps.iter().skip(1).take_while(|step| step.0 <= now).count();
        self.steps.drain(..past);
    }

    /// Reserves processors in `[start, end)`, where they are idle.
    pub(super) fn reserve(&mut self, start: Time, end: Time, processors: u32) {
        let first = self.cut(start);
        let last = self.cut(end);
        for step in &mut self.steps[first..last] {
            step.1 -= processors;
        }
        self.join(last);
        self.join(first);
    }

    fn cut(&mut self, at: Time) -> usize {
        let next = self.steps.partition_point(|step| step.0 < at);
        if self.steps.get(next).is_none_or(|step| step.0 > at) {
            // A step before the first one copies it: the time there has passed.
            let idle = self.steps[next.saturating_sub(1)].1;
            self.steps.insert(next, (at, idle));
        }
        next
    }

    fn join(&mut self, position: usize) {
        if (1..self.steps.len()).contains(&position) && self.steps[position - 1].1 == self.steps[position].1 {
            self.steps.remove(position);
        }
    }

    /// Measures the longest stretches that begin before `bound`; without a bound there are none.
    pub(super) fn measure(&mut self, processors: u32, bound: Option<Time>) {
        self.longest.clear();
        self.longest.resize(processors.min(WIDTHS) as usize, Span::ZERO);
        let Some(bound) = bound else { return };
        let mut note = |idle: u32, length: Span| {
            if let Some(width) = idle.min(WIDTHS).checked_sub(1) {
                let longest = &mut self.longest[width as usize];
                *longest = length.max(*longest);
            }
        };
        // Open stretches: the wider, the later they began.
        self.open.clear();
        for &(at, idle) in &self.steps {
            let mut begin = at;
            while let Some((from, wider)) = self.open.pop_if(|(_, open)| *open > idle) {
                note(wider, at.since(from));
                begin = from;
            }
            if begin < bound && self.open.last().is_none_or(|(_, open)| *open < idle) {
                self.open.push((begin, idle));
            }
        }
        for (_, idle) in self.open.drain(..) {
            note(idle, Span::MAX);
        }
        // A stretch of some width also counts for every smaller width.
        let mut longest = Span::ZERO;
        for narrower in self.longest.iter_mut().rev() {
            longest = longest.max(*narrower);
            *narrower = longest;
        }
    }

    /// Longest stretch of this width, as measured last. Passing time only makes it shorter.
    pub(super) fn reach(&self, processors: u32) -> Span {
        let width = processors.clamp(1, WIDTHS) as usize - 1;
        self.longest.get(width).copied().unwrap_or(Span::ZERO)
    }

    /// Returns the earliest start from `from` on, after which nothing starts any more, at which `processors` are idle, and stay so.
    pub(super) fn last_start(&self, from: Time, processors: u32, operations: &mut u64) -> Time {
        let wide = self.steps.iter().rev().take_while(|step| step.1 >= processors && step.0 > from).count();
        *operations += wide as u64 + 1;
        let before = self.steps.len() - wide;
        match before.checked_sub(1).map(|step| self.steps[step]) {
            Some((_, idle)) if idle < processors => self.steps[before].0,
            _ => from,
        }
    }

    /// Returns the earliest start between `from` and `latest` (both included) from which `processors` stay idle for
    /// `span`. `operations` counts the steps visited.
    pub(super) fn earliest(
        &self,
        from: Time,
        span: Span,
        processors: u32,
        latest: Time,
        operations: &mut u64,
    ) -> Option<Time> {
        let mut step = self.steps.iter().skip(1).take_while(|step| step.0 <= from).count();
        *operations += step as u64;
        'wide: loop {
            step += self.steps[step..].iter().position(|(_, idle)| *idle >= processors)?;
            let start = self.steps[step].0.max(from);
            if start > latest {
                return None;
            }
            let end = start.saturating_add(span);
            while let Some(&(at, idle)) = self.steps.get(step + 1).filter(|next| next.0 < end) {
                *operations += 1;
                step += 1;
                if idle < processors {
                    if at > latest {
                        return None;
                    }
                    continue 'wide;
                }
            }
            return Some(start);
        }
    }
}
