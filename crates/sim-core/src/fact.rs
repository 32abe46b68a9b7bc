//! Facts that a model emits while it runs, and the probes that observe them.

use crate::id::{JobId, ProcId, SiteId};
use crate::job::Job;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that happened, emitted once by the model at the moment it happened.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A job entered the system.
    Submitted(Job),
    /// A job began, with all of its processors at once.
    Started {
        /// Which job.
        job: JobId,
        /// Where; the first site, if it spans several.
        site: SiteId,
        /// On how many processors.
        processors: u32,
    },
    /// A job that ran lost its processors and its work, and waits again: its next start is one from the beginning.
    Interrupted {
        /// Which job.
        job: JobId,
        /// Where it ran.
        site: SiteId,
        /// On how many processors.
        processors: u32,
    },
    /// A job left the system, having run.
    Finished {
        /// Which job.
        job: JobId,
    },
    /// A job was turned away and will never run.
    Rejected {
        /// Which job.
        job: JobId,
        /// Why.
        reason: Rejection,
    },
    /// One processor began work for a job; emitted by models that know processors apart.
    Seized {
        /// Which job.
        job: JobId,
        /// Which processor.
        processor: ProcId,
    },
    /// One processor ended its work for a job.
    Released {
        /// Which job.
        job: JobId,
        /// Which processor.
        processor: ProcId,
    },
}

/// Why a job was turned away.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rejection {
    /// It asks for more processors than there are in any place where it could run.
    TooWide,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooWide => f.write_str("asks for more processors than there are"),
        }
    }
}

/// An observer of a run. It cannot answer: adding a probe changes nothing.
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

impl<P: Probe> Probe for &mut P {
    #[inline]
    fn observe(&mut self, now: Time, fact: &Fact) {
        (**self).observe(now, fact);
    }
}

impl Probe for Vec<(Time, Fact)> {
    fn observe(&mut self, now: Time, fact: &Fact) {
        self.push((now, *fact));
    }
}
