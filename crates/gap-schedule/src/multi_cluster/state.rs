//! State of the world: machines, the jobs on them, the queue before them, and events to come.

use super::{Passes, Predictions};
use crate::policy::PolicyError;
use crate::queue::Queue;
use crate::view::{Machine, Running, RunningJob, Starts, View};
use rustc_hash::FxHashMap;
use sim_core::{EventKey, Job, JobId, SiteId, Span, Time};

/// State of the world, its policy and inputs apart.
#[derive(Clone, Debug, Default)]
pub(super) struct WorldState {
    pub(super) machines: Vec<Machine>,
    pub(super) queue: Queue,
    free: Vec<u32>,
    pub(super) running: Vec<Running>,
    /// Jobs that wait or run. Never iterated.
    pub(super) jobs: FxHashMap<JobId, WorldJob>,
    pub(super) predictions: Option<Predictions>,
    pub(super) passes: Passes,
    /// Next posted pass: that of the present instant, or the wakeup that the policy requested.
    pub(super) posted: Option<(Time, EventKey)>,
    /// Result of the policy; scratch buffer, reused across passes.
    pub(super) starts: Starts,
    /// Error of the policy, which is not called any more.
    pub(super) error: Option<PolicyError>,
    /// Next arrival, if any: kept here, not in its event, so that events are small and the calendar moves little.
    pub(super) coming: Option<Job>,
}

/// Job that waits or runs, with the facts that only the world knows.
#[derive(Clone, Debug)]
pub(super) struct WorldJob {
    pub(super) job: Job,
    /// Prediction at its submission, or the estimate of its user.
    pub(super) expected: Option<Span>,
    pub(super) run: Option<JobRun>,
}

#[derive(Clone, Debug)]
pub(super) struct JobRun {
    /// Entry that policies see, unless the job has released its processors before its end was reported.
    pub(super) running: RunningJob,
    pub(super) ends_at: Time,
    /// Present prediction and its number of corrections.
    pub(super) prediction: Option<Span>,
    pub(super) corrections: u32,
    pub(super) is_released: bool,
}

impl WorldState {
    pub(super) fn new(machines: Vec<Machine>) -> Self {
        for (index, Machine { processors, speed }) in machines.iter().enumerate() {
            assert!(*processors > 0, "machine {index} has no processors");
            assert!(speed.is_finite() && *speed > 0.0, "machine {index} has speed {speed}; a speed is above 0");
        }
        let free = machines.iter().map(|machine| machine.processors).collect();
        let running = vec![Running::default(); machines.len()];
        Self { machines, free, running, ..Self::default() }
    }

    pub(super) fn view(&self, now: Time) -> View<'_> {
        View { now, machines: &self.machines, free: &self.free, running: &self.running, queue: &self.queue }
    }

    pub(super) fn seize(&mut self, job: RunningJob, machine: SiteId) {
        let free = &mut self.free[machine.index()];
        *free = free.checked_sub(job.processors).unwrap_or_else(|| {
            let RunningJob { job, processors, .. } = job;
            panic!(
                "the policy started job {job} on {processors} processors of machine {machine}, where {free} are free"
            )
        });
        self.running[machine.index()].insert(job);
    }

    pub(super) fn release(&mut self, job: &RunningJob, machine: SiteId) {
        self.running[machine.index()].remove(job);
        self.free[machine.index()] += job.processors;
    }
}
