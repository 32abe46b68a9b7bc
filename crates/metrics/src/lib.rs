//! From job records to numbers: scheduling metrics, quantiles, confidence intervals.
//!
//! A run of a simulator, or a log of a machine, is a list of [`JobRecord`](sim_core::JobRecord)s. This crate says what
//! each job experienced ([`job`]), what all of them experienced ([`Summary`]), and, from several replications, how far
//! such a number can be trusted ([`ConfidenceInterval`]). It knows no policy and no simulator.
//!
//! | module or type | question it answers |
//! |---|---|
//! | [`job`] | how did one job fare? slowdown, bounded slowdown, tardiness |
//! | [`JobClass`] | was it short or long, narrow or wide? |
//! | [`Mean`] | what is the mean of a stream of values? |
//! | [`QuantileSketch`] | what are its median and its tail, to 0.1 %? |
//! | [`MetricSummary`] | what are both, for one metric? |
//! | [`summary`] | how did all jobs of a run fare, and how busy was the system? [`Summary`] |
//! | [`sums`] | the same by user and by class |
//! | [`mod@catalogue`] | which metrics are there, with name, unit, definition and formula? [`Metric`] |
//! | [`totals`] | all metrics of a run: [`Totals`] |
//! | [`timeline`] | how did a level vary over time? [`Timeline`], for a plot in bounded memory |
//! | [`backlog`] | did waiting work grow as long as jobs came? [`Backlog`](backlog::Backlog) |
//! | [`output`] | what do several replications show? [`ConfidenceInterval`] |
//! | [`blocks`] | what does one log show? [`Blocks`], paired between policies |
//! | [`warm_up`] | what of a run's beginning to leave out? |
//! | [`best`] | which policies may be the best, given intervals of all pairs? |
//! | [`order`] | which policy comes before which, and do two metrics agree? |
//!
//! Units are seconds, processors and their products; shares named *percent* run from 0 to 100. Everything streams: a
//! summary's memory does not grow with the number of jobs. What does not exist (the tardiness of jobs without a
//! deadline, the interval of a single run) is `None`, never zero and never NaN.
//!
//! Sources: D. G. Feitelson and L. Rudolph, "Metrics and benchmarking for parallel job scheduling", JSSPP 1998
//! (the metrics); A. M. Law and W. D. Kelton, "Simulation modeling and analysis" (replications, common random
//! numbers); C. Masson, J. E. Rim and H. K. Lee, "DDSketch", PVLDB 12(12), 2019 (quantiles).
//!
//! # From a simulation to its metrics
//!
//! The simulator of the example stands for yours; it is behind the feature `testkit` of `sim-core`
//! (`sim-core = { …, features = ["testkit"] }` in your manifest).
//!
//! ```
//! use metrics::Summary;
//! use sim_core::testkit::Fcfs;
//! use sim_core::{Job, JobId, JobLog, Pool, Sim, Span, Time};
//!
//! // Two processors; the second job needs both and waits for the first.
//! let jobs = [
//!     Job::new(JobId(0), Time::from_secs(0), 1, Span::from_secs(60)),
//!     Job::new(JobId(1), Time::from_secs(20), 2, Span::from_secs(40)),
//! ];
//! let model = Fcfs::new(Pool::new(2), jobs.into_iter());
//! let (_, log) = Sim::new(model, JobLog::new(Summary::new())).run();
//! let summary = log.into_sink();
//!
//! assert_eq!(summary.wait().mean(), Some(20.0)); // 0 s and 40 s
//! assert_eq!(summary.bounded_slowdown().max(), Some(2.0)); // 80 s instead of 40 s
//! assert_eq!(summary.makespan(), Some(Span::from_secs(100)));
//! assert_eq!(summary.utilization(2), Some(0.7)); // (60 + 80) / (2 × 100)
//! ```

pub mod job;
mod job_class;
mod mean;
mod quantile_sketch;

pub mod backlog;
mod metric_summary;
pub mod summary;
pub mod timeline;

pub mod sums;

pub mod catalogue;

pub mod totals;

pub mod output;

pub mod best;
pub mod blocks;
pub mod order;
pub mod warm_up;

pub use blocks::{Blocks, Estimate, Refusal};
pub use catalogue::{Better, Metric, catalogue};
pub use job_class::JobClass;
pub use mean::Mean;
pub use metric_summary::MetricSummary;
pub use output::ConfidenceInterval;
pub use quantile_sketch::QuantileSketch;
pub use summary::Summary;
pub use timeline::Timeline;
pub use totals::Totals;
