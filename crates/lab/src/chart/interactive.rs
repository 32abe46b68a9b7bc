//! A picture as data for the report page, whose script draws it anew and answers.

use super::draw::{PRINTED, Plan, is_histogram};
use super::marks::{LegendMark, Look};
use super::scale::{Scale, has_place, significant};
use super::{Axis, Chart, Gantt, LineStyle, Picture, Point, Series};
use serde::Serialize;

/// What the page's script needs to draw a picture, and its legend.
#[derive(Debug, Clone, Serialize)]
pub struct Interactive {
    x: AxisSpec,
    y: AxisSpec,
    traces: Vec<Trace>,
    bars: Vec<BarSpec>,
    /// First processor and name of each site of a Gantt chart, if there are several.
    sites: Vec<(u32, String)>,
    /// The vertical axis of each trace, if every one has a strip of its own, below each other.
    strips: Vec<AxisSpec>,
    /// Plots of one link show the same stretch of x.
    link: &'static str,
    title: String,
    /// Samples for the legend, in the order of the traces; the page has them as buttons.
    #[serde(skip)]
    legend: Vec<LegendMark>,
}

impl Interactive {
    /// Samples for the legend.
    pub(crate) fn into_legend(self) -> Vec<LegendMark> {
        self.legend
    }
}

#[derive(Debug, Clone, Serialize)]
struct AxisSpec {
    label: String,
    /// As it stands behind a number, with a blank before it; empty if there is none.
    unit: String,
    log: bool,
    low: f64,
    high: f64,
    /// Exact ticks; empty where the page may choose.
    ticks: Vec<f64>,
    labels: Vec<String>,
}

