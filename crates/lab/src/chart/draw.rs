//! A [`Chart`] as SVG.

use super::arrange::{self, Dodge, Mark};
use super::canvas::{Anchor, Canvas, Type};
use super::frame::{self, Entry, Frame, Texts};
use super::marks::Look;
use super::scale::{Scale, has_place};
use super::{Chart, HEIGHT, LineStyle, Point, Series, WIDTH};
use std::collections::BTreeSet;

/// Name of the hollow marks in legends.
pub(super) const PRINTED: &str = "printed in the paper";

/// A grey circle, for the legend of the hollow marks.
pub(super) const PRINTED_LOOK: usize = 54;

/// From this many points on, a line is drawn without marks and its intervals as a band.
const DENSE: usize = 45;

/// Width of a bar; the next begins one behind it.
pub(super) const BAR: f64 = 0.8;

/// A chart with every decision taken but nothing drawn.
pub(super) struct Plan {
    pub(super) frame: Frame,
    /// One frame for each series, below each other, where lines in one frame would hide each other; else empty.
    pub(super) strips: Vec<Frame>,
    /// Looks of the series, then of the reference series.
    pub(super) looks: Vec<Look>,
    dodge: Dodge,
    /// The series whose offsets each of these shares: its own or, for a reference series, its namesake's.
    namesake: Vec<usize>,
    pub(super) legend: Vec<Entry>,
    note: String,
}

impl Plan {
    pub(super) fn new(chart: &Chart) -> Plan {
        let looks = looks(chart);
        let (x, y) = (Scale::of_x(chart), Scale::of_y(chart));
        let note = note(chart);
        let strips = in_strips(chart);
        let legend = if strips { Vec::new() } else { legend(chart, &looks) };
        let mut frame = Frame::new(&texts(chart, &note, &legend), x, y);
        let marks = marks(chart, &frame);
        let widest = arrange::least_distance(&marks).map_or(60.0, |d| (0.5 * d).min(60.0));
        let dodge = Dodge::new(looks.len(), &marks, widest);
        let own = |(k, series): (usize, &Series)| {
            chart.series.iter().position(|s| k >= chart.series.len() && s.name == series.name).unwrap_or(k)
        };
        let namesake = chart.series.iter().chain(&chart.reference).enumerate().map(own).collect();
        let strips = if strips {
            frame.top += 8.0;
            frame.strips(&scales_of_strips(chart, &frame.y))
        } else {
            Vec::new()
        };
        Plan { frame, strips, looks, dodge, namesake, legend, note }
    }

    /// How many pixels to the right of its true place the mark of a series stands, or of what the paper prints of it:
    /// a printed mark stands around ours.
    pub(super) fn dodge_of(&self, k: usize, x: f64) -> f64 {
        self.dodge.at(self.namesake[k], x)
    }
}

pub(super) fn svg(chart: &Chart) -> String {
    let plan = Plan::new(chart);
    let mut canvas = Canvas::new((WIDTH, HEIGHT));
    plan.frame.draw(&mut canvas, &texts(chart, &plan.note, &plan.legend));
    for (strip, (series, look)) in plan.strips.iter().zip(chart.series.iter().zip(&plan.looks)) {
        strip.grid(&mut canvas);
        let name = Type { colour: look.colour().as_text(), ..Type::NAME };
        let text = name.cut(&series.name, strip.right - strip.left);
        canvas.text(&text, strip.left, strip.top - 5.0, name, Anchor::Start);
    }
    if plan.strips.is_empty() {
        plan.frame.grid(&mut canvas);
    }
    for (k, series) in chart.series.iter().enumerate() {
        line(&mut canvas, chart, &plan, k, series);
    }
    let with_marks = chart.series.iter().enumerate().filter(|(_, series)| has_marks(series));
    let printed = chart.reference.iter().zip(chart.series.len()..).map(|(series, k)| (k, series));
    for (k, series) in printed.chain(with_marks) {
        for point in series.points.iter().filter(|p| has_place(p, chart)) {
            mark(&mut canvas, &plan, k, point, k >= chart.series.len());
        }
    }
    if plan.frame.x.ticks.is_empty() && chart.series.iter().all(|s| s.points.is_empty()) {
        let middle = f64::midpoint(plan.frame.left, plan.frame.right);
        canvas.text("no data", middle, plan.frame.top + 40.0, Type::LABEL, Anchor::Middle);
    }
    canvas.finish(&chart.title, &about(chart))
}

/// Several levels that change often.
fn in_strips(chart: &Chart) -> bool {
    (2..=6).contains(&chart.series.len())
        && chart.reference.is_empty()
        && chart.series.iter().all(|s| s.style == LineStyle::Steps)
        && chart.series.iter().any(|s| s.points.len() > 150)
}

