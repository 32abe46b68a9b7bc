//! A [`Chart`] as SVG.

use super::arrange::{self, Dodge, Mark};
use super::canvas::{Anchor, Canvas, Sheet, Type};
use super::frame::{self, Entry, Frame, Texts};
use super::marks::SeriesLook;
use super::scale::{Scale, has_place};
use super::{Chart, LineStyle, Point, Series};

/// Name of the hollow marks in legends.
pub(super) const PRINTED: &str = "printed in the paper";

/// Slot of the grey circle in the legend entry of the hollow marks.
const PRINTED_LOOK: usize = 54;

/// Number of points from which a line is drawn without marks and with its intervals as a band.
const DENSE: usize = 45;

/// Width of a bar; bars begin one unit apart.
const BAR: f64 = 0.8;

/// Layout of a chart, whose texts are on the canvas before anything else is drawn.
struct ChartPlan {
    frame: Frame,
    /// One frame for each series, stacked, if lines in one frame would hide each other; otherwise empty.
    strips: Vec<Frame>,
    /// Looks of the series, then of the reference series.
    looks: Vec<SeriesLook>,
    dodge: Dodge,
    /// Heights of the names at the ends of the lines, if these need no legend.
    ends: Option<Vec<f64>>,
}

impl ChartPlan {
    fn new(chart: &Chart, sheet: Sheet) -> (Canvas, ChartPlan) {
        let looks = looks(chart);
        let (x, y) = (Scale::of_x(chart), Scale::of_y(chart));
        // A page has the note in its caption.
        let note = if sheet.titled { note(chart) } else { String::new() };
        let labels = [chart.x.shown(&x), chart.y.shown(&y)];
        let around = |legend: &[Entry], right: f64| {
            let mut canvas = Canvas::new(sheet);
            let texts = Texts { title: &chart.title, note: &note, x: &labels[0], y: &labels[1], legend };
            let frame = Frame::around(&mut canvas, &texts, x.clone(), y.clone(), right);
            (canvas, frame)
        };
        let named = around(&[], widest_name(chart) + 12.0);
        let is_in_strips = in_strips(chart);
        let ends = if is_in_strips { None } else { heights_of_names(chart, &named.1, sheet) };
        let (canvas, mut frame) = match ends {
            Some(_) => named,
            None if is_in_strips => around(&[], 26.0),
            None => around(&legend(chart, &looks), 26.0),
        };
        let marks = marks(chart, &frame);
        let widest = arrange::least_distance(&marks).map_or(60.0, |d| (0.5 * d).min(60.0));
        let dodge = Dodge::new(looks.len(), &marks, widest);
        let strips = if is_in_strips {
            frame.top += 8.0;
            frame.strips(chart.series.len())
        } else {
            Vec::new()
        };
        (canvas, ChartPlan { frame, strips, looks, dodge, ends })
    }
}

/// Returns the height of a chart, given the usual height: strips need more.
pub(super) fn height(chart: &Chart, usual: f64) -> f64 {
    if in_strips(chart) { usual.max(90.0 + 84.0 * arrange::count(chart.series.len())) } else { usual }
}

