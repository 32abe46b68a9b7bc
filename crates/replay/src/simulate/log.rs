//! The log, read job by job at the pace of a model.

use super::clock::ensure_ends_on;
use super::rows::FromLog;
use super::sites::Sites;
use super::watch::Known;
use crate::options::LogOptions;
use anyhow::{Result, anyhow};
use std::cell::RefCell;
use std::rc::Rc;
use workload::{Intake, LogJob, Repairs, SwfReader};

/// Log of a simulation, repaired, which is read when the model requests jobs.
pub(super) struct Log(Rc<RefCell<Reading>>);

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
        Ok(Self(Rc::new(RefCell::new(Reading { intake, slowest: sites.slowest(), failed: None }))))
    }

    /// Returns its jobs up to the first error. The log's data of each job is entered into `known`.
    pub(super) fn jobs(&self, known: Known) -> impl Iterator<Item = LogJob> + use<> {
        let source = Rc::clone(&self.0);
        std::iter::from_fn(move || {
            let job = source.borrow_mut().next()?;
            known.borrow_mut().insert(job.job.id, FromLog::from(&job));
            Some(job)
        })
    }

    /// The repairs of a run that is over, or the error that ended the log.
    pub(super) fn finish(self) -> Result<Repairs> {
        let mut reading = self.0.borrow_mut();
        if let Some(error) = reading.failed.take() {
            return Err(error);
        }
        Ok(reading.intake.repairs().clone())
    }
}
