//! State of the root of a tree (GSS, PGSS) beyond that of every scheduler: raw jobs, and conditions of discovery.

use crate::world::Bag;
use sim_core::JobId;

/// State of a tree's root, beyond its [`SchedulerState`](crate::scheduler_state::SchedulerState).
#[derive(Clone, Debug, Default)]
pub(crate) struct RootState {
    /// Jobs that have not been through discovery, in order of arrival.
    pub(crate) raw: Vec<JobId>,
    pub(crate) batch: Vec<JobId>,
    pub(crate) discovering: bool,
    /// True if discovery may find anything that the last one did not.
    pub(crate) news: bool,
    /// True if matched jobs must be matched again, although no raw jobs have arrived.
    pub(crate) rematch: bool,
    /// Number of matched jobs that were not reported started. The root's delegated jobs may be fewer: a cancel misses a job
    /// that a scheduler below holds for one of its branches, and counts it as started.
    pub(crate) unstarted: u32,
    /// True if an RFJM waits for raw jobs.
    pub(crate) wanted: bool,
    /// Classes of all jobs that have been through discovery.
    pub(crate) known: Bag,
    /// True if channels may be out of date: the next discovery goes through all schedulers message by message.
    pub(crate) stale: bool,
    pub(crate) round: u32,
}