/// The vertical scale of each strip: one for all, unless one series dwarfs another, which then would be a flat line.
fn scales_of_strips(chart: &Chart, common: &Scale) -> Vec<Scale> {
    const DWARFED: f64 = 8.0;
    let highest = |series: &Series| series.points.iter().map(|point| point.y).fold(0.0, f64::max);
    let tops: Vec<f64> = chart.series.iter().map(highest).filter(|top| *top > 0.0).collect();
    let (low, high) = tops.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), top| (low.min(*top), high.max(*top)));
    if high < DWARFED * low {
        return vec![common.clone(); chart.series.len()];
    }
    let own = |series: &Series| Scale::of_y(&Chart { series: vec![series.clone()], ..chart.clone() });
    chart.series.iter().map(own).collect()
}

/// The small line under the picture: the chart's own, and what of the data the picture does not show as it is.
pub fn note(chart: &Chart) -> String {
    let y = Scale::of_y(chart);
    let beyond = |p: &Point| {
        let inside = |value: f64| (-1e-9..=1.0 + 1e-9).contains(&y.fraction(value));
        has_place(p, chart) && p.finite_interval().is_some_and(|(low, high)| !inside(low) || !inside(high))
    };
    let cut = chart.series.iter().filter(|series| has_marks(series)).flat_map(|series| &series.points).any(beyond);
    let raised = !y.log && y.low > 0.0 && chart.y.label.contains('%');
    let remarks = [
        Some(chart.note.clone()).filter(|note| !note.is_empty()),
        raised.then(|| format!("The axis begins at {} %.", y.low)),
        cut.then(|| "Arrowheads: the interval goes on beyond the picture.".to_owned()),
    ];
    remarks.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn texts<'a>(chart: &'a Chart, note: &'a str, legend: &'a [Entry]) -> Texts<'a> {
    Texts { title: &chart.title, note, x: &chart.x.label, y: &chart.y.label, legend }
}

/// Looks of the series and then of the reference series, which share those of their namesakes.
fn looks(chart: &Chart) -> Vec<Look> {
    let slot_of = |k: usize| chart.series[k].slot.unwrap_or(k);
    let own = (0..chart.series.len()).map(slot_of);
    let printed = chart.reference.iter().enumerate().map(|(k, reference)| {
        let namesake = chart.series.iter().position(|s| s.name == reference.name);
        namesake.map_or_else(|| reference.slot.unwrap_or(chart.series.len() + k), slot_of)
    });
    own.chain(printed).map(Look::of_slot).collect()
}

fn legend(chart: &Chart, looks: &[Look]) -> Vec<Entry> {
    let mut legend = Vec::new();
    if !is_histogram(chart) {
        for (series, &look) in chart.series.iter().zip(looks) {
            let line = series.style != LineStyle::MarksOnly;
            legend.push(Entry { name: series.name.clone(), look, line, mark: has_marks(series), hollow: false });
        }
    }
    let names: BTreeSet<&str> = chart.series.iter().map(|s| s.name.as_str()).collect();
    let mut shared = false;
    for (series, &look) in chart.reference.iter().zip(&looks[chart.series.len()..]) {
        if names.contains(series.name.as_str()) {
            shared = true;
        } else {
            let name = format!("{}, {PRINTED}", series.name);
            legend.push(Entry { name, look, line: false, mark: true, hollow: true });
        }
    }
    if shared {
        let look = Look::of_slot(PRINTED_LOOK);
        legend.push(Entry { name: PRINTED.to_owned(), look, line: false, mark: true, hollow: true });
    }
    legend
}

/// Every mark of the chart where it would be drawn if nothing were moved.
fn marks(chart: &Chart, frame: &Frame) -> Vec<Mark> {
    let all = chart.series.iter().chain(&chart.reference).enumerate();
    let has_namesake = |series: &Series| chart.series.iter().any(|s| s.name == series.name);
    all.filter(|(k, series)| if *k < chart.series.len() { has_marks(series) } else { !has_namesake(series) })
        .flat_map(|(k, series)| series.points.iter().filter(|p| has_place(p, chart)).map(move |p| (k, p)))
        .map(|(series, point)| {
            let (x, y) = frame.at(point.x, point.y);
            let bar = point.finite_interval().map(|(low, high)| (end(frame, high).0, end(frame, low).0));
            Mark { series, x, y, bar }
        })
        .collect()
}

/// Bars of one kind, which the title names.
pub(super) fn is_histogram(chart: &Chart) -> bool {
    matches!(chart.series.as_slice(), [only] if only.style == LineStyle::Bars)
}

pub(super) fn has_marks(series: &Series) -> bool {
    match series.style {
        LineStyle::Lines => series.points.len() < DENSE,
        LineStyle::Steps | LineStyle::Bars => false,
        LineStyle::MarksOnly => true,
    }
}

