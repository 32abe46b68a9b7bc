//! The log, read job by job at the pace of a model.

use super::clock::ensure_ends_on;
use super::rows::SimulatedJob;
use super::sites::Sites;
use super::watch::Known;
use crate::options::LogOptions;
use anyhow::{Result, anyhow};
use std::cell::RefCell;
use workload::{Intake, LogJob, Repairs, SwfReader};

/// Log of a simulation, repaired, which is read when the model requests jobs.
pub(super) struct Log {
    intake: RefCell<Intake>,
    slowest: f64,
    failed: RefCell<Option<anyhow::Error>>,
}

impl Log {
    pub(super) fn open(options: &LogOptions, sites: &Sites) -> Result<Self> {
        let mut intake = Intake::new(SwfReader::open(options.trace())?, options.intake(sites.widest()));
        if let Some(rule) = sites.rule {
            intake.note(rule);
        }
        Ok(Self { intake: RefCell::new(intake), slowest: sites.slowest(), failed: RefCell::new(None) })
    }

    /// Returns `of` its jobs, up to the first error. The log's data of each job is entered into `known`.
    pub(super) fn jobs<T>(&self, known: Known, of: impl Fn(&LogJob) -> T) -> impl Iterator<Item = T> {
        let next = move || {
            let job = self.next().map_err(|error| self.failed.replace(Some(error))).ok().flatten()?;
            let (id, of_job, runtime) = (job.job.id, of(&job), job.job.runtime);
            known.borrow_mut().insert(id, Box::new(SimulatedJob::new(runtime, runtime < job.logged_runtime, job)));
            Some(of_job)
        };
        std::iter::from_fn(next).fuse()
    }

    fn next(&self) -> Result<Option<LogJob>> {
        let mut intake = self.intake.borrow_mut();
        let Some(one) = intake.next().transpose()? else { return Ok(None) };
        ensure_ends_on(&one.job, one.record.number, self.slowest)
            .map_err(|words| anyhow!("{}:{}: {words}", intake.reader().path().display(), one.line))?;
        Ok(Some(one))
    }

    /// The repairs of a run that is over, or the error that ended the log.
    pub(super) fn finish(self) -> Result<Repairs> {
        self.failed.into_inner().map_or_else(|| Ok(self.intake.into_inner().repairs().clone()), Err)
    }
}
