//! What the root of a tree (GSS, PGSS) knows beyond what every scheduler knows: raw jobs, and when to discover.

use crate::world::Bag;
use sim_core::JobId;

/// The state of a tree's root, beyond its [`SchedulerState`](crate::scheduler_state::SchedulerState).
#[derive(Clone, Debug, Default)]
pub(crate) struct RootState {
    /// Jobs that have not been through discovery, in order of arrival.
    pub(crate) raw: Vec<JobId>,
    pub(crate) batch: Vec<JobId>,
    pub(crate) discovering: bool,
    /// Whether discovery may find anything that the last one did not.
    pub(crate) news: bool,
    /// Whether matched jobs are to be matched again, though no raw ones have come.
    pub(crate) rematch: bool,
    /// Matched jobs that have not been reported started. What the root has delegated may be fewer: a job that a scheduler below
    /// holds for one of its branches is missed by a cancel, and taken for started.
    pub(crate) unstarted: u32,
    /// Whether an RFJM waits for raw jobs.
    pub(crate) wanted: bool,
    /// Classes of all jobs that have been through discovery.
    pub(crate) known: Bag,
    /// Whether channels may be out of date: the next discovery goes through all schedulers message by message.
    pub(crate) stale: bool,
    pub(crate) round: u32,
}
