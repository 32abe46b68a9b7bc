//! Jobs of a plan, and their entries there.

use sim_core::{JobId, SiteSet, Span, Time};

/// Part of a job that a plan knows: never its runtime.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlanJob {
    /// Id of the job.
    pub id: JobId,
    /// Processors needed at once, all on one machine.
    pub processors: u32,
    /// Expected run time on a machine of speed 1.
    pub estimate: Span,
    /// Time of submission.
    pub submit: Time,
    /// Time by which it should finish.
    pub deadline: Option<Time>,
    /// Sites on which it may run.
    pub sites: SiteSet,
}

/// Job on a machine, planned or running.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlannedJob {
    /// Job itself.
    pub job: PlanJob,
    /// Planned or actual start.
    pub start: Time,
    /// Expected end.
    pub end: Time,
}

impl PlanJob {
    /// Returns true if an end at this instant meets the deadline. Without a deadline every end does.
    pub fn is_met_by(&self, end: Time) -> bool {
        self.deadline.is_none_or(|deadline| end <= deadline)
    }

    /// Returns the time that it takes where work takes `slowness` times as long as at reference speed.
    pub(super) fn span_at(&self, slowness: f64) -> Span {
        self.estimate.scaled(slowness).max(Span::from_nanos(1))
    }

    /// Sort key of a deadline; no deadline is later than any.
    pub(super) fn due(deadline: Option<Time>) -> Time {
        deadline.unwrap_or(Time::MAX)
    }
}

impl PlannedJob {
    /// Returns true if the job is expected to end in time.
    pub fn is_on_time(&self) -> bool {
        self.job.is_met_by(self.end)
    }

    /// Returns the entry with another start.
    pub(super) fn starting(&self, start: Time) -> Self {
        Self { start, end: start + self.end.since(self.start), ..*self }
    }
}
