//! From job records to numbers: scheduling metrics, quantiles, confidence intervals.
//!
//! A run of a simulator, or a log of a machine, is a list of [`JobRecord`](sim_core::JobRecord)s. This crate computes
//! metrics of one job ([`job`]), of all jobs ([`Summary`]), and, from several replications, confidence
//! intervals ([`ConfidenceInterval`]). It is independent of policies and simulators.
//!
//! | module or type | content |
//! |---|---|
//! | [`job`] | metrics of one job: slowdown, bounded slowdown, tardiness |
//! | [`JobClass`] | short or long, narrow or wide jobs |
//! | [`Mean`] | mean of a stream of values |
//! | [`QuantileSketch`] | median and tail of a stream of values, to 0.1 % |
//! | [`MetricSummary`] | mean and quantiles of one metric |
//! | [`Summary`] | metrics over all jobs of a run, and utilization |
//! | [`sums`] | the same by user and by class |
//! | [`mod@catalogue`] | all metrics, with name, unit, definition and formula: [`Metric`] |
//! | [`Totals`] | all metrics of a run |
//! | [`Timeline`] | a level over time, for a plot in bounded memory |
//! | [`backlog`] | growth of waiting work while jobs arrive: [`Backlog`](backlog::Backlog) |
//! | [`output`] | estimates from several replications: [`ConfidenceInterval`] |
//! | [`blocks`] | estimates from one log, paired between policies: [`Blocks`] |
//! | [`warm_up`] | length of the warm-up to leave out |
//! | [`best`] | policies that may be the best, given intervals of all pairs; ranks of policies |
//!
//! Units are seconds, processors and their products; shares named *percent* range from 0 to 100. All metrics are streaming: a
//! summary's memory does not grow with the number of jobs. Undefined values (the tardiness of jobs without a
//! deadline, the interval of a single run) are `None`, never zero and never NaN.
//!
//! Sources: D. G. Feitelson and L. Rudolph, "Metrics and benchmarking for parallel job scheduling", JSSPP 1998
//! (the metrics); A. M. Law and W. D. Kelton, "Simulation modeling and analysis" (replications, common random
//! numbers); C. Masson, J. E. Rim and H. K. Lee, "DDSketch", PVLDB 12(12), 2019 (quantiles).
//!
//! # From a simulation to its metrics
//!
//! Use your own simulator in place of that of the example, which requires the feature `testkit` of `sim-core`
//! (`sim-core = { …, features = ["testkit"] }` in your manifest).
//!
//! ```
//! use metrics::Summary;
//! use sim_core::testkit::Fcfs;
//! use sim_core::{Job, JobId, JobLog, Sim, Span, Time};
//!
//! // Two processors; the second job needs both and waits for the first.
//! let jobs = [
//!     Job::new(JobId(0), Time::from_secs(0), 1, Span::from_secs(60)),
//!     Job::new(JobId(1), Time::from_secs(20), 2, Span::from_secs(40)),
//! ];
//! let model = Fcfs::new(2, jobs.into_iter());
//! let (_, log) = Sim::new(model, JobLog::new(Summary::default())).run();
//! let summary = log.into_sink();
//!
//! assert_eq!(summary.wait.mean(), Some(20.0)); // 0 s and 40 s
//! assert_eq!(summary.bounded_slowdown.max(), Some(2.0)); // 80 s instead of 40 s
//! assert_eq!(summary.makespan(), Some(Span::from_secs(100)));
//! assert_eq!(summary.utilization(2), Some(0.7)); // (60 + 80) / (2 × 100)
//! ```

pub mod job;
mod mean;
mod quantile_sketch;

pub mod backlog;
mod summary;
mod timeline;

pub mod sums;

pub mod catalogue;

mod totals;

pub mod output;

pub mod best;
pub mod blocks;
pub mod warm_up;

pub use blocks::{Blocks, Estimate, Refusal};
pub use catalogue::{Better, Metric, OwnMetric, catalogue};
pub use job::JobClass;
pub use mean::Mean;
pub use output::ConfidenceInterval;
pub use quantile_sketch::QuantileSketch;
pub use summary::{MetricSummary, Summary};
pub use timeline::Timeline;
pub use totals::Totals;