/// Height on the page of an interval's end, and whether it lies within the frame.
fn end(frame: &Frame, value: f64) -> (f64, bool) {
    if frame.y.log && value <= 0.0 {
        return (frame.bottom, false);
    }
    let inside = (-1e-9..=1.0 + 1e-9).contains(&frame.y.fraction(value));
    (frame.at(frame.x.low, value.clamp(frame.y.low, frame.y.high)).1, inside)
}

fn line(canvas: &mut Canvas, chart: &Chart, plan: &Plan, k: usize, series: &Series) {
    let colour = plan.looks[k].colour();
    let frame = plan.strips.get(k).unwrap_or(&plan.frame);
    // A line runs through the true places, whatever marks do: equal results give one line, not two beside each other.
    let place = |p: &Point| frame.at(p.x, p.y);
    for run in series.points.split(|p| !has_place(p, chart)).filter(|run| !run.is_empty()) {
        match series.style {
            LineStyle::MarksOnly => {}
            LineStyle::Bars => {
                for point in run {
                    let half = BAR / 2.0;
                    let ((left, top), (right, _)) =
                        (frame.at(point.x - half, point.y), frame.at(point.x + half, point.y));
                    let corners = [(left, frame.bottom), (left, top), (right, top), (right, frame.bottom)];
                    canvas.fill(&corners, colour, 1.0);
                }
            }
            LineStyle::Lines => {
                let path: Vec<_> = run.iter().map(place).collect();
                if !has_marks(series) {
                    band(canvas, plan, k, run);
                }
                if plan.looks[k].is_dashed() {
                    canvas.dashed(&path, colour, 1.8);
                } else {
                    canvas.line(&path, colour, 1.8, 1.0);
                }
            }
            LineStyle::Steps => {
                let corners = run.iter().map(place);
                let mut path: Vec<(f64, f64)> = Vec::with_capacity(2 * run.len());
                for (x, y) in corners {
                    if let Some(&(_, level)) = path.last() {
                        path.push((x, level));
                    }
                    path.push((x, y));
                }
                if chart.series.len() == 1 || !plan.strips.is_empty() {
                    let floor = frame.bottom;
                    let (first, last) = (path[0].0, path[path.len() - 1].0);
                    let area: Vec<_> = [(first, floor)].into_iter().chain(path.iter().copied()).collect();
                    canvas.fill(&area.into_iter().chain([(last, floor)]).collect::<Vec<_>>(), colour, 0.13);
                }
                let (width, alpha) = if run.len() > 400 { (1.1, 0.85) } else { (1.6, 0.9) };
                canvas.line(&path, colour, width, alpha);
            }
        }
    }
}

/// The intervals of a line without marks.
fn band(canvas: &mut Canvas, plan: &Plan, k: usize, run: &[Point]) {
    let ends = |pick: fn((f64, f64)) -> f64| {
        run.iter().filter_map(move |p| {
            let x = plan.frame.at(p.x, plan.frame.y.low).0;
            Some((x, end(&plan.frame, pick(p.finite_interval()?)).0))
        })
    };
    let mut outline: Vec<_> = ends(|(_, high)| high).collect();
    let mut below: Vec<_> = ends(|(low, _)| low).collect();
    below.reverse();
    outline.extend(below);
    if outline.len() > 2 {
        canvas.fill(&outline, plan.looks[k].colour(), 0.16);
    }
}

/// Halo, error bar and mark, in this order.
fn mark(canvas: &mut Canvas, plan: &Plan, k: usize, point: &Point, hollow: bool) {
    let (look, frame) = (plan.looks[k], &plan.frame);
    let (x, y) = frame.at(point.x, point.y);
    let x = x + plan.dodge_of(k, x);
    if !hollow {
        frame::halo(canvas, look, (x, y));
    }
    if let Some((low, high)) = point.finite_interval() {
        let colour = look.colour().as_text();
        let ends = [end(frame, high), end(frame, low)];
        canvas.line(&[(x, ends[0].0), (x, ends[1].0)], colour, 1.1, 1.0);
        for ((y, inside), onward) in ends.into_iter().zip([1.0, -1.0]) {
            if inside {
                canvas.line(&[(x - 3.5, y), (x + 3.5, y)], colour, 1.1, 1.0);
            } else {
                // An arrowhead where a cap would say that the interval ends here.
                canvas.fill(&[(x - 3.5, y + 6.0 * onward), (x + 3.5, y + 6.0 * onward), (x, y)], colour, 1.0);
            }
        }
    }
    frame::mark(canvas, look, (x, y), hollow);
}

/// The chart in words.
fn about(chart: &Chart) -> String {
    let names: Vec<&str> = chart.series.iter().map(|s| s.name.as_str()).collect();
    format!("{} over {}: {}", chart.y.label, chart.x.label, names.join(", "))
}
