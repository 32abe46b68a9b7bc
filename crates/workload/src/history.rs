//! Past jobs of a user, as known when the next one is submitted.

use sim_core::Span;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Run times of each user's last jobs, as far as they had ended by the log's own clock.
///
/// Memory follows the users, `window` run times each, and the jobs that the log's machine held at once, not the length
/// of the log.
#[derive(Clone, Debug)]
pub(crate) struct PastJobs {
    /// Number of run times of a user that are kept, at least 1.
    window: usize,
    /// Jobs in flight, the next to end on top; of those that end at once, the one submitted first.
    in_flight: BinaryHeap<Reverse<Flight>>,
    submitted: u64,
    /// Run times of each user's last jobs, in the order in which they ended.
    ended: BTreeMap<u32, VecDeque<Span>>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    end: Span,
    /// Position in the log, which makes the order total.
    number: u64,
    user: u32,
    runtime: Span,
}

impl PastJobs {
    pub(crate) const fn new(window: usize) -> Self {
        Self { window, in_flight: BinaryHeap::new(), submitted: 0, ended: BTreeMap::new() }
    }

    /// Returns the mean run time of the last jobs of `user` that had ended at `now`, that instant included; `None` if none had.
    ///
    /// `now` never decreases from call to call.
    pub(crate) fn mean_of(&mut self, user: u32, now: Span) -> Option<Span> {
        while self.in_flight.peek().is_some_and(|next| next.0.end <= now)
            && let Some(Reverse(flight)) = self.in_flight.pop()
        {
            let last = self.ended.entry(flight.user).or_default();
            if last.len() == self.window {
                last.pop_front();
            }
            last.push_back(flight.runtime);
        }
        let last = self.ended.get(&user)?;
        // A thousand run times of 136 years do not fit into a span.
        let sum: u128 = last.iter().map(|runtime| u128::from(runtime.as_nanos())).sum();
        let mean = sum / last.len() as u128;
        Some(Span::from_nanos(u64::try_from(mean).expect("no mean is above the largest value")))
    }

    /// Adds a job of `user` that ends at `end`.
    pub(crate) fn submit(&mut self, user: u32, end: Span, runtime: Span) {
        self.in_flight.push(Reverse(Flight { end, number: self.submitted, user, runtime }));
        self.submitted += 1;
    }
}
