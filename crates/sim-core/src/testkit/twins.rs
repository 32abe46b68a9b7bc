use crate::event::EventPriority;
use crate::time::Time;

/// The plain twin of [`Calendar`](crate::Calendar): a vector, searched from end to end.
#[derive(Clone, Debug)]
pub struct SortedCalendar<E> {
    pending: Vec<(Time, EventPriority, u64, E)>,
    posted: u64,
}

impl<E> Default for SortedCalendar<E> {
    fn default() -> Self {
        Self { pending: Vec::new(), posted: 0 }
    }
}

impl<E> SortedCalendar<E> {
    /// Enters an event; the answer names it for [`cancel`](Self::cancel).
    pub fn post(&mut self, at: Time, priority: EventPriority, event: E) -> u64 {
        self.posted += 1;
        self.pending.push((at, priority, self.posted, event));
        self.posted
    }

    /// Takes an event back.
    pub fn cancel(&mut self, posted: u64) -> Option<E> {
        let position = self.pending.iter().position(|event| event.2 == posted)?;
        Some(self.pending.remove(position).3)
    }

    /// Removes the next event.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let next =
            (0..self.pending.len()).min_by_key(|&i| (self.pending[i].0, self.pending[i].1, self.pending[i].2))?;
        let (at, _, _, event) = self.pending.remove(next);
        Some((at, event))
    }
}

/// The per-tick twin of [`AvailabilityProfile`](crate::AvailabilityProfile): one number for each tick, up to a horizon beyond which everything
/// is free. A tick is whatever the test counts in.
#[derive(Clone, Debug)]
pub struct TickProfile {
    capacity: u32,
    free: Vec<u32>,
}

impl TickProfile {
    /// `capacity` processors over `horizon` ticks.
    pub fn new(capacity: u32, horizon: usize) -> Self {
        Self { capacity, free: vec![capacity; horizon] }
    }

    /// Processors free in the tick that begins at `tick`.
    pub fn free_at(&self, tick: usize) -> u32 {
        self.free.get(tick).copied().unwrap_or(self.capacity)
    }

    /// Whether `processors` are free in all of `ticks` ticks from `start` on; a request of no ticks needs them in one.
    pub fn fits(&self, start: usize, ticks: usize, processors: u32) -> bool {
        (start..start + ticks.max(1)).all(|tick| self.free_at(tick) >= processors)
    }

    /// The first tick, from `from` on, where the request fits.
    pub fn earliest(&self, from: usize, ticks: usize, processors: u32) -> Option<usize> {
        (processors <= self.capacity).then(|| (from..).find(|&start| self.fits(start, ticks, processors)))?
    }

    /// Takes `processors` out of `ticks` ticks.
    pub fn reserve(&mut self, start: usize, ticks: usize, processors: u32) {
        for free in &mut self.free[start..start + ticks] {
            *free -= processors;
        }
    }

    /// Puts `processors` back.
    pub fn cancel(&mut self, start: usize, ticks: usize, processors: u32) {
        for free in &mut self.free[start..start + ticks] {
            *free += processors;
        }
    }
}
