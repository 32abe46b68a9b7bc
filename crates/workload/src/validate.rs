//! Anomalies of a log, line by line.

use crate::error::InputError;
use crate::estimates::Estimates;
use crate::intake::{Intake, Options};
use crate::repair::{Repair, Rule, rules};
use crate::swf::{Status, SwfReader, SwfRecord};
use serde::Serialize;
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
/// let found: Vec<_> = validation.map(|finding| (finding.line, finding.anomaly.name())).collect();
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
    pub anomaly: Anomaly,
}

/// Anomaly of a line.
#[derive(Debug)]
pub enum Anomaly {
    /// The line cannot be read.
    Unreadable(InputError),
    /// A simulation skips the record or repairs it.
    Repaired(Rule),
    /// The record contradicts itself or the one before.
    Contradicts(Contradiction),
}

rules! {
    /// Contradiction within a record or between neighbours, which a simulation does not notice.
    enum Contradiction {
        NumberNotAscending = "number-not-ascending": "its number (field 1) is not above that of the record before",
        ProcessorsDiffer = "processors-differ": "processors allocated (field 5) are not those requested (field 8)",
        MoreCpuTimeThanRunTime = "more-cpu-time-than-run-time": "CPU time (field 6) exceeds the run time (field 4)",
        MoreMemoryThanRequested = "more-memory-than-requested":
            "memory used (field 7) exceeds that requested (field 10)",
        CompletedWithoutRunning = "completed-without-running":
            "completed (field 11), yet its run time (field 4) is unknown or zero",
        WaitUnknown = "wait-unknown": "ran, yet its wait (field 3) is unknown",
        UserUnknown = "user-unknown": "user (field 12) unknown",
        PrecedingJobNotBefore = "preceding-job-not-before": "the preceding job (field 17) does not come before it",
    }
}

impl Anomaly {
    /// Name in reports; it never changes.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable",
            Self::Repaired(rule) => rule.name(),
            Self::Contradicts(contradiction) => contradiction.name(),
        }
    }

    /// Description of the anomaly, and its treatment in a simulation, in one line. A line that cannot be read has an error of its own.
    pub const fn description(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "the line cannot be read",
            Self::Repaired(rule) => rule.description(),
            Self::Contradicts(contradiction) => contradiction.description(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Anomaly::Unreadable(error) = &self.anomaly {
            return error.fmt(f);
        }
        write!(f, "{}: ", self.line)?;
        if let Some(job) = self.job {
            write!(f, "job {job}: ")?;
        }
        write!(f, "{}: {}", self.anomaly.name(), self.anomaly.description())
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
                self.found.push_back(Finding { line, job: None, anomaly: Anomaly::Unreadable(error) });
                return Some(None);
            }
            Ok(both) => both,
        };
        let repaired = self.intake.repairs().iter().filter(|repair| !before.contains(repair));
        let is_ascending = self.last_number.is_none_or(|last| record.number > last);
        self.last_number = Some(record.number);
        let has_run = record.runtime.is_some_and(|runtime| !runtime.is_zero());
        let differ = |(given, asked): (u32, u32)| given > 0 && asked > 0 && given != asked;
        let applies = |contradiction: &Contradiction| match contradiction {
            Contradiction::NumberNotAscending => !is_ascending,
            Contradiction::ProcessorsDiffer => {
                record.allocated_processors.zip(record.requested_processors).is_some_and(differ)
            }
            Contradiction::MoreCpuTimeThanRunTime => record.runtime.is_some() && record.cpu_time > record.runtime,
            Contradiction::MoreMemoryThanRequested => {
                record.requested_memory.is_some() && record.memory > record.requested_memory
            }
            Contradiction::CompletedWithoutRunning => record.status == Some(Status::Completed) && !has_run,
            Contradiction::WaitUnknown => has_run && record.wait.is_none(),
            Contradiction::UserUnknown => record.user.is_none(),
            Contradiction::PrecedingJobNotBefore => record.preceding_job >= Some(record.number),
        };
        let contradicts = Contradiction::ALL.into_iter().filter(applies).map(Anomaly::Contradicts);
        let anomalies = repaired.map(|repair| Anomaly::Repaired(repair.rule)).chain(contradicts);
        self.found.extend(anomalies.map(|anomaly| Finding { line, job: Some(record.number), anomaly }));
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

/// Kind of anomaly with its count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnomalyCount {
    /// Name.
    pub name: &'static str,
    /// Description.
    pub description: &'static str,
    /// Number of records that have it.
    pub count: u64,
    /// Line of its first occurrence.
    pub first_line: u64,
}

impl AnomalyCount {
    /// Counts a finding among those of its kind; kinds are in the order of their first lines.
    pub fn add(kinds: &mut Vec<Self>, finding: &Finding) {
        let (name, description) = (finding.anomaly.name(), finding.anomaly.description());
        match kinds.iter_mut().find(|kind| kind.name == name) {
            Some(kind) => kind.count += 1,
            None => kinds.push(Self { name, description, count: 1, first_line: finding.line }),
        }
    }
}
