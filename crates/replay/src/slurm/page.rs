//! The page of a comparison of variants.

use super::results::{Arm, KINDS, VariantResults, of_groups};
use super::tables::{compared, sentences, spoken, with_half_width, with_interval};
use anyhow::Result;
use lab::chart::{Axis, Chart, Point, Series, fixed};
use lab::difference::{CAPTION, Difference, DifferencesTo, capitalized};
use lab::output::OutDir;
use lab::page::{self, Page, Table};
use lab::shown::{self, DataRow, Shown};
use lab::units::as_f64;
use metrics::{ConfidenceInterval, Metric, catalogue};

/// Number of groups of one kind on the page: those with the most jobs. breakdown.csv has all.
const SHOWN: usize = 12;

pub(super) fn write(
    results: &VariantResults<'_>,
    [title, command]: [&str; 2],
    seed: u64,
    notes: &[String],
    out: &OutDir,
) -> Result<()> {
    let mut exhibits = Vec::from_iter(differences(results));
    exhibits.push(waits(results));
    exhibits.extend(phases(results));
    exhibits.extend(KINDS.into_iter().filter_map(|by| of_groups_by(results, by)));
    let figures = shown::write(&exhibits, &[], out)?;
    let conf = &results.arms[0].site.conf;
    let named = |arm: &Arm| match arm.settings.join("; ") {
        settings if settings.is_empty() => arm.name.clone(),
        settings => format!("{} ({settings})", arm.name),
    };
    let names: Vec<String> = results.arms.iter().map(named).collect();
    let mut caveats = vec![format!(
        "Each variant runs under several phases of the controller's loops ({}), because a shift of a second changes which jobs start \
         first. The intervals hold for these jobs, not for those of another year. A processor is a whole node.",
        results.phases
    )];
    if results.has_log {
        caveats.push(
            "The column log is the schedule in the trace itself. It also differs from the baseline because of what the trace does not \
             contain: outages, reservations, omitted jobs, and settings that have changed since."
                .to_owned(),
        );
    }
    let means =
        "Over jobs; means over phases with the half-width of the 95 % interval. Compare by the paired differences.";
    let means = of_metrics(results, ["means", "All of summary.csv", means], 0, |arm, metric| {
        with_half_width(results.mean(None, arm, metric))
    });
    let paired = format!("To {}, paired by phase, with 95 % intervals.", results.names()[0]);
    let paired = of_metrics(results, ["differences", "Differences", &paired], 1, |arm, metric| {
        with_interval(results.difference(None, arm, metric), results.mean(None, 0, metric))
    });
    let page = Page {
        title: title.to_owned(),
        subtitle: format!(
            "{} on {} nodes, {} jobs, Slurm {}",
            names.join(", "),
            fixed(as_f64(conf.nodes.len()), 0),
            fixed(as_f64(results.jobs.len()), 0),
            results.arms[0].site.version
        ),
        lead: sentences(results),
        caveats: caveats.into_iter().chain(notes.iter().cloned()).collect(),
        figures,
        tables: vec![variants(results), means, paired, breakdown(results)],
        commands: vec![("This comparison".to_owned(), command.to_owned())],
        provenance: vec![("Seed".to_owned(), seed.to_string())],
        ..Page::default()
    };
    out.write("report.html", page::render(&page)?)
}

fn variants(results: &VariantResults<'_>) -> Table {
    let rows = results.arms.iter().enumerate().map(|(at, arm)| {
        let settings = if arm.settings.is_empty() { "as configured".to_owned() } else { arm.settings.join("; ") };
        let [main, backfill] = results.passes[at].map(|passes| fixed(passes, 0));
        vec![arm.name.clone(), settings, main, backfill]
    });
    let columns = ["variant", "settings", "main passes", "backfill passes"];
    Table::new("variants", "Variants", "Passes are the mean of a phase.", columns, rows.collect())
}

