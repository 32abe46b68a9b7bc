//! What a policy is shown, and what it answers.

use crate::machine::{Machine, site};
use crate::queue::Queue;
use crate::running::Running;
use sim_core::{JobId, Request, SiteId, Time};

/// A policy's answer: the jobs to start now, each with its machine, in starting order.
pub type Starts = Vec<(JobId, SiteId)>;

/// What a policy is shown: everything but the run times.
///
/// The slices have one entry per machine, by the machine's index, which is its [`SiteId`].
#[derive(Copy, Clone, Debug)]
pub struct View<'a> {
    /// The present instant.
    pub now: Time,
    /// The machines.
    pub machines: &'a [Machine],
    /// Processors that are free now.
    pub free: &'a [u32],
    /// The jobs that run, by their expected ends: start plus estimate at the machine's speed. Of a machine that is down, its
    /// outage ([`RunningJob::OUTAGE`](crate::RunningJob::OUTAGE)) until the expected repair.
    pub running: &'a [Running],
    /// The jobs that wait, in order of arrival; those that have lost their machine, in the order in which they lost it.
    pub queue: &'a Queue,
}

impl View<'_> {
    /// Whether the job may run on this machine, by its index, and the machine is wide enough.
    #[inline]
    pub fn suits(&self, machine: usize, request: &Request) -> bool {
        self.machines[machine].suits(request) && request.sites.contains(site(machine))
    }

    /// The fastest machine; of several, the last.
    pub(crate) fn fastest(&self) -> &Machine {
        let fastest = self.machines.iter().max_by(|one, other| one.speed.total_cmp(&other.speed));
        fastest.expect("a job is admitted because there is a machine for it")
    }

    /// Whether some job that waits is no wider than what some machine has free: if none is, no job can start.
    pub(crate) fn some_job_is_narrow_enough(&self) -> bool {
        self.free.iter().any(|free| self.queue.least().processors <= *free)
    }
}
