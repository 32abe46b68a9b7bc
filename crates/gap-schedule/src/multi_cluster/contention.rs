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

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{Job, Rejection, SiteId, Span};

    #[test]
    fn the_queue_is_counted_after_all_of_the_last_arrivals_instant() {
        let job = |id, submit| Job::new(JobId(id), Time::from_secs(submit), 1, Span::from_secs(1));
        let start = |id| Fact::Started { job: JobId(id), site: SiteId(0), processors: 1 };
        let mut contention = Contention::new();
        let mut hear = |now, fact| contention.observe(Time::from_secs(now), &fact);
        hear(1, Fact::Submitted(job(0, 1)));
        hear(1, start(0));
        hear(2, Fact::Submitted(job(1, 2)));
        hear(3, Fact::Submitted(job(2, 3)));
        hear(4, Fact::Submitted(job(3, 4)));
        hear(4, Fact::Submitted(job(4, 4)));
        hear(4, Fact::Rejected { job: JobId(4), reason: Rejection::TooWide });
        hear(4, start(1));
        let early = contention.waiting_at_last_arrival();
        let mut hear = |now, fact| contention.observe(Time::from_secs(now), &fact);
        hear(5, start(2));
        hear(5, Fact::Interrupted { job: JobId(2), site: SiteId(0), processors: 1 });
        hear(5, start(2));
        hear(6, start(3));
        assert_eq!((early, contention.waiting_at_last_arrival()), (2, 2));
        assert_eq!((contention.started(), contention.started_at_once()), (4, 1));
    }
}
