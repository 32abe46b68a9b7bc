//! Differences to a baseline: a dot and an interval for each policy, in panels with one scale.

use super::Axis;
use super::canvas::{AXIS, Anchor, Canvas, GRID, SeriesLook, Sheet, Type, WHITE, rectangle};
use super::frame::{count, label_below, moved, thinned, widest};
use super::scale::{Scale, Tick, decimals_for, fixed};

/// Differences of several policies to a baseline, in one or more panels.
#[derive(Debug, Clone, Default)]
pub struct Forest {
    /// Short name, as in file names and links.
    pub id: String,
    /// The comparison, in a few words.
    pub title: String,
    /// The axis of all panels.
    pub x: Axis,
    /// Name of each row with the slot of its colour.
    pub rows: Vec<(String, usize)>,
    /// The panels, side by side if there is room.
    pub facets: Vec<Facet>,
    /// True if a difference above zero is an improvement; stated in the picture if there is one panel.
    pub larger_is_better: bool,
}

/// A panel: one dot for each row.
#[derive(Debug, Clone, Default)]
pub struct Facet {
    /// Its heading.
    pub name: String,
    /// Its x in the data.
    pub key: String,
    /// Dot of each row; `None` if there is no value.
    pub dots: Vec<Option<Dot>>,
    /// True if the panel is in the data files alone, because another panel shows the same.
    pub is_hidden: bool,
}

/// A difference.
#[derive(Debug, Clone, Default)]
pub struct Dot {
    /// The estimate.
    pub mean: f64,
    /// Its 95 % interval, if there is one.
    pub interval: Option<(f64, f64)>,
    /// The largest absolute value of both in percent of the baseline's mean.
    pub share: f64,
    /// Number of blocks behind it.
    pub blocks: u32,
    /// Text beside it, drawn if there is one panel.
    pub text: String,
    /// Lines of its tooltip.
    pub facts: Vec<String>,
}

impl Dot {
    fn ends(&self) -> (f64, f64) {
        self.interval.unwrap_or((self.mean, self.mean))
    }

    fn reach(&self) -> f64 {
        let (low, high) = self.ends();
        low.abs().max(high.abs()).max(self.mean.abs())
    }
}

/// Factor by which a row must exceed the next one, or the median, to be left out of the scale.
const DWARFS: f64 = 5.0;

/// The same of the last but one row, if the other reaches at least [`LEGIBLE`] percent of the baseline.
const DWARFS_THE_LAST: f64 = 10.0;

const LEGIBLE: f64 = 5.0;

const TICKS: f64 = 24.0;

const HEADING: Type = Type { bold: true, ..Type::NAME };

impl Forest {
    pub(super) fn about(&self) -> String {
        let names: Vec<&str> = self.rows.iter().map(|(name, _)| name.as_str()).collect();
        format!("{}, for {}", self.x.label, names.join(", "))
    }

    fn drawn(&self) -> impl Iterator<Item = &Facet> {
        self.facets.iter().filter(|facet| !facet.is_hidden)
    }

    /// Returns the scale of all panels: the intervals of all rows, except rows without an interval and rows that dwarf the others.
    fn scale(&self) -> Scale {
        let dots = |row: usize| self.drawn().filter_map(move |facet| facet.dots.get(row)?.as_ref());
        let has_intervals = (0..self.rows.len()).flat_map(dots).any(|dot| dot.interval.is_some());
        let reach = |row: usize| {
            let dots = dots(row).filter(|dot| !has_intervals || dot.interval.is_some());
            dots.map(Dot::reach).fold(f64::NAN, f64::max)
        };
        let mut rows: Vec<(f64, usize)> = (0..self.rows.len()).map(|row| (reach(row), row)).collect();
        rows.retain(|(reach, _)| reach.is_finite());
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        while let [.., (next, row), (most, _)] = rows[..] {
            let has_others = rows.len() > 2 && most > DWARFS * rows[rows.len() / 2].0;
            let is_legible = || dots(row).any(|dot| dot.share >= LEGIBLE);
            if !(has_others || (most > DWARFS_THE_LAST * next && is_legible())) {
                break;
            }
            rows.pop();
        }
        let kept = rows.iter().flat_map(|(_, row)| dots(*row)).map(Dot::ends);
        let (low, high) = kept.fold((0.0, 0.0), |(low, high), (from, to)| (f64::min(low, from), f64::max(high, to)));
        let room = if high > low { 0.06 * (high - low) } else { 1.0 };
        let (low, high) = (low - room, high + room);
        Scale::linear(low, high, low, high, &self.x)
    }
}

