//! Every metric of one run: [`Totals`].

use crate::catalogue::{Metric, OwnMetric, catalogue};
use crate::sums::Sums;
use sim_core::JobRecord;
use sim_core::record::Sink;

/// Totals of one run: adds finished jobs one at a time and computes every [`Metric`].
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
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Sums over the added jobs.
    pub sums: Sums,
    counted: Vec<(&'static Metric, Option<f64>)>,
    own: Vec<OwnMetric>,
    /// Records for the metrics that a program adds; empty without such metrics.
    records: Vec<JobRecord>,
}

impl Totals {
    /// Creates totals without jobs for a system of `processors`; `own` are metrics that a program adds.
    pub fn new(processors: u32, own: &[OwnMetric]) -> Self {
        Self { sums: Sums { processors, ..Sums::default() }, own: own.to_vec(), ..Self::default() }
    }

    /// Adds the record of one finished job.
    pub fn add(&mut self, record: &JobRecord) {
        self.sums.add(record);
        if !self.own.is_empty() {
            self.records.push(*record);
        }
    }

    /// Sets a metric that a world or a command counts, or replaces the result of its formula.
    ///
    /// # Panics
    ///
    /// Panics if the catalogue has no metric with this name.
    #[track_caller]
    pub fn count(&mut self, name: &str, value: Option<f64>) {
        self.counted.push((Metric::of(name), value));
    }

    /// Every metric with its value, in the order of the catalogue, then those that a program adds. A metric that only worlds or commands
    /// count is omitted in runs in which none counted it.
    pub fn row(&self) -> Vec<(&'static Metric, Option<f64>)> {
        // Worlds deliver jobs in order of their ends, experiments in order of submission.
        let mut records = self.records.clone();
        records.sort_by_key(|record| (record.job.submit, record.job.id));
        let value = |metric: &'static Metric| match self.counted.iter().find(|(known, _)| *known == metric) {
            Some((_, value)) => Some((metric, *value)),
            None => Some((metric, metric.formula(&self.sums)?)),
        };
        let own = self.own.iter().map(|own| (own.metric, own.value(&records)));
        catalogue().iter().filter_map(value).chain(own).collect()
    }

    /// The value of one metric; `None` if it has none.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.row().into_iter().find(|(metric, _)| metric.name() == name).and_then(|(_, value)| value)
    }
}

impl Sink for Totals {
    fn take_in(&mut self, record: JobRecord) {
        self.add(&record);
    }
}
