//! Intervals from one replay of a real log: [`Blocks`], cut where the queue is empty.
//!
//! A log is one sample path, so there are no replications. The *regenerative method* cuts the path at instants when no job
//! waits: the path after such an instant depends on the past only through the running jobs (Crane & Iglehart,
//! Operations Research 23(1), 1975; Law & Kelton, "Simulation modeling and analysis", 3rd edition, 2000, § 9.5.3). Two
//! policies are compared on common blocks, cut where the queue is empty under both. A block is at least a week long, the
//! longest cycle of users that logs show (Feitelson, "Workload modeling for computer systems performance evaluation",
//! 2015, ch. 9). A job belongs to the block in which it was *submitted*.
//!
//! The estimate is the number of the table: the mean over all jobs, and the difference of two such means. [`interval`] describes
//! the construction of the interval, its measured coverage of the true difference, and the cases without an interval.

pub mod interval;

use crate::job::{JobClass, bounded_slowdown, slowdown, tardiness};
use crate::mean::Sum;
use crate::summary::Summary;
use interval::estimate;
pub use interval::{Estimate, Refusal};
use sim_core::{JobRecord, Span, Time};

/// Sums over all jobs and over those of each class by block of submission, for one policy on one log.
///
/// Memory is proportional to the hours that begin with an empty queue, independent of the number of jobs.
///
/// ```
/// use metrics::Blocks;
/// use sim_core::{Job, JobId, JobRecord, SiteId, Span, Time};
///
/// // Two policies on a job a day for 20 weeks; no job meets a queue. In odd weeks jobs wait 60 s longer under the first.
/// let (mut slow, mut fast) = (Blocks::default(), Blocks::default());
/// for day in 0..140 {
///     let submit = Time::from_secs(day * 86_400);
///     let job = Job::new(JobId(day as u32), submit, 1, Span::from_secs(100));
///     for (blocks, wait) in [(&mut slow, 100 + 60 * (day / 7 % 2)), (&mut fast, 100)] {
///         blocks.note_submission(submit, true);
///         let start = submit + Span::from_secs(wait);
///         blocks.add(&JobRecord { job, start, finish: start + job.runtime, site: SiteId(0), processors: 1 });
///     }
/// }
/// let difference = slow.difference(&fast, None, "wait_mean", 0.95).expect("jobs");
/// assert_eq!((difference.mean, difference.blocks), (30.0, 20));
/// assert!(difference.low.is_some_and(|low| low > 0.0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// Hours of the log at which slots begin. The queue was empty just before the first submission of each but the first.
    hours: Vec<u64>,
    /// Sums over the jobs submitted in each slot; apart from the hours, because a search for each job would miss the cache.
    slots: Vec<SlotSums>,
    latest_hour: Option<u64>,
    last_submit: Time,
}

/// Numerators and denominators of the means, in the order of [`Blocks::METRICS`].
type MetricSums = [(Sum, Sum); Blocks::METRICS.len()];

/// Sums over the jobs of each class, then over all: a sum of the sums of classes would be rounded otherwise.
type SlotSums = [MetricSums; ALL + 1];

const ALL: usize = JobClass::ALL.len();

impl Blocks {
    /// Least length of a block: seven days.
    pub(crate) const WEEK: Span = Span::from_secs(7 * 86_400);

    /// Metrics of a block, named as in the [catalogue](crate::catalogue()). Wait times, response times and tardiness are in seconds.
    ///
    /// `area_weighted_response` weighs each job's response time by its area, processors × run time, so that no policy gains by
    /// splitting or favouring jobs (Franke, Lepping, Schwiegelshohn, JSSPP 2007; Krallmann, Schwiegelshohn, Yahyapour,
    /// JSSPP 1999).
    pub const METRICS: [&str; 7] = [
        "wait_mean",
        "response_mean",
        "slowdown_mean",
        "bounded_slowdown_mean",
        "area_weighted_response",
        "tardiness_mean",
        "late_percent",
    ];

