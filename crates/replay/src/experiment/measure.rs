//! Measures of one run: a number for each metric.

use crate::simulate::held::{Placement, record_of};
use lab::metric::{Better, Declared};
use metrics::backlog::Trend;
use metrics::{Blocks, JobClass, Mean, Summary, WeightedMean, warm_up};
use sim_core::{Job, Span, Time};
use std::fmt;
use std::sync::LazyLock;

/// Columns of the waits and bounded slowdowns of each [`JobClass`].
pub(super) const OF_CLASSES: [[&str; 2]; 4] = [
    ["wait_mean_short_narrow", "bounded_slowdown_mean_short_narrow"],
    ["wait_mean_short_wide", "bounded_slowdown_mean_short_wide"],
    ["wait_mean_long_narrow", "bounded_slowdown_mean_long_narrow"],
    ["wait_mean_long_wide", "bounded_slowdown_mean_long_wide"],
];

/// Column of whether the policy is saturated: 1, or 0.
pub(super) const SATURATED: &str = "saturated";

/// Quantiles of the wait, for its distribution function: column, and share of the jobs in percent.
pub(super) const WAITS: [(&str, f64); 7] = [
    ("wait_p10", 10.0),
    ("wait_p25", 25.0),
    ("wait_median", 50.0),
    ("wait_p75", 75.0),
    ("wait_p90", 90.0),
    ("wait_p95", 95.0),
    ("wait_p99", 99.0),
];

/// Which part of a run counts, by the submission of jobs.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct Window {
    /// The beginning is told by MSER-5 on the waits under the baseline.
    pub(super) mser: bool,
    /// So much of the beginning does not count.
    pub(super) warm_up: Span,
    /// So much of the end does not count.
    pub(super) cool_down: Span,
}

impl Window {
    /// From when to when submissions count, given the run of the baseline: one window for all policies, which are then
    /// compared on the same jobs.
    pub(super) fn of(&self, jobs: &[Job], baseline: &[Placement]) -> (Time, Time) {
        let last = jobs.last().map_or(Time::ZERO, |job| job.submit);
        let mut from = Time::ZERO + self.warm_up;
        if self.mser {
            // A run that never settles keeps all but its first half, and the report says how much was left out.
            let cut = warm_up::mser(&waits(jobs, baseline), 5).unwrap_or(jobs.len() / 2);
            from = from.max(jobs.get(cut).map_or(last, |job| job.submit));
        }
        let to = Time::ZERO + last.since(Time::ZERO).saturating_sub(self.cool_down);
        if from < to || *self == Self::default() { (from, to) } else { (last, last) }
    }

    /// Whether anything is left out.
    pub(super) fn cuts(&self) -> bool {
        *self != Self::default()
    }
}

/// Waits in order of submission, in seconds, of the jobs that ran.
pub(super) fn waits(jobs: &[Job], placements: &[Placement]) -> Vec<f64> {
    let pairs = jobs.iter().zip(placements);
    pairs.filter_map(|(job, placement)| placement.map(|(start, _)| start.since(job.submit).as_secs_f64())).collect()
}

/// The names of all metrics, in the order of the columns of runs.csv.
fn names() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let row = Summary::new().row(1);
        let more = ["area_weighted_response", "rejected", "offered_load", "left_out_percent"];
        let quantiles = WAITS.iter().map(|(name, _)| *name).filter(|name| !row.iter().any(|(known, _)| known == name));
        row.iter()
            .map(|(name, _)| *name)
            .chain(more)
            .chain(quantiles.collect::<Vec<_>>())
            .chain(OF_CLASSES.into_iter().flatten())
            .chain([SATURATED])
            .collect()
    });
    &NAMES
}

/// What is measured of a run: a column of runs.csv, by its position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Metric(usize);

impl Metric {
    /// The one that is called so.
    pub(super) fn named(name: &str) -> Option<Self> {
        names().iter().position(|known| *known == name).map(Self)
    }

    /// One that every run has.
    pub(super) fn of(name: &'static str) -> Self {
        Self::named(name).unwrap_or_else(|| panic!("{name} is measured of every run"))
    }

