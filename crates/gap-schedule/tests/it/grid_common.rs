//! Shared set-up for several machines.

use crate::common::Transcript;
use gap_schedule::{
    BackfillReadings, BackfillRule, Machine, MultiCluster, Passes, Placement, Policy, QueuedJob, RunningJob, Starts,
    View,
};
use proptest::prelude::*;
use sim_core::{Job, JobId, JobLog, JobRecord, Sim, SiteId, SiteSet, Span, Time};

pub(crate) fn transcript(machines: &[Machine], scheduler: impl Policy, passes: Passes, jobs: &[Job]) -> Transcript {
    let grid = MultiCluster::new(machines.to_vec(), scheduler, jobs.iter().copied()).with_passes(passes);
    Sim::new(grid, Transcript::new()).run().1
}

/// The records of all jobs that ran, by id.
pub(crate) fn records(machines: &[Machine], scheduler: impl Policy, jobs: &[Job]) -> Vec<JobRecord> {
    let grid = MultiCluster::new(machines.to_vec(), scheduler, jobs.iter().copied());
    let mut records = Sim::new(grid, JobLog::collecting()).run().1.into_sink();
    records.sort_by_key(|record| record.job.id);
    records
}

/// The starts of all jobs that ran, in seconds, by id, and the machines.
pub(crate) fn starts(machines: &[Machine], scheduler: impl Policy, jobs: &[Job]) -> Vec<(f64, u32)> {
    records(machines, scheduler, jobs).iter().map(|record| (record.start.as_secs_f64(), record.site.0)).collect()
}

/// One to five machines of at most `widest` processors, whose speeds make some ends coincide and others not.
pub(crate) fn machines(widest: u32) -> impl Strategy<Value = Vec<Machine>> {
    let speed = prop::sample::select(vec![0.5, 1.0, 1.0, 2.0, 3.0]);
    let machine = (1..=widest, speed).prop_map(|(processors, speed)| Machine { processors, speed });
    prop::collection::vec(machine, 1..=5)
}

pub(crate) fn readings() -> impl Strategy<Value = BackfillReadings> {
    let placement = prop::sample::select(vec![Placement::Fastest, Placement::FirstFit]);
    let rule = prop::sample::select(vec![BackfillRule::MachineAware, BackfillRule::Strict]);
    (placement, rule).prop_map(|(placement, rule)| BackfillReadings { placement, rule })
}

/// The instants of a workload divided by `by`: with most jobs waiting.
pub(crate) fn hurried(mut jobs: Vec<Job>, by: u64) -> Vec<Job> {
    for job in &mut jobs {
        job.submit = Time::from_secs(job.submit.as_nanos() / (by * 1_000_000_000));
    }
    jobs
}

/// Jobs with exact estimates, and deadlines for two in three.
pub(crate) fn with_deadlines(mut jobs: Vec<Job>) -> Vec<Job> {
    for job in &mut jobs {
        job.request.estimate = Some(job.runtime);
    }
    due(jobs)
}

/// The same jobs, with deadlines for two in three.
pub(crate) fn due(mut jobs: Vec<Job>) -> Vec<Job> {
    for job in &mut jobs {
        let margin = Span::from_secs(u64::from(job.id.0 * 7 % 30));
        job.request.deadline = (job.id.0 % 3 > 0).then(|| job.submit + job.runtime + margin);
    }
    jobs
}

/// The same jobs; half the time, half of them may run on some sites only, some of which may not exist.
pub(crate) fn choosy(jobs: Vec<Job>) -> impl Strategy<Value = Vec<Job>> {
    let mask = prop_oneof![3 => Just(None), 1 => Just(Some(0b1)), 2 => (0..64_u8).prop_map(Some)];
    let masks = prop_oneof![Just(Vec::new()), prop::collection::vec(mask, 60)];
    (Just(jobs), masks).prop_map(|(mut jobs, masks)| {
        for (job, mask) in jobs.iter_mut().zip(masks) {
            job.request.sites = mask.map_or(SiteSet::ALL, sites);
        }
        jobs
    })
}

/// The sites whose bits are set.
pub(crate) fn sites(mask: u8) -> SiteSet {
    (0..8).filter(|site| mask >> site & 1 == 1).map(SiteId).collect()
}

/// Whether some machine that the job may use is wide enough for it.
pub(crate) fn is_admitted(machines: &[Machine], job: &Job) -> bool {
    let suits =
        |(site, machine): (u32, &Machine)| machine.suits(&job.request) && job.request.sites.contains(SiteId(site));
    (0..).zip(machines).any(suits)
}

/// Estimates that are wrong in both directions or missing, and some jobs of no length.
pub(crate) fn misjudged(jobs: Vec<Job>) -> impl Strategy<Value = Vec<Job>> {
    (Just(jobs), prop::collection::vec((0..15_u64, 0..8_u64), 60)).prop_map(|(mut jobs, wrong)| {
        for (job, (estimate, fate)) in jobs.iter_mut().zip(wrong) {
            job.request.estimate = (fate > 1).then_some(Span::from_secs(estimate));
            if fate == 2 {
                job.runtime = Span::ZERO;
            }
        }
        jobs
    })
}

/// Every pass asks both, in the run of the first: not only their whole runs agree.
#[derive(Clone)]
pub(crate) struct Both<Fast, Slow>(pub(crate) Fast, pub(crate) Slow);

impl<Fast, Slow> Both<Fast, Slow> {
    pub(crate) const fn new(fast: Fast, slow: Slow) -> Self {
        Self(fast, slow)
    }
}

impl<Fast: Policy, Slow: Policy> Policy for Both<Fast, Slow> {
    fn begin(&mut self, view: &View<'_>) {
        self.0.begin(view);
        self.1.begin(view);
    }

    fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {
        self.0.on_submit(job, view);
        self.1.on_submit(job, view);
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.0.on_completion(job, machine, view);
        self.1.on_completion(job, machine, view);
    }

    fn on_expiry(&mut self, before: &RunningJob, after: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.0.on_expiry(before, after, machine, view);
        self.1.on_expiry(before, after, machine, view);
    }

    fn on_failure(&mut self, machine: SiteId, lost: &[RunningJob], view: &View<'_>) {
        self.0.on_failure(machine, lost, view);
        self.1.on_failure(machine, lost, view);
    }

    fn on_repair(&mut self, machine: SiteId, view: &View<'_>) {
        self.0.on_repair(machine, view);
        self.1.on_repair(machine, view);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.0.schedule(view, starts);
        let mut obvious = Vec::new();
        self.1.schedule(view, &mut obvious);
        assert_eq!(*starts, obvious, "{view:?}");
    }
}

/// A policy, and something that it says of every job that waits, noted at each pass.
pub(crate) struct Noting<P, N> {
    pub(crate) policy: P,
    /// By job, pass after pass.
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
