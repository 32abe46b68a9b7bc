//! Intervals from one replay of a real log: [`Blocks`] of a week each.
//!
//! A log is one sample path, so there are no replications. The method of *batch means* cuts the path into blocks, takes
//! each block's mean as one observation, and treats these as independent (Law & Kelton, "Simulation modeling and
//! analysis", 3rd edition, 2000, § 9.5.3). The block is a week, since a week is the longest cycle of users that logs show
//! (Feitelson, "Workload modeling for computer systems performance evaluation", 2015, ch. 9), so that every block holds
//! each hour of the week once. A job belongs to the week in which it was *submitted*: two policies then have the same jobs
//! in the same blocks, and their difference is taken week by week, which cancels what the week's load alone decides.
//!
//! # Limits
//!
//! - A mean over weeks is not the mean over jobs: every week counts the same, however many jobs came. That is the price of
//!   observations that can be averaged.
//! - Weeks depend on one another where a backlog is carried over the weekend. [`lag_one`] tells how much; from about 0.3 on
//!   the interval is too narrow, and blocks of several weeks ([`Blocks::of`]) are better.
//! - The interval says how far *this* log's weeks differ. It says nothing of another machine or another year.
//! - A week that has no job with the metric (nobody came, or nobody had a deadline) is left out, in both policies.
//! - A log that ends in the middle of a week ends with a block of fewer days. It counts if it is at least half a block long.

use crate::job::{bounded_slowdown, slowdown, tardiness, weight};
use crate::mean::{Mean, WeightedMean, as_f64};
use crate::output::{ConfidenceInterval, paired};
use crate::summary::Summary;
use sim_core::record::Sink;
use sim_core::{JobRecord, Span, Time};

/// What jobs experienced, block by block of their submission. Memory follows the blocks, not the jobs.
///
/// ```
/// use metrics::Blocks;
/// use sim_core::{Job, JobId, JobRecord, SiteId, Span, Time};
///
/// // Two policies on a job a day for six weeks: in odd weeks the first makes everybody wait 60 s longer.
/// let (mut slow, mut fast) = (Blocks::weekly(), Blocks::weekly());
/// for day in 0..42 {
///     let submit = Time::from_secs(day * 86_400);
///     let job = Job::new(JobId(day as u32), submit, 1, Span::from_secs(100));
///     for (blocks, wait) in [(&mut slow, 100 + 60 * (day / 7 % 2)), (&mut fast, 100)] {
///         let start = submit + Span::from_secs(wait);
///         blocks.add(&JobRecord { job, start, finish: start + job.runtime, site: SiteId(0), processors: 1 });
///     }
/// }
/// let difference = slow.difference(&fast, "wait_mean").expect("six weeks of jobs");
/// assert_eq!((difference.mean, difference.replications), (30.0, 6)); // over blocks, not over jobs
/// assert!(!difference.lies_above(0.0)); // -4 … 64 s: six weeks are too few to say
/// ```
#[derive(Clone, Debug)]
pub struct Blocks {
    length: Span,
    blocks: Vec<Block>,
    last_submit: Time,
}

/// Sums over the jobs of one block.
#[derive(Clone, Debug, Default)]
struct Block {
    wait: Mean,
    response: Mean,
    slowdown: Mean,
    bounded_slowdown: Mean,
    area_weighted_response: WeightedMean,
    tardiness: Mean,
    late: u64,
}

impl Block {
    fn value(&self, metric: &str) -> Option<f64> {
        match metric {
            "wait_mean" => self.wait.mean(),
            "response_mean" => self.response.mean(),
            "slowdown_mean" => self.slowdown.mean(),
            "bounded_slowdown_mean" => self.bounded_slowdown.mean(),
            "area_weighted_response" => self.area_weighted_response.mean(),
            "tardiness_mean" => self.tardiness.mean(),
            "late_percent" => self.tardiness.mean().map(|_| 100.0 * as_f64(self.late) / as_f64(self.tardiness.count())),
            _ => None,
        }
    }
}

impl Blocks {
    /// Seven days.
    pub const WEEK: Span = Span::from_secs(7 * 86_400);

    /// What can be asked of a block, named as in [`Summary::row`]. Waits, responses and tardiness are in seconds.
    ///
    /// `area_weighted_response` weighs each job's response by its area, processors × run time, so that no policy gains by
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

    /// Blocks of a week.
    pub fn weekly() -> Self {
        Self::of(Self::WEEK)
    }

    /// Blocks of another length, counted from [`Time::ZERO`].
    ///
    /// # Panics
    ///
    /// If `length` is zero.
    #[track_caller]
    pub fn of(length: Span) -> Self {
        assert!(!length.is_zero(), "a block is longer than zero");
        Self { length, blocks: Vec::new(), last_submit: Time::ZERO }
    }

