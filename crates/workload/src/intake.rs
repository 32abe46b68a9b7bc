//! From records to jobs, under named rules.

use crate::repair::{Repairs, Rule};
use crate::swf::{SwfError, SwfReader, SwfRecord};
use sim_core::{Job, JobId, Request, Span, Time};
use std::fmt;
use std::str::FromStr;

/// Reads a log as jobs: numbered 0, 1, 2 … as they are delivered, in the order of the log, submitted from
/// [`Time::ZERO`] on.
///
/// Processors are those that were allocated (field 5), or else those requested (field 8): the run time was measured on
/// the former. What cannot be taken as it stands is repaired or skipped under a [`Rule`], and counted.
#[derive(Debug)]
pub struct Intake {
    records: SwfReader,
    options: Options,
    repairs: Repairs,
    records_left: u64,
    delivered: u32,
    /// The log's own submit times of the first delivered job and of the last.
    first_and_last: Option<(Span, Span)>,
}

/// How a log is taken in.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// What the policy is told about run times.
    pub estimates: Estimates,
    /// Only the first so many records of the log, skipped ones included.
    pub max_jobs: Option<u64>,
    /// Processors of the machine, to count the jobs that are wider.
    pub capacity: Option<u32>,
}

/// What the policy is told about run times.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub enum Estimates {
    /// The run time itself; no job is cut.
    #[default]
    Exact,
    /// The requested time (field 9). It is also the limit: a job that ran beyond it is cut there, as a machine that
    /// enforces its limits would have done. Where it is missing, the run time stands in.
    User,
    /// So many times the run time; at least 1, at most a million. No job is cut.
    Factor(f64),
}

/// One job of a log, and what the log knows of it beside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogJob {
    /// The job as simulations take it.
    pub job: Job,
    /// Its number in the log.
    pub number: u64,
    /// Its line in the file, counted from 1.
    pub line: u64,
    /// Who submitted it.
    pub user: Option<u32>,
    /// The group of that user.
    pub group: Option<u32>,
    /// The application.
    pub executable: Option<u32>,
    /// The queue it was submitted to.
    pub queue: Option<u32>,
    /// The part of the machine it ran on; in logs of grids, often the cluster.
    pub partition: Option<u32>,
    /// Memory it asked for, in KiB per processor.
    pub requested_memory: Option<u64>,
    /// Columns 20 and beyond: see [`SwfRecord::further`].
    pub further: Option<Box<str>>,
}

impl Intake {
    /// Takes in what `records` reads.
    ///
    /// # Panics
    ///
    /// If the options hold a factor that is not between 1 and a million; [`Estimates::from_str`] makes none.
    pub fn new(records: SwfReader, options: Options) -> Self {
        if let Estimates::Factor(factor) = options.estimates {
            assert!(is_factor(factor), "an estimate cannot be {factor} times the run time");
        }
        let records_left = options.max_jobs.unwrap_or(u64::MAX);
        Self { records, options, repairs: Repairs::default(), records_left, delivered: 0, first_and_last: None }
    }

    /// What was repaired so far.
    pub const fn repairs(&self) -> &Repairs {
        &self.repairs
    }

    /// Adds to the repairs a rule that was applied to the log as a whole, as by [`capacity`](crate::capacity()).
    pub fn note(&mut self, rule: Rule) {
        self.repairs.note(rule, None);
    }

    /// The log's own submit time of the first delivered job, which became [`Time::ZERO`].
    pub fn origin(&self) -> Option<Span> {
        self.first_and_last.map(|(first, _)| first)
    }

    /// The reader underneath: its header, path and line.
    pub const fn reader(&self) -> &SwfReader {
        &self.records
    }

