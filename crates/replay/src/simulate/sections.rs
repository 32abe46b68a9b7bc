//! The page of a simulation in its order: the comparison, distributions, classes and users, levels over time, and the schedules.

use super::answer;
use super::compare::differences;
use super::report::Report;
use super::schedules::{figure, schedules, section, unit_of_time};
use super::world::Run;
use crate::difference::{CAPTION, CLASSES, Difference, capitalized, unit};
use crate::label::Label;
use crate::options::start_of;
use crate::units::{amount, cells, count, range, readable};
use lab::chart::{Axis, Chart, Point, Series, fixed, significant};
use lab::page::{Part, Section, Table};
use metrics::sums::Fared;
use metrics::{JobClass, Metric, MetricSummary};
use sim_core::Time;

const USERS: usize = 10;

pub(super) fn sections(report: &Report<'_>) -> Vec<Section> {
    let all = [comparison(report), distributions(report), classes(report), over_time(report), schedules(report)];
    all.into_iter().filter(|section| !section.parts.is_empty()).collect()
}

fn names(runs: &[Run]) -> impl Iterator<Item = String> {
    runs.iter().map(|run| run.name.clone())
}

/// Every policy against the baseline: pictures, and the numbers.
fn comparison(report: &Report<'_>) -> Section {
    let differences = differences(report.runs, report.baseline);
    let has_intervals = differences.iter().any(|one| one.interval.low.is_some());
    let mut parts = Vec::new();
    if has_intervals {
        parts.extend(answer::overall(report).map(|forest| figure(forest, CAPTION)));
        let caption = format!("Number of jobs in brackets. {CLASSES}");
        parts.extend(answer::classes(report).map(|forest| figure(forest, &caption)));
    }
    parts.push(overview(report));
    if has_intervals {
        let caption = "Slowdown without a bound, whose interval would dwarf the others, is in the table alone.";
        parts.push(figure(answer::metrics(report), caption));
    }
    if !differences.is_empty() {
        parts.push(numbers(report, &differences, has_intervals));
    }
    let title = if report.runs.len() > 1 { "Comparison" } else { "Results" };
    section("comparison", title, Vec::new(), parts)
}

/// Differences with their intervals. Those of response times equal those of waits and are omitted.
fn numbers(report: &Report<'_>, differences: &[Difference<'_>], has_intervals: bool) -> Part {
    let has_waits = differences.iter().any(|one| one.metric.name() == "wait_mean");
    let shown = differences.iter().filter(|one| !(has_waits && one.metric.name() == "response_mean"));
    let row = |one: &Difference<'_>| {
        let (metric, estimate) = (one.metric, &one.interval);
        let interval = match (estimate.low, estimate.high) {
            (Some(low), Some(high)) => range(metric, low, high),
            _ => String::new(),
        };
        let significant = match (estimate.low, estimate.is_significant()) {
            (None, _) => "",
            (_, true) => "yes",
            (_, false) => "no",
        };
        let exact = format!("{}{}", readable(estimate.mean), unit(metric));
        let correlation = estimate.correlation.map_or_else(String::new, |correlation| fixed(correlation, 2));
        let texts = [
            metric.label().to_owned(),
            one.policy.to_owned(),
            amount(metric, estimate.mean),
            one.in_percent(),
            interval,
            significant.to_owned(),
            estimate.blocks.to_string(),
            correlation,
        ];
        (texts.to_vec(), vec![String::new(), String::new(), exact].into_iter().chain(vec![String::new(); 5]).collect())
    };
    let (mut rows, mut exact): (Vec<Vec<String>>, Vec<Vec<String>>) = shown.map(row).unzip();
    let mut columns =
        vec!["metric", "policy", "difference", "in percent", "95 % interval", "significant", "blocks", "correlation"];
    if !has_intervals {
        columns.drain(4..6);
        rows.iter_mut().chain(&mut exact).for_each(|row| drop(row.drain(4..6)));
    }
    let title = format!("Differences to {}, in numbers", report.runs[report.baseline].name);
    let caption = "Differences in response are those in wait. Correlation is that of neighbouring blocks: above 0.3 the interval is \
                   too narrow. differences.csv has all pairs.";
    Part::Table(Table { exact, ..Table::new("differences-table", title, caption, columns, rows) })
}

/// The main metrics, a row for each.
fn overview(report: &Report<'_>) -> Part {
    let measured = report.runs[0].columns.iter().map(|(metric, _)| *metric);
    let shown =
        measured.filter(|metric| metric.is_in_overview() && report.runs.iter().any(|run| run.value(metric).is_some()));
    let row = |metric: &Metric| {
        let name = if metric.unit() == "s" || metric.unit().is_empty() {
            metric.label().to_owned()
        } else {
            format!("{} ({})", metric.label(), metric.unit())
        };
        of_policies([name, String::new()], report.runs.iter().map(|run| cells(metric, run.value(metric))))
    };
    let (rows, exact) = shown.map(row).unzip();
    let caption = "Over jobs. Slowdown is bounded at 10 s.";
    let columns = std::iter::once("metric".to_owned()).chain(names(report.runs));
    Part::Table(Table { exact, ..Table::new("overview", "The policies", caption, columns, rows) })
}

