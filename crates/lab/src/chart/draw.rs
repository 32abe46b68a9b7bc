//! A [`Chart`] as SVG, and its numbers for the crosshair of the page.

use super::canvas::{Anchor, Canvas, SeriesLook, Sheet, Type};
use super::frame::{self, Dodge, Entry, Frame, Mark, Texts};
use super::scale::{Scale, has_place};
use super::{Axis, Chart, LineStyle, Point, Series};
use serde_json::{Value, json};

/// Name of the hollow marks in legends.
const PRINTED: &str = "printed in the paper";

/// Slot of the grey circle in the legend entry of the hollow marks.
const PRINTED_LOOK: usize = 54;

/// Number of points from which a line is drawn without marks and with its intervals as a band.
const DENSE: usize = 45;

/// Width of a bar; bars begin one unit apart.
const BAR: f64 = 0.8;

/// A chart with its scales and looks, before it has a size.
pub(super) struct Plot<'a> {
    chart: &'a Chart,
    x: Scale,
    y: Scale,
    /// The shown series, then the reference series.
    lines: Vec<Line<'a>>,
    /// Number of the shown series.
    own: usize,
    /// True if a line has too many points for marks.
    is_dense: bool,
    /// True for several levels that change often: in one frame they would hide each other.
    in_strips: bool,
}

struct Line<'a> {
    series: &'a Series,
    look: SeriesLook,
    /// Number of its legend group. All reference series with a namesake are one group.
    group: usize,
    /// Number of the line whose look and place it shares: the series of its name, or itself.
    namesake: usize,
    is_printed: bool,
}

impl<'a> Plot<'a> {
    pub(super) fn of(chart: &'a Chart) -> Self {
        let shown: Vec<&Series> = chart.shown().collect();
        let own = shown.len() - chart.reference.len();
        let line = |(k, series): (usize, &&'a Series)| {
            let is_printed = k >= own;
            let same = shown[..own].iter().position(|other| is_printed && other.name == series.name);
            let namesake = same.unwrap_or(k);
            let look = SeriesLook(shown[namesake].slot.unwrap_or(namesake));
            let group = if !is_printed { k } else { same.map_or(k + 1, |_| own) };
            Line { series, look, group, namesake, is_printed }
        };
        let lines = shown.iter().enumerate().map(line).collect();
        let own_series = || shown[..own].iter();
        let in_strips = (2..=6).contains(&own)
            && chart.reference.is_empty()
            && own_series().all(|series| series.style == LineStyle::Steps)
            && own_series().any(|series| series.points.len() > 150);
        let is_dense = own_series().any(|series| series.style == LineStyle::Lines && series.points.len() >= DENSE);
        Self { chart, x: Scale::of_x(chart), y: Scale::of_y(chart), lines, own, is_dense, in_strips }
    }

    fn own(&self) -> &[Line<'a>] {
        &self.lines[..self.own]
    }

    fn has_marks(&self, line: &Line<'_>) -> bool {
        match line.series.style {
            LineStyle::Lines => line.is_printed || !self.is_dense,
            LineStyle::Steps | LineStyle::Bars => line.is_printed,
            LineStyle::MarksOnly => true,
        }
    }

