//! Metrics over all jobs of one run: [`Summary`], and the distribution of each: [`MetricSummary`].

use crate::job::{bounded_slowdown, slowdown, tardiness};
use crate::mean::{Sum, as_f64};
use crate::quantile_sketch::QuantileSketch;
use sim_core::record::Sink;
use sim_core::{JobRecord, Span, Time};

/// Streaming summary of a run: adds finished jobs one at a time and has every customary metric at any moment.
///
/// Memory does not grow with the jobs (1.3 MB at most, see [`QuantileSketch`]), so a trace of any
/// length can be streamed through [`JobLog`](sim_core::JobLog): `JobLog::new(Summary::default())`.
///
/// Times are in seconds. Rejected jobs do not reach the summary; the log counts them.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Number of finished jobs.
    pub jobs: u64,
    /// Wait time, in seconds.
    pub wait: MetricSummary,
    /// Response time, in seconds.
    pub response: MetricSummary,
    /// Slowdown of the jobs with a run time above zero; the others count in everything else.
    pub slowdown: MetricSummary,
    /// Bounded slowdown.
    pub bounded_slowdown: MetricSummary,
    /// Tardiness of the jobs with a deadline, in seconds; zero for those on time.
    pub tardiness: MetricSummary,
    late: u64,
    first_submit: Option<Time>,
    last_finish: Time,
    /// Σ processors × (finish − start), in processor-nanoseconds: 96 bits per job leave room for 2³² jobs.
    work: u128,
}

impl Summary {
    /// The customary threshold of bounded slowdown, 10 s.
    pub const THRESHOLD: Span = Span::from_secs(10);

    /// Adds the record of one finished job.
    pub fn add(&mut self, record: &JobRecord) {
        let weight = record.processors;
        self.jobs += 1;
        let submit = record.job.submit;
        self.first_submit = Some(self.first_submit.map_or(submit, |first| first.min(submit)));
        self.last_finish = self.last_finish.max(record.finish);
        self.work += u128::from(record.finish.since(record.start).as_nanos()) * u128::from(weight);
        self.wait.add(record.wait().as_secs_f64(), weight);
        self.response.add(record.response().as_secs_f64(), weight);
        // The slowdown of a job with zero run time is infinite, and would make the mean infinite.
        if !record.job.runtime.is_zero() {
            self.slowdown.add(slowdown(record), weight);
        }
        self.bounded_slowdown.add(bounded_slowdown(record, Self::THRESHOLD), weight);
        if let Some(tardiness) = tardiness(record) {
            self.late += u64::from(!tardiness.is_zero());
            self.tardiness.add(tardiness.as_secs_f64(), weight);
        }
    }

    /// Late jobs in percent (0 … 100) of the jobs with a deadline; `None` if there are none.
    pub fn late_percent(&self) -> Option<f64> {
        let with_deadline = self.tardiness.count();
        (with_deadline > 0).then(|| 100.0 * as_f64(self.late) / as_f64(with_deadline))
    }

    /// Last finish − first submit; `None` without jobs.
    pub fn makespan(&self) -> Option<Span> {
        self.first_submit.map(|first| self.last_finish.since(first))
    }

    /// Work done, Σ processors × (finish − start), in processor-seconds.
    pub const fn work(&self) -> f64 {
        self.work as f64 / 1e9
    }

    /// Utilization, work / (capacity × makespan), from 0 to 1, of a system of `capacity` processors.
    ///
    /// The horizon is the makespan, so an idle tail after the last arrival counts against the policy. `None` without
    /// jobs, or if all of them took no time. Above 1 only if `capacity` is less than the number of processors used.
    ///
    /// # Panics
    ///
    /// Panics if `capacity` is zero.
    #[track_caller]
    pub fn utilization(&self, capacity: u32) -> Option<f64> {
        assert!(capacity > 0, "a system without processors has no utilization");
        let available = u128::from(capacity) * u128::from(self.makespan()?.as_nanos());
        // Rounding is monotonic, so the ratio never exceeds 1.
        (available > 0).then(|| self.work as f64 / available as f64)
    }
}

impl Sink for Summary {
    fn take_in(&mut self, record: JobRecord) {
        self.add(&record);
    }
}

/// Mean, quantiles and processor-weighted mean of one metric, value by value, in bounded memory.
///
/// Means and quantiles are `None` without values.
#[derive(Clone, Debug, Default)]
pub struct MetricSummary {
    // Own sums instead of a `Mean`: a simulator feeds five of these per job, and a run reports no second count.
    sum: Sum,
    weighted_sum: Sum,
    weights: u64,
    quantiles: QuantileSketch,
}

impl MetricSummary {
    /// Adds one job's `value`, with the job's processors as its `weight`.
    ///
    /// # Panics
    ///
    /// As [`QuantileSketch::add`].
    #[track_caller]
    #[inline]
    pub fn add(&mut self, value: f64, weight: u32) {
        self.quantiles.add(value);
        self.sum.add(value);
        self.weighted_sum.add(value * f64::from(weight));
        self.weights += u64::from(weight);
    }

    /// Number of values added.
    pub const fn count(&self) -> u64 {
        self.quantiles.count()
    }

    /// Mean over jobs, Σ x / n.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum.total() / as_f64(self.count()))
    }

    /// Mean over jobs, weighted by their processors: Σ w·x / Σ w.
    ///
    /// A mean over jobs describes the average job, a weighted mean the average requested processor. The two
    /// can rank policies differently: favouring narrow jobs helps the first at the cost of the second.
    pub fn weighted_mean(&self) -> Option<f64> {
        (self.weights > 0).then(|| self.weighted_sum.total() / as_f64(self.weights))
    }

    /// The `p`-quantile by nearest rank, within [`QuantileSketch::RELATIVE_ERROR`].
    ///
    /// # Panics
    ///
    /// Panics if `p` is not between 0 and 1.
    #[track_caller]
    pub fn quantile(&self, p: f64) -> Option<f64> {
        self.quantiles.quantile(p)
    }

    /// The largest value, exactly.
    pub fn max(&self) -> Option<f64> {
        self.quantile(1.0)
    }
}