/// Splits the cells of a row into their shown text and their exact values.
fn of_policies(first: [String; 2], cells: impl Iterator<Item = [String; 2]>) -> (Vec<String>, Vec<String>) {
    std::iter::once(first).chain(cells).map(|[shown, exact]| (shown, exact)).unzip()
}

/// Distributions of waits and of bounded slowdown.
fn distributions(report: &Report<'_>) -> Section {
    let curve = |id: &str, title: &str, x: Axis, y: &str, least: f64, of: &dyn Fn(&Run) -> &MetricSummary| {
        let series = report
            .runs
            .iter()
            .enumerate()
            .map(|(slot, run)| Series::lines(run.name.clone(), distribution(of(run), least)).in_slot(slot));
        let chart = Chart::new(id, title, Axis { log: true, ..x }, Axis::new(y), series.collect());
        // If all jobs have equal values, there is no curve.
        chart.series.iter().any(|series| series.points.len() > 1).then(|| {
            figure(
                chart,
                "A curve further to the left and above is better. The curves are exact to 0.1 % of their values.",
            )
        })
    };
    let wait = curve(
        "wait-distribution",
        "Distribution of waits",
        Axis::of_spans("wait; up to 1 s is drawn at 1 s"),
        "jobs that waited no longer (%)",
        1.0,
        &|run| run.outcome.watched.totals.sums.summary.wait(),
    );
    let slowdown = curve(
        "bounded-slowdown-distribution",
        "Distribution of bounded slowdown",
        Axis::new("bounded slowdown"),
        "jobs that were slowed down no more (%)",
        1.0,
        &|run| run.outcome.watched.totals.sums.summary.bounded_slowdown(),
    );
    section("distributions", "How jobs fared", Vec::new(), wait.into_iter().chain(slowdown).collect())
}

/// Points of a distribution function, in percent; smaller values are drawn at `least`.
fn distribution(metric: &MetricSummary, least: f64) -> Vec<Point> {
    const STEPS: u32 = 240;
    let mut points: Vec<Point> = Vec::new();
    for step in 1..=STEPS {
        let share = f64::from(step) / f64::from(STEPS);
        let Some(value) = metric.quantile(share) else { return points };
        let point = Point::new(value.max(least), 100.0 * share);
        match points.last_mut() {
            // The last of equal values has the share of all.
            Some(last) if (last.x - point.x).abs() <= 1e-3 * point.x => *last = point,
            _ => points.push(point),
        }
    }
    points
}

/// Short and long, narrow and wide jobs; users.
fn classes(report: &Report<'_>) -> Section {
    let totals = &report.runs[0].outcome.watched.totals;
    let mut parts = Vec::new();
    if totals.sums.summary.jobs() > 0 {
        let [wait, slowdown] = ["wait_mean", "bounded_slowdown_mean"].map(Metric::of);
        let of: [(&Metric, Of); 2] =
            [(wait, |fared| fared.wait.mean()), (slowdown, |fared| fared.bounded_slowdown.mean())];
        parts.extend(of.map(|(metric, of)| class_table(report, metric, of)));
        let users = totals.sums.users.len();
        if users > 1 {
            parts.extend(of.map(|(metric, of)| user_table(report, users, metric, of)));
        }
    }
    section("classes", "By class of jobs and user", Vec::new(), parts)
}

/// Mean of a metric over some jobs.
type Of = fn(&Fared) -> Option<f64>;

/// One metric of each class: means over jobs.
fn class_table(report: &Report<'_>, metric: &Metric, of: Of) -> Part {
    let runs = report.runs;
    let row = |class: JobClass| {
        let fared = |run: &Run| of(&run.outcome.watched.totals.sums.classes[class as usize]);
        let jobs = count(runs[report.baseline].outcome.watched.totals.sums.jobs_of(class));
        let first = [[class.name().to_owned(), String::new()], [jobs, String::new()]];
        first
            .into_iter()
            .chain(runs.iter().map(|run| cells(metric, fared(run))))
            .map(|[shown, exact]| (shown, exact))
            .unzip()
    };
    let (rows, exact): (Vec<Vec<String>>, _) = JobClass::ALL.map(row).into_iter().unzip();
    let columns = ["jobs that are", "jobs"].map(str::to_owned).into_iter().chain(names(runs));
    let title = capitalized(&format!("{} by class of jobs", metric.label()));
    Part::Table(Table { exact, ..Table::new(format!("classes-{metric}"), title, "Means over jobs.", columns, rows) })
}

