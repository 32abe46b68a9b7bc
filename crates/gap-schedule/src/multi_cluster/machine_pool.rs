//! Machines, the jobs and outages on them, and the queue before them.

use crate::queue::Queue;
use crate::view::{Machine, Running, RunningJob, View};
use sim_core::{EventKey, SiteId, Span, Time};

/// Machines, the holders of their processors (jobs, or an outage), and the jobs that wait.
#[derive(Clone, Debug)]
pub(super) struct MachinePool {
    pub(super) machines: Vec<Machine>,
    pub(super) queue: Queue,
    free: Vec<u32>,
    pub(super) running: Vec<Running>,
    /// Pending repairs of the machines that are down.
    pub(super) repairs: Vec<Option<PendingRepair>>,
    /// Expected length of a repair; [`Span::MAX`] if unknown.
    pub(super) repair_expected: Span,
}

/// Facts about an outage that only the world knows.
#[derive(Copy, Clone, Debug)]
pub(super) struct PendingRepair {
    pub(super) at: Time,
    /// `None` if it never happens.
    pub(super) event: Option<EventKey>,
}

impl MachinePool {
    pub(super) fn new(machines: Vec<Machine>) -> Self {
        for (index, machine) in machines.iter().enumerate() {
            machine.check(index);
        }
        let free = machines.iter().map(|machine| machine.processors).collect();
        let running = vec![Running::new(); machines.len()];
        let repairs = vec![None; machines.len()];
        Self { machines, queue: Queue::new(), free, running, repairs, repair_expected: Span::MAX }
    }

    pub(super) fn view(&self, now: Time) -> View<'_> {
        View { now, machines: &self.machines, free: &self.free, running: &self.running, queue: &self.queue }
    }

    /// Seizes the processors of the job.
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

    /// Releases the processors of the job.
    pub(super) fn release(&mut self, job: &RunningJob, machine: SiteId) {
        self.running[machine.index()].remove(job);
        self.free[machine.index()] += job.processors;
    }

    /// Fails the machine: an outage holds every processor. Returns the jobs that were lost, in order of id.
    pub(super) fn fail(&mut self, machine: SiteId, repair: PendingRepair, now: Time) -> Vec<RunningJob> {
        let index = machine.index();
        let mut lost: Vec<RunningJob> = std::mem::take(&mut self.running[index]).iter().copied().collect();
        lost.sort_unstable_by_key(|job| job.job);
        self.running[index].insert(RunningJob {
            expected_end: now.saturating_add(self.repair_expected),
            job: RunningJob::OUTAGE,
            processors: self.machines[index].processors,
            user: None,
            start: now,
        });
        self.free[index] = 0;
        self.repairs[index] = Some(repair);
        lost
    }

    /// Ends the outage of the machine, which is idle afterwards.
    pub(super) fn repair(&mut self, machine: SiteId) {
        let index = machine.index();
        self.running[index] = Running::new();
        self.free[index] = self.machines[index].processors;
        self.repairs[index] = None;
    }
}
