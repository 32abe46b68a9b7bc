//! The log, read job by job at the pace of a model.

use super::clock::ensure_ends_on;
use super::rows::FromLog;
use super::sites::Sites;
use super::watch::Known;
use crate::options::LogOptions;
use anyhow::{Result, anyhow};
use std::cell::RefCell;
use workload::{Intake, LogJob, Repairs, SwfReader};

/// Log of a simulation, repaired, which is read when the model requests jobs.
pub(super) struct Log(RefCell<Reading>);

struct Reading {
    intake: Intake,
    slowest: f64,
    failed: Option<anyhow::Error>,
}

impl Reading {
    /// The next job, up to the first error.
    fn next(&mut self) -> Option<LogJob> {
        if self.failed.is_some() {
            return None;
        }
        match self.intake.next()? {
            Ok(job) => match ensure_ends_on(&job.job, job.number, self.slowest) {
                Ok(()) => return Some(job),
                Err(words) => {
                    self.failed = Some(anyhow!("{}:{}: {words}", self.intake.reader().path().display(), job.line));
                }
            },
            Err(error) => self.failed = Some(error.into()),
        }
        None
    }
}

impl Log {
    pub(super) fn open(options: &LogOptions, sites: &Sites) -> Result<Self> {
        let mut intake = Intake::new(SwfReader::open(options.trace())?, options.intake(sites.widest()));
        if let Some(rule) = sites.rule {
            intake.note(rule);
        }
        Ok(Self(RefCell::new(Reading { intake, slowest: sites.slowest(), failed: None })))
    }

    /// Returns its jobs up to the first error. The log's data of each job is entered into `known`.
    pub(super) fn jobs(&self, known: Known) -> impl Iterator<Item = LogJob> {
        let enter = move |job: &LogJob| drop(known.borrow_mut().insert(job.job.id, Box::new(FromLog::from(job))));
        std::iter::from_fn(|| self.0.borrow_mut().next()).inspect(enter)
    }

    /// The repairs of a run that is over, or the error that ended the log.
    pub(super) fn finish(self) -> Result<Repairs> {
        let Reading { intake, failed, .. } = self.0.into_inner();
        failed.map_or_else(|| Ok(intake.repairs().clone()), Err)
    }
}
