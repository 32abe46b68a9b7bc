//! The rules under which a log is repaired, and how often each was applied.

pub use crate::unread::Unread;

use crate::swf::SwfRecord;
use std::fmt;

/// What is done to a record that cannot be taken as it stands. Nothing else is ever done.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Skipped: the submit time is unknown.
    NoSubmit,
    /// Skipped: the run time is unknown, negative or zero.
    NoRuntime,
    /// Skipped: neither field 5 nor field 8 tells the processors.
    NoProcessors,
    /// Field 5 is unknown or zero: field 8 is used.
    ProcessorsFromRequest,
    /// The estimate is unknown or zero: the run time is used.
    EstimateFromRuntime,
    /// It ran beyond its estimate: it is cut there.
    CutAtEstimate,
    /// Submitted earlier than its predecessor: taken as submitted with it.
    SubmitOutOfOrder,
    /// No job of its user had ended when it was submitted: what the user says is its prediction.
    NoPastJob,
    /// Predictions are made from the past, and the wait is unknown: taken as zero.
    WaitTakenAsZero,
    /// Wider than the machine: kept, for the scheduler to reject.
    WiderThanMachine,
    /// The size of the machine is its number of nodes.
    CapacityFromNodes,
}

impl Rule {
    /// All rules, in the order in which they are reported.
    pub const ALL: [Self; 11] = [
        Self::NoSubmit,
        Self::NoRuntime,
        Self::NoProcessors,
        Self::ProcessorsFromRequest,
        Self::EstimateFromRuntime,
        Self::CutAtEstimate,
        Self::SubmitOutOfOrder,
        Self::NoPastJob,
        Self::WaitTakenAsZero,
        Self::WiderThanMachine,
        Self::CapacityFromNodes,
    ];

    /// Its name in reports; it never changes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoSubmit => "no-submit",
            Self::NoRuntime => "no-runtime",
            Self::NoProcessors => "no-processors",
            Self::ProcessorsFromRequest => "processors-from-request",
            Self::EstimateFromRuntime => "estimate-from-runtime",
            Self::CutAtEstimate => "cut-at-estimate",
            Self::SubmitOutOfOrder => "submit-out-of-order",
            Self::NoPastJob => "no-past-job",
            Self::WaitTakenAsZero => "wait-taken-as-zero",
            Self::WiderThanMachine => "wider-than-machine",
            Self::CapacityFromNodes => "capacity-from-nodes",
        }
    }

    /// What it does and why, in one line.
    pub const fn description(self) -> &'static str {
        match self {
            Self::NoSubmit => "submit time (field 2) unknown: skipped",
            Self::NoRuntime => "run time (field 4) unknown, negative or zero, so the job never ran: skipped",
            Self::NoProcessors => "processors neither allocated (field 5) nor requested (field 8): skipped",
            Self::ProcessorsFromRequest => "allocated processors (field 5) unknown: requested ones (field 8) used",
            Self::EstimateFromRuntime => "requested time (field 9) unknown: the run time used as estimate",
            Self::CutAtEstimate => "ran beyond its requested time (field 9): cut there, as an enforced limit would",
            Self::SubmitOutOfOrder => "submitted earlier than the job before it in the log: taken as submitted with it",
            Self::NoPastJob => "no earlier job of its user had ended, to predict from: the user's estimate used",
            Self::WaitTakenAsZero => "wait time (field 3) unknown: for predictions from it, taken to start at once",
            Self::WiderThanMachine => "asks for more processors than the machine has: kept, and rejected there",
            Self::CapacityFromNodes => "no MaxProcs in the header: MaxNodes taken as the number of processors",
        }
    }

    /// Whether a record under this rule yields no job.
    pub const fn skips(self) -> bool {
        matches!(self, Self::NoSubmit | Self::NoRuntime | Self::NoProcessors)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How often each rule was applied, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    counts: [u64; Rule::ALL.len()],
    first_lines: [Option<u64>; Rule::ALL.len()],
    unread: Unread,
}

/// One rule that was applied.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Which rule.
    pub rule: Rule,
    /// How often.
    pub count: u64,
    /// The line of the log where it was applied first; `None` if it concerns the log as a whole.
    pub first_line: Option<u64>,
}

impl Repairs {
    /// How often `rule` was applied.
    pub const fn count(&self, rule: Rule) -> u64 {
        self.counts[rule as usize]
    }

    /// The line of the log where `rule` was applied first.
    pub const fn first_line(&self, rule: Rule) -> Option<u64> {
        self.first_lines[rule as usize]
    }

    /// Records that yielded no job.
    pub fn skipped(&self) -> u64 {
        Rule::ALL.into_iter().filter(|rule| rule.skips()).map(|rule| self.count(rule)).sum()
    }

    /// Fields of the log that were read and not passed on.
    pub const fn unread(&self) -> &Unread {
        &self.unread
    }

    /// Whether the log was taken as it stands.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == 0)
    }

    /// The rules that were applied, in the order of [`Rule::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = Repair> {
        Rule::ALL
            .into_iter()
            .map(|rule| Repair { rule, count: self.count(rule), first_line: self.first_line(rule) })
            .filter(|repair| repair.count > 0)
    }

    /// Counts what the record of a job holds and the job does not: see [`Unread::count`].
    pub(crate) fn note_unread(&mut self, record: &SwfRecord, reads_nodes: bool) {
        self.unread.count(record, reads_nodes);
    }

    /// Counts one application of `rule`, at a line of the log or to the log as a whole.
    pub(crate) fn note(&mut self, rule: Rule, line: Option<u64>) {
        self.counts[rule as usize] += 1;
        let first = &mut self.first_lines[rule as usize];
        *first = first.or(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_listed_in_the_order_of_declaration() {
        for (position, rule) in Rule::ALL.into_iter().enumerate() {
            assert_eq!(rule as usize, position, "{rule}");
        }
    }
}
