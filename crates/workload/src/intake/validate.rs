//! Anomalies of a log, line by line.

use crate::error::InputError;
use crate::format::repair::{Repair, Rule};
use crate::format::swf::{Status, SwfReader, SwfRecord};
use crate::intake::estimates::Estimates;
use crate::intake::{Intake, Options};
use std::collections::VecDeque;
use std::fmt;

/// Lists the anomalies of a log in the order of its lines, one at a time. Memory follows the longest line.
///
/// Some are those under which a simulation would skip or repair the record: the [`Rule`]s of [`Intake`], applied as if
/// users' estimates were limits. The others are contradictions within a record or between neighbours, which a
/// simulation does not notice.
///
/// ```
/// use workload::{SwfReader, Validation};
///
/// let log = "\
/// 1 100  5 60 4 70 -1 4 50 -1 1 7 1 -1 -1 -1 -1 -1
/// 2 130 -1 -1 8 -1 -1 8 90 -1 5 7 1 -1 -1 -1 -1 -1
/// ";
/// let validation = Validation::new(SwfReader::from_read("two.swf", log.as_bytes())?, None);
/// let found: Vec<_> = validation.map(|finding| (finding.line, finding.rule.name())).collect();
/// assert_eq!(found, [(1, "cut-at-estimate"), (1, "more-cpu-time-than-run-time"), (2, "no-runtime")]);
/// # Ok::<(), workload::InputError>(())
/// ```
#[derive(Debug)]
pub struct Validation {
    pub(crate) intake: Intake,
    last_number: Option<u64>,
    /// Findings in the last line read that are not yet delivered.
    pub(crate) found: VecDeque<Finding>,
}

/// Anomaly, and its place in the log.
#[derive(Debug)]
pub struct Finding {
    /// Line of the log, counted from 1.
    pub line: u64,
    /// Number of the job in the log, if the line is a record.
    pub job: Option<u64>,
    /// Anomaly found.
    pub rule: Rule,
    /// Error of a line that cannot be read ([`Rule::Unreadable`]).
    pub error: Option<InputError>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(error) = &self.error {
            return error.fmt(f);
        }
        write!(f, "{}: ", self.line)?;
        if let Some(job) = self.job {
            write!(f, "job {job}: ")?;
        }
        write!(f, "{}: {}", self.rule, self.rule.description())
    }
}

impl Validation {
    /// Lists the anomalies of `records`, on a machine of `capacity` processors if that is known.
    pub fn new(records: SwfReader, capacity: Option<u32>) -> Self {
        let options = Options { estimates: Estimates::User, capacity, ..Options::default() };
        Self { intake: Intake::new(records, options), last_number: None, found: VecDeque::new() }
    }

    /// Reads the next record, finds its anomalies, and returns it with the processors of its job. The inner `None` is an
    /// unreadable line, the outer one the end of the log.
    pub(crate) fn read_on(&mut self) -> Option<Option<(SwfRecord, Option<u32>)>> {
        let before: Vec<Repair> = self.intake.repairs().iter().collect();
        let item = self.intake.next_record()?;
        let line = self.intake.reader().line();
        let (record, job) = match item {
            Err(error) => {
                self.found.push_back(Finding { line, job: None, rule: Rule::Unreadable, error: Some(error) });
                return Some(None);
            }
            Ok(both) => both,
        };
        let repaired = self.intake.repairs().iter().filter(|repair| !before.contains(repair));
        let is_ascending = self.last_number.is_none_or(|last| record.number > last);
        self.last_number = Some(record.number);
        let has_run = record.runtime.is_some_and(|runtime| !runtime.is_zero());
        let differ = |(given, asked): (u32, u32)| given > 0 && asked > 0 && given != asked;
        let contradictions = [
            (!is_ascending, Rule::NumberNotAscending),
            (record.allocated_processors.zip(record.requested_processors).is_some_and(differ), Rule::ProcessorsDiffer),
            (record.runtime.is_some() && record.cpu_time > record.runtime, Rule::MoreCpuTimeThanRunTime),
            (
                record.requested_memory.is_some() && record.memory > record.requested_memory,
                Rule::MoreMemoryThanRequested,
            ),
            (record.status == Some(Status::Completed) && !has_run, Rule::CompletedWithoutRunning),
            (has_run && record.wait.is_none(), Rule::WaitUnknown),
            (record.user.is_none(), Rule::UserUnknown),
            (record.preceding_job >= Some(record.number), Rule::PrecedingJobNotBefore),
        ];
        let contradictions = contradictions.into_iter().filter_map(|(applies, rule)| applies.then_some(rule));
        let rules = repaired.map(|repair| repair.rule).chain(contradictions);
        self.found.extend(rules.map(|rule| Finding { line, job: Some(record.number), rule, error: None }));
        Some(Some((record, job.map(|(job, _)| job.request.processors))))
    }
}

impl Iterator for Validation {
    type Item = Finding;

    fn next(&mut self) -> Option<Finding> {
        while self.found.is_empty() {
            self.read_on()?;
        }
        self.found.pop_front()
    }
}
