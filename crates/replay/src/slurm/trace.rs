//! Jobs of a trace.

use sim_core::Span;
use slurm_sched::workload::SubmittedJob;
use std::collections::BTreeMap;

/// Jobs of a trace, with data of its own schedule.
#[derive(Debug)]
pub(super) struct Trace {
    /// Ordered by submission, which counts from the zero of the trace.
    pub(super) jobs: Vec<SubmittedJob>,
    /// Waits (s) of the jobs in the trace itself, if it has them.
    pub(super) waits: BTreeMap<u32, i64>,
    /// Zero of the trace in seconds since 1970, if it is known.
    pub(super) zero: Option<i64>,
    /// Records that are left out or repaired, as `12 jobs that never started`.
    pub(super) left_out: Vec<String>,
}

/// Whole seconds of a span.
pub(super) fn seconds(span: Span) -> i64 {
    i64::try_from(span.as_nanos() / 1_000_000_000).unwrap_or(i64::MAX)
}