pub(super) fn svg(forest: &Forest, sheet: Sheet) -> String {
    let facets: Vec<&Facet> = forest.drawn().collect();
    let (n, margin, width) = (facets.len(), sheet.margin(), sheet.width);
    let names = widest(Type::NAME, forest.rows.iter().map(|(name, _)| name)) + 14.0;
    let names = names.min(0.36 * width);
    let beside = facets.iter().flat_map(|facet| facet.dots.iter().flatten()).map(|dot| &dot.text);
    let texts = if n == 1 { widest(Type::NAME, beside) + 10.0 } else { 0.0 };
    // On a narrow sheet the text stands above its dot.
    let is_narrow = n == 1 && width < names + texts + 220.0;
    let (names, texts) = if is_narrow { (0.0, 0.0) } else { (names, texts) };
    let room = width - 2.0 * margin - names;
    let columns = (1..=n).rev().find(|columns| room / count(*columns) >= 150.0).unwrap_or(1);
    let columns = n.div_ceil(n.div_ceil(columns).max(1)).max(1);
    let column = room / count(columns);
    let is_long = |facet: &&Facet| HEADING.width(&facet.name) > column - 12.0;
    let lines = if n > 1 && facets.iter().any(is_long) { 2 } else { 1 };
    let row = match n {
        _ if is_narrow => 42.0,
        1 => 28.0,
        _ => 22.0,
    };
    let head = if n == 1 { 18.0 } else { 9.0 + 15.0 * count(lines) };
    let top = if sheet.titled { 40.0 } else { 2.0 };
    let facet_height = head + row * count(forest.rows.len()) + TICKS;
    let height = top + facet_height * count(n.div_ceil(columns)) + 24.0;
    let mut canvas = Canvas::new(Sheet { height, ..sheet });
    if sheet.titled {
        let title = Type::TITLE.cut(&forest.title, width - 2.0 * margin);
        canvas.text(&title, margin, 27.0, Type::TITLE, Anchor::Start);
    }
    let scale = &forest.scale();
    for (k, facet) in facets.iter().enumerate() {
        let left = margin + names + column * count(k % columns);
        let (right, top) = (left + column - texts - 12.0, top + facet_height * count(k / columns) + head);
        let pane = Pane { forest, scale, names, texts, row, lines, left, right, top };
        pane.draw(&mut canvas, facet, n > 1, k % columns == 0);
    }
    let middle = f64::midpoint(margin + names, width - margin - texts);
    label_below(&mut canvas, &forest.x.shown(scale), middle, height - 8.0);
    canvas.finish(&forest.title, &forest.about(), "")
}

struct Pane<'a> {
    forest: &'a Forest,
    scale: &'a Scale,
    /// Room for the names of the rows and for the texts beside the dots: 0 if these stand above their dots.
    names: f64,
    texts: f64,
    row: f64,
    /// Number of lines of the heading.
    lines: usize,
    left: f64,
    right: f64,
    /// Top of the first row, below the heading.
    top: f64,
}

