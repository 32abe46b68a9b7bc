//! What can be wrong with a schedule.

use sim_core::Time;
use std::collections::BTreeMap;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    Unknown,
    Twice,
    /// A job of the log is not there, or never starts.
    Missing,
    /// Another submit time than the log's.
    Submit,
    /// Other processors than asked for.
    Width,
    Early,
    /// It runs for another time than it takes.
    RunTime,
    Site,
    /// More processors are in use than there are.
    Overfull,
    /// It runs on a machine that is down.
    Down,
    /// A processor is in use twice, or does not exist.
    Processor,
    /// The policy would not have done so.
    Policy,
    /// The manifest beside the schedule names a program that holds something else now.
    Program,
}

impl Fault {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown-job",
            Self::Twice => "job-twice",
            Self::Missing => "missing-job",
            Self::Submit => "submit-differs",
            Self::Width => "width-differs",
            Self::Early => "start-before-submit",
            Self::RunTime => "run-time-differs",
            Self::Site => "unknown-site",
            Self::Overfull => "too-many-processors",
            Self::Down => "machine-down",
            Self::Processor => "processor-twice",
            Self::Policy => "policy-differs",
            Self::Program => "program-differs",
        }
    }
}

/// One fault: which job, when, where it stands, and what is wrong in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) fault: Fault,
    pub(super) job: u64,
    /// Since the first submission.
    pub(super) time: Option<Time>,
    /// The line of the schedule; of a job that is not there, of the log.
    pub(super) line: u64,
    pub(super) words: String,
}

/// All that was found: how often, and the first of each kind.
#[derive(Debug, Default)]
pub(super) struct Findings {
    first: BTreeMap<Fault, (u64, Finding)>,
}

impl Findings {
    pub(super) fn add(
        &mut self,
        fault: Fault,
        job: u64,
        time: Option<Time>,
        line: u64,
        words: impl FnOnce() -> String,
    ) {
        let found = self.first.entry(fault).or_insert_with(|| (0, Finding { fault, job, time, line, words: words() }));
        found.0 += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// By kind: how often, and the first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Finding)> {
        self.first.values().map(|(count, finding)| (*count, finding))
    }
}