    fn points(&self, line: &Line<'a>) -> impl DoubleEndedIterator<Item = &'a Point> {
        let chart = self.chart;
        line.series.points.iter().filter(move |point| has_place(point, chart))
    }

    /// Returns the small print under the picture: remarks on data that the picture does not show as they are.
    pub(super) fn note(&self) -> String {
        let y = &self.y;
        let is_beyond = |point: &Point| {
            point.finite_interval().is_some_and(|(low, high)| !y.has_inside(low) || !y.has_inside(high))
        };
        let mut marked = self.own().iter().filter(|line| self.has_marks(line)).flat_map(|line| self.points(line));
        let raised = !y.log && y.low > 0.0 && self.chart.y.label.contains('%');
        let remarks = [
            raised.then(|| format!("The axis begins at {} %.", y.low)),
            marked.any(is_beyond).then(|| "Arrowheads: the interval extends beyond the axis.".to_owned()),
        ];
        remarks.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    fn widest_name(&self) -> f64 {
        frame::widest(Type::NAME, self.own().iter().map(|line| &line.series.name))
    }

    /// Returns the height of the name of each of at most five lines, next to its end; `None` without room for all. Names of ends that are
    /// close stand apart, in the order of the ends.
    fn heights_of_names(&self, frame: &Frame, sheet: Sheet) -> Option<Vec<f64>> {
        const LINE: f64 = 15.0;
        let is_line = |line: &Line<'_>| matches!(line.series.style, LineStyle::Lines | LineStyle::Steps);
        let last = |line: &Line<'a>| self.points(line).next_back().map(|point| frame.at(point.x, point.y));
        let ends: Vec<(f64, f64)> = self.own().iter().map(last).collect::<Option<_>>()?;
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
            && self.chart.reference.is_empty()
            && self.lines.iter().all(is_line)
            && self.widest_name() < 0.25 * sheet.width
            && ends.iter().all(|(x, _)| frame.right - x < 0.12 * (frame.right - frame.left))
            && ends.iter().zip(&heights).all(is_near))
        .then_some(heights)
    }

    fn legend(&self) -> Vec<Entry> {
        let mut legend: Vec<Entry> = Vec::new();
        // The title names a single series of bars, and the axis a single series of its name.
        let is_named = |only: &Series| {
            only.style == LineStyle::Bars
                || (self.chart.reference.is_empty() && self.chart.y.label.starts_with(&only.name))
        };
        let needs_own = !matches!(self.own(), [only] if is_named(only.series));
        for shown in self.lines.iter().filter(|line| line.is_printed || needs_own) {
            let Line { series, look, group, is_printed: hollow, .. } = *shown;
            if legend.iter().any(|entry| entry.group == group) {
                continue;
            }
            let is_shared = hollow && group == self.own;
            let (name, look) =
                if is_shared { (PRINTED.to_owned(), SeriesLook(PRINTED_LOOK)) } else { (shown.name(), look) };
            let about = series.about.clone().filter(|_| !hollow);
            let (line, mark) = (!hollow && series.style != LineStyle::MarksOnly, self.has_marks(shown));
            legend.push(Entry { group, name, about, look, line, mark, hollow });
        }
        legend.sort_by_key(|entry| (entry.hollow, entry.group == self.own));
        legend
    }

    fn dodge(&self, frame: &Frame) -> Dodge {
        let marked = self.lines.iter().enumerate();
        let marked =
            marked.filter(|(k, line)| if line.is_printed { line.namesake == *k } else { self.has_marks(line) });
        let mark = |(series, point): (usize, &Point)| {
            let (x, y) = frame.at(point.x, point.y);
            let bar = point.finite_interval().map(|(low, high)| (frame.end(high).0, frame.end(low).0));
            Mark { series, x, y, bar }
        };
        let marks: Vec<Mark> =
            marked.flat_map(|(k, line)| self.points(line).map(move |point| (k, point))).map(mark).collect();
        Dodge::new(self.lines.len(), marks)
    }
}

impl Line<'_> {
    /// Returns its name, with a remark if it is printed in the paper.
    fn name(&self) -> String {
        if self.is_printed { format!("{}, {PRINTED}", self.series.name) } else { self.series.name.clone() }
    }
}

