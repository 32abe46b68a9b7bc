//! Intake of records as jobs, under named rules; and the size of the machine of a log.

pub mod alea31;
pub(crate) mod deadlines;
pub(crate) mod estimates;
pub(crate) mod held;
pub(crate) mod held_job;
pub mod validate;

use crate::error::InputError;
use crate::format::repair::{Repairs, Rule};
use crate::format::swf::{Header, SwfReader, SwfRecord};
use crate::intake::deadlines::Deadlines;
use crate::intake::estimates::{Estimates, stretched};
use crate::intake::held_job::HeldJob;
use sim_core::{Job, JobId, Span, Time};
use std::path::Path;
use std::sync::Arc;

/// Reads a log as jobs: numbered 0, 1, 2 … as they are delivered, in the order of the log, submitted from
/// [`Time::ZERO`] on.
///
/// Processors are those that were allocated (field 5), or else those requested (field 8): the run time was measured on
/// the former. Records that cannot be taken as they stand are repaired or skipped under a [`Rule`], and counted.
#[derive(Debug)]
pub struct Intake {
    pub(crate) records: SwfReader,
    options: Options,
    pub(crate) repairs: Repairs,
    records_left: u64,
    next_id: u32,
    /// Submit times of the first delivered job and of the last, on the log's clock.
    first_and_last: Option<(Span, Span)>,
}

/// Options of an [`Intake`].
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Estimates of run times that policies see.
    pub estimates: Estimates,
    /// Number of records of the log to read, skipped ones included.
    pub max_jobs: Option<u64>,
    /// Processors of the machine, to count wider jobs.
    pub capacity: Option<u32>,
    /// Deadlines of jobs.
    pub deadlines: Deadlines,
    /// Seed of estimates that are drawn ([`Estimates::FModel`]); 0 by default.
    pub seed: u64,
}

/// Job of a log, with its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogJob {
    /// Job as simulations take it.
    pub job: Job,
    /// Line in the file, counted from 1.
    pub line: u64,
    /// Run time by the log, before any limit cut it.
    pub logged_runtime: Span,
    /// Name of its user, where the log gives one.
    pub user_name: Option<Arc<str>>,
    /// Record of the log. Its requested time, independent of the estimate that the policy sees, is not zero.
    pub record: SwfRecord,
}

/// Job, and the part of its record that a held log keeps.
type TakenIn = (Job, HeldJob);

impl Intake {
    /// Returns an intake of `records`.
    ///
    /// # Panics
    ///
    /// If the options contain a number out of range, which estimates and deadlines parsed from text never do.
    pub fn new(records: SwfReader, options: Options) -> Self {
        options.deadlines.assert_possible();
        options.estimates.assert_possible();
        let records_left = options.max_jobs.unwrap_or(u64::MAX);
        Self { records, options, repairs: Repairs::default(), records_left, next_id: 0, first_and_last: None }
    }

    /// Repairs so far.
    pub const fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// Counts a rule that was applied to the log as a whole, as by [`capacity`].
    pub fn note(&mut self, rule: Rule) {
        self.repairs.note(rule, None);
    }

    /// Returns the submit time of the first delivered job on the log's clock, which became [`Time::ZERO`].
    pub fn origin(&self) -> Option<Span> {
        self.first_and_last.map(|(first, _)| first)
    }

    /// Underlying reader: its header, path and line.
    pub const fn reader(&self) -> &SwfReader {
        &self.records
    }

    /// Returns the next record, unless the log or the requested number of records has ended.
    #[inline]
    pub(crate) fn read(&mut self) -> Option<Result<SwfRecord, InputError>> {
        self.records_left = self.records_left.checked_sub(1)?;
        self.records.next()
    }

