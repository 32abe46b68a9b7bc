//! Contention for the grid: jobs that wait at the last arrival, and jobs that start at once.

use rustc_hash::FxHashMap;
use sim_core::{Fact, JobId, Probe, Time};

/// Probe for the paper's measures of contention (§4, §4.1): the length of the queue at the end of the stream, and the
/// number of jobs that start as soon as they arrive.
#[derive(Clone, Debug, Default)]
pub struct Contention {
    /// Submission of each waiting job; `None` if it has run before, and was interrupted.
    // Never iterated: its order cannot reach a result.
    waiting: FxHashMap<JobId, Option<Time>>,
    last_arrival: Time,
    /// Number of waiting jobs after all events of the last arrival's instant, once time has advanced.
    waiting_then: Option<usize>,
    /// Number of jobs that started at the instant of their arrival.
    pub started_at_once: u64,
}

impl Contention {
    /// Number of jobs that waited at the instant of the last arrival, after all events of that instant.
    pub fn waiting_at_last_arrival(&self) -> usize {
        self.waiting_then.unwrap_or(self.waiting.len())
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
                self.started_at_once += u64::from(first == Some(now));
            }
            Fact::Interrupted { job, .. } => {
                self.waiting.insert(*job, None);
            }
            Fact::Finished { .. } | Fact::Seized { .. } | Fact::Released { .. } => {}
        }
    }
}
