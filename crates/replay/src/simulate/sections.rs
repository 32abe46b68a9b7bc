//! The page of a simulation in its order: the comparison, how jobs fared, for whom, over time, and the schedules.

use super::compare::{Difference, best_in_words, difference, differences, unit};
use super::report::Report;
use super::schedules::{figure, schedules, section, unit_of_time};
use super::world::Run;
use crate::label::Label;
use crate::units::{cell, count, readable};
use lab::chart::{Axis, Chart, Point, Series, fixed, significant};
use lab::page::{Part, Section, Table};
use metrics::sums::Fared;
use metrics::{ConfidenceInterval, JobClass, Metric, MetricSummary};
use sim_core::Time;

const USERS: usize = 10;

pub(super) fn sections(report: &Report<'_>) -> Vec<Section> {
    let all = [comparison(report), distributions(report), classes(report), over_time(report), schedules(report)];
    all.into_iter().filter(|section| !section.parts.is_empty()).collect()
}

fn names(runs: &[Run]) -> impl Iterator<Item = String> {
    runs.iter().map(|run| run.name.clone())
}

/// Every policy against the baseline: words, a picture, and the numbers.
fn comparison(report: &Report<'_>) -> Section {
    let differences = differences(report.runs, report.baseline);
    let mut words = best_in_words(report.runs);
    words.extend(differences.iter().filter(|one| one.metric.is_in_sentences()).map(Difference::in_words));
    words.extend(report.saturated());
    if !differences.is_empty() {
        words.push(
            "Each difference is that of the means over jobs. Its interval rests on blocks of the log: a block ends when no job waits \
             under either policy, after a week or more."
                .to_owned(),
        );
        words.push(
            "The best policy by each metric is among the one named and those without a significant difference from it, with 95 % at \
             least: all pairs are compared at a level that allows for their number (multiple comparisons with the best)."
                .to_owned(),
        );
    }
    let mut parts = Vec::new();
    if differences.iter().any(|one| one.interval.low.is_some()) {
        let caption = "Differences with 95 % intervals, in percent of the baseline's mean. Below zero is better; where an \
                       interval covers zero, the difference is not significant. Slowdown that is not bounded, whose interval \
                       would dwarf the others, is in the table alone.";
        parts.push(figure(relative(report, &differences), caption));
    }
    parts.push(overview(report));
    if !differences.is_empty() {
        let cell = |end: Option<f64>| end.map_or_else(String::new, significant);
        let row = |one: &Difference<'_>| {
            let (name, unit) = (one.metric.short_label(), unit(one.metric));
            let interval = &one.interval;
            vec![
                format!("{name}{}", if unit.is_empty() { String::new() } else { format!(" ({})", unit.trim()) }),
                one.policy.to_owned(),
                significant(interval.mean),
                cell(interval.low),
                cell(interval.high),
                interval.blocks.to_string(),
                interval.correlation.map_or_else(String::new, |correlation| fixed(correlation, 2)),
            ]
        };
        let title = format!("Differences to {}, in numbers", report.runs[report.baseline].name);
        let mut columns = vec!["mean", "policy", "difference", "from", "to", "blocks", "correlation"];
        let mut rows: Vec<Vec<String>> = differences.iter().map(row).collect();
        if differences.iter().all(|one| one.interval.low.is_none()) {
            columns.drain(3..5);
            rows.iter_mut().for_each(|row| drop(row.drain(3..5)));
        }
        let caption = "Also in differences.csv. Correlation is that of neighbouring blocks: above 0.3 the interval is too narrow.";
        parts.push(Part::Table(Table::new("differences-table", title, caption, columns, rows)));
    }
    let title = if report.runs.len() > 1 { "Which policy is better?" } else { "How the policy did" };
    section("comparison", title, words, parts)
}