    /// Records a submission, in order of time, before the job counts as waiting: `queue_was_empty` if no other job waits.
    ///
    /// The first submission of each hour is a candidate for a cut. Submissions that are never recorded belong to one block.
    pub fn note_submission(&mut self, submit: Time, queue_was_empty: bool) {
        let hour = hour_of(submit);
        self.last_submit = self.last_submit.max(submit);
        if self.latest_hour == Some(hour) {
            return;
        }
        self.latest_hour = Some(hour);
        if queue_was_empty || self.slots.is_empty() {
            self.begin_slot(hour);
        }
    }

    fn begin_slot(&mut self, hour: u64) {
        self.hours.push(hour);
        self.slots.push(SlotSums::default());
    }

    /// Adds one finished job.
    pub fn add(&mut self, record: &JobRecord) {
        let submit = record.job.submit;
        self.last_submit = self.last_submit.max(submit);
        if self.slots.is_empty() {
            self.begin_slot(0);
        }
        let slot = &mut self.slots[self.hours.partition_point(|hour| *hour <= hour_of(submit)).saturating_sub(1)];
        let response = record.response().as_secs_f64();
        let area = f64::from(record.processors) * record.job.runtime.as_secs_f64();
        let slowdown = (!record.job.runtime.is_zero()).then(|| slowdown(record));
        let tardiness = tardiness(record);
        let values = [
            Some((record.wait().as_secs_f64(), 1.0)),
            Some((response, 1.0)),
            slowdown.map(|slowdown| (slowdown, 1.0)),
            Some((bounded_slowdown(record, Summary::THRESHOLD), 1.0)),
            Some((response * area, area)),
            tardiness.map(|tardiness| (tardiness.as_secs_f64(), 1.0)),
            tardiness.map(|tardiness| (if tardiness.is_zero() { 0.0 } else { 100.0 }, 1.0)),
        ];
        for row in [JobClass::of(record) as usize, ALL] {
            for ((numerator, denominator), value) in slot[row].iter_mut().zip(values) {
                if let Some((value, weight)) = value {
                    numerator.add(value);
                    denominator.add(weight);
                }
            }
        }
    }

    /// The mean of one of [`METRICS`](Self::METRICS) with its 95 % interval over all jobs, or over those of a class; `None` if
    /// none of them has it.
    pub fn mean(&self, class: Option<JobClass>, metric: &str) -> Option<Estimate> {
        let cuts = self.cuts(&[self]);
        estimate(&[(1.0, self.sums_by(&cuts, class, position(metric)?))], self.weeks(), 0.95)
    }

    /// The difference `self` − `baseline` of the means over all jobs, or over those of a class, with its interval at a confidence
    /// level, such as 0.95; `None` if either has no such job with the metric.
    ///
    /// # Panics
    ///
    /// Panics if `level` is not strictly between 0 and 1.
    pub fn difference(&self, baseline: &Self, class: Option<JobClass>, metric: &str, level: f64) -> Option<Estimate> {
        let (cuts, metric) = (self.cuts(&[self, baseline]), position(metric)?);
        let [first, second] = [self, baseline].map(|policy| policy.sums_by(&cuts, class, metric));
        estimate(&[(1.0, first), (-1.0, second)], self.weeks().max(baseline.weeks()), level)
    }

    /// Weeks from the first submission to the last.
    pub(crate) fn weeks(&self) -> f64 {
        let first = self.hours.first().map_or(Time::ZERO, |hour| Time::from_secs(3600 * hour));
        self.last_submit.saturating_since(first).as_secs_f64() / Self::WEEK.as_secs_f64()
    }

    /// Hours at which blocks begin, where the queue is empty under all of `policies`.
    fn cuts(&self, policies: &[&Self]) -> Vec<u64> {
        const LEAST: u64 = Blocks::WEEK.as_nanos() / HOUR;
        let is_empty = |hour: u64| policies.iter().all(|policy| policy.hours.binary_search(&hour).is_ok());
        let mut cuts: Vec<u64> = Vec::new();
        for &hour in &self.hours {
            if cuts.last().is_none_or(|last| hour >= last + LEAST && is_empty(hour)) {
                cuts.push(hour);
            }
        }
        // A last block of less than half a week is merged into the one before.
        let end = hour_of(self.last_submit);
        if cuts.len() > 1 && cuts.last().is_some_and(|last| end - last < LEAST / 2) {
            cuts.pop();
        }
        cuts
    }

