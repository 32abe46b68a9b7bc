//! Classes of jobs by length and width.

use sim_core::{JobRecord, Span};

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
