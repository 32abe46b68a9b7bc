//! Jobs, and the part of a job that a policy may see.

use crate::id::{JobId, SiteId, SiteSet};
use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};

/// Request of the submitter: all that a policy may know of a job before it has run.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Processors needed at once, at least 1.
    pub processors: u32,
    /// Estimated run time at reference speed, given by the submitter; also the job's limit where limits are enforced.
    pub estimate: Option<Span>,
    /// Time by which the job should finish.
    pub deadline: Option<Time>,
    /// Sites on which the job may run. Models of one place ignore it.
    #[serde(default, skip_serializing_if = "SiteSet::is_all")]
    pub sites: SiteSet,
    /// User that submitted the job, where known: for policies that are fair to users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<u32>,
}

/// Submitted job. The world owns jobs; policies see [`Request`]s, so that nothing clairvoyant compiles by accident.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Number within the run.
    pub id: JobId,
    /// Time of submission.
    pub submit: Time,
    /// Site of submission; `None` at the grid level, or where there is only one place.
    pub origin: Option<SiteId>,
    /// Part of the job that a policy may see.
    pub request: Request,
    /// Run time alone on its processors at reference speed; for a gang, that of its longest task.
    pub runtime: Span,
}

impl Job {
    /// Returns a job submitted at the grid level, with an exact estimate, without deadline and user, that may run anywhere.
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
