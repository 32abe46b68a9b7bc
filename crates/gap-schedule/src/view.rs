//! Input and output of a policy: [`View`] and [`Starts`].

use crate::machine::{Machine, site};
use crate::queue::Queue;
use crate::running::Running;
use sim_core::{JobId, Request, SiteId, Time};

/// Jobs to start now, each with its machine, in starting order.
pub type Starts = Vec<(JobId, SiteId)>;

/// System state that a policy may see: everything but the run times.
///
/// The slices have one entry per machine, by the machine's index, which is its [`SiteId`].
#[derive(Copy, Clone, Debug)]
pub struct View<'a> {
    /// Present instant.
    pub now: Time,
    /// Machines.
    pub machines: &'a [Machine],
    /// Processors that are free now.
    pub free: &'a [u32],
    /// Running jobs, by expected end: start plus estimate at the machine's speed. For a machine that is down, its
    /// outage ([`RunningJob::OUTAGE`](crate::RunningJob::OUTAGE)) until the expected repair.
    pub running: &'a [Running],
    /// Waiting jobs, in order of arrival; a job interrupted by a failure arrives again at the failure.
    pub queue: &'a Queue,
}

impl View<'_> {
    /// Returns true if the job may run on the machine of this index, and the machine is wide enough.
    #[inline]
    pub fn suits(&self, machine: usize, request: &Request) -> bool {
        self.machines[machine].suits(request) && request.sites.contains(site(machine))
    }

    /// Returns the fastest machine; the last of several.
    pub(crate) fn fastest(&self) -> &Machine {
        let fastest = self.machines.iter().max_by(|one, other| one.speed.total_cmp(&other.speed));
        fastest.expect("a job is admitted because there is a machine for it")
    }

    /// Returns true if some waiting job is no wider than the free processors of some machine. Otherwise no job can start.
    pub(crate) fn some_job_is_narrow_enough(&self) -> bool {
        self.free.iter().any(|free| self.queue.least().processors <= *free)
    }
}