    pub(super) fn name(self) -> &'static str {
        names()[self.0]
    }

    /// Whether one replay says something of it: it is estimated over blocks, or is the utilization, which has no interval.
    pub(super) fn is_defined_by_week(self) -> bool {
        self.name() == "utilization" || Blocks::METRICS.contains(&self.name())
    }

    /// Whether only jobs that are due have it.
    pub(super) fn needs_deadlines(self) -> bool {
        self.name() == "late_percent" || self.name().starts_with("tardiness_")
    }

    /// Whether more of it is better; of all others less is.
    pub(super) fn is_better_high(self) -> bool {
        matches!(self.name(), "utilization" | "jobs" | "work")
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl lab::metric::Metric for Metric {
    fn list() -> Vec<Self> {
        (0..names().len()).map(Self).collect()
    }

    fn declared(self) -> Declared {
        Declared {
            field: self.name(),
            label: self.name(),
            unit: "",
            axis: self.name(),
            text: "",
            signed: false,
            better: Some(if self.is_better_high() { Better::Larger } else { Better::Smaller }),
            of_nothing: f64::NAN,
        }
    }
}

/// One run, measured: a value for each metric, not a number where there is none.
pub(super) fn measured(
    jobs: &[Job],
    placements: &[Placement],
    processors: u32,
    (from, to): (Time, Time),
    cuts: bool,
    trend: &Trend,
) -> Vec<f64> {
    let mut summary = Summary::new();
    let mut area_weighted = WeightedMean::default();
    let mut classes = [(Mean::default(), Mean::default()); 4];
    let (mut rejected, mut work, mut left_out) = (0_u32, 0.0, 0_u32);
    for (job, placement) in jobs.iter().zip(placements) {
        if job.submit < from || job.submit > to {
            left_out += 1;
            continue;
        }
        let Some(placed) = *placement else {
            rejected += 1;
            continue;
        };
        let record = record_of(job, placed);
        summary.add(&record);
        let area = f64::from(record.processors) * job.runtime.as_secs_f64();
        work += area;
        area_weighted.add(record.response().as_secs_f64(), area);
        let class = JobClass::of(&record) as usize;
        classes[class].0.add(record.wait().as_secs_f64());
        classes[class].1.add(metrics::job::bounded_slowdown(&record, Summary::THRESHOLD));
    }
    let mut row = summary.row(processors);
    if cuts {
        // Over the window alone, with the jobs that came before it.
        let busy = busy(jobs, placements, from, to);
        row.iter_mut().filter(|(name, _)| *name == "utilization").for_each(|(_, value)| {
            let room = f64::from(processors) * to.saturating_since(from).as_secs_f64();
            *value = (room > 0.0).then(|| busy / room);
        });
    }
    let span = f64::from(processors) * to.saturating_since(from).as_secs_f64();
    let percent = 100.0 * f64::from(left_out) / count(jobs.len()).max(1.0);
    row.extend([
        ("area_weighted_response", area_weighted.mean()),
        ("rejected", Some(f64::from(rejected))),
        ("offered_load", (span > 0.0).then(|| work / span)),
        ("left_out_percent", Some(percent)),
    ]);
    for (name, share) in WAITS {
        if !row.iter().any(|(known, _)| *known == name) {
            row.push((name, summary.wait().quantile(share / 100.0)));
        }
    }
    for ([wait, slowdown], (waits, slowdowns)) in OF_CLASSES.into_iter().zip(&classes) {
        row.extend([(wait, waits.mean()), (slowdown, slowdowns.mean())]);
    }
    row.push((SATURATED, Some(f64::from(u8::from(trend.is_saturated())))));
    debug_assert!(row.iter().map(|(name, _)| name).eq(names()), "columns in their order");
    row.into_iter().map(|(_, value)| value.unwrap_or(f64::NAN)).collect()
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

#[expect(clippy::cast_precision_loss, reason = "numbers of jobs")]
const fn count(jobs: usize) -> f64 {
    jobs as f64
}
