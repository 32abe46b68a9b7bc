//! Shared set-up for several machines.

pub(crate) use gap_schedule::testkit::{Both, choosy, hurried, machines, misjudged, readings, with_deadlines};
use gap_schedule::testkit::{Scene, Transcript, scenes};
use gap_schedule::{Machine, MultiCluster, Passes, Policy, QueuedJob, RunningJob, Starts, View};
use proptest::prelude::*;
use sim_core::testkit::workload;
use sim_core::{Job, JobId, JobLog, JobRecord, Sim, SiteId, Time};

/// Processors of the widest machine.
pub(crate) const WIDEST: u32 = 6;
pub(crate) const PASSES: [Passes; 2] = [Passes::PerInstant, Passes::PerEvent];

/// Estimates at least as long as the jobs; many jobs wait, some not for every machine.
pub(crate) fn bounded() -> impl Strategy<Value = Vec<Job>> {
    (workload(WIDEST + 1), 1..6_u64).prop_map(|(jobs, by)| hurried(jobs, by)).prop_flat_map(choosy)
}

/// A few of these jobs are wider than any machine; some estimates are wrong in one direction, some in both.
pub(crate) fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let jobs = (workload(WIDEST + 1), 1..4_u64).prop_map(|(jobs, by)| hurried(jobs, by));
    jobs.prop_flat_map(|jobs| prop_oneof![Just(with_deadlines(jobs.clone())), Just(jobs.clone()), misjudged(jobs)])
        .prop_flat_map(choosy)
}

/// Strategy for scenes in which every job has the estimate that planning needs.
pub(crate) fn estimated() -> impl Strategy<Value = Scene> {
    scenes(WIDEST).prop_map(|mut scene| {
        for job in &mut scene.jobs {
            job.request.estimate.get_or_insert(job.runtime);
        }
        scene
    })
}

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

/// Value of a waiting job after a pass, by the view before the pass and its starts.
type Ask<P, N> = fn(&P, JobId, &View<'_>, &Starts) -> Option<N>;

/// Policy with a value for each waiting job, recorded at each pass.
pub(crate) struct Noting<P, N> {
    pub(crate) policy: P,
    /// Values by job, pass after pass.
    pub(crate) noted: Vec<Vec<N>>,
    waiting: Vec<JobId>,
    ask: Ask<P, N>,
}

impl<P, N> Noting<P, N> {
    pub(crate) fn new(policy: P, jobs: &[Job], ask: Ask<P, N>) -> Self {
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
            self.noted[job.index()].extend((self.ask)(&self.policy, *job, view, starts));
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.policy.next_wakeup()
    }
}