pub(super) fn svg(chart: &Chart, sheet: Sheet) -> String {
    let (mut canvas, plan) = ChartPlan::new(chart, sheet);
    let frame = &plan.frame;
    let name = |canvas: &mut Canvas, k: usize, room: f64, (x, y): (f64, f64)| {
        let (series, look) = (&chart.series[k], Type { colour: plan.looks[k].of_text(), ..Type::NAME });
        let name = look.cut(&series.name, room);
        canvas.key(k, series.about.as_slice(), |canvas| canvas.text(&name, x, y, look, Anchor::Start));
    };
    for (k, strip) in plan.strips.iter().enumerate() {
        strip.grid(&mut canvas);
        name(&mut canvas, k, strip.right - strip.left, (strip.left, strip.top - 5.0));
    }
    if plan.strips.is_empty() {
        frame.grid(&mut canvas);
    }
    for (k, series) in chart.series.iter().enumerate() {
        canvas.group(&format!("data-group=\"{k}\""), &[], |canvas| line(canvas, chart, &plan, k, series));
    }
    let (own, printed): (Vec<_>, Vec<_>) = all(chart).partition(|(k, _)| *k < chart.series.len());
    let with_marks = own.into_iter().filter(|(_, series)| has_marks(chart, series));
    for (k, series) in printed.into_iter().chain(with_marks) {
        let points = series.points.iter().filter(|p| has_place(p, chart));
        canvas.group(&format!("data-group=\"{}\"", group_of(chart, k)), &[], |canvas| {
            points.for_each(|point| mark(canvas, chart, &plan, k, point));
        });
    }
    for (k, y) in plan.ends.iter().flatten().enumerate() {
        name(&mut canvas, k, f64::INFINITY, (frame.right + 8.0, y + 4.0));
    }
    if frame.x.ticks.is_empty() && chart.series.iter().all(|s| s.points.is_empty()) {
        let middle = f64::midpoint(frame.left, frame.right);
        canvas.text("no data", middle, frame.top + 40.0, Type::LABEL, Anchor::Middle);
    }
    canvas.finish(&chart.title, &chart.about(), &frame.described())
}

/// Iterates over the series, then the reference series, numbered from 0.
pub(super) fn all(chart: &Chart) -> impl Iterator<Item = (usize, &Series)> {
    chart.series.iter().chain(&chart.reference).enumerate()
}

/// Returns the series of the name of reference series `k`, whose colour, mark and place it shares; `k` itself if there is none.
fn namesake(chart: &Chart, k: usize) -> usize {
    let printed = k.checked_sub(chart.series.len()).map(|k| &chart.reference[k].name);
    chart.series.iter().position(|series| Some(&series.name) == printed).unwrap_or(k)
}

/// Returns the legend group of a series or reference series. All reference series with a namesake are one group.
pub(super) fn group_of(chart: &Chart, k: usize) -> usize {
    match chart.series.len() {
        simulated if k < simulated => k,
        simulated if namesake(chart, k) < simulated => simulated,
        _ => k + 1,
    }
}

fn widest_name(chart: &Chart) -> f64 {
    frame::widest(Type::NAME, chart.series.iter().map(|series| &series.name))
}

/// Returns the height of the name of each of at most five lines, next to its end; `None` without room for all. Names of ends that are
/// close stand apart, in the order of the ends.
fn heights_of_names(chart: &Chart, frame: &Frame, sheet: Sheet) -> Option<Vec<f64>> {
    const LINE: f64 = 15.0;
    let is_line = |series: &Series| matches!(series.style, LineStyle::Lines | LineStyle::Steps);
    let last = |series: &Series| {
        series.points.iter().rfind(|point| has_place(point, chart)).map(|point| frame.at(point.x, point.y))
    };
    let ends: Vec<(f64, f64)> = chart.series.iter().map(last).collect::<Option<_>>()?;
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|a, b| ends[*a].1.total_cmp(&ends[*b].1));
    let mut heights: Vec<f64> = ends.iter().map(|(_, y)| *y).collect();
    // Neighbours that are too close give way by half of what is missing each; a few rounds are enough for five names.
    for _ in 0..40 {
        for pair in order.windows(2) {
            let lack = (LINE - (heights[pair[1]] - heights[pair[0]])).max(0.0);
            heights[pair[0]] -= lack / 2.0;
            heights[pair[1]] += lack / 2.0;
        }
    }
    let is_near = |((_, end), height): (&(f64, f64), &f64)| (end - height).abs() <= 1.2 * LINE;
    ((2..=5).contains(&ends.len())
        && chart.reference.is_empty()
        && chart.series.iter().all(is_line)
        && widest_name(chart) < 0.25 * sheet.width
        && ends.iter().all(|(x, _)| frame.right - x < 0.12 * (frame.right - frame.left))
        && ends.iter().zip(&heights).all(is_near))
    .then_some(heights)
}