impl AxisSpec {
    fn new(axis: &Axis, scale: &Scale) -> Self {
        let ticks = if scale.exact { scale.ticks.as_slice() } else { &[] };
        Self {
            label: axis.label.clone(),
            unit: axis.unit(),
            log: scale.log,
            low: scale.low,
            high: scale.high,
            ticks: ticks.iter().map(|t| t.at).collect(),
            labels: ticks.iter().map(|t| t.label.clone()).collect(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
struct Trace {
    name: String,
    /// `lines`, `steps`, `marks` or `bars`.
    style: &'static str,
    /// Corners of its mark around its place, in pixels.
    mark: Vec<(f64, f64)>,
    light: &'static str,
    dark: &'static str,
    dashed: bool,
    hollow: bool,
    marks: bool,
    /// Intervals as a band.
    dense: bool,
    /// Which legend entry switches this trace.
    entry: usize,
    /// How far each mark stands to the right of its true place, as a share of the width; empty where none does.
    dodge: Vec<f64>,
    x: Vec<f64>,
    /// `None` breaks the line.
    y: Vec<Option<f64>>,
    low: Vec<Option<f64>>,
    high: Vec<Option<f64>>,
    /// The value as people read it.
    text: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
struct BarSpec {
    job: String,
    light: &'static str,
    dark: &'static str,
    start: f64,
    end: f64,
    blocks: Vec<(u32, u32)>,
    /// What to tell of it, line by line.
    facts: Vec<String>,
}

/// Describes a picture for the page; a sketch is shown as it is.
pub fn interactive(picture: &Picture) -> Option<Interactive> {
    match picture {
        Picture::Chart(chart) => Some(of_chart(chart)),
        Picture::Gantt(gantt) => Some(of_gantt(gantt)),
        Picture::Sketch(_) => None,
    }
}

fn of_chart(chart: &Chart) -> Interactive {
    let plan = Plan::new(chart);
    let width = plan.frame.right - plan.frame.left;
    let mut legend: Vec<LegendMark> = Vec::new();
    let mut traces = Vec::new();
    let all = chart.series.iter().chain(&chart.reference).enumerate();
    for ((k, series), look) in all.zip(&plan.looks) {
        let hollow = k >= chart.series.len();
        let name = match (hollow, chart.series.iter().any(|s| s.name == series.name)) {
            (false, _) => series.name.clone(),
            (true, true) => PRINTED.to_owned(),
            (true, false) => format!("{}, {PRINTED}", series.name),
        };
        // The paper's numbers for all series are one entry.
        let entry = legend.iter().position(|e| hollow && e.hollow && e.name == name).unwrap_or_else(|| {
            let shown = if hollow && name == PRINTED { Look::of_slot(super::draw::PRINTED_LOOK) } else { *look };
            legend.push(sample(name, shown, series, hollow));
            legend.len() - 1
        });
        let aside = |p: &Point| plan.dodge_of(k, plan.frame.at(p.x, plan.frame.y.low).0) / width;
        traces.push(trace(chart, series, *look, hollow, entry, &aside));
    }
    if is_histogram(chart) && chart.reference.is_empty() {
        legend.clear();
    }
    let (x, y) = (&plan.frame.x, &plan.frame.y);
    Interactive {
        x: AxisSpec::new(&chart.x, x),
        y: AxisSpec::new(&chart.y, y),
        traces,
        bars: Vec::new(),
        sites: Vec::new(),
        strips: plan.strips.iter().map(|strip| AxisSpec::new(&Axis::default(), &strip.y)).collect(),
        link: chart.link,
        title: chart.title.clone(),
        legend,
    }
}

fn trace(
    chart: &Chart,
    series: &Series,
    look: Look,
    hollow: bool,
    entry: usize,
    aside: &dyn Fn(&Point) -> f64,
) -> Trace {
    let points: Vec<&Point> = series.points.iter().filter(|p| p.x.is_finite()).collect();
    let value = |p: &Point| has_place(p, chart).then_some(p.y);
    let bar = |p: &&Point| value(p).and_then(|_| p.finite_interval());
    let steps = series.style == LineStyle::Steps;
    let dodge: Vec<f64> = points.iter().map(|p| aside(p)).collect();
    Trace {
        name: series.name.clone(),
        style: match series.style {
            _ if hollow => "marks",
            LineStyle::Lines => "lines",
            LineStyle::Steps => "steps",
            LineStyle::MarksOnly => "marks",
            LineStyle::Bars => "bars",
        },
        mark: look.corners(4.6).into_iter().map(|(x, y)| (tenths(x), tenths(y))).collect(),
        light: look.hex(),
        dark: look.hex_on_dark(),
        dashed: look.is_dashed(),
        hollow,
        marks: hollow || super::draw::has_marks(series),
        dense: !hollow && series.style == LineStyle::Lines && !super::draw::has_marks(series),
        entry,
        dodge: if dodge.iter().any(|shift| shift.abs() > 0.0) { dodge } else { Vec::new() },
        x: points.iter().map(|p| p.x).collect(),
        y: points.iter().map(|p| value(p)).collect(),
        low: if steps { Vec::new() } else { points.iter().map(|p| bar(p).map(|(low, _)| low)).collect() },
        high: if steps { Vec::new() } else { points.iter().map(|p| bar(p).map(|(_, high)| high)).collect() },
        text: if steps { Vec::new() } else { points.iter().map(|p| in_words(p, chart)).collect() },
    }
}

/// To a tenth: what a page need not carry in full.
fn tenths(x: f64) -> f64 {
    (10.0 * x).round() / 10.0
}

/// `12.31, 95 % interval` is said by the note; here are the numbers: `12.31 s [12.02, 12.60], 10 replications`.
fn in_words(point: &Point, chart: &Chart) -> String {
    let mut text = significant(point.y) + &chart.y.unit();
    if let Some((low, high)) = point.finite_interval() {
        text += &format!(" [{}, {}]", significant(low), significant(high));
    }
    match point.reps {
        Some(1) => text += &format!(", 1 {}", chart.counted().trim_end_matches('s')),
        Some(reps) => text += &format!(", {reps} {}", chart.counted()),
        None => {}
    }
    text
}

fn sample(name: String, look: Look, series: &Series, hollow: bool) -> LegendMark {
    let corners = if hollow || super::draw::has_marks(series) { look.corners(4.2) } else { Vec::new() };
    LegendMark {
        name,
        light: look.hex(),
        dark: look.hex_on_dark(),
        corners: corners.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" "),
        line: !hollow && series.style != LineStyle::MarksOnly,
        dashed: look.is_dashed(),
        hollow,
    }
}

fn of_gantt(gantt: &Gantt) -> Interactive {
    let (x, y) = gantt.scales();
    let bars = gantt.coloured().map(|(bar, look)| BarSpec {
        job: bar.job.clone(),
        light: look.hex(),
        dark: look.hex_on_dark(),
        start: bar.start,
        end: bar.end,
        blocks: bar.processors.clone(),
        facts: gantt.told(bar),
    });
    Interactive {
        x: AxisSpec::new(&Axis::new(&gantt.time), &x),
        y: AxisSpec::new(&Axis::new("Processor"), &y),
        traces: Vec::new(),
        bars: bars.collect(),
        sites: gantt.sites.clone(),
        strips: Vec::new(),
        link: gantt.link,
        title: gantt.title.clone(),
        legend: Vec::new(),
    }
}