    /// Returns number and submission of the job of the last record, which is not before that of the previous job: the log is
    /// streamed, so it cannot be sorted.
    pub(crate) fn admit(&mut self, logged_submit: Span) -> (JobId, Time) {
        let (first, last) = self.first_and_last.unwrap_or((logged_submit, logged_submit));
        if logged_submit < last {
            self.note_here(Rule::SubmitOutOfOrder);
        }
        let submit = logged_submit.max(last);
        self.first_and_last = Some((first, submit));
        let id = JobId(self.next_id);
        self.next_id = self.next_id.checked_add(1).expect("a run has fewer than 4 billion jobs");
        (id, Time::ZERO + (submit - first))
    }

    /// Returns the job of the last record with its place and the name of its user.
    pub(crate) fn delivered(&self, job: Job, logged_runtime: Span, record: SwfRecord) -> LogJob {
        let user_name = self.records.names.of_user(&record);
        LogJob { job, line: self.records.line(), logged_runtime, user_name, record }
    }

    /// Returns the next record, with its job and the part of it that a held log keeps, unless it is skipped.
    pub(crate) fn next_record(&mut self) -> Option<Result<(SwfRecord, Option<TakenIn>), InputError>> {
        Some(self.read()?.and_then(|record| self.job_of(&record).map(|job| (record, job))))
    }

    fn job_of(&mut self, record: &SwfRecord) -> Result<Option<TakenIn>, InputError> {
        let line = self.records.line();
        let Some(submit) = record.submit else { return self.skipped(Rule::NoSubmit) };
        let Some(runtime) = record.runtime.filter(|runtime| !runtime.is_zero()) else {
            return self.skipped(Rule::NoRuntime);
        };
        let Some(processors) = record.processors() else { return self.skipped(Rule::NoProcessors) };
        let limit = record.requested_time.filter(|limit| !limit.is_zero());
        let due = match self.options.deadlines {
            Deadlines::None => None,
            Deadlines::Factor(factor) => Some(stretched(limit.unwrap_or(runtime), factor)),
            Deadlines::Column(column) => self.records.time_in_column(column, "deadline")?,
        };
        if record.allocated_processors.is_none_or(|allocated| allocated == 0) {
            self.note_here(Rule::ProcessorsFromRequest);
        }

        let (id, submit) = self.admit(submit);
        let (wait, user, number) = (record.wait, record.user, record.number);
        let held = HeldJob { submit, runtime, wait, limit, due, processors, user, number };
        let note = |rule| self.repairs.note(rule, Some(line));
        let job = self.options.estimates.job(self.options.seed, id, &held, note);
        if self.options.capacity.is_some_and(|capacity| processors > capacity) {
            self.note_here(Rule::WiderThanMachine);
        }
        self.repairs.note_unread(record, false);
        Ok(Some((job, held)))
    }

    fn skipped(&mut self, rule: Rule) -> Result<Option<TakenIn>, InputError> {
        self.note_here(rule);
        Ok(None)
    }

    pub(crate) fn note_here(&mut self, rule: Rule) {
        self.repairs.note(rule, Some(self.records.line()));
    }
}

impl Iterator for Intake {
    type Item = Result<LogJob, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_record()? {
                Ok((mut record, Some((job, held)))) => {
                    record.requested_time = held.limit;
                    return Some(Ok(self.delivered(job, held.runtime, record)));
                }
                Ok((_, None)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Returns the number of processors of the machine that wrote the log at `path`: `MaxProcs` of its header, or else
/// `MaxNodes`, with the rule applied. The standard distinguishes them only where nodes have several processors, so the
/// log is read once to check that no job is wider than the number of nodes.
///
/// # Errors
///
/// If the log does not state it, or must be read and cannot be. The width of the widest job is no substitute: the
/// machine may be many times as large, and every wait would be wrong.
pub fn capacity(header: &Header, path: &Path) -> Result<(u32, Option<Rule>), InputError> {
    if let Some(processors) = header.max_procs {
        return Ok((processors, None));
    }
    let mut widest = None;
    for record in SwfReader::open(path)? {
        widest = widest.max(record?.processors());
    }
    match header.max_nodes {
        Some(nodes) if widest <= Some(nodes) => Ok((nodes, Some(Rule::CapacityFromNodes))),
        nodes => Err(InputError::NoCapacity { path: path.to_owned(), nodes, widest }),
    }
}
