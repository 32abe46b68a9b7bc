//! Jobs, and the part of a job that a policy may see.

use crate::sites::SiteSet;
use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as a position in a vector.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// Number of a job within one run, in order of creation. A log's own number is the reader's business.
    JobId
}
id! {
    /// Number of a site: a cluster, a machine, whatever holds processors behind one local scheduler.
    SiteId
}
id! {
    /// Number of a processor within the whole system.
    ProcId
}

/// What the submitter tells: all that a policy may know of a job before it has run.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Processors needed at once, at least 1.
    pub processors: u32,
    /// How long the submitter believes it will run at reference speed; also its limit where limits are enforced.
    pub estimate: Option<Span>,
    /// When it ought to be finished.
    pub deadline: Option<Time>,
    /// Where it may run. Models of one place do not ask.
    #[serde(default, skip_serializing_if = "SiteSet::is_all")]
    pub sites: SiteSet,
}

/// What is submitted. The world owns jobs; policies are shown [`Request`]s, so that nothing clairvoyant compiles by
/// accident.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its number within the run.
    pub id: JobId,
    /// When it enters the system.
    pub submit: Time,
    /// The site where it is submitted; `None` at the grid level, or where there is only one place.
    pub origin: Option<SiteId>,
    /// What the submitter tells of it.
    pub request: Request,
    /// What it would take alone on its processors at reference speed. Of a gang, its longest task.
    pub runtime: Span,
}

impl Job {
    /// A job submitted at the grid level, with an exact estimate and no deadline, that may run anywhere.
    ///
    /// # Panics
    ///
    /// If `processors` is zero.
    pub const fn new(id: JobId, submit: Time, processors: u32, runtime: Span) -> Self {
        assert!(processors > 0, "a job needs at least one processor");
        let request = Request { processors, estimate: Some(runtime), deadline: None, sites: SiteSet::ALL };
        Self { id, submit, origin: None, request, runtime }
    }
}
