//! Rules under which a log is repaired, and the number of applications of each.

use crate::format::swf::SwfRecord;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// Rule that was applied.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair<R = Rule> {
    /// Rule; serialized as its name and its description.
    #[serde(flatten)]
    pub rule: R,
    /// Number of applications.
    pub count: u64,
    /// Line of its first application; `None` if it concerns the log as a whole.
    pub first_line: Option<u64>,
}

/// Declares rules, in the order in which they are reported. Each has a name for reports, which never
/// changes, and a line that states its effect and reason.
macro_rules! rules {
    ($(#[$meta:meta])* enum $Rule:ident { $($rule:ident = $name:literal: $description:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $Rule {
            $(#[doc = $description] $rule,)+
        }

        impl $Rule {
            /// All rules, in the order in which they are reported.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$rule),+];

            /// Name in reports; it never changes.
            pub const fn name(self) -> &'static str {
                [$($name),+][self as usize]
            }

            /// Effect and reason, in one line.
            pub const fn description(self) -> &'static str {
                [$($description),+][self as usize]
            }
        }

        impl std::fmt::Display for $Rule {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use rules;

rules! {
    /// Repairs of records that cannot be taken as they stand, of which there are no others; and then anomalies that no simulation
    /// repairs, from [`Unreadable`](Self::Unreadable) on, which only [`Validation`](crate::Validation) reports.
    enum Rule {
        NoSubmit = "no-submit": "submit time (field 2) unknown: skipped",
        NoRuntime = "no-runtime": "run time (field 4) unknown, negative or zero, so the job never ran: skipped",
        NoProcessors = "no-processors": "processors neither allocated (field 5) nor requested (field 8): skipped",
        ProcessorsFromRequest = "processors-from-request":
            "allocated processors (field 5) unknown: requested ones (field 8) used",
        EstimateFromRuntime = "estimate-from-runtime":
            "requested time (field 9) unknown: the run time used as estimate",
        CutAtEstimate = "cut-at-estimate":
            "ran beyond its requested time (field 9): cut there, as an enforced limit would",
        SubmitOutOfOrder = "submit-out-of-order":
            "submitted earlier than the job before it in the log: taken as submitted with it",
        WiderThanMachine = "wider-than-machine":
            "requests more processors than the machine has: kept, and rejected there",
        CapacityFromNodes = "capacity-from-nodes":
            "no MaxProcs in the header: MaxNodes taken as the number of processors",
        Unreadable = "unreadable": "the line cannot be read",
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

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("name", self.name()), ("description", self.description())])
    }
}

/// Number of applications of each rule, and the first line of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repairs<R = Rule> {
    /// Rules that were applied, in their order.
    applied: BTreeMap<R, Repair<R>>,
    /// Fields of the log that were read and not passed on.
    pub unread: Unread,
}

impl<R> Default for Repairs<R> {
    fn default() -> Self {
        Self { applied: BTreeMap::new(), unread: Unread::default() }
    }
}

impl<R: Copy + Ord> Repairs<R> {
    /// Number of applications of `rule`.
    pub fn count(&self, rule: R) -> u64 {
        self.applied.get(&rule).map_or(0, |repair| repair.count)
    }

    /// Rules that were applied, in the order in which they are reported.
    pub fn iter(&self) -> impl Iterator<Item = Repair<R>> {
        self.applied.values().copied()
    }

    /// Counts one application of `rule`, at a line of the log or to the log as a whole.
    pub fn note(&mut self, rule: R, line: Option<u64>) {
        let repair = self.applied.entry(rule).or_insert(Repair { rule, count: 0, first_line: None });
        repair.count += 1;
        repair.first_line = repair.first_line.or(line);
    }
}

impl Repairs {
    /// Number of records that yielded no job.
    pub fn skipped(&self) -> u64 {
        [Rule::NoSubmit, Rule::NoRuntime, Rule::NoProcessors].map(|rule| self.count(rule)).iter().sum()
    }

    /// Returns true if the log was taken as it stands.
    pub fn is_empty(&self) -> bool {
        self.applied.is_empty()
    }

    /// Counts the fields of the record that its job does not contain; `reads_nodes` if its intake uses column 21.
    pub(crate) fn note_unread(&mut self, record: &SwfRecord, reads_nodes: bool) {
        let unread = &mut self.unread;
        unread.jobs += 1;
        unread.memory += u64::from(record.requested_memory.is_some_and(|memory| memory > 0));
        unread.preceding_job += u64::from(record.preceding_job.is_some_and(|job| job > 0));
        unread.nodes += u64::from(!reads_nodes && record.node_spec().is_some_and(|nodes| nodes != "-1"));
        unread.partitions.extend(record.partition);
    }
}

/// Counts of jobs with fields that are read and not passed on, so that a study can report what it leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Number of jobs counted.
    pub jobs: u64,
    /// Number of jobs that request memory (field 10).
    pub memory: u64,
    /// Number of jobs that wait for the end of another (field 17), from which their think time (field 18) counts.
    pub preceding_job: u64,
    /// Number of jobs that request nodes (column 21, in logs of `MetaCentrum`); zero if the intake reads them.
    pub nodes: u64,
    /// Partitions that jobs name (field 16).
    pub partitions: BTreeSet<u32>,
}
