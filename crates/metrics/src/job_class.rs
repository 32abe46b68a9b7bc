//! Classes of jobs by length and width.

use sim_core::{JobRecord, Span};

/// Short or long, narrow or wide: the four classes of Srinivasan, Kettimuthu, Subramani & Sadayappan, "Characterization of
/// backfilling strategies for parallel job scheduling", ICPP Workshops 2002.
///
/// ```
/// use metrics::JobClass;
/// use sim_core::{Job, JobId, JobRecord, SiteId, Span, Time};
///
/// let job = Job::new(JobId(1), Time::ZERO, 16, Span::from_secs(60));
/// let record = JobRecord { job, start: Time::ZERO, finish: Time::from_secs(60), site: SiteId(0), processors: 16 };
/// assert_eq!(JobClass::of(&record).name(), "short wide");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::tests::record;

    #[test]
    fn an_hour_is_short_and_eight_processors_are_narrow() {
        let name = |(processors, seconds)| JobClass::of(&record(0, 0, seconds, processors)).name();
        let names = [(8, 3_600), (9, 3_600), (8, 3_601), (9, 3_601)].map(name);
        assert_eq!(names, ["short narrow", "short wide", "long narrow", "long wide"]);
    }
}
