//! Metrics of one job and its class: pure functions of a [`JobRecord`].

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

/// Short or long, narrow or wide: the four classes of Srinivasan, Kettimuthu, Subramani & Sadayappan, "Characterization of
/// backfilling strategies for parallel job scheduling", ICPP Workshops 2002.
///
/// ```
/// use metrics::JobClass;
/// use sim_core::{Job, JobId, JobRecord, SiteId, Span, Time};
///
/// for (seconds, processors, name) in
///     [(3_600, 8, "short narrow"), (3_600, 9, "short wide"), (3_601, 8, "long narrow"), (3_601, 9, "long wide")]
/// {
///     let job = Job::new(JobId(1), Time::ZERO, processors, Span::from_secs(seconds));
///     let record = JobRecord { job, start: Time::ZERO, finish: Time::from_secs(seconds), site: SiteId(0), processors };
///     assert_eq!(JobClass::of(&record).name(), name);
/// }
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobClass {
    /// Short and narrow.
    ShortNarrow,
    /// Short and wide.
    ShortWide,
    /// Long and narrow.
    LongNarrow,
    /// Long and wide.
    LongWide,
}

impl JobClass {
    /// All classes, each at the position of its number.
    pub const ALL: [Self; 4] = [Self::ShortNarrow, Self::ShortWide, Self::LongNarrow, Self::LongWide];

    /// The class of a job, by its actual run time and the processors that it held: up to an hour is short, up to eight is narrow.
    pub fn of(record: &JobRecord) -> Self {
        let is_long = record.job.runtime > Span::from_secs(3_600);
        Self::ALL[2 * usize::from(is_long) + usize::from(record.processors > 8)]
    }

    /// `short narrow`, for instance.
    pub const fn name(self) -> &'static str {
        ["short narrow", "short wide", "long narrow", "long wide"][self as usize]
    }
}

/// Nanoseconds over nanoseconds: one rounding fewer than a quotient of seconds.
fn ratio(above: Span, below: Span) -> f64 {
    above.as_nanos() as f64 / below.as_nanos() as f64
}
