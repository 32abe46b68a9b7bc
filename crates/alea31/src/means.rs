//! Four columns of the paper's tables.

use sim_core::{JobRecord, Span};

/// Means over jobs, as computed by Alea's result collector.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Means {
    /// Mean of response / max(1 s, finish − start), at least 1. Dimensionless.
    pub slowdown: f64,
    /// Mean of max(0, finish − deadline), in seconds; a job without a deadline is never late.
    pub tardiness: f64,
    /// Mean of start − submit, in seconds.
    pub wait: f64,
    /// Mean of finish − submit, in seconds.
    pub response: f64,
}

impl Means {
    /// Returns the means over `records`; all zero if there are none.
    pub fn of(records: &[JobRecord]) -> Self {
        let (mut slowdown, mut tardiness, mut wait, mut response) = (0.0, Span::ZERO, Span::ZERO, Span::ZERO);
        for record in records {
            let executed = record.finish.since(record.start).max(Span::from_secs(1));
            slowdown += (record.response().as_secs_f64() / executed.as_secs_f64()).max(1.0);
            let deadline = record.job.request.deadline.unwrap_or(record.finish);
            tardiness += record.finish.saturating_since(deadline);
            wait += record.wait();
            response += record.response();
        }
        let jobs = records.len().max(1) as f64;
        Self {
            slowdown: slowdown / jobs,
            tardiness: tardiness.as_secs_f64() / jobs,
            wait: wait.as_secs_f64() / jobs,
            response: response.as_secs_f64() / jobs,
        }
    }
}
