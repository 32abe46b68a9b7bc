//! The pictures of an experiment, each with its data.

use super::answer::Answer;
use super::design::{Setting, Value};
use super::measure::{BETTER, Cell, Metric, WORSE, better, waits};
use super::plan::ExperimentPlan;
use super::results::Results;
use crate::difference::capitalized;
use crate::units::as_f64;
use anyhow::Result;
use lab::chart::{Axis, Chart, Picture, Point, Series};
use lab::exhibit::{self, Exhibit, Figure, Panel};
use lab::extra::seen;
use lab::quantity::DesignPoint as _;
use lab::shown::{DataRow, Shown};
use metrics::{ConfidenceInterval, catalogue};

/// A metric and its pictures.
type OfMetric = (Metric, Vec<Shown>);

/// The first metric: over the whole experiment, by class of jobs, and by log and setting.
pub(super) fn first(results: &Results<'_>) -> Vec<Shown> {
    let answer = Answer::new(results);
    let parts = answer.all_classes().into_iter().chain(answer.by_part(results.design.metrics[0]));
    [answer.overall()].into_iter().chain(parts).collect()
}

/// The other metrics.
pub(super) fn others(results: &Results<'_>) -> Vec<Shown> {
    let answer = Answer::new(results);
    let by_part = results.design.metrics[1..].iter().filter_map(|metric| answer.by_part(metric));
    answer.others().into_iter().chain(by_part).collect()
}

/// Distributions, classes of jobs, and left-out jobs.
pub(super) fn by_log(results: &Results<'_>, plan: &ExperimentPlan) -> Result<Vec<Shown>> {
    let (design, answer) = (results.design, Answer::new(results));
    let first: Vec<Cell> = results.places().filter(|at| at.setting == 0).collect();
    let of = |at: &Cell| {
        let at = *at;
        let classes = answer.classes_on(&legal(&format!("classes-{}", design.logs[at.log].name)), at);
        classes.into_iter().chain(distribution(results, at))
    };
    let mut shown: Vec<Shown> = first.iter().flat_map(of).collect();
    if design.window.cuts() {
        shown.extend(first.iter().map(|at| warm_up(results, plan, *at)).collect::<Result<Vec<_>>>()?);
    }
    Ok(shown)
}

/// Means over the values of a number that is varied, with their title, metric by metric; `None` if no number is varied.
pub(super) fn means(results: &Results<'_>) -> Option<(&'static str, Vec<OfMetric>)> {
    let design = results.design;
    let column = |name: &str| design.vary.iter().position(|values| values[0].name() == name && values.len() > 1);
    let column = ["load", "users", "procs"].into_iter().find_map(column)?;
    let (title, label) = match design.vary[column][0] {
        Value::Load(_) => ("Means by load", "load, relative to the log's own"),
        Value::Users(_) => ("Means by number of users", "users, relative to the log's own"),
        Value::Procs(_) | Value::Estimates(_) => ("Means by number of processors", "processors"),
    };
    let of_metric = |metric: Metric| {
        let of_log = |log| over(results, (column, label), metric, log);
        let figures: Vec<_> = (0..design.logs.len()).flat_map(of_log).map(Exhibit::Plot).collect();
        (metric, in_units(metric, results.shown(&figures)))
    };
    Some((title, design.metrics.iter().map(|metric| of_metric(metric)).collect()))
}