    /// Numerator and denominator of one metric in each block.
    fn sums_by(&self, cuts: &[u64], class: Option<JobClass>, metric: usize) -> Vec<(f64, f64)> {
        let row = class.map_or(ALL, |class| class as usize);
        let mut sums = vec![(Sum::default(), Sum::default()); cuts.len()];
        for (hour, of_slot) in self.hours.iter().zip(&self.slots) {
            let block = cuts.partition_point(|cut| cut <= hour).saturating_sub(1);
            if let Some((numerator, denominator)) = sums.get_mut(block) {
                numerator.add(of_slot[row][metric].0.total());
                denominator.add(of_slot[row][metric].1.total());
            }
        }
        sums.into_iter().map(|(numerator, denominator)| (numerator.total(), denominator.total())).collect()
    }
}

const HOUR: u64 = 3_600_000_000_000;

fn hour_of(time: Time) -> u64 {
    time.as_nanos() / HOUR
}

fn position(metric: &str) -> Option<usize> {
    Blocks::METRICS.iter().position(|known| *known == metric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{Job, JobId, SiteId};

    const DAY: u64 = 86_400;

    /// A job of 100 s on two processors, submitted on a day, with its wait in seconds.
    fn record(day: u64, wait: u64) -> JobRecord {
        let (id, submit, runtime) = (JobId(0), Time::from_secs(day * DAY), Span::from_secs(100));
        let start = submit + Span::from_secs(wait);
        JobRecord {
            job: Job::new(id, submit, 2, runtime),
            start,
            finish: start + runtime,
            site: SiteId(0),
            processors: 2,
        }
    }

    /// Jobs by day of submission and wait; the queue is not empty on the days for which `busy` is true.
    fn blocks(jobs: &[(u64, u64)], busy: impl Fn(u64) -> bool) -> Blocks {
        let mut blocks = Blocks::default();
        for (day, wait) in jobs {
            let record = record(*day, *wait);
            blocks.note_submission(record.job.submit, !busy(*day));
            blocks.add(&record);
        }
        blocks
    }

    #[test]
    fn a_job_belongs_to_the_block_of_its_submission_however_late_it_ran() {
        let late = blocks(&[(0, 10), (6, 30 * DAY), (7, 40), (12, 60)], |_| false);
        assert_eq!(late.sums_by(&late.cuts(&[&late]), None, 0), [(10.0 + 30.0 * 86_400.0, 2.0), (100.0, 2.0)]);
        // A last block of three days belongs to the one before.
        for (days, expected) in [(17, 2), (18, 3)] {
            let daily: Vec<(u64, u64)> = (0..=days).map(|day| (day, 1)).collect();
            let daily = blocks(&daily, |_| false);
            assert_eq!(daily.cuts(&[&daily]).len(), expected, "{days} days");
        }
    }

    #[test]
    fn blocks_are_cut_where_the_queue_is_empty_under_both_policies() {
        let daily: Vec<(u64, u64)> = (0..200).map(|day| (day, 10)).collect();
        let blocks_of = |busy: &dyn Fn(u64) -> bool| blocks(&daily, busy);
        let (free, odd, even) = (blocks_of(&|_| false), blocks_of(&|day| day % 2 == 1), blocks_of(&|day| day % 2 == 0));
        for (a, b, expected) in [(&free, &free, 28), (&free, &odd, 25), (&odd, &even, 1), (&even, &even, 25)] {
            let cut = a.difference(b, None, "wait_mean", 0.95).expect("jobs").blocks;
            assert!(cut == expected || cut + 1 == expected, "{cut} blocks, not about {expected}");
        }
    }
}
