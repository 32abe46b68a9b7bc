//! Job as the log has it.

use crate::format::swf::SwfRecord;
use sim_core::{Span, Time};

/// Job with the data of its log, before estimates are made for policies.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HeldJob {
    /// Submission, counted from the first job of the log or, in a resampled log, from the beginning of the first week.
    pub submit: Time,
    /// Run time by the log, not cut at the limit.
    pub runtime: Span,
    /// Wait time in the log, if known.
    pub wait: Option<Span>,
    /// Requested time (field 9), above zero.
    pub limit: Option<Span>,
    /// Time from submission to deadline, if it has one.
    pub due: Option<Span>,
    /// Number of processors that it held.
    pub processors: u32,
    /// User.
    pub user: Option<u32>,
    /// Number in the log.
    pub number: u64,
}

impl HeldJob {
    pub(crate) fn runtime_within_limit(&self) -> Span {
        self.limit.map_or(self.runtime, |limit| limit.min(self.runtime))
    }

    /// Returns the record of a log for the job, with its other columns from `original`. `origin` is time 0 on the log's own clock.
    /// Wait and preceding job are unknown, since the job has not been scheduled in its new place.
    pub fn record(&self, origin: Span, original: SwfRecord) -> SwfRecord {
        SwfRecord {
            number: self.number,
            submit: Some(origin + self.submit.since(Time::ZERO)),
            wait: None,
            runtime: Some(self.runtime),
            allocated_processors: Some(self.processors),
            requested_processors: Some(self.processors),
            requested_time: self.limit,
            user: self.user,
            preceding_job: None,
            think_time: None,
            ..original
        }
    }

    /// Returns the processors × seconds that it occupies where limits are enforced.
    pub fn area(&self) -> f64 {
        f64::from(self.processors) * self.runtime_within_limit().as_secs_f64()
    }
}