    /// Takes in one finished job.
    pub fn add(&mut self, record: &JobRecord) {
        let submit = record.job.submit;
        let position = submit.since(Time::ZERO).as_nanos() / self.length.as_nanos();
        let position = usize::try_from(position).expect("a log has fewer blocks than memory has places");
        if position >= self.blocks.len() {
            self.blocks.resize_with(position + 1, Block::default);
        }
        self.last_submit = self.last_submit.max(submit);
        let block = &mut self.blocks[position];
        block.wait.add(record.wait().as_secs_f64());
        block.response.add(record.response().as_secs_f64());
        if !record.job.runtime.is_zero() {
            block.slowdown.add(slowdown(record));
        }
        block.bounded_slowdown.add(bounded_slowdown(record, Summary::THRESHOLD));
        let area = f64::from(weight(record)) * record.job.runtime.as_secs_f64();
        block.area_weighted_response.add(record.response().as_secs_f64(), area);
        if let Some(tardiness) = tardiness(record) {
            block.late += u64::from(!tardiness.is_zero());
            block.tardiness.add(tardiness.as_secs_f64());
        }
    }

    /// How many blocks count: all but a last one of less than half the length.
    pub fn len(&self) -> usize {
        let last = self.last_submit.since(Time::ZERO).as_nanos() % self.length.as_nanos();
        let is_stub = self.blocks.len() > 1 && last < self.length.as_nanos() / 2;
        self.blocks.len() - usize::from(is_stub)
    }

    /// Whether no job was taken in.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// One value for each block, in order; `None` where a block has no job that the metric is defined for. `metric` is one
    /// of [`METRICS`](Self::METRICS); every other has no values.
    pub fn values(&self, metric: &str) -> Vec<Option<f64>> {
        self.blocks[..self.len()].iter().map(|block| block.value(metric)).collect()
    }

    /// The mean over blocks and its interval at 95 %. `None` without values.
    pub fn mean(&self, metric: &str) -> Option<ConfidenceInterval> {
        let values: Vec<f64> = self.values(metric).into_iter().flatten().collect();
        (!values.is_empty()).then(|| ConfidenceInterval::of(&values))
    }

    /// The difference `self` − `baseline` of one metric, paired block by block: Student's t over blocks. The interval's
    /// replications are the blocks in which both have a value; `None` if there is none.
    pub fn difference(&self, baseline: &Self, metric: &str) -> Option<ConfidenceInterval> {
        let (ours, theirs): (Vec<f64>, Vec<f64>) =
            self.values(metric).into_iter().zip(baseline.values(metric)).filter_map(|(a, b)| a.zip(b)).unzip();
        (!ours.is_empty()).then(|| paired(&ours, &theirs))
    }

    /// The differences of all metrics that both have, in the order of [`METRICS`](Self::METRICS).
    pub fn differences(&self, baseline: &Self) -> Vec<(&'static str, ConfidenceInterval)> {
        Self::METRICS.into_iter().filter_map(|metric| Some((metric, self.difference(baseline, metric)?))).collect()
    }
}

impl Sink for Blocks {
    fn take_in(&mut self, record: JobRecord) {
        self.add(&record);
    }
}