impl Pane<'_> {
    fn at(&self, value: f64) -> f64 {
        self.left + self.scale.fraction(value) * (self.right - self.left)
    }

    fn draw(&self, canvas: &mut Canvas, facet: &Facet, is_named: bool, has_names: bool) {
        let Self { forest, scale, row, top: first, .. } = *self;
        let rows = &forest.rows;
        let (bottom, zero) = (first + row * count(rows.len()), self.at(0.0));
        if is_named {
            let lines = HEADING.wrap(&facet.name, self.right - self.left, self.lines);
            // Short headings stand on the last line, next to their panel.
            for (below, text) in lines.iter().rev().enumerate().rev() {
                canvas.text(text, self.left, first - 10.0 - 15.0 * count(below), HEADING, Anchor::Start);
            }
        } else {
            let [left, right] =
                if forest.larger_is_better { ["worse ←", "→ better"] } else { ["better ←", "→ worse"] };
            for (text, anchor, x, room) in [
                (left, Anchor::End, zero - 6.0, zero - self.left),
                (right, Anchor::Start, zero + 6.0, self.right - zero),
            ] {
                if room > 60.0 {
                    canvas.text(text, x, first - 6.0, Type::TICK, anchor);
                }
            }
        }
        for (at, _) in &scale.ticks {
            canvas.line(&[(self.at(*at), first), (self.at(*at), bottom)], GRID, 0.8, false);
        }
        // A label stays clear of those of the panels beside it.
        let is_clear = |(at, label): &&Tick| {
            let (place, half) = (self.at(*at), Type::TICK.width(label) / 2.0);
            !is_named || (place - half >= self.left - 5.0 && place + half <= self.right + 5.0)
        };
        let ticks: Vec<&Tick> = scale.ticks.iter().filter(is_clear).collect();
        let places: Vec<f64> = ticks.iter().map(|(at, _)| self.at(*at)).collect();
        let widths: Vec<f64> = ticks.iter().map(|(_, label)| Type::TICK.width(label)).collect();
        let at_zero = places.iter().position(|place| (place - zero).abs() < 0.01).unwrap_or(0);
        let shown = thinned(&places, &widths, 9.0, at_zero);
        for (k, (_, label)) in ticks.iter().enumerate().filter(|(k, _)| shown[*k]) {
            let x = places[k].max(2.0 + widths[k] / 2.0);
            canvas.text(label, x, bottom + 15.0, Type::TICK, Anchor::Middle);
        }
        canvas.line(&[(zero, first - 2.0), (zero, bottom)], AXIS, 1.2, false);
        for (k, (name, slot)) in rows.iter().enumerate() {
            let top = first + row * count(k);
            let dot = facet.dots.get(k).and_then(Option::as_ref);
            // The text stands above the dot if there is no room beside it.
            let is_above = self.names <= 0.0;
            let y = if is_above { top + row - 10.0 } else { top + row / 2.0 };
            // The pointer reads the same over the name as over the dot.
            canvas.group("class=\"mark\"", dot.map_or_else(Default::default, |dot| dot.facts.as_slice()), |canvas| {
                if is_above {
                    let text = format!("{name}: {}", dot.map_or("", |dot| &dot.text));
                    let text = Type::NAME.cut(&text, self.right - self.left);
                    clear(canvas, self.left, top + 16.0, Type::NAME.width(&text));
                    canvas.text(&text, self.left, top + 16.0, Type::NAME, Anchor::Start);
                } else if has_names {
                    let name = Type::NAME.cut(name, self.names - 14.0);
                    canvas.text(&name, self.left - 14.0, y + 4.0, Type::NAME, Anchor::End);
                }
                if let Some(dot) = dot {
                    self.dot(canvas, dot, SeriesLook(*slot), y);
                    if self.texts > 0.0 {
                        canvas.text(&dot.text, self.right + 12.0, y + 4.0, Type::NAME, Anchor::Start);
                    }
                }
            });
        }
    }

    /// Draws the interval and its estimate, hollow if the interval covers zero, or an arrow and the value if it lies beyond the scale.
    fn dot(&self, canvas: &mut Canvas, dot: &Dot, look: SeriesLook, y: f64) {
        let (colour, scale, axis) = (look.colour(), self.scale, &self.forest.x);
        // A wide target for the pointer.
        let reach = |x: f64, way: f64| (x + 12.0 * way).clamp(self.left - 6.0, self.right + 6.0);
        let (low, high) = dot.ends();
        let inside = |value: f64| value.clamp(scale.low, scale.high);
        let [from, to, middle] = [low, high, dot.mean].map(|value| self.at(inside(value)));
        canvas.fill(&rectangle(reach(from, -1.0), y - 9.0, reach(to, 1.0), y + 9.0), WHITE, 0.01);
        if to > from {
            canvas.line(&[(from, y), (to, y)], colour, 2.0, false);
        }
        for (value, x) in [(low, from), (high, to)] {
            let way = if value > scale.high { 1.0 } else { -1.0 };
            if value < scale.low || value > scale.high {
                canvas.fill(&[(x - 8.0 * way, y - 5.0), (x - 8.0 * way, y + 5.0), (x, y)], colour, 1.0);
            }
        }
        if dot.mean < scale.low || dot.mean > scale.high {
            let unit = if axis.label.contains('%') { " %" } else { "" };
            let value = if axis.spans { String::new() } else { format!("{}{unit}", rounded(dot.mean)) };
            let (x, anchor) =
                if dot.mean > 0.0 { (middle - 12.0, Anchor::End) } else { (middle + 12.0, Anchor::Start) };
            // Above an interval, which would strike it out.
            let base = if to > from { y - 4.0 } else { y + 4.0 };
            let width = Type::TICK.width(&value);
            clear(canvas, if dot.mean > 0.0 { x - width } else { x }, base, width);
            canvas.text(&value, x, base, Type::TICK, anchor);
            return;
        }
        let mark = moved(SeriesLook(0).corners(4.6), (middle, y));
        let is_significant = dot.interval.is_some() && (low > 0.0 || high < 0.0);
        canvas.fill(&mark, if is_significant { colour } else { WHITE }, 1.0);
        canvas.outline(&mark, colour, 1.8);
    }
}

/// Clears the place of a text, so that no line runs through it.
fn clear(canvas: &mut Canvas, left: f64, baseline: f64, width: f64) {
    canvas.fill(&rectangle(left - 1.0, baseline - 10.0, left + width + 1.0, baseline + 2.5), WHITE, 1.0);
}

/// Formats a signed value: `+1,234`, `−6.2`.
fn rounded(value: f64) -> String {
    let text = fixed(value, if value.abs() >= 10.0 { 0 } else { decimals_for(value, 2) });
    if value > 0.0 { format!("+{text}") } else { text }
}