/// Returns true for a chart of several levels that change often.
fn in_strips(chart: &Chart) -> bool {
    (2..=6).contains(&chart.series.len())
        && chart.reference.is_empty()
        && chart.series.iter().all(|s| s.style == LineStyle::Steps)
        && chart.series.iter().any(|s| s.points.len() > 150)
}

/// Returns the small print under the picture: remarks on data that the picture does not show as they are.
pub(crate) fn note(chart: &Chart) -> String {
    let y = Scale::of_y(chart);
    let beyond = |p: &Point| {
        let inside = |value: f64| (-1e-9..=1.0 + 1e-9).contains(&y.fraction(value));
        has_place(p, chart) && p.finite_interval().is_some_and(|(low, high)| !inside(low) || !inside(high))
    };
    let cut =
        chart.series.iter().filter(|series| has_marks(chart, series)).flat_map(|series| &series.points).any(beyond);
    let raised = !y.log && y.low > 0.0 && chart.y.label.contains('%');
    let remarks = [
        raised.then(|| format!("The axis begins at {} %.", y.low)),
        cut.then(|| "Arrowheads: the interval extends beyond the axis.".to_owned()),
    ];
    remarks.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Returns the looks of the series, then of the reference series, which share those of their namesakes.
pub(super) fn looks(chart: &Chart) -> Vec<SeriesLook> {
    let look = |(k, series): (usize, &Series)| {
        let own = namesake(chart, k);
        SeriesLook(chart.series.get(own).unwrap_or(series).slot.unwrap_or(own))
    };
    all(chart).map(look).collect()
}

fn legend(chart: &Chart, looks: &[SeriesLook]) -> Vec<Entry> {
    let mut legend: Vec<Entry> = Vec::new();
    // The title names a single series of bars, and the axis a single series of its name.
    let is_named = |only: &Series| {
        only.style == LineStyle::Bars || (chart.reference.is_empty() && chart.y.label.starts_with(&only.name))
    };
    if !matches!(chart.series.as_slice(), [only] if is_named(only)) {
        for ((series, &look), group) in chart.series.iter().zip(looks).zip(0..) {
            let line = series.style != LineStyle::MarksOnly;
            let (name, about, mark) = (series.name.clone(), series.about.clone(), has_marks(chart, series));
            legend.push(Entry { group, name, about, look, line, mark, hollow: false });
        }
    }
    for (series, k) in chart.reference.iter().zip(chart.series.len()..) {
        let group = group_of(chart, k);
        let is_shared = group == chart.series.len();
        let (name, look) = if is_shared {
            (PRINTED.to_owned(), SeriesLook(PRINTED_LOOK))
        } else {
            (format!("{}, {PRINTED}", series.name), looks[k])
        };
        if !legend.iter().any(|entry| entry.group == group) {
            legend.push(Entry { group, name, about: None, look, line: false, mark: true, hollow: true });
        }
    }
    legend.sort_by_key(|entry| (entry.hollow, entry.group == chart.series.len()));
    legend
}

/// Returns every mark of the chart at its true place.
fn marks(chart: &Chart, frame: &Frame) -> Vec<Mark> {
    let is_marked = |(k, series): &(usize, &Series)| {
        if *k < chart.series.len() { has_marks(chart, series) } else { namesake(chart, *k) == *k }
    };
    all(chart)
        .filter(is_marked)
        .flat_map(|(k, series)| series.points.iter().filter(|p| has_place(p, chart)).map(move |p| (k, p)))
        .map(|(series, point)| {
            let (x, y) = frame.at(point.x, point.y);
            let bar = point.finite_interval().map(|(low, high)| (end(frame, high).0, end(frame, low).0));
            Mark { series, x, y, bar }
        })
        .collect()
}

/// Returns true if a line has too many points for marks.
pub(super) fn is_dense(chart: &Chart) -> bool {
    chart.series.iter().any(|series| series.style == LineStyle::Lines && series.points.len() >= DENSE)
}

fn has_marks(chart: &Chart, series: &Series) -> bool {
    match series.style {
        LineStyle::Lines => !is_dense(chart),
        LineStyle::Steps | LineStyle::Bars => false,
        LineStyle::MarksOnly => true,
    }
}

/// Returns the height on the page of an interval's end, and true if it lies within the frame.
fn end(frame: &Frame, value: f64) -> (f64, bool) {
    if frame.y.log && value <= 0.0 {
        return (frame.bottom, false);
    }
    let inside = (-1e-9..=1.0 + 1e-9).contains(&frame.y.fraction(value));
    (frame.at(frame.x.low, value.clamp(frame.y.low, frame.y.high)).1, inside)
}

fn line(canvas: &mut Canvas, chart: &Chart, plan: &ChartPlan, k: usize, series: &Series) {
    let colour = plan.looks[k].colour();
    let frame = plan.strips.get(k).unwrap_or(&plan.frame);
    // A line follows its marks where they are moved aside, but equal results give one line, not two beside each other.
    let aside = |p: &Point| {
        let (x, y) = plan.frame.at(p.x, p.y);
        let is_here = |(x1, y1): (f64, f64)| (x1 - x).abs() < 0.5 && (y1 - y).abs() < 0.5;
        let others = chart.series.iter().enumerate().filter(|(other, _)| *other != k);
        // Only lines with marks have few points: the search takes the square of their number.
        let mut points = others.flat_map(|(_, other)| &other.points);
        let is_moved = has_marks(chart, series) && !points.any(|q| is_here(plan.frame.at(q.x, q.y)));
        if is_moved { plan.dodge.at(k, x) } else { 0.0 }
    };
    let is_level = series.style == LineStyle::Steps;
    // A level of zero lies at the foot of a logarithmic axis.
    let place = |p: &Point| {
        let (x, y) = frame.at(p.x, if frame.y.log && is_level { p.y.max(frame.y.low) } else { p.y });
        (x + aside(p), y)
    };
    let is_drawn = |p: &Point| has_place(p, chart) || (is_level && p.y.is_finite());
    for run in series.points.split(|p| !is_drawn(p)).filter(|run| !run.is_empty()) {
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
                if is_dense(chart) {
                    band(canvas, plan, k, run);
                }
                canvas.line(&path, colour, 1.8, plan.looks[k].is_dashed());
            }
            LineStyle::Steps => {
                let width = if run.len() > 400 { 1.1 } else { 1.6 };
                canvas.steps(&run.iter().map(place).collect::<Vec<_>>(), colour, width);
            }
        }
    }
}

