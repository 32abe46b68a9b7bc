//! Jobs of a plan, and the plan's quality.

use crate::queue::QueuedJob;
use sim_core::Time;

/// Job on a machine, planned or running, with its expected end.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PlannedJob {
    pub(crate) job: QueuedJob,
    pub(crate) start: Time,
    pub(crate) end: Time,
}

impl QueuedJob {
    /// Returns true if an end at this instant meets the deadline. Without a deadline every end does.
    pub(super) fn is_met_by(&self, end: Time) -> bool {
        self.request.deadline.is_none_or(|deadline| end <= deadline)
    }
}

impl PlannedJob {
    /// Returns true if the job is expected to end in time.
    pub(super) fn is_on_time(&self) -> bool {
        self.job.is_met_by(self.end)
    }
}

/// Measures by which a plan is judged.
#[derive(Copy, Clone, Debug)]
pub(super) struct Score {
    /// End of the last running or planned job.
    pub(super) makespan: Time,
    /// Number of jobs in time: those that finished by their deadlines, run and are expected to, or are planned to.
    pub(super) nondelayed: u64,
}

impl Score {
    /// Gain of the plan over `old`, eq. (1) of §3.2:
    ///
    /// (makespan_old − makespan) / makespan_old + (nondelayed − nondelayed_old) / nondelayed_old.
    ///
    /// Dimensionless. Neither divisor is below 1 (one second, one job): at the start of a run both are zero, a case that the
    /// paper does not cover. Never decreases when the makespan falls or more jobs are in time, rounding included.
    #[expect(clippy::cast_precision_loss, reason = "fewer jobs than 2^53")]
    pub(super) fn weight_over(&self, old: &Self) -> f64 {
        let least = old.makespan.as_secs_f64().max(1.0);
        let excess = |of: Time, over: Time| of.saturating_since(over).as_secs_f64();
        let makespan = (excess(old.makespan, self.makespan) - excess(self.makespan, old.makespan)) / least;
        let more = self.nondelayed.saturating_sub(old.nondelayed) as f64;
        let fewer = old.nondelayed.saturating_sub(self.nondelayed) as f64;
        makespan + (more - fewer) / (old.nondelayed as f64).max(1.0)
    }

    /// Returns the score after planning one more job in a gap, where it delays no job.
    pub(super) fn with(self, end: Time, on_time: bool) -> Self {
        Self { makespan: self.makespan.max(end), nondelayed: self.nondelayed + u64::from(on_time) }
    }
}