pub(super) fn svg(chart: &Chart, sheet: Sheet) -> String {
    let plot = Plot::of(chart);
    // Strips need more height than is usual.
    let height = if plot.in_strips { sheet.height.max(90.0 + 84.0 * frame::count(plot.own)) } else { sheet.height };
    let sheet = Sheet { height, ..sheet };
    let labels = [chart.x.shown(&plot.x), chart.y.shown(&plot.y)];
    // A page has the note in its caption.
    let note = if sheet.titled { plot.note() } else { String::new() };
    let around = |legend: &[Entry], right: f64| {
        let mut canvas = Canvas::new(sheet);
        let texts = Texts { title: &chart.title, note: &note, x: &labels[0], y: &labels[1], legend };
        let frame = Frame::around(&mut canvas, &texts, plot.x.clone(), plot.y.clone(), right);
        (canvas, frame)
    };
    let named = around(&[], plot.widest_name() + 12.0);
    let ends = if plot.in_strips { None } else { plot.heights_of_names(&named.1, sheet) };
    let (mut canvas, mut frame) = match ends {
        Some(_) => named,
        None if plot.in_strips => around(&[], 26.0),
        None => around(&plot.legend(), 26.0),
    };
    let mut strips = Vec::new();
    if plot.in_strips {
        frame.top += 8.0;
        strips = frame.strips(plot.own);
    }
    let name = |canvas: &mut Canvas, k: usize, room: f64, (x, y): (f64, f64)| {
        let Line { series, look, .. } = &plot.lines[k];
        let look = Type { colour: look.of_text(), ..Type::NAME };
        let name = look.cut(&series.name, room);
        canvas.key(k, series.about.as_slice(), |canvas| canvas.text(&name, x, y, look, Anchor::Start));
    };
    for (k, strip) in strips.iter().enumerate() {
        strip.grid(&mut canvas);
        name(&mut canvas, k, strip.right - strip.left, (strip.left, strip.top - 5.0));
    }
    if strips.is_empty() {
        frame.grid(&mut canvas);
    }
    let aside = Aside { plot: &plot, frame: &frame, dodge: plot.dodge(&frame) };
    for (k, line) in plot.own().iter().enumerate() {
        let frame = strips.get(k).unwrap_or(&frame);
        canvas.group(&format!("data-group=\"{k}\""), &[], |canvas| draw_line(canvas, &aside, frame, line));
    }
    let (own, printed) = plot.lines.split_at(plot.own);
    for line in printed.iter().chain(own.iter().filter(|line| plot.has_marks(line))) {
        canvas.group(&format!("data-group=\"{}\"", line.group), &[], |canvas| {
            plot.points(line).for_each(|point| draw_mark(canvas, &aside, line, point));
        });
    }
    for (k, y) in ends.iter().flatten().enumerate() {
        name(&mut canvas, k, f64::INFINITY, (frame.right + 8.0, y + 4.0));
    }
    if frame.x.ticks.is_empty() && own.iter().all(|line| line.series.points.is_empty()) {
        let middle = f64::midpoint(frame.left, frame.right);
        canvas.text("no data", middle, frame.top + 40.0, Type::LABEL, Anchor::Middle);
    }
    // The horizontal axis, for the crosshair of a page.
    let Frame { left, right, top, bottom, x: Scale { low, high, log, .. }, .. } = frame;
    let axis = format!("data-frame=\"{left} {right} {top} {bottom} {low} {high} {}\"", u8::from(log));
    canvas.finish(&chart.title, &chart.about(), &axis)
}

/// The places of marks that are moved aside.
struct Aside<'a> {
    plot: &'a Plot<'a>,
    frame: &'a Frame,
    dodge: Dodge,
}

impl Aside<'_> {
    /// Returns the distance by which a line is drawn aside at a point: that of its marks, but equal results give one line.
    fn of(&self, line: &Line<'_>, point: &Point) -> f64 {
        let (x, y) = self.frame.at(point.x, point.y);
        let is_here = |other: &Point| {
            let (x1, y1) = self.frame.at(other.x, other.y);
            (x1 - x).abs() < 0.5 && (y1 - y).abs() < 0.5
        };
        let others = self.plot.own().iter().filter(|other| other.group != line.group);
        // Only lines with marks have few points: the search takes the square of their number.
        let mut points = others.flat_map(|other| &other.series.points);
        let is_moved = self.plot.has_marks(line) && !points.any(is_here);
        if is_moved { self.dodge.at(line.namesake, x) } else { 0.0 }
    }
}

fn draw_line(canvas: &mut Canvas, aside: &Aside<'_>, frame: &Frame, line: &Line<'_>) {
    let Line { series, look, .. } = line;
    let is_level = series.style == LineStyle::Steps;
    // A level of zero lies at the foot of a logarithmic axis.
    let place = |p: &Point| {
        let (x, y) = frame.at(p.x, if frame.y.log && is_level { p.y.max(frame.y.low) } else { p.y });
        (x + aside.of(line, p), y)
    };
    let is_drawn = |p: &Point| has_place(p, aside.plot.chart) || (is_level && p.y.is_finite());
    for run in series.points.split(|p| !is_drawn(p)).filter(|run| !run.is_empty()) {
        let path = || run.iter().map(place).collect::<Vec<_>>();
        match series.style {
            LineStyle::MarksOnly => {}
            LineStyle::Bars => run.iter().for_each(|point| {
                let [(left, top), (right, _)] = [-BAR, BAR].map(|width| frame.at(point.x + width / 2.0, point.y));
                let corners = [(left, frame.bottom), (left, top), (right, top), (right, frame.bottom)];
                canvas.fill(&corners, look.colour(), 1.0);
            }),
            LineStyle::Lines => {
                if aside.plot.is_dense {
                    draw_band(canvas, frame, *look, run);
                }
                canvas.line(&path(), look.colour(), 1.8, look.is_dashed());
            }
            LineStyle::Steps => canvas.steps(&path(), look.colour(), if run.len() > 400 { 1.1 } else { 1.6 }),
        }
    }
}

