//! Whether jobs find the grid full.

use rustc_hash::FxHashMap;
use sim_core::{Fact, JobId, Probe, Time};

/// A probe for what the paper says of contention (§4, §4.1): whether the queue has grown by the end of the stream, and
/// how many jobs start as soon as they come.
#[derive(Clone, Debug, Default)]
pub struct Contention {
    /// When each was submitted; `None` if it has run before, and was interrupted.
    // Never iterated: its order cannot reach a result.
    waiting: FxHashMap<JobId, Option<Time>>,
    last_arrival: Time,
    /// How many waited when all of the instant of the last arrival had happened, once time has gone on.
    waiting_then: Option<usize>,
    started: u64,
    started_at_once: u64,
}

impl Contention {
    /// Nothing has been heard.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many jobs waited at the instant of the last arrival, after all that happened at that instant.
    pub fn waiting_at_last_arrival(&self) -> usize {
        self.waiting_then.unwrap_or(self.waiting.len())
    }

    /// How many jobs have started: each counts once, however often it was interrupted.
    pub const fn started(&self) -> u64 {
        self.started
    }

    /// How many of them started at the instant at which they came.
    pub const fn started_at_once(&self) -> u64 {
        self.started_at_once
    }
}

impl Probe for Contention {
    fn observe(&mut self, now: Time, fact: &Fact) {
        if now > self.last_arrival {
            self.waiting_then.get_or_insert(self.waiting.len());
        }
        match fact {
            Fact::Submitted(job) => {
                self.waiting.insert(job.id, Some(job.submit));
                self.last_arrival = now;
                self.waiting_then = None;
            }
            Fact::Rejected { job, .. } => {
                self.waiting.remove(job);
            }
            Fact::Started { job, .. } => {
                let first = self.waiting.remove(job).flatten();
                self.started += u64::from(first.is_some());
                self.started_at_once += u64::from(first == Some(now));
            }
            Fact::Interrupted { job, .. } => {
                self.waiting.insert(*job, None);
            }
            Fact::Finished { .. } | Fact::Seized { .. } | Fact::Released { .. } => {}
        }
    }
}
