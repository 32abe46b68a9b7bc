use crate::event::EventPriority;
use crate::time::Time;

/// Plain twin of [`Calendar`](crate::Calendar): a vector, searched from end to end.
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
    /// Posts an event and returns its number for [`cancel`](Self::cancel).
    pub fn post(&mut self, at: Time, priority: EventPriority, event: E) -> u64 {
        self.posted += 1;
        self.pending.push((at, priority, self.posted, event));
        self.posted
    }

    /// Cancels an event.
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