/// Draws the intervals of a line without marks.
fn draw_band(canvas: &mut Canvas, frame: &Frame, look: SeriesLook, run: &[Point]) {
    let intervals = run.iter().filter_map(|p| Some((frame.at(p.x, frame.y.low).0, p.finite_interval()?)));
    let above = intervals.clone().map(|(x, (_, high))| (x, frame.end(high).0));
    let below = intervals.rev().map(|(x, (low, _))| (x, frame.end(low).0));
    let outline: Vec<_> = above.chain(below).collect();
    if outline.len() > 2 {
        canvas.fill(&outline, look.colour(), 0.16);
    }
}

/// Draws halo, error bar and mark, in this order. A printed mark stands around the simulated one of its name.
fn draw_mark(canvas: &mut Canvas, aside: &Aside<'_>, line: &Line<'_>, point: &Point) {
    let Line { look, is_printed, namesake, .. } = *line;
    let (x, y) = aside.frame.at(point.x, point.y);
    let x = x + aside.dodge.at(namesake, x);
    if !is_printed {
        frame::halo(canvas, look, (x, y));
    }
    if let Some((low, high)) = point.finite_interval() {
        let colour = look.of_text();
        let ends = [high, low].map(|value| aside.frame.end(value));
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
    frame::mark(canvas, look, (x, y), is_printed);
}

/// Returns the values of all series by x and their formats. Marks of other pictures have tooltips of their own.
pub(crate) fn readout(chart: &Chart) -> Value {
    let plot = Plot::of(chart);
    let series = plot.lines.iter().map(|line| {
        let Line { series, look, group, is_printed, .. } = line;
        let style = format!("{:?}", if *is_printed { LineStyle::MarksOnly } else { series.style });
        let (colour, points, joined) = (look.colour(), points(chart, series), plot.is_dense && !is_printed);
        json!({ "name": line.name(), "group": group, "style": style, "colour": colour, "joined": joined, "points": points })
    });
    json!({
        "x": axis(&chart.x, &plot.x),
        "y": axis(&chart.y, &plot.y),
        "levels": chart.has(LineStyle::Steps),
        "of": chart.counted(),
        "series": series.collect::<Vec<_>>(),
    })
}

/// Returns x, y, the ends of the interval and the number of replications of each point; missing values at the end are left out.
fn points(chart: &Chart, series: &Series) -> Vec<Vec<Value>> {
    let is_level = series.style == LineStyle::Steps;
    let there = series.points.iter().filter(|point| has_place(point, chart) || (is_level && point.y.is_finite()));
    let point = |point: &Point| {
        let (low, high) = point.interval.unzip();
        let values = [Some(point.x), Some(point.y), low, high].map(|value| value.map_or(Value::Null, seven));
        let all = [&values[..], &[point.reps.into()]].concat();
        let length = all.iter().rposition(|value| !value.is_null()).map_or(0, |last| last + 1);
        all[..length].to_vec()
    };
    there.map(point).collect()
}

/// Rounds to seven digits, more than a reader needs.
fn seven(value: f64) -> Value {
    let short: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    if short.fract().abs() <= 0.0 && short.abs() < 1e15 {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number in the range")]
        return (short as i64).into();
    }
    short.into()
}

fn axis(axis: &Axis, scale: &Scale) -> Value {
    let names = if scale.exact { scale.ticks.as_slice() } else { &[] };
    json!({
        "label": axis.label,
        // As it stands behind a number, with a leading space.
        "unit": axis.unit(),
        "spans": axis.spans,
        "start": axis.start,
        "log": scale.log,
        "low": scale.low,
        "high": scale.high,
        "names": names,
    })
}
