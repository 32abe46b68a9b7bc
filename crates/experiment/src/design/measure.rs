//! Measures of one run: a number for each metric.

use crate::design::file::{Replicate, WarmUp};
use crate::design::workloads::ReplayInput;
use crate::design::{Design, Metric};
use lab::difference::sign;
use lab::metric::Metric as _;
use lab::quantity::DesignPoint;
use lab::units::as_f64;
use metrics::backlog::Trend;
use metrics::{ConfidenceInterval, Estimate, OwnMetric, Totals, warm_up};
use replay::simulate::space_shared::Placement;
use serde::{Deserialize, Serialize};
use sim_core::{Job, JobRecord, SiteId, Span, Time};

/// Policy on a log under a setting; as a place, that of the baseline. The order is that of runs.csv.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) log: usize,
    pub(crate) setting: usize,
    pub(crate) policy: usize,
}

impl DesignPoint for Cell {
    type Metric = Metric;
}

impl Cell {
    pub(crate) const fn under(self, policy: usize) -> Self {
        Self { policy, ..self }
    }
}

/// Metrics of the catalogue, and the program's own: the columns of runs.csv.
pub(crate) fn metrics_with(own: &[OwnMetric]) -> Vec<Metric> {
    Metric::list().into_iter().chain(own.iter().map(|own| own.metric)).collect()
}

/// Result of the paired interval: true if the policy is better than the baseline, false if worse, `None` without a significant difference.
pub(crate) fn better(metric: Metric, difference: &ConfidenceInterval) -> Option<bool> {
    Estimate::from(*difference).is_significant().then(|| sign(metric) * difference.mean < 0.0)
}

impl Replicate {
    /// First and last instant at which submissions count, given the run of the baseline: one window for all policies, which are then
    /// compared on the same jobs.
    pub(crate) fn window(&self, jobs: &[Job], baseline: &[Placement]) -> (Time, Time) {
        let last = jobs.last().map_or(Time::ZERO, |job| job.submit);
        let from = match self.warm_up.0 {
            WarmUp::Span(span) => Time::ZERO + span,
            // A run that never settles loses its first half; `left_out_percent` is the share of left-out jobs.
            WarmUp::Mser => {
                let wait = |(job, placed): (&Job, &Placement)| Some((*placed)?.0.since(job.submit).as_secs_f64());
                let waits: Vec<f64> = jobs.iter().zip(baseline).filter_map(wait).collect();
                let cut = warm_up::mser(&waits).unwrap_or(jobs.len() / 2);
                jobs.get(cut).map_or(last, |job| job.submit)
            }
        };
        let to = Time::ZERO + last.since(Time::ZERO).saturating_sub(self.cool_down.0.0);
        if from < to || !self.cuts() { (from, to) } else { (last, last) }
    }

    /// Returns true if a part of each run does not count.
    pub(crate) fn cuts(&self) -> bool {
        self.warm_up.0 != WarmUp::default() || self.cool_down.0.0 != Span::ZERO
    }
}

/// Measures of one run from its placements and its backlog, over the submissions `from` one instant `to` another: a value for each metric
/// that is defined.
pub(crate) fn measured(
    design: &Design,
    ReplayInput { jobs, sites, .. }: &ReplayInput,
    (placements, trend): &(Vec<Placement>, Trend),
    (from, to): (Time, Time),
) -> Vec<Option<f64>> {
    let processors = sites.processors();
    let mut totals = Totals::new(processors, &design.own_metrics);
    totals.sums.trend = Some(*trend);
    let (mut work, mut busy, mut left_out) = (0.0, 0.0, 0_u32);
    for (job, placement) in jobs.iter().zip(placements) {
        let width = f64::from(job.request.processors);
        if let Some((start, finish)) = *placement {
            busy += width * finish.min(to).saturating_since(start.max(from)).as_secs_f64();
        }
        if job.submit < from || job.submit > to {
            left_out += 1;
            continue;
        }
        let Some((start, finish)) = *placement else {
            totals.sums.rejected += 1;
            continue;
        };
        // The machine is not part of a grid.
        let (site, processors) = (SiteId(0), job.request.processors);
        totals.add(&JobRecord { job: *job, start, finish, site, processors });
        work += width * job.runtime.as_secs_f64();
    }
    let room = f64::from(processors) * to.saturating_since(from).as_secs_f64();
    let in_room = |work: f64| (room > 0.0).then(|| work / room);
    if design.replicate.cuts() {
        // Only over the window, including the jobs that came before it.
        totals.count("utilization", in_room(busy));
    }
    totals.count("offered_load", in_room(work));
    totals.count("left_out_percent", Some(100.0 * f64::from(left_out) / as_f64(jobs.len()).max(1.0)));
    totals.row().into_iter().map(|(_, value)| value.filter(|value| value.is_finite())).collect()
}