/// Differences in percent of the baseline's mean, so that all metrics have one axis.
fn relative(report: &Report<'_>, differences: &[Difference<'_>]) -> Chart {
    // A few jobs of a few seconds make the mean of what is not bounded.
    let is_drawn = |one: &&Difference<'_>| one.metric.warning().is_none();
    let mut metrics: Vec<&Metric> = differences.iter().filter(is_drawn).map(|one| one.metric).collect();
    metrics.dedup();
    let place = |metric: &Metric| metrics.iter().position(|known| *known == metric).map_or(0, |k| k + 1);
    #[expect(clippy::cast_precision_loss, reason = "a handful")]
    let x = |metric: &Metric| place(metric) as f64;
    let point = |one: &Difference<'_>| {
        let share = |value: f64| 100.0 * value / one.of_baseline.abs();
        let (low, high) = (one.interval.low?, one.interval.high?);
        let blocks = u32::try_from(one.interval.blocks).ok()?;
        let point = Point::new(x(one.metric), share(one.interval.mean)).within(share(low), share(high)).over(blocks);
        point.y.is_finite().then_some(point)
    };
    let others = report.runs.iter().enumerate().filter(|(slot, _)| *slot != report.baseline);
    let series = others.map(|(slot, run)| {
        let points = differences.iter().filter(is_drawn).filter(|one| one.policy == run.name);
        let points = points.filter_map(point).collect();
        Series::marks(run.name.clone(), points).in_slot(slot)
    });
    let baseline = &report.runs[report.baseline].name;
    let ticks = metrics.iter().map(|metric| (x(metric), metric.short_label().to_owned())).collect();
    let x = Axis::new("mean over jobs").with_ticks(ticks);
    let y = Axis { signed: true, ..Axis::new(format!("difference to {baseline} (% of its mean)")) };
    let title = format!("Differences to {baseline}");
    Chart { observations: "blocks", ..Chart::new("differences", title, x, y, series.collect()) }
}

/// What most readers look for first, a row for each policy.
fn overview(report: &Report<'_>) -> Part {
    let measured = report.runs[0].columns.iter().map(|(metric, _)| *metric);
    let shown =
        measured.filter(|metric| metric.is_in_overview() && report.runs.iter().any(|run| run.value(metric).is_some()));
    let row = |metric: &Metric| {
        let cells = report.runs.iter().map(|run| cell(metric, run.value(metric), readable));
        std::iter::once(metric.in_words()).chain(cells).collect()
    };
    let caption = "Over jobs. Slowdown is bounded at 10 s.";
    let columns = std::iter::once("metric".to_owned()).chain(names(report.runs));
    Part::Table(Table::new("overview", "The policies", caption, columns, shown.map(row).collect()))
}

/// How many jobs waited how long, and were slowed down how much.
fn distributions(report: &Report<'_>) -> Section {
    let curve = |id: &str, title: &str, x: &str, y: &str, least: f64, of: &dyn Fn(&Run) -> &MetricSummary| {
        let series = report
            .runs
            .iter()
            .enumerate()
            .map(|(slot, run)| Series::lines(run.name.clone(), distribution(of(run), least)).in_slot(slot));
        let chart = Chart::new(id, title, Axis { log: true, ..Axis::new(x) }, Axis::new(y), series.collect());
        // Where all jobs fared alike, there is no curve.
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
        "wait (s); up to 1 s is drawn at 1",
        "jobs that waited no longer (%)",
        1.0,
        &|run| run.outcome.watched.totals.sums.summary.wait(),
    );
    let slowdown = curve(
        "bounded-slowdown-distribution",
        "Distribution of bounded slowdown",
        "bounded slowdown",
        "jobs that were slowed down no more (%)",
        1.0,
        &|run| run.outcome.watched.totals.sums.summary.bounded_slowdown(),
    );
    section("distributions", "How jobs fared", Vec::new(), wait.into_iter().chain(slowdown).collect())
}

/// Points of a distribution function, in percent; values up to `least` are drawn there.
fn distribution(metric: &MetricSummary, least: f64) -> Vec<Point> {
    const STEPS: u32 = 240;
    let mut points: Vec<Point> = Vec::new();
    for step in 1..=STEPS {
        let share = f64::from(step) / f64::from(STEPS);
        let Some(value) = metric.quantile(share) else { return points };
        let point = Point::new(value.max(least), 100.0 * share);
        match points.last_mut() {
            // Of equal values the last tells how many there are.
            Some(last) if (last.x - point.x).abs() <= 1e-3 * point.x => *last = point,
            _ => points.push(point),
        }
    }
    points
}

/// Short and long, narrow and wide jobs; users.
fn classes(report: &Report<'_>) -> Section {
    let totals = &report.runs[0].outcome.watched.totals;
    let parts = if totals.sums.summary.jobs() > 0 {
        let mut parts = vec![
            class_table(report, "wait_mean", "wait (s)", |class| class.wait.mean()),
            class_table(report, "bounded_slowdown_mean", "bounded slowdown", |class| class.bounded_slowdown.mean()),
        ];
        let users = totals.sums.users.len();
        if users > 1 {
            parts.push(user_table(report, users));
        }
        parts
    } else {
        Vec::new()
    };
    section("classes", "For whom", Vec::new(), parts)
}

