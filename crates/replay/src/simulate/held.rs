//! One policy on jobs in memory: the step that an experiment repeats.
//!
//! The same world and policies as `simulate`, without its files: only start and end of each job are kept.

use super::clock::{Course, ensure_ends_on};
use super::policy::{Policy, Search};
use super::predicting::by_estimates;
use super::space_shared::{Machines, PATIENCE};
use crate::options::MachineOptions;
use anyhow::{Result, anyhow};
use gap_schedule::Machine;
use lab::interrupt::Interrupted;
use lab::provenance::hashes_of;
use metrics::backlog::{Backlog, Trend};
use sim_core::{Fact, Job, JobId, JobRecord, Probe, SiteId, Time};
use std::collections::BTreeMap;
use workload::Estimates;

/// Start and end of a job; `None` if it was rejected.
pub(crate) type Placement = Option<(Time, Time)>;

/// The record of a job on a machine that is not part of a grid.
pub(crate) const fn record_of(job: &Job, (start, finish): (Time, Time)) -> JobRecord {
    JobRecord { job: *job, start, finish, site: SiteId(0), processors: job.request.processors }
}

impl Policy {
    /// SHA-256 of the files that determine its behaviour, by path.
    pub(crate) fn programs(&self) -> Result<BTreeMap<String, String>> {
        hashes_of(&self.files())
    }

    /// Replays `jobs`, which are numbered 0, 1, 2 … in order of submission and called `numbers` in their log. They carry the run times
    /// by `estimates`, or the request if these are predictions. Returns start and end of each job, and the trend of the work
    /// that waited.
    pub(crate) fn replay(
        &self,
        machines: &[Machine],
        jobs: &[Job],
        numbers: &[u64],
        estimates: Estimates,
        seed: u64,
    ) -> Result<(Vec<Placement>, Trend)> {
        let run = format!("under {}", self.name());
        let slowest = machines.iter().map(|machine| machine.speed).fold(f64::INFINITY, f64::min);
        for (job, number) in jobs.iter().zip(numbers) {
            ensure_ends_on(job, *number, slowest).map_err(|words| anyhow!("{run}: {words}"))?;
        }
        let on = MachineOptions::default();
        let machines = Machines {
            machines: machines.to_vec(),
            names: Vec::new(),
            search: Search::of(seed, &on),
            on,
            patience: PATIENCE,
            predicting: by_estimates(estimates),
        };
        let numbers = numbers.to_vec();
        let probe = (Placements(vec![Default::default(); jobs.len()]), Backlog::default());
        let course = Course { name: &run, goes_on: &|| true };
        let number = Box::new(move |job: JobId| numbers.get(job.index()).copied());
        let ran = machines.run(self, number, |policy| policy, jobs.iter().copied(), probe, &course);
        let (_, (Placements(kept), backlog)) =
            ran.map_err(|error| if error.is::<Interrupted>() { Interrupted::Resumable.into() } else { error })?;
        let placements = kept.into_iter().map(|(start, finish)| Some((start, finish?))).collect();
        Ok((placements, backlog.trend()))
    }
}

/// Probe that keeps start and end of jobs, by their numbers.
struct Placements(Vec<(Time, Option<Time>)>);

impl Probe for Placements {
    #[inline]
    fn observe(&mut self, now: Time, fact: &Fact) {
        match fact {
            Fact::Started { job, .. } => self.0[job.index()].0 = now,
            Fact::Finished { job } => self.0[job.index()].1 = Some(now),
            _ => {}
        }
    }
}
