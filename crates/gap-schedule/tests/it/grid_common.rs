//! Shared set-up for several machines.

pub(crate) use gap_schedule::testkit::{Both, choosy, hurried, machines, misjudged, readings, with_deadlines};
use gap_schedule::testkit::{Scene, Transcript};
use gap_schedule::{Machine, MultiCluster, Passes, Policy, QueuedJob, RunningJob, Starts, View};
use sim_core::{Job, JobId, JobLog, JobRecord, Sim, SiteId, Time};

pub(crate) fn transcript(machines: &[Machine], scheduler: impl Policy, passes: Passes, jobs: &[Job]) -> Transcript {
    Scene::new(machines, jobs).transcript(scheduler, passes)
}

/// Returns the records of all jobs that ran, by id.
pub(crate) fn records<'a>(machines: &[Machine], scheduler: impl Policy + 'a, jobs: &[Job]) -> Vec<JobRecord> {
    let scheduler: Box<dyn Policy + 'a> = Box::new(scheduler);
    let grid = MultiCluster::new(machines.to_vec(), scheduler, jobs.iter().copied());
    let mut records = Sim::new(grid, JobLog::collecting()).run().1.into_sink();
    records.sort_by_key(|record| record.job.id);
    records
}

/// Returns the starts of all jobs that ran, in seconds, by id, and the machines.
pub(crate) fn starts(machines: &[Machine], scheduler: impl Policy, jobs: &[Job]) -> Vec<(f64, u32)> {
    records(machines, scheduler, jobs).iter().map(|record| (record.start.as_secs_f64(), record.site.0)).collect()
}

/// Policy with a value for each waiting job, recorded at each pass.
pub(crate) struct Noting<P, N> {
    pub(crate) policy: P,
    /// Values by job, pass after pass.
    pub(crate) noted: Vec<Vec<N>>,
    waiting: Vec<JobId>,
    ask: fn(&P, JobId, &View<'_>) -> Option<N>,
}

impl<P, N> Noting<P, N> {
    pub(crate) fn new(policy: P, jobs: &[Job], ask: fn(&P, JobId, &View<'_>) -> Option<N>) -> Self {
        Self { policy, noted: jobs.iter().map(|_| Vec::new()).collect(), waiting: Vec::new(), ask }
    }
}

impl<P: Policy, N> Policy for Noting<P, N> {
    fn begin(&mut self, view: &View<'_>) {
        self.policy.begin(view);
    }

    fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {
        self.policy.on_submit(job, view);
        self.waiting.push(job.job);
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.policy.on_completion(job, machine, view);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.policy.schedule(view, starts);
        self.waiting.retain(|waiting| starts.iter().all(|(job, _)| job != waiting));
        for job in &self.waiting {
            self.noted[job.index()].extend((self.ask)(&self.policy, *job, view));
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.policy.next_wakeup()
    }
}
