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
#[expect(clippy::cast_precision_loss, reason = "a ratio for statistics; 53 bits are enough")]
fn ratio(above: Span, below: Span) -> f64 {
    above.as_nanos() as f64 / below.as_nanos() as f64
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the quotients are exact in binary")]
mod tests {
    use super::*;
    use sim_core::{Job, JobId, SiteId, Time};

    /// A job submitted at 100 s, with its wait and run time in seconds.
    fn record(wait: u64, runtime: u64) -> JobRecord {
        let submit = Time::from_secs(100);
        let start = submit + Span::from_secs(wait);
        let job = Job::new(JobId(0), submit, 4, Span::from_secs(runtime));
        JobRecord { job, start, finish: start + job.runtime, site: SiteId(0), processors: 4 }
    }

    #[test]
    fn slowdown_is_response_over_runtime_or_its_limit() {
        assert_eq!(slowdown(&record(30, 10)), 4.0);
        assert_eq!(slowdown(&record(30, 0)), f64::INFINITY);
        assert_eq!(slowdown(&record(0, 0)), 1.0);
    }

    #[test]
    fn the_threshold_is_a_floor_under_the_runtime() {
        let threshold = Span::from_secs(10);
        assert_eq!(bounded_slowdown(&record(19, 1), threshold), 2.0); // plain slowdown: 20
        assert_eq!(bounded_slowdown(&record(0, 1), threshold), 1.0); // 1 / 10, raised to 1
        assert_eq!(bounded_slowdown(&record(60, 20), threshold), 4.0);
        assert_eq!(bounded_slowdown(&record(25, 0), threshold), 2.5);
    }

    #[test]
    #[should_panic(expected = "longer than zero")]
    fn a_zero_threshold_is_refused() {
        bounded_slowdown(&record(1, 1), Span::ZERO);
    }

    #[test]
    fn tardiness_counts_from_the_deadline() {
        let mut record = record(30, 10); // finishes at 140 s
        assert_eq!(tardiness(&record), None);
        for (deadline, late) in [(125, 15), (140, 0), (200, 0)] {
            record.job.request.deadline = Some(Time::from_secs(deadline));
            assert_eq!(tardiness(&record), Some(Span::from_secs(late)));
        }
    }
}
