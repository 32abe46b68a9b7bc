//! The pictures of an experiment, each with its data.

use super::answer::Answer;
use super::design::{Setting, Value};
use super::measure::{Cell, Metric, better};
use super::results::Results;
use crate::difference::capitalized;
use lab::chart::{Axis, Chart, Picture, Point, Series};
use lab::exhibit::{self, Exhibit, Figure, Panel};
use lab::quantity::DesignPoint as _;
use lab::shown::{DataRow, Shown};
use metrics::catalogue;

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

/// Distributions and classes of jobs.
pub(super) fn by_log(results: &Results<'_>) -> Vec<Shown> {
    let (design, answer) = (results.design, Answer::new(results));
    let of = |at: Cell| {
        let classes = answer.classes_on(&legal(&format!("classes-{}", design.logs[at.log].name)), at);
        classes.into_iter().chain(distribution(results, at))
    };
    results.places().filter(|at| at.setting == 0).flat_map(of).collect()
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
            points.push(Point::of(*share, &mean));
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

/// A file name that is valid on every system.
fn legal(text: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "-_.=+".contains(letter) { letter } else { '-' };
    text.trim_end_matches('-').chars().map(plain).collect()
}
