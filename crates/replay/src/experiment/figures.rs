//! The pictures of an experiment, each with its data.

use super::answer::Answer;
use super::design::{Design, DimensionKey, Setting, Value};
use super::measure::{BETTER, Metric, WORSE, better, waits};
use super::plan::ExperimentPlan;
use super::results::{Cell, LogAt, Results};
use crate::difference::capitalized;
use crate::units::as_f64;
use anyhow::Result;
use lab::chart::{Axis, Chart, Picture, Point, Series};
use lab::exhibit::{self, Exhibit, Figure, Panel};
use lab::extra::seen;
use lab::shown::{DataRow, Shown};
use metrics::{ConfidenceInterval, catalogue};

/// A metric and its pictures.
type OfMetric = (Metric, Vec<Shown>);

/// The pictures of an experiment.
pub(super) struct Pictures {
    /// The first metric: over the whole experiment, and by log and setting.
    pub(super) first: Vec<Shown>,
    /// The other metrics.
    pub(super) others: Vec<Shown>,
    /// Means over the values of a number that is varied, with their title, metric by metric.
    pub(super) means: Option<(&'static str, Vec<OfMetric>)>,
    /// Distributions, classes of jobs, and left-out jobs.
    pub(super) rest: Vec<Shown>,
}

impl Pictures {
    pub(super) fn new(results: &Results<'_>, plan: &ExperimentPlan) -> Result<Self> {
        let design = results.design;
        let logs = 0..design.logs.len();
        let answer = Answer::new(results);
        let mut by_part = design.metrics.iter().filter_map(|metric| answer.by_part(metric));
        let first = std::iter::once(answer.overall()).chain(by_part.next()).collect();
        let others = answer.others().into_iter().chain(by_part).collect();
        let mut rest = Vec::new();
        for log in logs.clone() {
            let at = LogAt { log, setting: 0 };
            rest.extend(answer.classes(&legal(&format!("classes-{}", design.logs[log].name)), at));
            rest.extend(distribution(results, log));
        }
        let means = numeric(design).map(|key| {
            let of_metric = |metric: Metric| {
                let figures = logs.clone().flat_map(|log| over(results, key, metric, log)).map(Exhibit::Plot);
                (metric, in_units(metric, results.shown(&figures.collect::<Vec<_>>())))
            };
            let title = match key {
                DimensionKey::Load => "Means by load",
                DimensionKey::Users => "Means by number of users",
                DimensionKey::Procs | DimensionKey::Estimates => "Means by number of processors",
            };
            (title, design.metrics.iter().map(|metric| of_metric(metric)).collect())
        });
        if design.window.cuts() {
            for log in logs {
                rest.push(warm_up(results, plan, log)?);
            }
        }
        Ok(Self { first, others, means, rest })
    }
}

/// Dimension that a picture can have on its x axis.
fn numeric(design: &Design) -> Option<DimensionKey> {
    let long =
        |key: &DimensionKey| design.vary.iter().any(|dimension| dimension.key == *key && dimension.values.len() > 1);
    [DimensionKey::Load, DimensionKey::Users, DimensionKey::Procs].into_iter().find(long)
}

/// Means over the values of `key`, one figure for each combination of the others.
fn over(results: &Results<'_>, key: DimensionKey, metric: Metric, log: usize) -> Vec<Figure<Cell>> {
    let design = results.design;
    let column = design.vary.iter().position(|dimension| dimension.key == key).expect("it is varied");
    let label = match key {
        DimensionKey::Load => "load, relative to the log's own",
        DimensionKey::Users => "users, relative to the log's own",
        DimensionKey::Procs | DimensionKey::Estimates => "processors",
    };
    let figure = |first: &Setting| {
        let others = design.vary.iter().zip(design.texts(first)).enumerate().filter(|(at, _)| *at != column);
        let others: Vec<String> =
            others.map(|(_, (dimension, text))| format!("{} {text}", dimension.key.name())).collect();
        let is_beside = |other: &Setting| (0..other.0.len()).all(|at| at == column || other.0[at] == first.0[at]);
        let series = design.policies.iter().enumerate().map(|(policy, named)| {
            let beside = results.settings.iter().enumerate().filter(|(_, other)| is_beside(other));
            let points = beside.filter_map(|(setting, other)| {
                let at = LogAt { log, setting };
                results.mean(at, policy, metric)?;
                let x = match design.value(other, key)? {
                    Value::Number(number) => number,
                    Value::Procs(procs) => f64::from(procs),
                    Value::Estimates(_) => return None,
                };
                Some((x, results.of(at, policy, metric)))
            });
            exhibit::Series { name: named.name().to_owned(), points: points.collect() }
        });
        let name = &design.logs[log].name;
        let under = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        Figure::new(
            legal(&format!("{metric}-{name}-{}", others.join("-"))),
            format!("{} on {name}{under}", capitalized(metric.label())),
            label,
            vec![Panel::of(metric, series.collect())],
        )
    };
    results.settings.iter().filter(|setting| setting.0[column] == 0).map(figure).collect()
}

/// Charts of a metric with its label and unit, on a logarithmic axis where one value is more than ten times another.
fn in_units(metric: Metric, mut shown: Vec<Shown>) -> Vec<Shown> {
    for (picture, _) in shown.iter_mut().flat_map(|shown| &mut shown.pictures) {
        let Picture::Chart(chart) = picture else { continue };
        let values = || chart.series.iter().flat_map(|series| &series.points).map(|point| point.y);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        let label = metric.label();
        let log = low > 0.0 && high > 10.0 * low;
        let axis = match metric.unit() {
            // Each tick of a logarithmic axis of spans has its unit.
            "s" if log => Axis::of_spans(label),
            "s" => Axis::of_spans(format!("{label} (s)")),
            "" => Axis::new(label),
            unit => Axis::new(format!("{label} ({unit})")),
        };
        chart.y = Axis { log, ..axis };
    }
    shown
}

/// Policies that differ significantly from the baseline in some metric at `at`, and the baseline.
fn pairs_that_differ(results: &Results<'_>, at: LogAt) -> Vec<usize> {
    let design = results.design;
    let differs = |policy: &usize| {
        design.metrics.iter().any(|metric| {
            let difference = results.difference(at, *policy, design.baseline, metric);
            difference.is_some_and(|difference| better(metric, &difference).is_some())
        })
    };
    (0..design.policies.len()).filter(|policy| *policy == design.baseline || differs(policy)).collect()
}

fn distribution(results: &Results<'_>, log: usize) -> Option<Shown> {
    let design = results.design;
    let at = LogAt { log, setting: 0 };
    let shown = pairs_that_differ(results, at);
    let id = legal(&format!("waits-{}", design.logs[log].name));
    let mut rows: Vec<DataRow> = Vec::new();
    let quantiles = catalogue().iter().filter_map(|metric| Some((metric, metric.share_of_waits()?)));
    let mut quantiles: Vec<(Metric, f64)> = quantiles.collect();
    quantiles.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut series = Vec::new();
    for policy in &shown {
        let name = design.policies[*policy].name();
        let mut points = Vec::new();
        for (metric, share) in &quantiles {
            let Some(mean) = results.mean(at, *policy, metric) else { continue };
            points.push(point(*share, &mean));
            rows.push((name.to_owned(), share.to_string(), metric.to_string(), mean));
        }
        series.push(Series::lines(name, points).in_slot(*policy));
    }
    if shown.len() < 2 || rows.is_empty() {
        return None;
    }
    let title = format!("Waits on {}{}", design.logs[log].name, under(results, 0));
    let chart = Chart::new(id, title, Axis::new("share of the jobs (%)"), Axis::of_spans("wait below (s)"), series);
    let caption = "The distribution of waits, as quantiles averaged over replications: that percentage of the jobs wait less. Shown \
                   are the baseline and the policies that differ from it under some metric.";
    Some(Shown::picture(chart, caption, rows))
}

/// Waits under the baseline in the first replication, in order of submission, and the beginning of the window.
fn warm_up(results: &Results<'_>, plan: &ExperimentPlan, log: usize) -> Result<Shown> {
    const POINTS: usize = 120;
    let design = results.design;
    let held = &plan.held[log];
    let (base, _) = held.replication(design, 1.0, 0)?;
    let input = held.input(&base, &design.logs[log], design, &results.settings[0], 0);
    let (placements, _) = input.replayed(&design.policies[design.baseline], design.seed)?;
    let (from, to) = design.window.of(&input.jobs, &placements);
    let waits = waits(&input.jobs, &placements);
    let batch = waits.len().div_ceil(POINTS).max(1);
    let id = legal(&format!("warm-up-{}", design.logs[log].name));
    let mut rows: Vec<DataRow> = Vec::new();
    let mut parts: [Vec<Point>; 2] = [Vec::new(), Vec::new()];
    for (position, chunk) in waits.chunks(batch).enumerate() {
        let mean = chunk.iter().sum::<f64>() / as_f64(chunk.len());
        let submit = input.jobs[(position * batch).min(input.jobs.len() - 1)].submit;
        let days = submit.as_secs_f64() / 86_400.0;
        let counts = submit >= from && submit <= to;
        let name = ["left out", "counted"][usize::from(counts)];
        rows.push((name.to_owned(), days.to_string(), "wait".to_owned(), seen(mean)));
        parts[usize::from(counts)].push(Point::new(days, mean));
    }
    let [left_out, counted] = parts;
    let title = format!("Jobs left out of {}", design.logs[log].name);
    let (x, y) = (Axis::new("submission (days)"), Axis::of_spans("mean wait of successive jobs (s)"));
    let series =
        vec![Series::marks("left out", left_out).in_slot(WORSE), Series::marks("counted", counted).in_slot(BETTER)];
    let chart = Chart::new(id, title, x, y, series);
    let percent = results
        .mean(LogAt { log, setting: 0 }, design.baseline, metrics::Metric::of("left_out_percent"))
        .map_or(0.0, |mean| mean.mean);
    let name = design.policies[design.baseline].name();
    let caption = format!(
        "The first replication under {name}. Over all replications {percent:.1} % of the jobs are left out; the same ones for every \
         policy."
    );
    Ok(Shown::picture(chart, caption, rows))
}

fn under(results: &Results<'_>, setting: usize) -> String {
    let words = results.design.in_words(&results.settings[setting]);
    if words.is_empty() { words } else { format!(" ({words})") }
}

fn point(x: f64, estimate: &ConfidenceInterval) -> Point {
    let reps = u32::try_from(estimate.replications).unwrap_or(u32::MAX);
    let point = Point::new(x, estimate.mean).over(reps);
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => point.within(low, high),
        _ => point,
    }
}

/// A file name that is valid on every system.
fn legal(text: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "-_.=+".contains(letter) { letter } else { '-' };
    text.trim_end_matches('-').chars().map(plain).collect()
}