    /// The job of a record, or `None` if it is skipped.
    fn job_of(&mut self, record: SwfRecord) -> Option<LogJob> {
        let line = self.records.line();
        let repairs = &mut self.repairs;
        let mut note = |rule| repairs.note(rule, Some(line));

        let Some(submit) = record.submit else {
            note(Rule::NoSubmit);
            return None;
        };
        let Some(mut runtime) = record.runtime.filter(|runtime| !runtime.is_zero()) else {
            note(Rule::NoRuntime);
            return None;
        };
        let Some(processors) = record.processors() else {
            note(Rule::NoProcessors);
            return None;
        };
        if record.allocated_processors.is_none_or(|allocated| allocated == 0) {
            note(Rule::ProcessorsFromRequest);
        }

        let estimate = match self.options.estimates {
            Estimates::Exact => runtime,
            Estimates::Factor(factor) => stretched(runtime, factor),
            Estimates::User => match record.requested_time.filter(|estimate| !estimate.is_zero()) {
                None => {
                    note(Rule::EstimateFromRuntime);
                    runtime
                }
                Some(estimate) => {
                    if runtime > estimate {
                        note(Rule::CutAtEstimate);
                        runtime = estimate;
                    }
                    estimate
                }
            },
        };

        // The log is streamed, so it cannot be sorted.
        let (first, last) = self.first_and_last.unwrap_or((submit, submit));
        if submit < last {
            note(Rule::SubmitOutOfOrder);
        }
        let submit = submit.max(last);
        self.first_and_last = Some((first, submit));

        if self.options.capacity.is_some_and(|capacity| processors > capacity) {
            note(Rule::WiderThanMachine);
        }

        let id = JobId(self.delivered);
        self.delivered = self.delivered.checked_add(1).expect("a run has fewer than 4 billion jobs");
        let request = Request { processors, estimate: Some(estimate), deadline: None };
        Some(LogJob {
            job: Job { id, submit: Time::ZERO + (submit - first), origin: None, request, runtime },
            number: record.number,
            line,
            user: record.user,
            group: record.group,
            executable: record.executable,
            queue: record.queue,
            partition: record.partition,
            requested_memory: record.requested_memory,
            further: record.further,
        })
    }
}

impl Iterator for Intake {
    type Item = Result<LogJob, SwfError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.records_left > 0 {
            self.records_left -= 1;
            match self.records.next()? {
                Err(error) => return Some(Err(error)),
                Ok(record) => {
                    if let Some(job) = self.job_of(record) {
                        return Some(Ok(job));
                    }
                }
            }
        }
        None
    }
}

const LARGEST_FACTOR: f64 = 1e6;

fn is_factor(factor: f64) -> bool {
    (1.0..=LARGEST_FACTOR).contains(&factor)
}

/// `runtime` times `factor`, at most 136 years, as long as a log's own estimates can be: sums of estimates must stay
/// within the range of time.
fn stretched(runtime: Span, factor: f64) -> Span {
    let longest = Span::from_secs(u64::from(u32::MAX));
    if runtime.as_secs_f64() * factor < longest.as_secs_f64() { runtime.scaled(factor) } else { longest.max(runtime) }
}

/// Text that names no kind of estimates.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("estimates: expected exact, user, or factor:F with F from 1 to 1000000, found {found:?}")]
pub struct EstimatesError {
    /// What was given.
    pub found: String,
}

impl FromStr for Estimates {
    type Err = EstimatesError;

    /// `exact`, `user`, or `factor:2.5`.
    fn from_str(text: &str) -> Result<Self, EstimatesError> {
        let factor = |text: &str| text.parse().ok().filter(|factor| is_factor(*factor)).map(Self::Factor);
        match text {
            "exact" => Some(Self::Exact),
            "user" => Some(Self::User),
            _ => text.strip_prefix("factor:").and_then(factor),
        }
        .ok_or_else(|| EstimatesError { found: crate::file::shown(text.as_bytes()) })
    }
}

impl fmt::Display for Estimates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::User => f.write_str("user"),
            Self::Factor(factor) => write!(f, "factor:{factor}"),
        }
    }
}
