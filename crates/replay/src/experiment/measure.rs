//! Measures of one run: a number for each metric.

use super::file::{Replicate, WarmUp};
use crate::difference::sign;
use crate::simulate::held::{Placement, record_of};
use crate::units::as_f64;
use lab::metric::Metric as _;
use lab::quantity::DesignPoint;
use metrics::backlog::Trend;
use metrics::{ConfidenceInterval, OwnMetric, Totals, warm_up};
use serde::{Deserialize, Serialize};
use sim_core::{Job, Span, Time};

/// Policy on a log under a setting; as a place, that of the baseline. The order is that of runs.csv.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) log: usize,
    pub(super) setting: usize,
    pub(super) policy: usize,
}

impl DesignPoint for Cell {
    type Metric = Metric;
}

impl Cell {
    /// Another policy in the same place.
    pub(super) const fn under(self, policy: usize) -> Self {
        Self { policy, ..self }
    }
}

/// A metric of the catalogue, or of the program's own: a column of runs.csv.
pub(crate) type Metric = &'static metrics::Metric;

/// Metrics of the catalogue, and the program's own: the columns of runs.csv.
pub(super) fn metrics_with(own: &[OwnMetric]) -> Vec<Metric> {
    Metric::list().into_iter().chain(own.iter().map(|own| own.metric)).collect()
}

/// Result of the paired interval: true if the policy is better than the baseline, false if worse, `None` without a significant difference.
pub(super) fn better(metric: Metric, difference: &ConfidenceInterval) -> Option<bool> {
    let is_significant = difference.lies_above(0.0) || difference.lies_below(0.0);
    is_significant.then(|| sign(metric) * difference.mean < 0.0)
}

impl Replicate {
    /// First and last instant at which submissions count, given the run of the baseline: one window for all policies, which are then
    /// compared on the same jobs.
    pub(super) fn window(&self, jobs: &[Job], baseline: &[Placement]) -> (Time, Time) {
        let last = jobs.last().map_or(Time::ZERO, |job| job.submit);
        let from = match self.warm_up.0 {
            WarmUp::Span(span) => Time::ZERO + span,
            // A run that never settles loses its first half; `left_out_percent` is the share of left-out jobs.
            WarmUp::Mser => {
                let cut = warm_up::mser(&waits(jobs, baseline), 5).unwrap_or(jobs.len() / 2);
                jobs.get(cut).map_or(last, |job| job.submit)
            }
        };
        let to = Time::ZERO + last.since(Time::ZERO).saturating_sub(self.cool_down.0.0);
        if from < to || !self.cuts() { (from, to) } else { (last, last) }
    }

    /// Returns true if a part of each run does not count.
    pub(super) fn cuts(&self) -> bool {
        self.warm_up.0 != WarmUp::default() || self.cool_down.0.0 != Span::ZERO
    }
}

/// Waits in order of submission, in seconds, of the jobs that ran.
fn waits(jobs: &[Job], placements: &[Placement]) -> Vec<f64> {
    let pairs = jobs.iter().zip(placements);
    pairs.filter_map(|(job, placement)| placement.map(|(start, _)| start.since(job.submit).as_secs_f64())).collect()
}

/// Measures of one run: a value for each metric, NaN if it is undefined.
pub(super) fn measured(
    jobs: &[Job],
    placements: &[Placement],
    processors: u32,
    (from, to): (Time, Time),
    cuts: bool,
    trend: &Trend,
    own: &[OwnMetric],
) -> Vec<f64> {
    let mut totals = Totals::new(processors, own);
    totals.sums.trend = Some(*trend);
    let (mut work, mut left_out) = (0.0, 0_u32);
    for (job, placement) in jobs.iter().zip(placements) {
        if job.submit < from || job.submit > to {
            left_out += 1;
            continue;
        }
        let Some(placed) = *placement else {
            totals.sums.rejected += 1;
            continue;
        };
        totals.add(&record_of(job, placed));
        work += f64::from(job.request.processors) * job.runtime.as_secs_f64();
    }
    let room = f64::from(processors) * to.saturating_since(from).as_secs_f64();
    let in_room = |work: f64| (room > 0.0).then(|| work / room);
    if cuts {
        // Only over the window, including the jobs that came before it.
        totals.count("utilization", in_room(busy(jobs, placements, from, to)));
    }
    totals.count("offered_load", in_room(work));
    totals.count("left_out_percent", Some(100.0 * f64::from(left_out) / as_f64(jobs.len()).max(1.0)));
    totals.row().into_iter().map(|(_, value)| value.unwrap_or(f64::NAN)).collect()
}

/// Processor-seconds that were busy from `from` to `to`.
fn busy(jobs: &[Job], placements: &[Placement], from: Time, to: Time) -> f64 {
    let pairs = jobs.iter().zip(placements).filter_map(|(job, placement)| Some((job, (*placement)?)));
    let seconds = pairs.map(|(job, (start, finish))| {
        let span = finish.min(to).saturating_since(start.max(from));
        f64::from(job.request.processors) * span.as_secs_f64()
    });
    seconds.sum()
}
