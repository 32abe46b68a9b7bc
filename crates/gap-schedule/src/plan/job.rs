//! A job as a plan knows it, and as it stands there.

use sim_core::{JobId, SiteSet, Span, Time};

/// What a plan knows of a job: never its runtime.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlanJob {
    /// Which job.
    pub id: JobId,
    /// Processors needed at once, all on one machine.
    pub processors: u32,
    /// How long it is expected to take on a machine of speed 1.
    pub estimate: Span,
    /// When it was submitted.
    pub submit: Time,
    /// When it ought to be finished.
    pub deadline: Option<Time>,
    /// Where it may run.
    pub sites: SiteSet,
}

/// A job on a machine, planned or running.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlannedJob {
    /// Which job.
    pub job: PlanJob,
    /// When it starts, or has started.
    pub start: Time,
    /// When it is expected to end.
    pub end: Time,
}

impl PlanJob {
    /// Whether an end at this instant is in time. Without a deadline every end is.
    pub fn is_met_by(&self, end: Time) -> bool {
        self.deadline.is_none_or(|deadline| end <= deadline)
    }

    /// How long it takes where work takes `slowness` times as long as at reference speed.
    pub(super) fn span_at(&self, slowness: f64) -> Span {
        self.estimate.scaled(slowness).max(Span::from_nanos(1))
    }

    /// The deadline by which it is sorted: none is later than any.
    pub(super) fn due(deadline: Option<Time>) -> Time {
        deadline.unwrap_or(Time::MAX)
    }
}

impl PlannedJob {
    /// Whether it is expected to end in time.
    pub fn is_on_time(&self) -> bool {
        self.job.is_met_by(self.end)
    }

    /// The same, starting at another instant.
    pub(super) fn starting(&self, start: Time) -> Self {
        Self { start, end: start + self.end.since(self.start), ..*self }
    }
}
