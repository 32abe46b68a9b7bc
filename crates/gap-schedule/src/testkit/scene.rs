//! Arbitrary workloads and machines, and the workloads of docs/conformance.

use crate::multi_cluster::{MultiCluster, Passes};
use crate::policy::{BackfillReadings, BackfillRule, Placement, Policy};
use crate::view::Machine;
use proptest::prelude::*;
use sim_core::testkit::workload;
use sim_core::{Fact, Job, JobId, Sim, SiteId, SiteSet, Span, Time};
use std::vec::IntoIter;

/// Facts of a run, in order.
pub type Transcript = Vec<(Time, Fact)>;

/// Machines and jobs, independent of the policy.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Machines.
    pub machines: Vec<Machine>,
    /// Jobs, numbered in order of submission.
    pub jobs: Vec<Job>,
}

/// Run of a job on a machine.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Job that ran.
    pub job: JobId,
    /// Machine on which it ran.
    pub site: SiteId,
    /// Start of the run.
    pub start: Time,
    /// End of the run.
    pub end: Time,
}

impl Scene {
    /// Returns a scene of these jobs on these machines.
    pub fn new(machines: &[Machine], jobs: &[Job]) -> Self {
        Self { machines: machines.to_vec(), jobs: jobs.to_vec() }
    }

    /// Returns the world of the scene under a policy.
    pub fn grid<P: Policy>(&self, policy: P, passes: Passes) -> MultiCluster<P, IntoIter<Job>> {
        MultiCluster::new(self.machines.clone(), policy, self.jobs.clone().into_iter()).with_passes(passes)
    }

    /// Returns the facts of a run under a policy.
    pub fn transcript<'a>(&self, policy: impl Policy + 'a, passes: Passes) -> Transcript {
        // Boxed, so that a simulation is compiled once for the policies of all tests.
        let policy: Box<dyn Policy + 'a> = Box::new(policy);
        Sim::new(self.grid(policy, passes), Transcript::new()).run().1
    }

    /// Returns the job with this id.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn job(&self, id: JobId) -> &Job {
        &self.jobs[id.index()]
    }
}

/// Strategy for one to five machines of at most `widest` processors, whose speeds make some ends coincide and others not.
pub fn machines(widest: u32) -> impl Strategy<Value = Vec<Machine>> {
    let speed = prop::sample::select(vec![0.5, 1.0, 1.0, 2.0, 3.0]);
    let machine = (1..=widest, speed).prop_map(|(processors, speed)| Machine { processors, speed });
    prop::collection::vec(machine, 1..=5)
}

/// Strategy for all readings of backfilling on several machines.
pub fn readings() -> impl Strategy<Value = BackfillReadings> {
    let placement = prop::sample::select(vec![Placement::Fastest, Placement::FirstFit]);
    let rule = prop::sample::select(vec![BackfillRule::MachineAware, BackfillRule::Strict]);
    (placement, rule).prop_map(|(placement, rule)| BackfillReadings { placement, rule })
}

/// Divides the instants of submission by `by`, so that most jobs wait.
pub fn hurried(mut jobs: Vec<Job>, by: u64) -> Vec<Job> {
    for job in &mut jobs {
        job.submit = Time::from_secs(job.submit.as_nanos() / (by * 1_000_000_000));
    }
    jobs
}

/// Sets exact estimates, and deadlines for two in three jobs.
pub fn with_deadlines(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.iter_mut().for_each(|job| job.request.estimate = Some(job.runtime));
    due(jobs)
}

/// Sets deadlines for two in three jobs.
pub fn due(mut jobs: Vec<Job>) -> Vec<Job> {
    for job in &mut jobs {
        let margin = Span::from_secs(u64::from(job.id.0 * 7 % 30));
        job.request.deadline = (job.id.0 % 3 > 0).then(|| job.submit + job.runtime + margin);
    }
    jobs
}

/// Restricts, half the time, half of the jobs to some sites, of which some may not exist.
pub fn choosy(jobs: Vec<Job>) -> impl Strategy<Value = Vec<Job>> {
    let mask = prop_oneof![3 => Just(None), 1 => Just(Some(0b1)), 2 => (0..64_u8).prop_map(Some)];
    let masks = prop_oneof![Just(Vec::new()), prop::collection::vec(mask, 60)];
    (Just(jobs), masks).prop_map(|(mut jobs, masks)| {
        for (job, mask) in jobs.iter_mut().zip(masks) {
            let sites = |mask: u8| (0..8).filter(|site| mask >> site & 1 == 1).map(SiteId).collect();
            job.request.sites = mask.map_or(SiteSet::ALL, sites);
        }
        jobs
    })
}

/// Sets estimates that are too long, too short or missing, and makes some jobs of no length.
pub fn misjudged(jobs: Vec<Job>) -> impl Strategy<Value = Vec<Job>> {
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

/// Strategy for scenes on machines of at most `widest` processors. Estimates are exact, too long, too short or missing. Two jobs in three
/// have deadlines; some may not run everywhere; a few are wider than any machine.
pub fn scenes(widest: u32) -> impl Strategy<Value = Scene> {
    let jobs = (workload(widest + 1), 1..4_u64).prop_map(|(jobs, by)| due(hurried(jobs, by)));
    let jobs =
        jobs.prop_flat_map(|jobs| prop_oneof![1 => Just(jobs.clone()), 2 => misjudged(jobs)]).prop_flat_map(choosy);
    (machines(widest), jobs).prop_map(|(machines, jobs)| Scene { machines, jobs })
}

macro_rules! workloads {
    ($($name:literal)*) => { [$(($name, include_str!(concat!("../../conformance/", $name, ".swf")))),*] };
}

/// Returns the workloads of docs/conformance, by name. Schedules of each under every order of backfilling lie beside them there.
pub fn conformance_scenes() -> impl Iterator<Item = (&'static str, Scene)> {
    let texts = workloads! { "equal-ends" "exact" "limits" "overestimates" "ties" "wide-heads" "zero-run-times" };
    texts.into_iter().map(|(name, text)| {
        let jobs: Vec<Job> = (0..).map(JobId).zip(text.lines().filter_map(numbers)).map(job).collect();
        (name, Scene::new(&[Machine::new(8)], &jobs))
    })
}

/// Parses a line in the Standard Workload Format; `None` for a comment, and for a job that never ran.
fn numbers(line: &str) -> Option<Vec<i64>> {
    let numbers: Option<Vec<i64>> = line.split_whitespace().map(|number| number.parse().ok()).collect();
    numbers.filter(|numbers| numbers[3] > 0)
}

/// Returns the job of these numbers, which ends at its limit at the latest.
fn job((id, numbers): (JobId, Vec<i64>)) -> Job {
    let seconds = |field: usize| Span::from_secs(numbers[field - 1].unsigned_abs());
    let number = |field: usize| u32::try_from(numbers[field - 1]).expect("docs/conformance has no larger ones");
    let mut job = Job::new(id, Time::ZERO + seconds(2), number(5), seconds(4).min(seconds(9)));
    (job.request.estimate, job.request.user) = (Some(seconds(9)), Some(number(12)));
    job
}
