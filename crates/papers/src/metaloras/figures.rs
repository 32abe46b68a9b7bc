//! Figures 3 to 5, the prediction errors, and the trade-off by W.

use super::claims::side_by_side;
use super::{Cell, MetaLorasPaper, Metric, Policy, Variant};
use lab::chart::{self, Axis, Chart, Point};
use lab::paper::{Exhibit, Panel, Series};
use lab::quantity::{DesignPoint, Quantity};
use lab::shown::{Shown, seen};
use metasched::Outcome;

pub(super) fn exhibits(paper: &MetaLorasPaper) -> Vec<Exhibit<'_, Cell>> {
    let (levels, occupied) = (paper.levels().collect::<Vec<_>>(), paper.occupied_levels());
    let mut exhibits = lab::figures! { over "local activity (%)";
        "fig3" "Figure 3. Turnaround"
            "Mean time from arrival to end of a parallel job, over the share of clusters that local users occupy."
            => over_levels(paper, "turnaround", "mean turnaround (s)", &levels, |cell| cell.get(Metric::turnaround));
        "fig4" "Figure 4. Makespan" "Time from the start of the first job to the end of the last one."
            => over_levels(paper, "makespan", "from first start to last end (s)", &levels, |cell| cell.get(Metric::makespan));
        "fig5" "Figure 5. Local intrusion"
            "Slowdown of local users, equation (3), averaged over their nodes and over the longest makespan of the compared policies. Not defined where there are none."
            => over_levels(paper, "local_slowdown", "slowdown of local users", &occupied, |cell| paper.slowdown(cell));
        "prediction" "Error of prediction"
            "Mean over jobs of |predicted − actual| / actual, of the time from dispatch to end, predicted at dispatch. FFIT and RR do not use it; it is the prediction that LoRaS would have returned."
            => over_levels(paper, "prediction_error_percent", "mean relative error (%)", &levels, |cell| cell.get(Metric::prediction_error));
    };
    exhibits.insert(1, side_by_side(paper));
    exhibits.extend([scatter(paper), tradeoff(paper)]);
    exhibits
}

/// Returns a panel for each preset: a series for each policy, over these levels.
fn over_levels(
    paper: &MetaLorasPaper,
    metric: &str,
    y_label: &str,
    levels: &[usize],
    quantity: impl Fn(Cell) -> Quantity<Cell>,
) -> Vec<Panel<Cell>> {
    let panel = |variant: Variant| {
        let series = paper.policies().into_iter().map(|policy| {
            let at = |level: usize| (f64::from(paper.percent(level)), quantity(Cell { variant, level, policy }));
            Series::new(named(&policy.name(), variant), levels.iter().map(|level| at(*level)))
        });
        let suffix = if variant == Variant::Default { "" } else { "reading-b" };
        Panel::derived(metric, named(y_label, variant), series).suffix(suffix)
    };
    Variant::PRESETS.map(panel).into()
}

fn named(name: &str, variant: Variant) -> String {
    if variant == Variant::Default { name.to_owned() } else { format!("{name}, reading-b") }
}

/// Draws turnaround against the slowdown of local users as W grows: a line for each level with local users.
fn tradeoff(paper: &MetaLorasPaper) -> Exhibit<'_, Cell> {
    let weights = &paper.file.policy.tradeoff_weights;
    let both = |variant: Variant, level: usize, weight: f64| {
        let cell = Cell { variant, level, policy: Policy::ptt(weight) };
        [paper.slowdown(cell), cell.get(Metric::turnaround)]
    };
    let lines = Variant::PRESETS.map(|variant| paper.occupied_levels().into_iter().map(move |level| (variant, level)));
    let of_line = |(variant, level)| weights.iter().flat_map(move |weight| both(variant, level, *weight));
    let needs = lines.into_iter().flatten().flat_map(of_line).collect();
    Exhibit::extra("tradeoff", needs, move |estimate, _| {
        let mut shown = Shown::default();
        for variant in Variant::PRESETS {
            let mut series = Vec::new();
            for level in paper.occupied_levels() {
                let name = format!("{} %", paper.percent(level));
                let mut places = Vec::new();
                for weight in weights {
                    let [x, y] = both(variant, level, *weight).each_ref().map(estimate);
                    places.push(Point { interval: None, ..Point::of(x.mean, &y) });
                    for (metric, found) in [("local_slowdown", x), ("turnaround", y)] {
                        shown.rows.push((named(&name, variant), weight.to_string(), metric.to_owned(), found));
                    }
                }
                series.push(chart::Series::lines(name, places));
            }
            let id = if variant == Variant::Default { "tradeoff" } else { "tradeoff-reading-b" };
            let title = named("Turnaround against local slowdown by W", variant);
            let (x, y) = (Axis::new("slowdown of local users"), Axis::new("mean turnaround (s)"));
            let caption = "PTT from W = 0 (the least slowdown, as a rule the longest turnaround) to W = 1, at each level \
                    of local activity. Down and to the left is better. Where all clusters are occupied, LT is the same everywhere \
                    and W changes nothing. Intervals are in the data.";
            shown.pictures.push((Chart::new(id, title, x, y, series).into(), caption.to_owned()));
        }
        shown
    })
}

const QUEUED: &str = "RR, waited in a LoRaS queue";
const STARTED: &str = "RR, started at once";

/// Draws the jobs of one replication under TAT, where all start at once, and under RR, where some wait in LoRaS queues.
fn scatter(paper: &MetaLorasPaper) -> Exhibit<'_, Cell> {
    Exhibit::made("prediction", move |streams| {
        let middle = paper.levels().count() / 2;
        let run = |policy| paper.play(&Cell { variant: Variant::Default, level: middle, policy }, streams).0;
        let points = |outcomes: &[Outcome], wanted: fn(&Outcome) -> bool| -> Vec<Point> {
            let point = |outcome: &Outcome| {
                let predicted = outcome.predicted?.as_secs_f64();
                Some(Point::new(predicted, outcome.since_dispatch().as_secs_f64()))
            };
            outcomes.iter().filter(|outcome| wanted(outcome)).filter_map(point).collect()
        };
        let (tat, rr) = (run(Policy::Tat), run(Policy::Rr));
        let series = vec![
            chart::Series::marks("TAT", points(&tat, |_| true)),
            chart::Series::marks(STARTED, points(&rr, |outcome| !outcome.was_queued())),
            chart::Series::marks(QUEUED, points(&rr, |outcome| outcome.was_queued())),
        ];
        let largest =
            series.iter().flat_map(|series| &series.points).map(|point| point.x.min(point.y)).fold(0.0, f64::max);
        let row = |series: &chart::Series, point: &Point| {
            (series.name.clone(), point.x.to_string(), "actual_seconds".to_owned(), seen(point.y))
        };
        let rows = series.iter().flat_map(|series| series.points.iter().map(move |point| row(series, point))).collect();
        // With this many points the line is drawn without marks.
        let exact = (0..=100).map(|percent| f64::from(percent) / 100.0 * largest).map(|at| Point::new(at, at));
        let exact = chart::Series::lines("exact", exact.collect());
        let title = format!("Predicted and actual time to the end, {} % local activity", paper.percent(middle));
        let (x, y) = (Axis::new("predicted (s)"), Axis::new("actual (s)"));
        let chart = Chart::new("prediction-jobs", title, x, y, series.into_iter().chain([exact]).collect());
        let caption = "Each job of the first replication, from dispatch to end; on the line prediction is exact. Above it lie \
                           jobs that later arrivals have slowed down, which no prediction at dispatch can know of.";
        Shown::picture(chart, caption, rows)
    })
}