/// A row for each metric, with the cells of the variants from number `first` on.
fn of_metrics(
    results: &VariantResults<'_>,
    [id, title, caption]: [&str; 3],
    first: usize,
    cell: impl Fn(usize, &'static Metric) -> String,
) -> Table {
    let names = results.names();
    let rows = results.metrics().into_iter().map(|metric| {
        let cells = (first..names.len()).map(|arm| cell(arm, metric));
        std::iter::once(metric.in_words()).chain(cells).collect()
    });
    let columns = std::iter::once("metric").chain(names[first..].iter().copied());
    Table::new(id, title, caption, columns, rows.collect())
}

fn largest(results: &VariantResults<'_>, by: &str) -> Vec<usize> {
    let mut of_kind: Vec<usize> = (0..results.groups.len()).filter(|at| results.groups[*at].by == by).collect();
    of_kind.sort_by_key(|at| std::cmp::Reverse(results.groups[*at].jobs));
    of_kind.truncate(SHOWN);
    of_kind
}

fn breakdown(results: &VariantResults<'_>) -> Table {
    let [wait, _] = of_groups();
    let names = results.names();
    let rows = KINDS.into_iter().flat_map(|by| largest(results, by)).map(|at| {
        let group = &results.groups[at];
        let base = results.mean(Some(at), 0, wait);
        let means = (0..names.len()).map(|arm| with_half_width(results.mean(Some(at), arm, wait)));
        let differences =
            (1..results.arms.len()).map(|arm| with_interval(results.difference(Some(at), arm, wait), base));
        let head = [group.by.to_owned(), group.name.clone(), group.jobs.to_string()];
        head.into_iter().chain(means).chain(differences).collect()
    });
    let columns =
        ["by", "name", "jobs"].into_iter().map(str::to_owned).chain(names.iter().map(|name| (*name).to_owned()));
    let columns = columns.chain(results.arms[1..].iter().map(|arm| format!("{} − {}", arm.name, names[0])));
    let caption =
        format!("Mean wait (s) of the {SHOWN} largest groups of each kind; breakdown.csv has all, and slowdowns.");
    Table::new("breakdown", "Waits by partition, account, user and QOS", caption, columns, rows.collect())
}

fn waits(results: &VariantResults<'_>) -> Shown {
    let mut quantiles: Vec<(&'static Metric, f64)> =
        catalogue().iter().filter_map(|metric| Some((metric, metric.share_of_waits()?))).collect();
    quantiles.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let of_arm = |arm: usize| {
        let found = |&(metric, share): &(&'static Metric, f64)| Some((share, metric, results.mean(None, arm, metric)?));
        quantiles.iter().filter_map(found).collect()
    };
    let y = Axis { log: true, ..Axis::of_spans("quantile of the wait") };
    let chart = Chart::new("waits", "Waits", Axis::new("share of the jobs (%)"), y, Vec::new());
    let caption = "The distribution of waits, as quantiles averaged over phases.";
    drawn(chart, caption, &results.names(), of_arm, Series::lines)
}

/// Differences of the spoken metrics to the baseline, in percent; `None` for a single variant.
fn differences(results: &VariantResults<'_>) -> Option<Shown> {
    let arms = &results.arms[1..];
    let of_arm = |(at, arm): (usize, &Arm)| -> Vec<DataRow> {
        let of_metric = |(x, metric): (usize, &'static Metric)| {
            let (found, base) = (results.difference(None, at + 1, metric)?, results.mean(None, 0, metric)?.mean.abs());
            let share = found.map(|value| 100.0 * value / base);
            (base > 0.0).then(|| (arm.name.clone(), x.to_string(), metric.to_string(), share))
        };
        spoken().enumerate().filter_map(of_metric).collect()
    };
    let rows: Vec<DataRow> = arms.iter().enumerate().flat_map(of_arm).collect();
    let against = DifferencesTo::new(results.arms.iter().map(|arm| [arm.name.as_str(); 2]), 0);
    let facets = spoken().map(|metric| {
        against.facet(&capitalized(metric.label()), "", compared(results, metric).iter(), Difference::relative)
    });
    let mut forest = against.metrics("differences", facets.collect());
    forest.title = format!("Differences to {}", results.arms[0].name);
    (!rows.is_empty()).then(|| Shown::picture(forest, format!("Paired by phase. {CAPTION}"), rows))
}

/// Mean wait by phase; `None` for a single phase.
fn phases(results: &VariantResults<'_>) -> Option<Shown> {
    let [wait, _] = of_groups();
    let of_arm = |arm: usize| {
        let point = |(phase, value)| (as_f64(phase + 1), wait, ConfidenceInterval::exact(value));
        results.sample(arm, wait).into_iter().enumerate().map(point).collect()
    };
    let names = &results.names()[..results.arms.len()];
    let chart =
        Chart::new("phases", "Mean wait by phase", Axis::new("phase"), Axis::of_spans("mean wait (s)"), Vec::new());
    let caption =
        "Each phase is one schedule of the same jobs under the same settings; the spread is the effect of the phase.";
    (results.phases > 1).then(|| drawn(chart, caption, names, of_arm, Series::marks))
}

/// Mean waits of the largest groups of a kind; `None` if all jobs are in one.
fn of_groups_by(results: &VariantResults<'_>, by: &'static str) -> Option<Shown> {
    let [wait, _] = of_groups();
    let groups = largest(results, by);
    let of_arm = |arm: usize| {
        let found = |(x, at): (usize, &usize)| Some((as_f64(x), wait, results.mean(Some(*at), arm, wait)?));
        groups.iter().enumerate().filter_map(found).collect()
    };
    let ticks = groups.iter().enumerate().map(|(x, at)| (as_f64(x), results.groups[*at].name.clone())).collect();
    let what = if by == "qos" { "QOS" } else { by };
    let (x, y) = (Axis::new(what).with_ticks(ticks), Axis::of_spans("mean wait (s)"));
    let chart = Chart::new(format!("by-{by}"), format!("Mean wait by {what}"), x, y, Vec::new());
    let caption = "The largest groups, by number of jobs.";
    (groups.len() > 1).then(|| drawn(chart, caption, &results.names(), of_arm, Series::marks))
}

/// Place, metric and value of a point.
type Found = (f64, &'static Metric, ConfidenceInterval);

/// The chart with one series per name, and its data.
fn drawn(
    mut chart: Chart,
    caption: &str,
    names: &[&str],
    of_arm: impl Fn(usize) -> Vec<Found>,
    style: fn(String, Vec<Point>) -> Series,
) -> Shown {
    let mut rows: Vec<DataRow> = Vec::new();
    for (slot, name) in names.iter().enumerate() {
        let found = of_arm(slot);
        rows.extend(found.iter().map(|(x, metric, estimate)| {
            let x = chart.x.tick(*x).map_or_else(|| x.to_string(), str::to_owned);
            ((*name).to_owned(), x, metric.to_string(), *estimate)
        }));
        // The chart has several phases or one.
        let point = |(x, _, estimate): &Found| Point { reps: None, ..Point::of(*x, estimate) };
        chart.series.push(style((*name).to_owned(), found.iter().map(point).collect()).in_slot(slot));
    }
    chart.observations = "phases";
    Shown::picture(chart, caption, rows)
}
