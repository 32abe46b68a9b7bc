//! The page of a simulation in its order: the comparison, distributions, classes and users, levels over time, and the schedules.

use super::report::Simulation;
use super::rows::SimulatedJob;
use super::watch::Outcome;
use super::world::Run;
use crate::label::Label;
use crate::options::start_of;
use lab::chart::{Axis, Bar, Chart, Gantt, Picture, Point, Series, extremes, fixed};
use lab::difference::{CAPTION, CLASSES, Difference, capitalized, unit};
use lab::page::{Figure, Part, Section};
use lab::units::{alone, amount, amount_within, cells, count, percent, range, readable, span, table};
use metrics::sums::{Breakdown, Portion};
use metrics::{JobClass, Mean, Metric, MetricSummary, Refusal, Totals};
use sim_core::{JobRecord, Time};

/// Rows of a breakdown, before that of the others.
const MOST: usize = 10;

pub(super) fn sections(report: &Simulation) -> Vec<Section> {
    let all = [comparison(report), distributions(report), breakdowns(report), over_time(report), schedules(report)];
    all.into_iter().filter(|section| !section.parts.is_empty()).collect()
}

fn comparison(report: &Simulation) -> Section {
    let compared = report.compared();
    let differences = compared.to_baseline();
    let has_intervals = differences.iter().any(|one| one.interval.low.is_some());
    let mut parts = Vec::new();
    if has_intervals {
        parts.extend(compared.overall(&differences).map(|forest| figure(forest, CAPTION)));
        let caption = format!("Number of jobs in brackets. {CLASSES}");
        parts.extend(compared.classes(&differences).map(|forest| figure(forest, &caption)));
    }
    parts.push(overview(report));
    if has_intervals {
        let caption = "The unbounded slowdown, whose interval is much wider, is in the table only.";
        parts.push(figure(compared.metrics(&differences), caption));
    }
    if !differences.is_empty() {
        parts.push(numbers(report, &differences, has_intervals));
    }
    let title = if report.runs.len() > 1 { "Comparison" } else { "Results" };
    section("comparison", title, Vec::new(), parts)
}

/// Differences with their intervals. Those of response times equal those of waits and are omitted.
fn numbers(report: &Simulation, differences: &[Difference<'_>], has_intervals: bool) -> Part {
    let has_waits = differences.iter().any(|one| one.metric.name() == "wait_mean");
    let shown = differences.iter().filter(|one| !(has_waits && one.metric.name() == "response_mean"));
    let row = |one: &Difference<'_>| {
        let (metric, estimate) = (one.metric, &one.interval);
        let exact = format!("{}{}", readable(estimate.mean), unit(metric));
        let ends = estimate.low.zip(estimate.high);
        let interval = ends.map(|(low, high)| range(metric, estimate.mean, low, high));
        let verdict = match (&interval, estimate.refused) {
            (None, Some(Refusal::Saturated)) => "saturated",
            (None, _) => "",
            _ if estimate.is_significant() => "yes",
            _ => "no",
        };
        let correlation = estimate.correlation.map_or_else(String::new, |correlation| fixed(correlation, 2));
        let difference =
            [alone(metric.label()), alone(one.policy), [amount_within(metric, estimate.mean, ends), exact]];
        let intervals = [interval.unwrap_or_default(), verdict.to_owned()].map(alone);
        let rest = [alone(estimate.blocks.to_string()), alone(correlation)];
        [&difference[..], &[alone(one.in_percent())], if has_intervals { &intervals } else { &[] }, &rest].concat()
    };
    let intervals: &[&str] = if has_intervals { &["95 % interval", "significant"] } else { &[] };
    let columns = [&["metric", "policy", "difference", "in percent"], intervals, &["blocks", "correlation"]].concat();
    let title = format!("Differences to {}, in numbers", report.runs[report.baseline].policy.label);
    let caption = "Differences in response time equal those in wait. The correlation is that of neighbouring blocks; above 0.3 the \
                   interval is too narrow. differences.csv has all pairs.";
    Part::Table(table(["differences-table", &title, caption], columns, shown.map(row)))
}

