//! Facts that a model emits while it runs, and the probes that observe them.

use crate::id::{JobId, ProcId, SiteId};
use crate::job::Job;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Event worth observing, emitted once by the model at the moment it happens.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A job entered the system.
    Submitted(Job),
    /// A job started, with all of its processors at once.
    Started {
        /// Job that started.
        job: JobId,
        /// Site of the job; the first one, if it spans several.
        site: SiteId,
        /// Number of processors.
        processors: u32,
    },
    /// A job left the system after its run.
    Finished {
        /// Job that finished.
        job: JobId,
    },
    /// A job was rejected and will never run.
    Rejected {
        /// Job that was rejected.
        job: JobId,
        /// Reason of the rejection.
        reason: Rejection,
    },
    /// One processor began work for a job; emitted by models that distinguish processors.
    Seized {
        /// Job that seized the processor.
        job: JobId,
        /// Processor seized.
        processor: ProcId,
    },
    /// One processor ended its work for a job.
    Released {
        /// Job that released the processor.
        job: JobId,
        /// Processor released.
        processor: ProcId,
    },
}

/// Reason for which a job was rejected.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rejection {
    /// The job requests more processors than any place where it could run has.
    TooWide,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooWide => f.write_str("requests more processors than there are"),
        }
    }
}

/// Observer of a run. It cannot answer: adding a probe changes nothing.
///
/// `()` observes nothing and costs nothing; `(A, B)` is two probes; a `Vec<(Time, Fact)>` is a transcript.
pub trait Probe {
    /// Observes `fact`, which happened at `now`.
    fn observe(&mut self, now: Time, fact: &Fact);
}

impl Probe for () {
    #[inline]
    fn observe(&mut self, _: Time, _: &Fact) {}
}

impl<A: Probe, B: Probe> Probe for (A, B) {
    #[inline]
    fn observe(&mut self, now: Time, fact: &Fact) {
        self.0.observe(now, fact);
        self.1.observe(now, fact);
    }
}

impl Probe for Vec<(Time, Fact)> {
    fn observe(&mut self, now: Time, fact: &Fact) {
        self.push((now, *fact));
    }
}
