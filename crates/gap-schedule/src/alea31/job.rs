//! What the profile knows of a job.

use sim_core::{Span, Time};

/// A job, the clusters that it may use, and whose it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its runtime is that of the log; its estimate is the limit at which it is cut, its deadline the due date.
    pub job: sim_core::Job,
    /// Where it may run.
    pub clusters: Clusters,
    /// Who submitted it; any number.
    pub user: u32,
}

/// A set of clusters, by their place in the world: cluster 0 is the largest.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clusters(u32);

impl Clusters {
    /// Every cluster.
    pub const ALL: Self = Self(u32::MAX);
    /// None.
    pub const NONE: Self = Self(0);

    /// The same set, and `cluster`.
    ///
    /// # Panics
    ///
    /// If `cluster` is above 31.
    #[must_use]
    pub const fn with(self, cluster: usize) -> Self {
        assert!(cluster < 32, "a set of clusters holds the first 32");
        Self(self.0 | 1 << cluster)
    }

    /// Whether `cluster` is one of them.
    pub const fn contains(self, cluster: usize) -> bool {
        cluster < 32 && self.0 >> cluster & 1 == 1
    }
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
