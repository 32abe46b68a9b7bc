//! Metrics of one job: pure functions of a [`JobRecord`].

use sim_core::{JobRecord, Span};

/// Slowdown, `response / runtime`. Dimensionless.
///
/// The run time is that of the job alone on its processors at reference speed, so a job on faster processors
/// can have a slowdown below 1.
///
/// The slowdown of a job with zero run time is undefined. The limit is used instead: infinity if its response time was
/// longer than zero, 1 if that was zero too. [`Summary`](crate::Summary) excludes such jobs from its slowdowns and
/// counts them; [`bounded_slowdown`] has no such gap.
pub fn slowdown(record: &JobRecord) -> f64 {
    if record.job.runtime.is_zero() && record.response().is_zero() {
        return 1.0;
    }
    ratio(record.response(), record.job.runtime)
}

/// Bounded slowdown, `max(1, response / max(runtime, threshold))`. Dimensionless, never below 1.
///
/// `threshold` keeps jobs of a few seconds from dominating the mean; 10 s is customary
/// (Feitelson & Rudolph, "Metrics and benchmarking for parallel job scheduling", 1998).
///
/// # Panics
///
/// Panics if `threshold` is zero: a zero-length job would then have no slowdown at all.
#[track_caller]
pub fn bounded_slowdown(record: &JobRecord, threshold: Span) -> f64 {
    assert!(!threshold.is_zero(), "the threshold of bounded slowdown must be longer than zero");
    ratio(record.response(), record.job.runtime.max(threshold)).max(1.0)
}

/// Tardiness, `max(0, finish − deadline)`; `None` for a job without a deadline.
///
/// A job that finishes at its deadline is on time.
pub fn tardiness(record: &JobRecord) -> Option<Span> {
    record.job.request.deadline.map(|deadline| record.finish.saturating_since(deadline))
}

/// Nanoseconds over nanoseconds: one rounding fewer than a quotient of seconds.
fn ratio(above: Span, below: Span) -> f64 {
    above.as_nanos() as f64 / below.as_nanos() as f64
}
