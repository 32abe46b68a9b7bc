//! Counters of a run.

use crate::message::Kind;
use crate::world::Distance;
use serde::{Deserialize, Serialize};

/// Counts of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridCounts {
    messages: [u64; Kind::ALL.len()],
    /// Jobs submitted and accepted.
    pub submitted: u64,
    /// Jobs rejected.
    pub rejected: u64,
    /// Jobs whose output has arrived.
    pub completed: u64,
    /// Jobs that butterfly moved, once for each time.
    pub butterfly: u64,
    /// Jobs that load-balance moved, once for each time.
    pub load_balance: u64,
    /// Jobs that fallback took back, once for each time.
    pub fallback: u64,
    /// Jobs pushed in blocks, once for each block.
    pub pushed: u64,
    /// Jobs received in blocks, once for each block.
    pub received: u64,
    /// Jobs returned after a cancel.
    pub cancelled: u64,
    /// Discoveries.
    pub discoveries: u64,
    /// Changes of a server's operating system.
    pub changes: u64,
    /// Offers for a job that another server already had.
    pub unanswered: u64,
    /// Requests resubmitted without an offer.
    pub resubmitted: u64,
    pub(crate) ran_at: [u64; 4],
}

impl GridCounts {
    #[inline]
    pub(crate) fn count(&mut self, kind: Kind, messages: u64) {
        self.messages[kind as usize] += messages;
    }

    /// Number of messages of a kind.
    pub const fn messages(&self, kind: Kind) -> u64 {
        self.messages[kind as usize]
    }

    /// Number of all control messages.
    pub fn all_messages(&self) -> u64 {
        self.messages.iter().sum()
    }

    /// Number of moves of all jobs by the three rescheduling algorithms.
    pub const fn moves(&self) -> u64 {
        self.butterfly + self.load_balance + self.fallback
    }

    /// Number of jobs that ran at this distance from their work station.
    pub const fn jobs_at(&self, distance: Distance) -> u64 {
        self.ran_at[distance as usize]
    }
}
