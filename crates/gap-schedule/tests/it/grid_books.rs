//! What every schedule on several machines owes, whatever the policy.

use crate::common::Transcript;
use crate::grid_common::{choosy, due, hurried, is_admitted, machines, misjudged};
use gap_schedule::{Machine, MultiCluster, Passes, Policy, RunningJob};
use proptest::prelude::*;
use sim_core::testkit::workload;
use sim_core::{Fact, Job, JobId, JobLog, Outage, Sim, SiteId, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// What happens to a grid, whoever schedules it.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) machines: Vec<Machine>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) outages: Vec<Outage>,
    pub(crate) repair_expected: Span,
}

/// A run of a job on a machine, to its end or its interruption.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) job: JobId,
    pub(crate) site: SiteId,
    pub(crate) start: Time,
    pub(crate) end: Time,
    pub(crate) is_whole: bool,
}

impl Scene {
    /// One in which no machine fails.
    pub(crate) fn new(machines: &[Machine], jobs: &[Job]) -> Self {
        let (machines, jobs) = (machines.to_vec(), jobs.to_vec());
        Self { machines, jobs, outages: Vec::new(), repair_expected: Span::MAX }
    }

    pub(crate) fn grid<S: Policy>(
        &self,
        scheduler: S,
        passes: Passes,
    ) -> MultiCluster<S, std::vec::IntoIter<Job>, std::vec::IntoIter<Outage>> {
        MultiCluster::new(self.machines.clone(), scheduler, self.jobs.clone().into_iter())
            .with_outages(self.outages.clone())
            .with_repair_expected(self.repair_expected)
            .with_passes(passes)
    }

    pub(crate) fn transcript(&self, scheduler: impl Policy, passes: Passes) -> Transcript {
        Sim::new(self.grid(scheduler, passes), Transcript::new()).run().1
    }

    pub(crate) fn job(&self, id: JobId) -> &Job {
        &self.jobs[id.index()]
    }

    /// All runs in order of their ends, each told as it must be.
    pub(crate) fn runs(&self, told: &Transcript) -> Result<Vec<Run>, TestCaseError> {
        let mut running: BTreeMap<JobId, (Time, SiteId)> = BTreeMap::new();
        let mut runs = Vec::new();
        for (now, fact) in told {
            match *fact {
                Fact::Started { job, site, processors } => {
                    prop_assert_eq!(processors, self.job(job).request.processors);
                    prop_assert_eq!(running.insert(job, (*now, site)), None, "job {} started while it ran", job);
                }
                Fact::Interrupted { job, .. } | Fact::Finished { job } => {
                    let (start, site) = running.remove(&job).expect("what ends has started");
                    let is_whole = matches!(fact, Fact::Finished { .. });
                    if let Fact::Interrupted { site: told, processors, .. } = *fact {
                        prop_assert_eq!((told, processors), (site, self.job(job).request.processors));
                    }
                    runs.push(Run { job, site, start, end: *now, is_whole });
                }
                Fact::Submitted(_) | Fact::Rejected { .. } => {}
                Fact::Seized { .. } | Fact::Released { .. } => {
                    prop_assert!(false, "a grid does not know processors apart");
                }
            }
        }
        prop_assert!(running.is_empty(), "still running at the end: {running:?}");
        Ok(runs)
    }

    /// Asserts that the run keeps to the outages of its machine, and that only they cut it short.
    fn check_run(&self, run: &Run) -> Result<(), TestCaseError> {
        let Run { start, end, .. } = *run;
        let here = || self.outages.iter().filter(|outage| outage.site == run.site);
        for outage in here() {
            let within = outage.down < start && start < outage.up;
            let begins_with_it = outage.down == start && start < outage.up.min(end);
            prop_assert!(!within && !begins_with_it, "{run:?} begins during {outage:?}");
            prop_assert!(!(start < outage.down && outage.down < end), "{run:?} outlives {outage:?}");
        }
        if run.is_whole {
            let takes = self.machines[run.site.index()].takes(self.job(run.job).runtime);
            prop_assert_eq!(end, start + takes, "{:?}", run);
        } else {
            prop_assert!(here().any(|outage| outage.down == end), "nothing has interrupted {run:?}");
        }
        Ok(())
    }