fn user_table(report: &Report<'_>, users: usize, metric: &Metric, of: Of) -> Part {
    let runs = report.runs;
    let first = &runs[0].outcome.watched;
    let all = first.totals.sums.summary.work();
    let row = |(number, user): (Option<u32>, &metrics::sums::User)| {
        let fared = |run: &Run| run.outcome.watched.totals.sums.users.get(number).and_then(|user| of(&user.fared));
        let name = first.classes.labels.get(&number).map_or_else(|| "unknown".to_owned(), Label::to_string);
        let named = [name, count(user.fared.wait.count()), significant(100.0 * user.work / all)];
        let named = named.map(|text| [text, String::new()]);
        named
            .into_iter()
            .chain(runs.iter().map(|run| cells(metric, fared(run))))
            .map(|[shown, exact]| (shown, exact))
            .unzip()
    };
    let (rows, exact): (Vec<Vec<String>>, _) = first.totals.sums.users.heaviest(USERS).into_iter().map(row).unzip();
    let columns = ["user", "jobs", "work (%)"].map(str::to_owned).into_iter().chain(names(runs));
    let caption =
        format!("The {} of {users} users with most processor-seconds. Means over their jobs.", USERS.min(users));
    let title = capitalized(&format!("{} by user", metric.label()));
    Part::Table(Table { exact, ..Table::new(format!("users-{metric}"), title, caption, columns, rows) })
}

fn over_time(report: &Report<'_>) -> Section {
    let ((unit, seconds), start) = (unit_of_time(report), start_of(report.trace));
    let levels = |id: &str, title: &str, y: Axis, scale: f64, of: fn(&Run) -> &[(Time, f64)]| {
        let series = report.runs.iter().map(|run| {
            let points = of(run).iter().map(|(at, mean)| Point::new(at.as_secs_f64() / seconds, scale * mean));
            Series::steps(run.name.clone(), points.collect())
        });
        let series: Vec<Series> = series.collect();
        let longest = series.iter().flat_map(|series| &series.points).map(|point| point.x).fold(0.0, f64::max);
        let x = match unit {
            "days" => Axis::of_days("time since the first submit", start, longest),
            unit => Axis::new(format!("time since the first submit ({unit})")),
        };
        Chart::new(id, title, x, y, series)
    };
    let percent = 100.0 / f64::from(report.sites().processors());
    let mut busy = levels("utilization", "Utilization", Axis::new("busy processors (%)"), percent, |run| {
        &run.outcome.watched.busy
    });
    let mut caption = "Mean over slices of time; 100 % is the whole machine.".to_owned();
    if let Some(points) = utilization_differs_by(report.runs).filter(|points| *points < 1.0) {
        // Policies with nearly the same utilization have no colours of their own here.
        for (slot, series) in busy.series.iter_mut().enumerate() {
            series.is_hidden = slot != report.baseline;
            series.slot = Some(GREY);
        }
        caption += &format!(
            " Under {}; under the other policies utilization differs by less than {} points over the whole log.",
            report.runs[report.baseline].name,
            if points < 0.1 { "0.1" } else { "1" }
        );
    }
    // If one policy's queue is ten times another's, the other would be a flat line.
    let peaks =
        report.runs.iter().map(|run| run.outcome.watched.waiting.iter().map(|(_, mean)| *mean).fold(0.0, f64::max));
    let (least, most) = peaks.fold((f64::INFINITY, 0.0_f64), |(least, most), peak| (least.min(peak), most.max(peak)));
    let y = Axis { log: least > 0.0 && most >= 10.0 * least, ..Axis::new("jobs waiting") };
    let queue = levels("queue-length", "Queue length", y, 1.0, |run| &run.outcome.watched.waiting);
    let levels = if queue.y.log {
        "Mean over slices of time, on a logarithmic axis: one policy's queue is ten times another's. Empty queues are at the lower edge."
    } else {
        "Mean over slices of time."
    };
    let parts = vec![figure(busy, &caption), figure(queue, levels)];
    section("over-time", "Over time", Vec::new(), parts)
}

/// The slot of a neutral colour.
const GREY: usize = 6;

/// Range of the utilization over several policies, in percentage points; `None` for one policy.
fn utilization_differs_by(runs: &[Run]) -> Option<f64> {
    let values: Option<Vec<f64>> = runs.iter().map(|run| run.value(Metric::of("utilization"))).collect();
    let values = values.filter(|values| values.len() > 1)?;
    let (least, most) =
        values.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), one| (least.min(*one), most.max(*one)));
    Some(100.0 * (most - least))
}
