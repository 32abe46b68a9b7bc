//! Figures 3 to 5, the prediction errors, and the trade-off by W.

use super::claims::side_by_side;
use super::{Cell, MetaLorasPaper, Metric, Policy, PttWeight, Variant, predictions};
use lab::chart::{self, Axis, Chart, Point};
use lab::extra::{Extra, Made};
use lab::paper::{Exhibit, Figure, Panel, Series};
use lab::quantity::{DesignPoint, Quantity};

const ACTIVITY: &str = "local activity (%)";

/// Labels of the y axes of a figure's two panels.
type Labels = [&'static str; 2];

pub(super) fn exhibits(paper: &MetaLorasPaper) -> Vec<Exhibit<'_, Cell>> {
    vec![
        figure(
            "fig3",
            "Figure 3. Turnaround",
            "Mean time from arrival to end of a parallel job, over the share of clusters that local users occupy.",
            over_levels(
                paper,
                "turnaround",
                ["mean turnaround (s)", "mean turnaround (s), reading-b"],
                &paper.levels().collect::<Vec<_>>(),
                |cell| cell.get(Metric::turnaround),
            ),
        ),
        Exhibit::Extra(side_by_side(paper)),
        figure(
            "fig4",
            "Figure 4. Makespan",
            "Time from the start of the first job to the end of the last one.",
            over_levels(
                paper,
                "makespan",
                ["from first start to last end (s)", "from first start to last end (s), reading-b"],
                &paper.levels().collect::<Vec<_>>(),
                |cell| cell.get(Metric::makespan),
            ),
        ),
        figure(
            "fig5",
            "Figure 5. Local intrusion",
            "Slowdown of local users, equation (3), averaged over their nodes and over the longest makespan of the compared \
             policies. Not defined where there are none.",
            over_levels(
                paper,
                "local_slowdown",
                ["slowdown of local users", "slowdown of local users, reading-b"],
                &paper.occupied_levels(),
                |cell| paper.slowdown(cell),
            ),
        ),
        figure(
            "prediction",
            "Error of prediction",
            "Mean over jobs of |predicted − actual| / actual, of the time from dispatch to end, predicted at dispatch. FFIT and \
             RR do not use it; it is the prediction that LoRaS would have returned.",
            over_levels(
                paper,
                "prediction_error_percent",
                ["mean relative error (%)", "mean relative error (%), reading-b"],
                &paper.levels().collect::<Vec<_>>(),
                |cell| cell.get(Metric::prediction_error),
            ),
        ),
        Exhibit::Extra(predictions::scatter(paper)),
        Exhibit::Extra(tradeoff(paper)),
    ]
}

fn figure<'a>(id: &'static str, title: &str, caption: &str, panels: Vec<Panel<Cell>>) -> Exhibit<'a, Cell> {
    Exhibit::Plot(Figure::new(id, title, ACTIVITY, panels).caption(caption))
}

/// Returns a panel for each preset: a series for each policy, over these levels.
fn over_levels(
    paper: &MetaLorasPaper,
    metric: &'static str,
    labels: Labels,
    levels: &[usize],
    quantity: impl Fn(Cell) -> Quantity<Cell>,
) -> Vec<Panel<Cell>> {
    let panel = |(variant, y_label): (Variant, &'static str)| {
        let series = |policy: Policy| Series {
            name: named(&policy.name(), variant),
            points: levels
                .iter()
                .map(|&level| (f64::from(paper.percent(level)), quantity(Cell { variant, level, policy })))
                .collect(),
        };
        Panel {
            suffix: if variant == Variant::Default { "" } else { "reading-b" },
            ..Panel::derived(metric, y_label, paper.policies().into_iter().map(series).collect())
        }
    };
    Variant::PRESETS.into_iter().zip(labels).map(panel).collect()
}

/// Returns the name of a series under one of the presets.
fn named(name: &str, variant: Variant) -> String {
    if variant == Variant::Default { name.to_owned() } else { format!("{name}, reading-b") }
}

/// Draws turnaround against the slowdown of local users as W grows: a line for each level with local users.
fn tradeoff(paper: &MetaLorasPaper) -> Extra<'_, Cell> {
    let lines: Vec<PresetLine> = Variant::PRESETS.into_iter().flat_map(|variant| lines(paper, variant)).collect();
    let needs = lines.iter().flat_map(|line| &line.points).flat_map(|(_, x, y)| [x.clone(), y.clone()]).collect();
    Extra {
        id: "tradeoff",
        needs,
        make: Box::new(move |estimate, _| {
            let mut made = Made::default();
            for variant in Variant::PRESETS {
                let mut series = Vec::new();
                for line in lines.iter().filter(|line| line.variant == variant) {
                    let mut points = Vec::new();
                    for (weight, slowdown, turnaround) in &line.points {
                        let (x, y) = (estimate(slowdown, u32::MAX), estimate(turnaround, u32::MAX));
                        points.push(Point::new(x.mean, y.mean).over(y.replications.try_into().unwrap_or(u32::MAX)));
                        for (metric, found) in [("local_slowdown", x), ("turnaround", y)] {
                            let series = named(&line.name, variant);
                            made.rows.push((series, weight.to_string(), metric.to_owned(), found));
                        }
                    }
                    series.push(chart::Series::lines(line.name.clone(), points));
                }
                let (id, title) = match variant {
                    Variant::Default => ("tradeoff", "Turnaround against local slowdown by W"),
                    _ => ("tradeoff-reading-b", "Turnaround against local slowdown by W, reading-b"),
                };
                made.pictures.push((
                    Chart {
                        id: id.to_owned(),
                        title: title.to_owned(),
                        x: Axis::new("slowdown of local users"),
                        y: Axis::new("mean turnaround (s)"),
                        series,
                        ..Chart::default()
                    }
                    .into(),
                    "PTT from W = 0 (the least slowdown, as a rule the longest turnaround) to W = 1, in steps of 0.1, at each level \
                     of local activity. Down and to the left is better. Where all clusters are occupied, LT is the same everywhere \
                     and W changes nothing. Intervals are in the data."
                        .to_owned(),
                ));
            }
            made
        }),
    }
}

/// One level under one preset.
struct PresetLine {
    variant: Variant,
    name: String,
    /// W, slowdown, turnaround.
    points: Vec<(f64, Quantity<Cell>, Quantity<Cell>)>,
}

fn lines(paper: &MetaLorasPaper, variant: Variant) -> Vec<PresetLine> {
    let point = |level: usize, weight: f64| {
        let cell = Cell { variant, level, policy: Policy::Ptt(PttWeight::of(weight)) };
        (weight, paper.slowdown(cell), cell.get(Metric::turnaround))
    };
    let line = |level: usize| PresetLine {
        variant,
        name: format!("{} %", paper.percent(level)),
        points: paper.file.policy.tradeoff_weights.iter().map(|&weight| point(level, weight)).collect(),
    };
    paper.occupied_levels().into_iter().map(line).collect()
}
