//! Findings about a schedule.

use serde::Serialize;
use sim_core::Time;
use std::collections::BTreeMap;

/// Kind of finding: its position among the kinds, and its name.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "&'static str")]
pub(super) struct FindingKind(u8, pub(super) &'static str);

impl FindingKind {
    pub(super) const UNKNOWN: Self = Self(0, "unknown-job");
    pub(super) const TWICE: Self = Self(1, "job-twice");
    /// A job of the log has no row, or never starts.
    pub(super) const MISSING: Self = Self(2, "missing-job");
    pub(super) const SUBMIT: Self = Self(3, "submit-differs");
    pub(super) const WIDTH: Self = Self(4, "width-differs");
    pub(super) const EARLY: Self = Self(5, "start-before-submit");
    pub(super) const RUN_TIME: Self = Self(6, "run-time-differs");
    pub(super) const SITE: Self = Self(7, "unknown-site");
    pub(super) const OVERFULL: Self = Self(8, "too-many-processors");
    pub(super) const DOWN: Self = Self(9, "machine-down");
    /// A processor is in use twice, or does not exist.
    pub(super) const PROCESSOR: Self = Self(10, "processor-twice");
    pub(super) const POLICY: Self = Self(11, "policy-differs");
    /// The manifest beside the schedule names a program that has changed since.
    pub(super) const PROGRAM: Self = Self(12, "program-differs");
}

impl From<FindingKind> for &'static str {
    fn from(fault: FindingKind) -> Self {
        fault.1
    }
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
