//! A picture as data for the report page, whose script draws it and answers to the pointer.

use super::draw::{PRINTED, PRINTED_LOOK, Plan, has_marks, is_histogram};
use super::marks::Look;
use super::scale::{Scale, has_place, significant};
use super::{Axis, Chart, Gantt, LineStyle, Picture, Point, Series};
use serde_json::{Value, json};

/// What the page needs of a picture.
#[derive(Debug, Clone)]
pub struct Interactive {
    /// For the script: axes, traces or bars, and the link of plots that show the same stretch of x.
    pub(crate) spec: Value,
    /// Samples for the legend, in the order of the traces; the page has them as buttons.
    pub(crate) legend: Vec<Value>,
}

/// Describes a picture for the page; a sketch is shown as it is.
pub fn interactive(picture: &Picture) -> Option<Interactive> {
    match picture {
        Picture::Chart(chart) => Some(of_chart(chart)),
        Picture::Gantt(gantt) => Some(of_gantt(gantt)),
        Picture::Sketch(_) => None,
    }
}

/// Exact ticks are given; others are the page's own choice.
fn axis_spec(axis: &Axis, scale: &Scale) -> Value {
    let ticks = if scale.exact { scale.ticks.as_slice() } else { &[] };
    json!({
        "label": axis.label,
        // As it stands behind a number, with a blank before it; empty if there is none.
        "unit": axis.unit(),
        "log": scale.log,
        "low": scale.low,
        "high": scale.high,
        "ticks": ticks.iter().map(|t| t.at).collect::<Vec<_>>(),
        "labels": ticks.iter().map(|t| &t.label).collect::<Vec<_>>(),
    })
}

fn of_chart(chart: &Chart) -> Interactive {
    let plan = Plan::new(chart);
    let width = plan.frame.right - plan.frame.left;
    let mut names: Vec<(bool, String)> = Vec::new();
    let mut legend = Vec::new();
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
        let known = names.iter().position(|(printed, known)| hollow && *printed && *known == name);
        let entry = known.unwrap_or_else(|| {
            let shown = if hollow && name == PRINTED { Look::of_slot(PRINTED_LOOK) } else { *look };
            legend.push(sample(&name, shown, series, hollow));
            names.push((hollow, name));
            names.len() - 1
        });
        let aside = |p: &Point| plan.dodge_of(k, plan.frame.at(p.x, plan.frame.y.low).0) / width;
        traces.push(trace(chart, series, *look, hollow, entry, &aside));
    }
    if is_histogram(chart) && chart.reference.is_empty() {
        legend.clear();
    }
    // The vertical axis of each trace, if every one has a strip of its own, below each other.
    let strips: Vec<Value> = plan.strips.iter().map(|strip| axis_spec(&Axis::default(), &strip.y)).collect();
    let spec = json!({
        "x": axis_spec(&chart.x, &plan.frame.x),
        "y": axis_spec(&chart.y, &plan.frame.y),
        "traces": traces,
        "bars": [],
        "sites": [],
        "strips": strips,
        "link": chart.link,
        "title": chart.title,
    });
    Interactive { spec, legend }
}

fn trace(
    chart: &Chart,
    series: &Series,
    look: Look,
    hollow: bool,
    entry: usize,
    aside: &dyn Fn(&Point) -> f64,
) -> Value {
    let points: Vec<&Point> = series.points.iter().filter(|p| p.x.is_finite()).collect();
    let value = |p: &Point| has_place(p, chart).then_some(p.y);
    let bar = |p: &Point| value(p).and_then(|_| p.finite_interval());
    // A level needs no intervals and no words.
    let marked = if series.style == LineStyle::Steps { &[][..] } else { &points };
    let tenths = |(x, y): (f64, f64)| ((10.0 * x).round() / 10.0, (10.0 * y).round() / 10.0);
    let mut dodge: Vec<f64> = points.iter().map(|p| aside(p)).collect();
    if dodge.iter().all(|shift| shift.abs() <= 0.0) {
        dodge.clear();
    }
    json!({
        "name": series.name,
        "style": match series.style {
            _ if hollow => "marks",
            LineStyle::Lines => "lines",
            LineStyle::Steps => "steps",
            LineStyle::MarksOnly => "marks",
            LineStyle::Bars => "bars",
        },
        // Corners of its mark around its place, in pixels.
        "mark": look.corners(4.6).into_iter().map(tenths).collect::<Vec<_>>(),
        "light": look.hex(),
        "dark": look.hex_on_dark(),
        "dashed": look.is_dashed(),
        "hollow": hollow,
        "marks": hollow || has_marks(series),
        // Intervals as a band.
        "dense": !hollow && series.style == LineStyle::Lines && !has_marks(series),
        // Which legend entry switches this trace.
        "entry": entry,
        // How far each mark stands to the right of its true place, as a share of the width; empty where none does.
        "dodge": dodge,
        "x": points.iter().map(|p| p.x).collect::<Vec<_>>(),
        // Null breaks the line.
        "y": points.iter().map(|p| value(p)).collect::<Vec<_>>(),
        "low": marked.iter().map(|p| bar(p).map(|(low, _)| low)).collect::<Vec<_>>(),
        "high": marked.iter().map(|p| bar(p).map(|(_, high)| high)).collect::<Vec<_>>(),
        "text": marked.iter().map(|p| in_words(p, chart)).collect::<Vec<_>>(),
    })
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

/// A series' sample in the legend of the page: its corners as SVG has them, around the origin; none for a line without marks.
fn sample(name: &str, look: Look, series: &Series, hollow: bool) -> Value {
    let corners = if hollow || has_marks(series) { look.corners(4.2) } else { Vec::new() };
    json!({
        "name": name,
        "light": look.hex(),
        "dark": look.hex_on_dark(),
        "corners": corners.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" "),
        "line": !hollow && series.style != LineStyle::MarksOnly,
        "dashed": look.is_dashed(),
        "hollow": hollow,
    })
}

fn of_gantt(gantt: &Gantt) -> Interactive {
    let (x, y) = gantt.scales();
    let bars = gantt.coloured().map(|(bar, look)| {
        json!({
            "job": bar.job,
            "light": look.hex(),
            "dark": look.hex_on_dark(),
            "start": bar.start,
            "end": bar.end,
            "blocks": bar.processors,
            "facts": gantt.told(bar),
        })
    });
    let spec = json!({
        "x": axis_spec(&Axis::new(&gantt.time), &x),
        "y": axis_spec(&Axis::new("Processor"), &y),
        "traces": [],
        "bars": bars.collect::<Vec<_>>(),
        "sites": gantt.sites,
        "strips": [],
        "link": gantt.link,
        "title": gantt.title,
    });
    Interactive { spec, legend: Vec::new() }
}