/// Means over the values of a column, one figure for each combination of the others.
fn over(results: &Results<'_>, (column, label): (usize, &str), metric: Metric, log: usize) -> Vec<Figure<Cell>> {
    let design = results.design;
    let figure = |first: &Setting| {
        let is_other = |(at, _): &(usize, &Value)| *at != column;
        let of = |setting: &Setting| -> Vec<Value> {
            setting.values.iter().enumerate().filter(is_other).map(|(_, value)| *value).collect()
        };
        let others = of(first).iter().map(|value| format!("{} {value}", value.name())).collect::<Vec<_>>();
        let series = design.policies.iter().enumerate().map(|(policy, named)| {
            let beside = results.settings.iter().enumerate().filter(|(_, other)| of(other) == of(first));
            let points = beside.filter_map(|(setting, other)| {
                let cell = Cell { log, setting, policy };
                results.mean(cell, metric)?;
                let x = match other.values[column] {
                    Value::Load(number) | Value::Users(number) => number,
                    Value::Procs(procs) => f64::from(procs),
                    Value::Estimates(_) => return None,
                };
                Some((x, cell.get(metric)))
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
    let is_first = |setting: &&Setting| setting.values[column] == design.vary[column][0];
    results.settings.iter().filter(is_first).map(figure).collect()
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

/// Distributions of waits of the baseline and of policies that differ from it significantly in some metric; `None` if none does.
fn distribution(results: &Results<'_>, at: Cell) -> Option<Shown> {
    let design = results.design;
    let differs = |cell: &Cell| {
        let difference = |metric: &Metric| results.estimate(&results.difference(*cell, metric));
        let is_significant = |metric: &Metric| difference(metric).is_some_and(|one| better(metric, &one).is_some());
        *cell == at || design.metrics.iter().any(is_significant)
    };
    let shown: Vec<Cell> = results.policies(at).filter(differs).collect();
    let quantiles = catalogue().iter().filter_map(|metric| Some((metric, metric.share_of_waits()?)));
    let mut quantiles: Vec<(Metric, f64)> = quantiles.collect();
    quantiles.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let (mut rows, mut series): (Vec<DataRow>, _) = (Vec::new(), Vec::new());
    for cell in &shown {
        let name = results.name(*cell);
        let mut points = Vec::new();
        for (metric, share) in &quantiles {
            let Some(mean) = results.mean(*cell, metric) else { continue };
            points.push(point(*share, &mean));
            rows.push((name.to_owned(), share.to_string(), metric.to_string(), mean));
        }
        series.push(Series::lines(name, points).in_slot(cell.policy));
    }
    if shown.len() < 2 || rows.is_empty() {
        return None;
    }
    let (id, title) = (legal(&format!("waits-{}", design.logs[at.log].name)), format!("Waits on {}", results.on(at)));
    let chart =
        Chart::new(id, title, Axis::new("share of the jobs (%)"), Axis::of_spans("quantile of the wait (s)"), series);
    let caption = "The distribution of waits, as quantiles averaged over replications: that percentage of the jobs wait less. Shown \
                   are the baseline and the policies that differ from it under some metric.";
    Some(Shown::picture(chart, caption, rows))
}

/// Waits under the baseline in the first replication, in order of submission, and the beginning of the window.
fn warm_up(results: &Results<'_>, plan: &ExperimentPlan, at: Cell) -> Result<Shown> {
    const POINTS: usize = 120;
    let (design, held) = (results.design, &plan.held[at.log]);
    let log = &design.logs[at.log];
    let (base, _) = held.replication(design, 1.0, 0)?;
    let input = held.input(&base, log, design, &results.settings[at.setting], 0);
    let (placements, _) = input.replayed(&design.policies[at.policy], design.seed)?;
    let (from, to) = design.window.of(&input.jobs, &placements);
    let waits = waits(&input.jobs, &placements);
    let batch = waits.len().div_ceil(POINTS).max(1);
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
    let (id, title) = (legal(&format!("warm-up-{}", log.name)), format!("Jobs left out of {}", log.name));
    let (x, y) = (Axis::new("submission (days)"), Axis::of_spans("mean wait of successive jobs (s)"));
    let series =
        vec![Series::marks("left out", left_out).in_slot(WORSE), Series::marks("counted", counted).in_slot(BETTER)];
    let percent = results.mean(at, metrics::Metric::of("left_out_percent")).map_or(0.0, |mean| mean.mean);
    let caption = format!(
        "The first replication under {}. Over all replications {percent:.1} % of the jobs are left out; the same ones for every \
         policy.",
        results.name(at)
    );
    Ok(Shown::picture(Chart::new(id, title, x, y, series), caption, rows))
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
