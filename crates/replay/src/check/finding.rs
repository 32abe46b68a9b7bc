//! Findings about a schedule.

use clap::ValueEnum;
use serde::Serialize;
use sim_core::Time;
use std::collections::BTreeMap;

/// Kind of finding.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FindingKind {
    UnknownJob,
    JobTwice,
    /// A job of the log has no row, or never starts.
    MissingJob,
    SubmitDiffers,
    WidthDiffers,
    StartBeforeSubmit,
    RunTimeDiffers,
    UnknownSite,
    TooManyProcessors,
    MachineDown,
    /// A processor is in use twice, or does not exist.
    ProcessorTwice,
    PolicyDiffers,
    /// The manifest beside the schedule names a program that has changed since.
    ProgramDiffers,
}

/// First finding of a kind, and their number.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FindingsOfKind {
    #[serde(rename = "finding")]
    pub(super) fault: FindingKind,
    pub(super) count: u64,
    job: u64,
    /// Time since the first submission.
    time: Option<String>,
    /// Line of the schedule; for a job without a row, of the log.
    pub(super) line: u64,
    pub(super) words: String,
}

/// All findings, by kind.
#[derive(Debug, Default)]
pub(super) struct FindingList(BTreeMap<FindingKind, FindingsOfKind>);

impl FindingList {
    pub(super) fn add(
        &mut self,
        fault: FindingKind,
        job: u64,
        time: Option<Time>,
        line: u64,
        words: impl FnOnce() -> String,
    ) {
        let first =
            || FindingsOfKind { fault, count: 0, job, time: time.map(|time| time.to_string()), line, words: words() };
        self.0.entry(fault).or_insert_with(first).count += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &FindingsOfKind> {
        self.0.values()
    }
}