/// Draws the intervals of a line without marks.
fn band(canvas: &mut Canvas, plan: &ChartPlan, k: usize, run: &[Point]) {
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

/// Draws halo, error bar and mark, in this order. A printed mark stands around the simulated one of its name.
fn mark(canvas: &mut Canvas, chart: &Chart, plan: &ChartPlan, k: usize, point: &Point) {
    let (look, frame, hollow) = (plan.looks[k], &plan.frame, k >= chart.series.len());
    let (x, y) = frame.at(point.x, point.y);
    let x = x + plan.dodge.at(namesake(chart, k), x);
    if !hollow {
        frame::halo(canvas, look, (x, y));
    }
    if let Some((low, high)) = point.finite_interval() {
        let colour = look.of_text();
        let ends = [end(frame, high), end(frame, low)];
        canvas.line(&[(x, ends[0].0), (x, ends[1].0)], colour, 1.1, false);
        for ((y, inside), onward) in ends.into_iter().zip([1.0, -1.0]) {
            if inside {
                canvas.line(&[(x - 3.5, y), (x + 3.5, y)], colour, 1.1, false);
            } else {
                // An arrowhead instead of a cap: the interval continues beyond the frame.
                canvas.fill(&[(x - 3.5, y + 6.0 * onward), (x + 3.5, y + 6.0 * onward), (x, y)], colour, 1.0);
            }
        }
    }
    frame::mark(canvas, look, (x, y), hollow);
}