/// Returns the most important metrics, a row for each. If the log has waits, it is a column beside the policies.
fn overview(report: &Simulation) -> Part {
    let log = report.runs[0].outcome.log.as_ref().filter(|log| log.sums.summary.jobs > 0);
    let of_log = log.map(Totals::row).unwrap_or_default();
    let measured = report.runs[0].columns.iter().map(|(metric, _)| *metric);
    let shown =
        measured.filter(|metric| metric.is_in_overview() && report.runs.iter().any(|run| run.value(metric).is_some()));
    let row = |metric: &Metric| {
        let name = match metric.unit() {
            "s" | "" => metric.label().to_owned(),
            unit => format!("{} ({unit})", metric.label()),
        };
        let of_log = of_log.iter().filter(|(known, _)| *known == metric).map(|(_, value)| cells(metric, *value));
        let of_policies = report.runs.iter().map(|run| cells(metric, run.value(metric)));
        std::iter::once(alone(name)).chain(of_policies).chain(of_log).collect()
    };
    let mut caption = "Means and percentiles over jobs. Bounded slowdown has a bound of 10 s.".to_owned();
    let (wait, baseline) = (Metric::of("wait_mean"), &report.runs[report.baseline]);
    let on_machine = log.and_then(|log| log.sums.summary.wait.mean());
    if let Some((simulated, logged)) = baseline.value(wait).zip(on_machine) {
        let [simulated, logged] = [simulated, logged].map(|mean| amount(wait, mean));
        let simulated = format!("in the simulation under {} {simulated}", baseline.policy.label);
        caption += &format!(
            " In the log itself jobs waited {logged} on average, {simulated}. A large difference means that the site had rules, \
             priorities or outages that the simulation lacks."
        );
    }
    let mut table = report.table(["overview", "The policies", &caption], &["metric"], shown.map(row));
    if !of_log.is_empty() {
        table.columns.push("the log itself".to_owned());
        table.heads.push(String::new());
    }
    Part::Table(table)
}

fn distributions(report: &Simulation) -> Section {
    let curve = |id: &str, title: &str, x: Axis, of: fn(&Run) -> &MetricSummary| {
        let points = |(slot, run)| named(run, Series::lines("", distribution(of(run)))).in_slot(slot);
        let y = format!("jobs with at most this {} (%)", id.trim_end_matches("-distribution").replace('-', " "));
        let series: Vec<Series> = report.runs.iter().enumerate().map(points).collect();
        // If all jobs have equal values, there is no curve.
        let is_curve = series.iter().any(|series| series.points.len() > 1);
        let chart = Chart::new(id, title, Axis { log: true, ..x }, Axis::new(y), series);
        is_curve.then(|| figure(chart, "Higher and further left is better. Values are exact to 0.1 %."))
    };
    let x = Axis::of_spans("wait (below 1 s drawn at 1 s)");
    let wait = curve("wait-distribution", "Distribution of waits", x, |run| &run.sums().summary.wait);
    let (id, title) = ("bounded-slowdown-distribution", "Distribution of bounded slowdown");
    let slowdown = curve(id, title, Axis::new("bounded slowdown"), |run| &run.sums().summary.bounded_slowdown);
    section("distributions", "Distributions", Vec::new(), wait.into_iter().chain(slowdown).collect())
}

fn named(run: &Run, series: Series) -> Series {
    Series { name: run.policy.label.clone(), about: run.full_name(), ..series }
}

/// Points of a distribution function, in percent; values below 1 are drawn at 1.
fn distribution(metric: &MetricSummary) -> Vec<Point> {
    const STEPS: u32 = 240;
    let mut points: Vec<Point> = Vec::new();
    for step in 1..=STEPS {
        let share = f64::from(step) / f64::from(STEPS);
        let Some(value) = metric.quantile(share) else { return points };
        let point = Point::new(value.max(1.0), 100.0 * share);
        match points.last_mut() {
            // The last of equal values has the share of all.
            Some(last) if (last.x - point.x).abs() <= 1e-3 * point.x => *last = point,
            _ => points.push(point),
        }
    }
    points
}

