//! Everything that metrics of one run are computed from: [`Totals`], and [`Users`] for each user alone.

use crate::backlog::Trend;
use crate::catalogue::{Metric, catalogue};
use crate::job::{bounded_slowdown, weight};
use crate::job_class::JobClass;
use crate::mean::{Mean, WeightedMean};
use crate::summary::Summary;
use sim_core::JobRecord;
use sim_core::record::Sink;
use std::collections::BTreeMap;

/// Waits and bounded slowdowns of some jobs of a run.
#[derive(Clone, Debug, Default)]
pub struct Fared {
    /// In seconds.
    pub wait: Mean,
    /// Bounded at [`Summary::THRESHOLD`].
    pub bounded_slowdown: Mean,
}

/// Jobs of one user.
#[derive(Clone, Debug, Default)]
pub struct User {
    /// Processor-seconds.
    pub work: f64,
    /// Waits and bounded slowdowns, whose number is that of the jobs.
    pub fared: Fared,
}

/// Jobs by user.
#[derive(Clone, Debug, Default)]
pub struct Users(BTreeMap<Option<u32>, User>);

impl Users {
    /// The user of a number; `None` stands for all jobs without a user in the log.
    pub fn get(&self, number: Option<u32>) -> Option<&User> {
        self.0.get(&number)
    }

    /// The `most` users with the largest work, largest first.
    pub fn heaviest(&self, most: usize) -> Vec<(Option<u32>, &User)> {
        let mut users: Vec<_> = self.0.iter().map(|(number, user)| (*number, user)).collect();
        users.sort_by(|(_, a), (_, b)| b.work.total_cmp(&a.work));
        users.truncate(most);
        users
    }

    /// Number of users; jobs without a user count as one.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no job was taken in.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The mean of every known user, smallest first.
    fn means(&self, of: fn(&Fared) -> &Mean) -> Vec<f64> {
        let known = self.0.iter().filter(|(number, _)| number.is_some());
        let mut means: Vec<f64> = known.filter_map(|(_, user)| of(&user.fared).mean()).collect();
        means.sort_by(f64::total_cmp);
        means
    }

    /// Median over users of the users' means, by nearest rank.
    pub fn median(&self, of: fn(&Fared) -> &Mean) -> Option<f64> {
        let means = self.means(of);
        means.get(means.len().saturating_sub(1) / 2).copied()
    }

    /// Largest of the users' means.
    pub fn worst(&self, of: fn(&Fared) -> &Mean) -> Option<f64> {
        self.means(of).last().copied()
    }

    /// Jain's index over the users' means, (Σ x)² / (n Σ x²): 1 if all are equal, 1 / n if one user has everything.
    ///
    /// R. Jain, D. Chiu and W. Hawe, "A quantitative measure of fairness and discrimination for resource allocation in shared
    /// computer systems", DEC-TR-301, 1984.
    pub fn jain(&self, of: fn(&Fared) -> &Mean) -> Option<f64> {
        let means = self.means(of);
        let (sum, squares) = means.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        #[expect(clippy::cast_precision_loss, reason = "a number of users")]
        (squares > 0.0).then(|| sum * sum / (means.len() as f64 * squares))
    }
}

/// Totals of one run: takes in finished jobs one at a time and gives every [`Metric`] of it.
///
/// ```
/// use metrics::Totals;
/// use sim_core::{Job, JobId, JobRecord, SiteId, Span, Time};
///
/// let mut totals = Totals::new(4, &[]);
/// for (user, wait) in [(1, 10), (1, 30), (2, 100)] {
///     let mut job = Job::new(JobId(0), Time::ZERO, 1, Span::from_secs(60));
///     job.request.user = Some(user);
///     let start = Time::from_secs(wait);
///     totals.add(&JobRecord { job, start, finish: start + job.runtime, site: SiteId(0), processors: 1 });
/// }
/// assert_eq!(totals.value("wait_max"), Some(100.0));
/// assert_eq!(totals.value("user_wait_median"), Some(20.0));
/// assert_eq!(totals.value("user_wait_max"), Some(100.0));
/// ```
#[derive(Clone, Debug)]
pub struct Totals {
    /// All jobs.
    pub summary: Summary,
    /// By user.
    pub users: Users,
    /// In the order of [`JobClass::ALL`].
    pub classes: [Fared; 4],
    /// Responses by processors × run time.
    pub(crate) area_weighted: WeightedMean,
    /// Jobs that fit no place.
    pub rejected: u64,
    /// Work that waited; `None` until the run is over.
    pub trend: Option<Trend>,
    /// Processors of the system.
    pub(crate) processors: u32,
    counted: Vec<(&'static Metric, Option<f64>)>,
    own: Vec<&'static Metric>,
    /// Empty unless a metric of a program's own reads them.
    records: Vec<JobRecord>,
}

impl Totals {
    /// Totals of no jobs on a system of `processors`; `own` are metrics that a program adds.
    pub fn new(processors: u32, own: &[&'static Metric]) -> Self {
        Self {
            summary: Summary::new(),
            users: Users::default(),
            classes: Default::default(),
            area_weighted: WeightedMean::default(),
            rejected: 0,
            trend: None,
            processors,
            counted: Vec::new(),
            own: own.to_vec(),
            records: Vec::new(),
        }
    }

    /// Takes in the record of one finished job.
    pub fn add(&mut self, record: &JobRecord) {
        self.summary.add(record);
        let (wait, slowdown) = (record.wait().as_secs_f64(), bounded_slowdown(record, Summary::THRESHOLD));
        let user = self.users.0.entry(record.job.request.user).or_default();
        user.work += f64::from(record.processors) * record.finish.since(record.start).as_secs_f64();
        for fared in [&mut self.classes[JobClass::of(record) as usize], &mut user.fared] {
            fared.wait.add(wait);
            fared.bounded_slowdown.add(slowdown);
        }
        let area = f64::from(weight(record)) * record.job.runtime.as_secs_f64();
        self.area_weighted.add(record.response().as_secs_f64(), area);
        if !self.own.is_empty() {
            self.records.push(*record);
        }
    }

    /// Sets a metric that a world or a command counts, or replaces what the formula gives.
    ///
    /// # Panics
    ///
    /// If the catalogue has no metric of this name.
    #[track_caller]
    pub fn count(&mut self, name: &str, value: Option<f64>) {
        self.counted.push((Metric::of(name), value));
    }

    /// Every metric with its value, in the order of the catalogue, then those that a program adds. A metric that is counted by
    /// worlds or commands alone is left out of runs in which none counted it.
    pub fn row(&self) -> Vec<(&'static Metric, Option<f64>)> {
        // Worlds deliver jobs as they end, experiments as they are submitted.
        let mut records = self.records.clone();
        records.sort_by_key(|record| (record.job.submit, record.job.id));
        let all = catalogue().iter().chain(self.own.iter().copied());
        let value = |metric: &'static Metric| match self.counted.iter().find(|(known, _)| *known == metric) {
            Some((_, value)) => Some((metric, *value)),
            None => Some((metric, metric.formula(self, &records)?)),
        };
        all.filter_map(value).collect()
    }

    /// The value of one metric; `None` if it has none.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.row().into_iter().find(|(metric, _)| metric.name() == name).and_then(|(_, value)| value)
    }

    /// Number of jobs of a class.
    pub const fn jobs_of(&self, class: JobClass) -> u64 {
        self.classes[class as usize].wait.count()
    }
}

impl Sink for Totals {
    fn take_in(&mut self, record: JobRecord) {
        self.add(&record);
    }
}