    /// Asserts what every schedule owes, from nothing but what was told.
    pub(crate) fn check_schedule(&self, told: &Transcript) -> Result<(), TestCaseError> {
        let mut busy = vec![0; self.machines.len()];
        let mut places: BTreeMap<JobId, SiteId> = BTreeMap::new();
        let (mut submitted, mut finished) = (Vec::new(), BTreeSet::new());
        for (now, fact) in told {
            match *fact {
                Fact::Submitted(job) => {
                    prop_assert_eq!(job.submit, *now);
                    submitted.push(job);
                }
                Fact::Rejected { job, .. } => prop_assert!(!is_admitted(&self.machines, self.job(job))),
                Fact::Started { job, site, processors } => {
                    prop_assert!(submitted.iter().any(|known| known.id == job), "job {} was not submitted", job);
                    prop_assert!(!finished.contains(&job), "job {} started after it had finished", job);
                    prop_assert!(self.job(job).request.sites.contains(site), "job {} may not run there", job);
                    places.insert(job, site);
                    busy[site.index()] += processors;
                    prop_assert!(busy[site.index()] <= self.machines[site.index()].processors);
                }
                Fact::Finished { job } => prop_assert!(finished.insert(job), "job {} finished twice", job),
                _ => {}
            }
            if let Fact::Finished { job } | Fact::Interrupted { job, .. } = *fact {
                busy[places[&job].index()] -= self.job(job).request.processors;
            }
        }
        prop_assert_eq!(&submitted, &self.jobs);
        let admitted = self.jobs.iter().filter(|job| is_admitted(&self.machines, job));
        prop_assert!(finished.into_iter().eq(admitted.map(|job| job.id)), "all end at last");
        for run in self.runs(told)? {
            self.check_run(&run)?;
        }
        Ok(())
    }
}

/// An outage in seconds.
pub(crate) const fn outage(machine: u32, down: u64, up: u64) -> Outage {
    Outage { site: SiteId(machine), down: Time::from_secs(down), up: Time::from_secs(up) }
}

/// Outages that overlap, touch, follow each other at once, or have no length.
fn outages() -> impl Strategy<Value = Vec<(u64, prop::sample::Index, u64)>> {
    prop::collection::vec((0..12_u64, any::<prop::sample::Index>(), 0..20_u64), 0..16)
}

/// Estimates are exact, too long or wrong in both directions; two jobs in three have deadlines; some may not run
/// everywhere. Repairs are expected soon,
/// late or not at all.
pub(crate) fn scenes(widest: u32) -> impl Strategy<Value = Scene> {
    let jobs = (workload(widest + 1), 1..4_u64).prop_map(|(jobs, by)| due(hurried(jobs, by)));
    let jobs =
        jobs.prop_flat_map(|jobs| prop_oneof![1 => Just(jobs.clone()), 2 => misjudged(jobs)]).prop_flat_map(choosy);
    let expected = prop_oneof![1 => Just(Span::MAX), 2 => (0..20_u64).prop_map(Span::from_secs)];
    (machines(widest), jobs, outages(), expected).prop_map(|(machines, jobs, outages, repair_expected)| {
        let mut now = 0;
        let timed = outages.into_iter().map(|(gap, machine, length)| {
            now += gap;
            let machine = u32::try_from(machine.index(machines.len())).expect("few machines");
            outage(machine, now, now + length)
        });
        Scene { outages: timed.collect(), jobs, repair_expected, machines }
    })
}

/// Asserts that the grid's own account of itself is in order.
fn check_grid<S: Policy>(
    grid: &MultiCluster<S, impl Iterator<Item = Job>, impl Iterator<Item = Outage>>,
    log: &JobLog<Vec<sim_core::JobRecord>>,
    now: Time,
) -> Result<(), TestCaseError> {
    let view = grid.view(now);
    let mut running = 0;
    for (machine, (free, here)) in view.machines.iter().zip(view.free.iter().zip(view.running)) {
        let held: u32 = here.iter().map(|job| job.processors).sum();
        prop_assert_eq!(held + free, machine.processors);
        running += here.iter().filter(|job| job.job != RunningJob::OUTAGE).count();
    }
    prop_assert_eq!(grid.queue().len() + running, log.present());
    let tally = log.counts();
    prop_assert_eq!(tally.submitted, tally.finished + tally.rejected + log.present() as u64);
    Ok(())
}

/// Asserts what every run under this policy owes.
pub(crate) fn check_policy(
    policy: impl Policy + Clone,
    scene: &Scene,
    passes: Passes,
    branch: usize,
) -> Result<(), TestCaseError> {
    let told = scene.transcript(policy.clone(), passes);
    scene.check_schedule(&told)?;
    prop_assert_eq!(&scene.transcript(policy.clone(), passes), &told, "same input, same transcript");

    let mut watched = Sim::new(scene.grid(policy.clone(), passes), (JobLog::collecting(), Transcript::new()));
    while watched.step() {
        check_grid(watched.model(), &watched.probe().0, watched.now())?;
    }
    let (log, beside) = watched.probe();
    prop_assert_eq!(beside, &told, "a probe changes nothing");
    let interrupted = told.iter().filter(|(_, fact)| matches!(fact, Fact::Interrupted { .. })).count();
    prop_assert_eq!((log.counts().interrupted, log.present()), (interrupted as u64, 0));

    let mut original = Sim::new(scene.grid(policy, passes), Transcript::new());
    for _ in 0..branch {
        original.step();
    }
    let fork = original.fork(Transcript::new());
    let before = original.probe().len();
    prop_assert_eq!(fork.run().1, &told[before..], "a fork continues like its original");
    prop_assert_eq!(original.run().1, told, "an original does not notice its fork");
    Ok(())
}