type By = (&'static str, fn(&Outcome) -> &Breakdown);

const KINDS: [By; 4] = [
    ("class", |watched| &watched.totals.sums.classes),
    ("user", |watched| &watched.totals.sums.users),
    ("group", |watched| &watched.groups),
    ("partition", |watched| &watched.partitions),
];

fn breakdowns(report: &Simulation) -> Section {
    let (mut parts, mut missing, first) = (Vec::new(), Vec::new(), &report.runs[0].outcome);
    for (kind, by) in KINDS.into_iter().filter(|_| first.totals.sums.summary.jobs > 0) {
        if kind != "class" && by(first).heaviest().len() < 2 {
            missing.push(kind);
            continue;
        }
        parts.push(breakdown(report, (kind, by), Metric::of("wait_mean"), |portion| &portion.wait));
        let slowdown = Metric::of("bounded_slowdown_mean");
        parts.push(breakdown(report, (kind, by), slowdown, |portion| &portion.bounded_slowdown));
    }
    let words = format!("No table by {}: the log names at most one.", missing.join(" or by "));
    let words = if missing.is_empty() { Vec::new() } else { vec![words] };
    section("classes", "By class, user, group and partition", words, parts)
}

/// One metric of each class, or of the users, groups or partitions with most work and of the others together: means over jobs.
fn breakdown(report: &Simulation, (kind, by): By, metric: &Metric, of: fn(&Portion) -> &Mean) -> Part {
    let first = &report.runs[0].outcome;
    let all =
        if kind == "class" { JobClass::ALL.map(|class| Some(class as u32)).to_vec() } else { by(first).heaviest() };
    let row = |name: String, numbers: &[Option<u32>]| {
        let portions = report.runs.iter().map(|run| by(&run.outcome).together(numbers));
        let Portion { work, wait, .. } = by(first).together(numbers);
        let share = 100.0 * work / first.totals.sums.summary.work();
        let named = [name, count(wait.count()), percent(share)].map(alone);
        named.into_iter().chain(portions.map(|portion| cells(metric, of(&portion).mean()))).collect()
    };
    let name = |number: Option<u32>| match (kind, number) {
        ("class", Some(class)) => JobClass::ALL[class as usize].name().to_owned(),
        ("user", Some(user)) => first.users.get(&number).map_or_else(|| user.to_string(), Label::to_string),
        (_, Some(number)) => number.to_string(),
        (_, None) => "unknown".to_owned(),
    };
    // A single other one has a row of its own.
    let (shown, others) = all.split_at(if all.len() == MOST + 1 { all.len() } else { MOST.min(all.len()) });
    let mut rows: Vec<_> = shown.iter().map(|number| row(name(*number), &[*number])).collect();
    rows.extend((!others.is_empty()).then(|| row(format!("{} others", others.len()), others)));
    let most =
        format!("The {MOST} {kind}s with most processor-seconds, and the others together. Means over their jobs.");
    let caption = match (kind, others) {
        ("class", _) => "Means over jobs.",
        (_, []) => "In order of processor-seconds. Means over their jobs.",
        _ => &most,
    };
    let title = capitalized(&format!("{} by {kind}", metric.short_label()));
    let texts = [&format!("by-{kind}-{metric}"), &title, caption];
    Part::Table(report.table(texts, &[kind, "jobs", "work"], rows))
}

fn over_time(report: &Simulation) -> Section {
    let ((unit, seconds), start) = (unit_of_time(report), start_of(report.trace()));
    let levels = |id: &str, title: &str, y: Axis, scale: f64, of: fn(&Run) -> &[(Time, f64)]| {
        let series = report.runs.iter().map(|run| {
            let points = of(run).iter().map(|(at, mean)| Point::new(at.as_secs_f64() / seconds, scale * mean));
            named(run, Series::steps("", points.collect()))
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
    let mut busy =
        levels("utilization", "Utilization", Axis::new("busy processors (%)"), percent, |run| &run.outcome.busy);
    let mut caption = "Mean over slices of time; 100 % is the whole machine.".to_owned();
    let values: Option<Vec<f64>> = report.runs.iter().map(|run| run.value(Metric::of("utilization"))).collect();
    let range = values.and_then(|values| extremes(values.into_iter())).filter(|_| report.runs.len() > 1);
    let points = range.map(|(least, most)| 100.0 * (most - least));
    if let Some(points) = points.filter(|points| *points < 1.0) {
        // Policies with nearly the same utilization have no colours of their own here.
        for (slot, series) in busy.series.iter_mut().enumerate() {
            series.is_hidden = slot != report.baseline;
            series.slot = Some(GREY);
        }
        let (label, most) = (&report.runs[report.baseline].policy.label, if points < 0.1 { "0.1" } else { "1" });
        let others =
            format!("under the other policies utilization differs by less than {most} points over the whole log");
        caption += &format!(" Under {label}; {others}.");
    }
    // If one policy's queue is ten times another's, the other would be a flat line.
    let peaks = report.runs.iter().map(|run| run.outcome.waiting.iter().map(|(_, mean)| *mean).fold(0.0, f64::max));
    let log = extremes(peaks).is_some_and(|(least, most)| least > 0.0 && most >= 10.0 * least);
    let y = Axis { log, ..Axis::new("jobs waiting") };
    let queue = levels("queue-length", "Queue length", y, 1.0, |run| &run.outcome.waiting);
    let levels = if queue.y.log {
        "Mean over slices of time, on a logarithmic axis. Empty queues are at the lower edge."
    } else {
        "Mean over slices of time."
    };
    let parts = vec![figure(busy, &caption), figure(queue, levels)];
    section("over-time", "Over time", Vec::new(), parts)
}

/// The slot of a neutral colour.
const GREY: usize = 6;

const DRAWN: &str = "Each job is drawn on the processors of lowest number that were free on its site; the policies do not distinguish processors. \
                       Processors are numbered on through the sites. A job has one colour under every policy.";

/// A chart for each policy, if the log is small enough.
fn schedules(report: &Simulation) -> Section {
    let (unit, seconds) = unit_of_time(report);
    let drawn = report.runs.iter().map(|run| (run, bars(run.outcome.drawable(report.runs.len()), seconds)));
    let drawn: Vec<_> = drawn.filter(|(_, bars)| !bars.is_empty()).collect();
    // Equal time axes, so that policies can be compared by eye.
    let spans = drawn.iter().map(|(_, bars)| Gantt::stay(bars));
    let span = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    let sites = report.sites().first_processors().filter(|_| report.sites().names.len() > 1);
    let sites: Vec<(u32, String)> = sites.map(|(first, name)| (first, name.to_owned())).collect();
    let words = Vec::from_iter((!drawn.is_empty()).then(|| DRAWN.to_owned()));
    let chart = |(run, bars): (&Run, Vec<Bar>)| {
        let gantt = Gantt {
            id: format!("gantt-{}", run.policy.name),
            title: format!("Schedule under {}", run.policy.label),
            time: format!("time since the first submit ({unit})"),
            processors: report.sites().processors(),
            sites: sites.clone(),
            span,
            bars,
        };
        figure(gantt, "")
    };
    section("schedules", "Schedules", words, drawn.into_iter().map(chart).collect())
}

/// Jobs by their starts; times in units of this many seconds.
fn bars(mut jobs: Vec<(&SimulatedJob, &JobRecord)>, seconds: f64) -> Vec<Bar> {
    jobs.sort_by_key(|(_, record)| (record.start, record.job.id));
    let bar = |(job, record): (&SimulatedJob, &JobRecord)| Bar {
        job: Label::of_job(&job.log).to_string(),
        start: record.start.as_secs_f64() / seconds,
        end: record.finish.as_secs_f64() / seconds,
        processors: job.processors.to_vec(),
        facts: facts(job, record),
        slot: Some(record.job.id.0 as usize % 6),
    };
    jobs.into_iter().map(bar).collect()
}

/// The text of a job under the pointer.
fn facts(SimulatedJob { log, processors, .. }: &SimulatedJob, record: &JobRecord) -> Vec<String> {
    let at = |time: Time| span(time.as_secs_f64());
    let user = Label::of_user(log).map_or_else(String::new, |user| format!("user {user}, "));
    let blocks = processors.iter().map(|&(first, count)| match count {
        1 => first.to_string(),
        _ => format!("{first}–{}", first + (count - 1)),
    });
    let blocks: Vec<String> = blocks.take(4).collect();
    let more = if processors.len() > blocks.len() { ", …" } else { "" };
    let requested = log.record.requested_time.map(|time| format!("requested {}, ", span(time.as_secs_f64())));
    let requested = requested.unwrap_or_default();
    vec![
        format!("{user}{} processors ({}{more})", record.processors, blocks.join(", ")),
        format!("{requested}ran {}", span(record.finish.since(record.start).as_secs_f64())),
        format!("submitted at {}", at(record.job.submit)),
        format!("started at {}", at(record.start)),
        format!("waited {}", span(record.wait().as_secs_f64())),
    ]
}

fn section(id: &str, title: &str, words: Vec<String>, parts: Vec<Part>) -> Section {
    Section { id: id.to_owned(), title: title.to_owned(), words, parts, folds: Vec::new() }
}

fn figure(picture: impl Into<Picture>, caption: &str) -> Part {
    let picture = picture.into();
    let data = picture.id().strip_prefix("gantt-").map(|policy| format!("{policy}/jobs.csv"));
    let data = data.unwrap_or_else(|| format!("data/{}.csv", picture.id()));
    Part::Figure(Box::new(Figure::new(picture, caption, data)))
}

/// Unit of time axes, and its seconds: days for a log, seconds for an example.
fn unit_of_time(report: &Simulation) -> (&'static str, f64) {
    let ends = report.runs.iter().filter_map(|run| run.outcome.busy.last());
    let longest = ends.map(|(at, _)| at.as_secs_f64()).fold(0.0, f64::max);
    if longest > 3.0 * 86_400.0 { ("days", 86_400.0) } else { ("s", 1.0) }
}
