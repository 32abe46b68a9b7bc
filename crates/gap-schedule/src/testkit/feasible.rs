//! Conditions that every schedule must meet under every policy.

use super::scene::{Run, Scene, Transcript};
use crate::multi_cluster::Passes;
use crate::policy::Policy;
use crate::view::View;
use sim_core::{Fact, Job, JobId, JobLog, JobRecord, Sim, SiteId, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Asserts that the policy schedules every scene feasibly. No machine is overcommitted. Every job that fits somewhere
/// runs to its end, on a machine that it may use. The same input gives the same facts. A world that is
/// copied half-way, with its policy, continues like the original.
///
/// # Panics
///
/// If a condition fails.
pub fn assert_feasible(policy: impl Policy + Clone, scene: &Scene, passes: Passes) {
    let told = scene.transcript(policy.clone(), passes);
    scene.runs(&told);
    assert_eq!(&scene.transcript(policy.clone(), passes), &told, "same input, same transcript");

    let mut watched = Sim::new(scene.grid(policy.clone(), passes), (JobLog::collecting(), Transcript::new()));
    while watched.step() {
        check_grid(&watched.model().view(watched.now()), &watched.probe().0);
    }
    let (log, beside) = watched.probe();
    assert_eq!(beside, &told, "a probe changes nothing");
    assert_eq!(log.present(), 0);

    let mut original = Sim::new(scene.grid(policy, passes), Transcript::new());
    for _ in 0..told.len() / 2 {
        original.step();
    }
    let fork = original.fork(Transcript::new());
    let before = original.probe().len();
    assert_eq!(fork.run().1, &told[before..], "a fork continues like its original");
    assert_eq!(original.run().1, told, "an original does not notice its fork");
}

impl Scene {
    /// Asserts the conditions on every schedule, from its facts alone. Returns the runs of all jobs in order of their ends.
    ///
    /// # Panics
    ///
    /// If the facts contradict each other, or a job runs where it may not, or where too few processors are free.
    pub fn runs(&self, told: &Transcript) -> Vec<Run> {
        let is_admitted = |Job { request, .. }: &Job| {
            (0..)
                .map(SiteId)
                .zip(&self.machines)
                .any(|(site, machine)| machine.suits(request) && request.sites.contains(site))
        };
        let mut running: BTreeMap<JobId, (Time, SiteId)> = BTreeMap::new();
        let (mut submitted, mut finished) = (Vec::new(), BTreeSet::new());
        let (mut runs, mut busy) = (Vec::new(), vec![0; self.machines.len()]);
        for (now, fact) in told {
            match *fact {
                Fact::Submitted(job) => {
                    assert_eq!(job.submit, *now);
                    submitted.push(job);
                }
                Fact::Rejected { job, .. } => assert!(!is_admitted(self.job(job))),
                Fact::Started { job, site, processors } => {
                    assert!(submitted.iter().any(|known| known.id == job), "job {job} was not submitted");
                    assert!(!finished.contains(&job), "job {job} started after it had finished");
                    assert_eq!(processors, self.job(job).request.processors);
                    assert!(self.job(job).request.sites.contains(site), "job {job} may not run there");
                    busy[site.index()] += processors;
                    assert!(busy[site.index()] <= self.machines[site.index()].processors);
                    assert_eq!(running.insert(job, (*now, site)), None, "job {job} started while it ran");
                }
                Fact::Finished { job } => {
                    let (start, site) = running.remove(&job).expect("what ends has started");
                    let Job { request, runtime, .. } = self.job(job);
                    assert_eq!(*now, start + self.machines[site.index()].takes(*runtime), "job {job}");
                    busy[site.index()] -= request.processors;
                    finished.insert(job);
                    runs.push(Run { job, site, start, end: *now });
                }
                Fact::Seized { .. } | Fact::Released { .. } => panic!("a grid does not know processors apart"),
            }
        }
        assert!(running.is_empty(), "still running at the end: {running:?}");
        assert_eq!(&submitted, &self.jobs);
        let admitted = self.jobs.iter().filter(|job| is_admitted(job));
        assert!(finished.into_iter().eq(admitted.map(|job| job.id)), "all end at last");
        runs
    }
}

/// Asserts that the state of the grid agrees with the facts.
fn check_grid(view: &View<'_>, log: &JobLog<Vec<JobRecord>>) {
    let mut running = 0;
    for (machine, (free, here)) in view.machines.iter().zip(view.free.iter().zip(view.running)) {
        let held: u32 = here.iter().map(|job| job.processors).sum();
        assert_eq!(held + free, machine.processors);
        running += here.len();
    }
    assert_eq!(view.queue.len() + running, log.present());
    let tally = log.counts();
    assert_eq!(tally.submitted, tally.finished + tally.rejected + log.present() as u64);
}