/// Correlation of neighbouring values, Σ (xᵢ − x̄)(xᵢ₊₁ − x̄) / Σ (xᵢ − x̄)², from −1 to 1: near 0 where blocks may be taken as
/// independent. `None` for fewer than three values, or equal ones.
///
/// ```
/// assert_eq!(metrics::blocks::lag_one(&[1.0, -1.0, 1.0, -1.0]), Some(-0.75)); // up and down: neighbours differ
/// ```
pub fn lag_one(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let mut mean = Mean::default();
    values.iter().for_each(|value| mean.add(*value));
    let mean = mean.mean().expect("there are values");
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    (squares > 0.0).then(|| products / squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{Job, JobId, SiteId};

    const DAY: u64 = 86_400;

    /// Submitted on a day, after so many seconds of waiting run for 100 s.
    fn record(day: u64, wait: u64) -> JobRecord {
        let job = Job::new(JobId(0), Time::from_secs(day * DAY), 2, Span::from_secs(100));
        let start = job.submit + Span::from_secs(wait);
        JobRecord { job, start, finish: start + job.runtime, site: SiteId(0), processors: 2 }
    }

    fn blocks(records: &[(u64, u64)]) -> Blocks {
        let mut blocks = Blocks::weekly();
        records.iter().for_each(|(day, wait)| blocks.add(&record(*day, *wait)));
        blocks
    }

    #[test]
    fn a_job_belongs_to_the_week_of_its_submission_however_late_it_ran() {
        let blocks = blocks(&[(0, 10), (6, 30 * DAY), (7, 40), (12, 60)]);
        assert_eq!(blocks.values("wait_mean"), [Some(5.0 + 15.0 * 86_400.0), Some(50.0)]);
    }

    #[test]
    fn a_week_without_jobs_is_left_out_of_both() {
        let (a, b) = (blocks(&[(0, 10), (15, 20), (18, 20)]), blocks(&[(0, 5), (15, 10), (18, 10)]));
        assert_eq!(a.values("wait_mean"), [Some(10.0), None, Some(20.0)]);
        let difference = a.difference(&b, "wait_mean").expect("two weeks");
        assert!((difference.mean - 7.5).abs() < 1e-12 && difference.replications == 2);
    }

    #[test]
    fn late_jobs_are_told_in_percent_of_those_with_a_deadline() {
        let mut blocks = Blocks::weekly();
        // All take 100 s. In the first week three of four are late, in the second none of one.
        for (day, allowed) in [(0, Some(40)), (1, Some(70)), (2, Some(99)), (3, Some(100)), (4, None), (12, Some(500))]
        {
            let mut late = record(day, 0);
            late.job.request.deadline = allowed.map(|allowed| late.job.submit + Span::from_secs(allowed));
            blocks.add(&late);
        }
        assert_eq!(blocks.values("late_percent"), [Some(75.0), Some(0.0)]);
        assert_eq!(blocks.values("tardiness_mean"), [Some((60.0 + 30.0 + 1.0) / 4.0), Some(0.0)]);
    }

    #[test]
    fn responses_are_weighted_with_processors_times_run_time() {
        let mut large = record(1, 60);
        (large.job.runtime, large.job.request.processors, large.processors) = (Span::from_secs(300), 4, 4);
        large.finish = large.start + large.job.runtime;
        let mut blocks = Blocks::weekly();
        [record(0, 10), large].into_iter().for_each(|record| blocks.take_in(record));
        let mean = blocks.mean("area_weighted_response").expect("a week").mean;
        assert!((mean - (200.0 * 110.0 + 1_200.0 * 360.0) / 1_400.0).abs() < 1e-9, "{mean}");
    }

    #[test]
    fn a_last_week_of_a_day_does_not_count_and_one_of_five_days_does() {
        assert_eq!(blocks(&[(0, 1), (8, 1), (14, 1)]).len(), 2);
        assert_eq!(blocks(&[(0, 1), (8, 1), (18, 1)]).len(), 3);
        assert_eq!(blocks(&[(0, 1)]).len(), 1, "a log of one day has one block all the same");
        let mut halved = Blocks::of(Span::from_secs(2 * DAY));
        [record(0, 1), record(3, 1)].iter().for_each(|record| halved.add(record));
        assert_eq!(halved.len(), 2, "half a block is not less than half");
        assert!(!blocks(&[(0, 1)]).is_empty() && blocks(&[]).is_empty());
    }

    #[test]
    fn pairing_sees_what_separate_intervals_cannot() {
        // Weeks differ wildly; the difference is a second in each, or nearly.
        let waits = [100, 5_000, 40, 90_000, 700, 12_000];
        let base: Vec<(u64, u64)> = (0..).zip(waits).map(|(week, wait)| (7 * week + 5, wait)).collect();
        let slower: Vec<(u64, u64)> = base.iter().map(|(day, wait)| (*day, wait + 1 + day % 2)).collect();
        let (slower, base) = (blocks(&slower), blocks(&base));
        assert!(slower.difference(&base, "wait_mean").expect("six weeks").lies_above(0.0));
        let half = |blocks: &Blocks| blocks.mean("wait_mean").and_then(|mean| mean.half_width()).expect("six weeks");
        assert!(half(&slower) > 1_000.0 && half(&base) > 1_000.0, "unpaired, nothing can be said");
    }

    #[test]
    fn metrics_that_no_job_has_are_not_there() {
        let a = blocks(&[(0, 1), (8, 1), (18, 1)]);
        let names: Vec<&str> = a.differences(&a).into_iter().map(|(name, _)| name).collect();
        let expected =
            ["wait_mean", "response_mean", "slowdown_mean", "bounded_slowdown_mean", "area_weighted_response"];
        assert_eq!(names, expected);
        assert_eq!(a.values("no_such_metric"), [None, None, None]);
    }

    #[test]
    fn a_backlog_that_is_carried_over_is_seen_as_correlation() {
        let drift: Vec<f64> = (0..50).map(|week| f64::from(week / 10)).collect();
        assert!(lag_one(&drift).expect("many values") > 0.8);
        // About 3: −2, −1, 0, 3.
        assert_eq!(lag_one(&[1.0, 2.0, 3.0, 6.0]), Some(2.0 / 14.0));
        assert_eq!(lag_one(&[1.0, 2.0, 3.0]), Some(0.0));
        assert_eq!(lag_one(&[1.0, 2.0]), None);
        assert_eq!(lag_one(&[1.0; 9]), None);
    }
}