/// One metric of each class: means over jobs, and differences to the baseline over blocks of the log.
fn class_table(report: &Report<'_>, metric: &str, head: &str, of: fn(&Fared) -> Option<f64>) -> Part {
    let runs = report.runs;
    let base = &runs[report.baseline];
    let first = &base.outcome.watched.totals;
    let compared = || runs.iter().filter(|run| run.name != base.name);
    let row = |class: JobClass| {
        let k = class as usize;
        let mean = |run: &'_ Run| of(&run.outcome.watched.totals.sums.classes[k]).map_or_else(String::new, readable);
        let against = |run: &'_ Run| {
            let pair = [run, base].map(|run| (run, &run.outcome.watched.classes.blocks[k]));
            difference(pair, Metric::of(metric), ConfidenceInterval::LEVEL).map_or_else(String::new, |interval| {
                let mean = significant(interval.mean);
                match (interval.low, interval.high) {
                    (Some(low), Some(high)) => {
                        format!("{mean} [{}, {}]", significant(low), significant(high))
                    }
                    _ => mean,
                }
            })
        };
        let named = [class.name().to_owned(), count(first.sums.jobs_of(class))];
        named.into_iter().chain(runs.iter().map(mean)).chain(compared().map(against)).collect::<Vec<_>>()
    };
    let others = compared().map(|run| format!("{} − {}", run.name, base.name));
    let columns = ["jobs that are", "jobs"].map(str::to_owned).into_iter().chain(names(runs)).chain(others);
    let caption = "Short jobs run for an hour at most, narrow ones on eight processors at most (Srinivasan et al. 2002). Means over \
                   jobs; differences have their 95 % intervals over blocks of the log.";
    let title = format!("Classes of jobs: mean {head}");
    Part::Table(Table::new(format!("classes-{metric}"), title, caption, columns, JobClass::ALL.map(row).into()))
}

fn user_table(report: &Report<'_>, users: usize) -> Part {
    let runs = report.runs;
    let first = &runs[0].outcome.watched;
    let all = first.totals.sums.summary.work();
    let mean = |mean: Option<f64>| mean.map_or_else(String::new, readable);
    let rows = first.totals.sums.users.heaviest(USERS).into_iter().map(|(number, user)| {
        let of = |run: &Run| {
            let user = run.outcome.watched.totals.sums.users.get(number);
            let wait = user.and_then(|user| user.fared.wait.mean());
            (mean(wait), mean(user.and_then(|user| user.fared.bounded_slowdown.mean())))
        };
        let (waits, slowdowns): (Vec<String>, Vec<String>) = runs.iter().map(of).unzip();
        let name = first.classes.labels.get(&number).map_or_else(|| "unknown".to_owned(), Label::to_string);
        let share = significant(100.0 * user.work / all);
        [name, count(user.fared.wait.count()), share].into_iter().chain(waits).chain(slowdowns).collect()
    });
    let heads = |metric: &'static str| names(runs).map(move |name| format!("{metric}, {name}"));
    let columns = ["user", "jobs", "work (%)"].map(str::to_owned).into_iter();
    let columns = columns.chain(heads("wait (s)")).chain(heads("bounded slowdown"));
    let caption =
        format!("The {} of {users} users with most processor-seconds. Means over their jobs.", USERS.min(users));
    Part::Table(Table::new("users", "Users", caption, columns, rows.collect()))
}

fn over_time(report: &Report<'_>) -> Section {
    let (unit, seconds) = unit_of_time(report);
    let levels = |id: &str, title: &str, label: &str, scale: f64, of: fn(&Run) -> &[(Time, f64)]| {
        let series = report.runs.iter().map(|run| {
            let points = of(run).iter().map(|(at, mean)| Point::new(at.as_secs_f64() / seconds, scale * mean));
            Series::steps(run.name.clone(), points.collect())
        });
        let x = Axis::new(format!("time since the first submit ({unit})"));
        Chart { link: "time", ..Chart::new(id, title, x, Axis::new(label), series.collect()) }
    };
    let percent = 100.0 / f64::from(report.sites().processors());
    let busy = levels("utilization", "Utilization", "busy processors (%)", percent, |run| &run.outcome.watched.busy);
    let queue = levels("queue-length", "Queue length", "jobs waiting", 1.0, |run| &run.outcome.watched.waiting);
    let parts = vec![
        figure(busy, "Mean over slices of time; 100 % is the whole machine."),
        figure(
            queue,
            "Mean over slices of time. Where one policy's queue dwarfs another's, each has a scale of its own.",
        ),
    ];
    section("over-time", "Over time", Vec::new(), parts)
}
