//! What is done to lines that cannot be taken as they stand, and how often it was.

use std::fmt;

/// What is done to a line of `sacct` that is no finished job in plain words. Nothing else is ever done.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SacctRule {
    /// Left out: a step of a job.
    Step,
    /// Left out: waits or runs.
    Unfinished,
    /// Left out: another cluster of the federation ran it.
    Revoked,
    /// Left out: the submit time is unknown.
    NoSubmit,
    /// Cancelled while it waited.
    CancelledBeforeStart,
    /// Ended without having run, for another reason.
    NeverStarted,
    /// A start before the submission.
    StartBeforeSubmit,
    /// An end before the start.
    EndBeforeStart,
    /// The run time is not the time between start and end.
    ElapsedDiffers,
    /// It has no limit.
    NoLimit,
    /// Its limit is that of its partition, which is unknown.
    PartitionLimit,
    /// A state of a name that is not known here.
    UnknownState,
    /// A local time that the clocks showed twice, or never.
    AmbiguousTime,
    /// It asks for GPUs.
    Gpus,
    /// A component of a heterogeneous job.
    HetComponent,
    /// Tasks of an array that ended before they had records of their own.
    ArrayRange,
    /// Submitted before a job that was written long before it.
    OutOfOrder,
}

impl SacctRule {
    /// All rules, in the order in which they are reported.
    pub const ALL: [Self; 17] = [
        Self::Step,
        Self::Unfinished,
        Self::Revoked,
        Self::NoSubmit,
        Self::CancelledBeforeStart,
        Self::NeverStarted,
        Self::StartBeforeSubmit,
        Self::EndBeforeStart,
        Self::ElapsedDiffers,
        Self::NoLimit,
        Self::PartitionLimit,
        Self::UnknownState,
        Self::AmbiguousTime,
        Self::Gpus,
        Self::HetComponent,
        Self::ArrayRange,
        Self::OutOfOrder,
    ];

    /// Its name in reports; it never changes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Unfinished => "unfinished",
            Self::Revoked => "revoked",
            Self::NoSubmit => "no-submit",
            Self::CancelledBeforeStart => "cancelled-before-start",
            Self::NeverStarted => "never-started",
            Self::StartBeforeSubmit => "start-before-submit",
            Self::EndBeforeStart => "end-before-start",
            Self::ElapsedDiffers => "elapsed-differs",
            Self::NoLimit => "no-limit",
            Self::PartitionLimit => "partition-limit",
            Self::UnknownState => "unknown-state",
            Self::AmbiguousTime => "ambiguous-time",
            Self::Gpus => "gpus",
            Self::HetComponent => "het-component",
            Self::ArrayRange => "array-range",
            Self::OutOfOrder => "out-of-order",
        }
    }

    /// What it does and why, in one line.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Step => "a step (123.batch, 123.0): left out, its job holds the processors",
            Self::Unfinished => "had not ended when sacct was asked: left out",
            Self::Revoked => "another cluster of the federation ran it: left out",
            Self::NoSubmit => "Submit unknown: left out",
            Self::CancelledBeforeStart => {
                "cancelled while it waited: kept without wait, run time and allocated processors"
            }
            Self::NeverStarted => "ended without having run: kept without wait, run time and allocated processors",
            Self::StartBeforeSubmit => "Start before Submit: the wait taken as zero",
            Self::EndBeforeStart => "End before Start, and no Elapsed: the run time taken as unknown",
            Self::ElapsedDiffers => "Elapsed is not End - Start (suspended, or clocks set): Elapsed is the run time",
            Self::NoLimit => "no limit (UNLIMITED, or none told): the requested time taken as unknown",
            Self::PartitionLimit => "the limit is that of the partition, which sacct does not tell: taken as unknown",
            Self::UnknownState => "a State that has no place in the format: taken as unknown",
            Self::AmbiguousTime => {
                "a local time that clocks showed twice or never (summer time): the first, or as if they had gone on"
            }
            Self::Gpus => "asks for GPUs, which no log format here has a column for: kept with its processors alone",
            Self::HetComponent => {
                "a component of a heterogeneous job (123+0): kept as a job of its own, free to start apart from the others"
            }
            Self::ArrayRange => "several tasks of an array that never ran, on one line (123_[4-9]): kept as one job",
            Self::OutOfOrder => "submitted before jobs that were written long before it: stands behind them",
        }
    }

    /// Whether a line under this rule yields no record.
    pub const fn leaves_out(self) -> bool {
        matches!(self, Self::Step | Self::Unfinished | Self::Revoked | Self::NoSubmit)
    }
}

impl fmt::Display for SacctRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How often each rule was applied, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SacctRepairs {
    counts: [u64; SacctRule::ALL.len()],
    first_lines: [u64; SacctRule::ALL.len()],
}

impl SacctRepairs {
    /// How often `rule` was applied.
    pub const fn count(&self, rule: SacctRule) -> u64 {
        self.counts[rule as usize]
    }

    /// The rules that were applied, in the order of [`SacctRule::ALL`], each with how often, and the line where first.
    pub fn iter(&self) -> impl Iterator<Item = (SacctRule, u64, u64)> {
        SacctRule::ALL
            .into_iter()
            .map(|rule| (rule, self.count(rule), self.first_lines[rule as usize]))
            .filter(|(_, count, _)| *count > 0)
    }

    pub(crate) fn note(&mut self, rule: SacctRule, line: u64) {
        let count = &mut self.counts[rule as usize];
        if *count == 0 {
            self.first_lines[rule as usize] = line;
        }
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_listed_in_the_order_of_declaration() {
        for (position, rule) in SacctRule::ALL.into_iter().enumerate() {
            assert_eq!(rule as usize, position, "{rule}");
        }
    }
}
