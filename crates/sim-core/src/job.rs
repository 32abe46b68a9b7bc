//! Jobs, and the part of a job that a policy may see.

use crate::id::{JobId, SiteId};
use crate::sites::SiteSet;
use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};

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
    /// Whose job it is, where that is known: for policies that are fair to users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<u32>,
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
    /// A job submitted at the grid level, with an exact estimate, without deadline and user, that may run anywhere.
    ///
    /// # Panics
    ///
    /// If `processors` is zero.
    pub const fn new(id: JobId, submit: Time, processors: u32, runtime: Span) -> Self {
        assert!(processors > 0, "a job needs at least one processor");
        let request = Request { processors, estimate: Some(runtime), deadline: None, sites: SiteSet::ALL, user: None };
        Self { id, submit, origin: None, request, runtime }
    }
}
