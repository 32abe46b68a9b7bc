//! What the profile knows of a job.

use sim_core::{Span, Time};

/// A job, and whose it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its runtime is that of the log; its estimate is the limit at which it is cut, its deadline the due date, its sites
    /// the clusters that it may use, by their places in the world: cluster 0 is the largest.
    pub job: sim_core::Job,
    /// Who submitted it; any number.
    pub user: u32,
}

impl Job {
    /// Processors, at least 1.
    pub const fn processors(&self) -> u32 {
        self.job.request.processors
    }

    /// Its limit L: what plans and reservations go by. At least 1 s.
    pub fn limit(&self) -> Span {
        let limit = self.job.request.estimate.unwrap_or(self.job.runtime);
        limit.max(Span::from_secs(1))
    }

    /// What it takes in a plan: ⌊L + 1⌋ seconds.
    pub fn planned_time(&self) -> Span {
        rounded_up(self.limit())
    }

    /// The work in it, after which a cluster that looks finds it done: the runtime, cut at the limit. At least 1 s.
    pub fn work(&self) -> Span {
        self.job.runtime.max(Span::from_secs(1)).min(self.limit())
    }

    /// When its cluster looks whether it is done, from its start on: ⌊work + 1⌋ seconds.
    pub fn executed_time(&self) -> Span {
        rounded_up(self.work())
    }

    /// When it was submitted; the log's own time, which may lie before the simulator is up.
    pub const fn submit(&self) -> Time {
        self.job.submit
    }
}

/// ⌊t + 1⌋ seconds: the simulator's rounding up adds a second to whole numbers.
fn rounded_up(time: Span) -> Span {
    Span::from_secs(time.as_nanos() / 1_000_000_000 + 1)
}
