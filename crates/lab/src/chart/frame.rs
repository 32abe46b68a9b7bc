//! Parts that all pictures share: title, axes, grid, legend, the mapping of data to places, and marks and labels that must stand apart.

use super::canvas::{AXIS, Anchor, Canvas, GRID, SeriesLook, Sheet, Type, WHITE};
use super::scale::Scale;
use std::collections::BTreeSet;

const ROW: f64 = 19.0;

pub(super) struct Entry {
    /// Number of the group of marks that it switches.
    pub(super) group: usize,
    pub(super) name: String,
    pub(super) about: Option<String>,
    pub(super) look: SeriesLook,
    pub(super) line: bool,
    pub(super) mark: bool,
    pub(super) hollow: bool,
}

pub(super) struct Texts<'a> {
    pub(super) title: &'a str,
    pub(super) note: &'a str,
    pub(super) x: &'a str,
    pub(super) y: &'a str,
    pub(super) legend: &'a [Entry],
}

/// The rectangle that data are drawn in.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) x: Scale,
    pub(super) y: Scale,
}

impl Frame {
    /// Draws the texts around the data and the ticks below; data end `right` before the edge. Returns the frame between them.
    pub(super) fn around(canvas: &mut Canvas, texts: &Texts<'_>, x: Scale, y: Scale, right: f64) -> Frame {
        let Sheet { width, height, titled } = canvas.sheet;
        let margin = canvas.sheet.margin();
        let mut baseline = if titled { 12.0 } else { 0.0 };
        let title = if titled { Type::TITLE.wrap(texts.title, width - 2.0 * margin, 2) } else { Vec::new() };
        for line in &title {
            baseline += ROW;
            canvas.text(line, margin, baseline - 4.0, Type::TITLE, Anchor::Start);
        }
        if !texts.y.is_empty() {
            baseline += ROW;
            let label = Type::LABEL.cut(texts.y, width - 2.0 * margin);
            canvas.text(&label, margin, baseline - 4.0, Type::LABEL, Anchor::Start);
        }
        let (places, rows) = legend_places(texts.legend, margin, width);
        let first_row = baseline + ROW + 3.0;
        for (entry, (x, row)) in texts.legend.iter().zip(places) {
            canvas.key(entry.group, entry.about.as_slice(), |canvas| {
                let end = sample(canvas, entry, x, first_row + row - 8.0);
                let name = Type::NAME.cut(&entry.name, width - margin - end - 6.0);
                canvas.text(&name, end + 6.0, first_row + row - 4.0, Type::NAME, Anchor::Start);
            });
        }
        if rows > 0.0 {
            baseline = first_row + (rows - 1.0) * ROW;
        }
        let note_height = if texts.note.is_empty() { 0.0 } else { 14.0 };
        let bottom = height - 24.0 - if texts.x.is_empty() { 6.0 } else { 22.0 } - note_height;
        let widest = widest(Type::TICK, y.ticks.iter().map(|(_, label)| label));
        let left = (margin + widest + 8.0).max(margin + 24.0);
        let frame = Frame { left, right: width - right.max(margin + 6.0), top: baseline + 16.0, bottom, x, y };
        frame.ticks_below(canvas);
        if !texts.x.is_empty() {
            let middle = f64::midpoint(frame.left, frame.right);
            label_below(canvas, texts.x, middle, height - 10.0 - note_height);
        }
        if !texts.note.is_empty() {
            let note = Type::NOTE.cut(texts.note, width - 2.0 * margin);
            canvas.text(&note, width - margin, height - 9.0, Type::NOTE, Anchor::End);
        }
        frame
    }

    pub(super) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (across, up) = (self.x.fraction(x), self.y.fraction(y));
        (self.left + across * (self.right - self.left), self.bottom - up * (self.bottom - self.top))
    }

    /// Returns the height on the page of an interval's end, and true if it lies within the frame.
    pub(super) fn end(&self, value: f64) -> (f64, bool) {
        (self.at(self.x.low, value.clamp(self.y.low, self.y.high)).1, self.y.has_inside(value))
    }

    fn ticks_below(&self, canvas: &mut Canvas) {
        let width = canvas.sheet.width;
        let places: Vec<f64> = self.x.ticks.iter().map(|(at, _)| self.at(*at, self.y.low).0).collect();
        let widths: Vec<f64> = self.x.ticks.iter().map(|(_, label)| Type::TICK.width(label)).collect();
        let shown = thinned(&places, &widths, 9.0, 0);
        for (k, (_, label)) in self.x.ticks.iter().enumerate() {
            canvas.line(&[(places[k], self.bottom), (places[k], self.bottom + 4.5)], AXIS, 1.0, false);
            if shown[k] {
                let edge = 2.0 + widths[k] / 2.0;
                let x = places[k].clamp(edge.min(width / 2.0), (width - edge).max(width / 2.0));
                canvas.text(label, x, self.bottom + 18.0, Type::TICK, Anchor::Middle);
            }
        }
    }

    /// Draws horizontal grid lines, their labels, and the line at the bottom.
    pub(super) fn grid(&self, canvas: &mut Canvas) {
        for (at, label) in &self.y.ticks {
            let (_, y) = self.at(self.x.low, *at);
            canvas.line(&[(self.left, y), (self.right, y)], GRID, 0.8, false);
            canvas.text(label, self.left - 8.0, y + 4.1, Type::TICK, Anchor::End);
        }
        if self.y.low < 0.0 && self.y.high > 0.0 && !self.y.log {
            // The zero line, where a difference changes sign, is drawn darker.
            let (_, zero) = self.at(self.x.low, 0.0);
            canvas.line(&[(self.left, zero), (self.right, zero)], AXIS, 0.8, false);
        }
        canvas.line(&[(self.left, self.bottom), (self.right, self.bottom)], AXIS, 1.0, false);
    }

    /// Returns `n` stacked frames of one scale, with room for a name above each; together they fill this one.
    pub(super) fn strips(&self, n: usize) -> Vec<Frame> {
        const NAME: f64 = 21.0;
        let height = (self.bottom - self.top + NAME) / count(n.max(1));
        let strip = |k: usize| {
            let top = self.top + count(k) * height;
            let mut frame = Frame { top, bottom: top + height - NAME, ..self.clone() };
            // As many labels as have room, always including the first and the last.
            let gaps = frame.y.ticks.len().saturating_sub(1);
            let sparse = (1..=gaps)
                .filter(|step| gaps.is_multiple_of(*step))
                .find(|step| (height - NAME) / count(gaps / step + 1) >= 16.0 || *step == gaps);
            frame.y.ticks = frame.y.ticks.into_iter().step_by(sparse.unwrap_or(1)).collect();
            frame
        };
        (0..n).map(strip).collect()
    }
}

/// Draws a label of the horizontal axis around `middle`, moved aside where it would leave the sheet.
pub(super) fn label_below(canvas: &mut Canvas, text: &str, middle: f64, baseline: f64) {
    let (width, margin) = (canvas.sheet.width, canvas.sheet.margin());
    let label = Type::LABEL.cut(text, width - 2.0 * margin);
    let edge = margin + Type::LABEL.width(&label) / 2.0;
    canvas.text(&label, middle.min(width - edge).max(edge), baseline, Type::LABEL, Anchor::Middle);
}

pub(super) fn widest<'a>(look: Type, texts: impl Iterator<Item = &'a String>) -> f64 {
    texts.map(|text| look.width(text)).fold(0.0, f64::max)
}

/// Draws a sample of line and mark; returns its right end.
fn sample(canvas: &mut Canvas, entry: &Entry, x: f64, y: f64) -> f64 {
    let (colour, width) = (entry.look.colour(), sample_width(entry));
    if entry.line {
        let ends = [(x, y), (x + width, y)];
        let (dashed, thin) = (entry.look.is_dashed(), entry.mark || entry.look.is_dashed());
        canvas.line(&ends, colour, if thin { 1.8 } else { 2.4 }, dashed);
    }
    if entry.mark {
        if !entry.hollow {
            halo(canvas, entry.look, (x + width / 2.0, y));
        }
        mark(canvas, entry.look, (x + width / 2.0, y), entry.hollow);
    }
    x + width
}

/// Returns the left edge of each legend entry and its drop below the first row, and the number of rows: one row if it fits, or columns.
fn legend_places(entries: &[Entry], left: f64, width: f64) -> (Vec<(f64, f64)>, f64) {
    const GAP: f64 = 20.0;
    let widths: Vec<f64> = entries.iter().map(|e| sample_width(e) + 6.0 + Type::NAME.width(&e.name) + GAP).collect();
    let room = width - 2.0 * left + GAP;
    if widths.iter().sum::<f64>() <= room {
        let starts = widths.iter().scan(left, |x, width| Some((std::mem::replace(x, *x + width), 0.0)));
        return (starts.collect(), if entries.is_empty() { 0.0 } else { 1.0 });
    }
    let widest = widths.iter().copied().fold(0.0, f64::max);
    let columns = (1..=entries.len()).rev().find(|&c| count(c) * widest <= room).unwrap_or(1);
    let place = |k: usize| (left + count(k % columns) * widest, count(k / columns) * ROW);
    ((0..entries.len()).map(place).collect(), count(entries.len().div_ceil(columns)))
}

/// Draws one mark. A value printed in the paper is a ring, wide enough to be visible around a simulated mark.
pub(super) fn mark(canvas: &mut Canvas, look: SeriesLook, at: (f64, f64), hollow: bool) {
    if hollow {
        canvas.outline(&moved(look.corners(6.6), at), look.of_text(), 1.3);
    } else {
        canvas.fill(&moved(look.corners(4.2), at), look.colour(), 1.0);
    }
}

/// Fills a white area around a mark, so that lines seem to pass behind it.
pub(super) fn halo(canvas: &mut Canvas, look: SeriesLook, at: (f64, f64)) {
    canvas.fill(&moved(look.corners(6.0), at), WHITE, 1.0);
}

pub(super) fn moved(corners: Vec<(f64, f64)>, (x, y): (f64, f64)) -> Vec<(f64, f64)> {
    corners.into_iter().map(|(dx, dy)| (x + dx, y + dy)).collect()
}

fn sample_width(entry: &Entry) -> f64 {
    if entry.line { 26.0 } else { 12.0 }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) series: usize,
    pub(super) x: f64,
    pub(super) y: f64,
    /// Upper and lower end of the error bar, in page pixels.
    pub(super) bar: Option<(f64, f64)>,
}

/// Offsets to the right of their true places at which marks are drawn, so that none hides another.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dodge {
    /// Each place on the horizontal axis, in pixels, with the offset of every series there.
    places: Vec<(f64, Vec<f64>)>,
}

impl Dodge {
    /// Computes the offsets of each place by itself: marks are moved only where they touch, by half of the least distance of places at most.
    pub(super) fn new(series: usize, mut marks: Vec<Mark>) -> Self {
        marks.sort_by(|a, b| a.x.total_cmp(&b.x));
        let distances = marks.windows(2).map(|pair| pair[1].x - pair[0].x).filter(|distance| *distance > NEAR);
        let widest = distances.fold(60.0, |widest, distance| f64::min(widest, 0.5 * distance));
        let places = marks.chunk_by(|a, b| b.x - a.x <= NEAR).map(|here| (here[0].x, offsets(series, here, widest)));
        Self { places: places.collect() }
    }

    pub(super) fn at(&self, series: usize, x: f64) -> f64 {
        let near = |(place, _): &&(f64, Vec<f64>)| (x - place).abs() <= NEAR;
        self.places.iter().find(near).map_or(0.0, |(_, offsets)| offsets[series])
    }
}

/// Marks no farther apart than this, in pixels, share one place.
const NEAR: f64 = 4.0;

/// Returns the offset to the right of each series at one place, in pixels: marks that touch another stand side by side.
fn offsets(series: usize, marks: &[Mark], widest: f64) -> Vec<f64> {
    const STEP: f64 = 9.0;
    let pairs = marks.iter().enumerate().flat_map(|(k, a)| marks[k + 1..].iter().map(move |b| (a, b)));
    let touching = pairs.filter(|(a, b)| a.series != b.series && touch(a, b)).flat_map(|(a, b)| [a.series, b.series]);
    let touching: BTreeSet<usize> = touching.collect();
    let step = STEP.min(widest / count(touching.len().max(1)));
    let mut offsets = vec![0.0; series];
    for (column, one) in touching.iter().enumerate() {
        offsets[*one] = (count(column) - (count(touching.len()) - 1.0) / 2.0) * step;
    }
    offsets
}

/// Returns true for marks at the same x that overlap, or whose error bars do.
fn touch(a: &Mark, b: &Mark) -> bool {
    if (a.x - b.x).abs() > NEAR {
        return false;
    }
    let reach = |mark: &Mark| mark.bar.map_or((mark.y, mark.y), |(top, low)| (top.min(mark.y), low.max(mark.y)));
    let ((top_a, low_a), (top_b, low_b)) = (reach(a), reach(b));
    (a.y - b.y).abs() < 10.0 || (top_a <= low_b && top_b <= low_a)
}

/// Selects the labels to show, so that neighbours keep `gap` between them: of even places every k-th, the label at `anchor` among them.
pub(super) fn thinned(places: &[f64], widths: &[f64], gap: f64, anchor: usize) -> Vec<bool> {
    let step = places.get(1).map_or(0.0, |second| second - places[0]);
    if places.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() < 0.01) {
        let widest = widths.iter().copied().fold(0.0, f64::max) + gap;
        let stride = (1..places.len()).find(|stride| count(*stride) * step >= widest).unwrap_or(places.len().max(1));
        return (0..places.len()).map(|k| k % stride == anchor % stride).collect();
    }
    let mut free_from = f64::NEG_INFINITY;
    let is_shown = |(place, width): (&f64, &f64)| {
        let is_free = place - width / 2.0 >= free_from;
        if is_free {
            free_from = place + width / 2.0 + gap;
        }
        is_free
    };
    places.iter().zip(widths).map(is_shown).collect()
}

pub(super) fn count(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(series: usize, x: f64, y: f64) -> Mark {
        Mark { series, x, y, bar: None }
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "halves are exact")]
    fn marks_are_moved_where_they_touch_and_stay_centred() {
        let marks = [mark(0, 10.0, 50.0), mark(1, 10.0, 52.0), mark(2, 10.0, 200.0)];
        assert_eq!(offsets(3, &marks, 60.0), [-4.5, 4.5, 0.0]);
        assert_eq!(offsets(2, &marks[..2], 4.0), [-1.0, 1.0], "crowded places bound the movement");
        let dodge = Dodge::new(3, [&marks[..2], &[mark(0, 90.0, 50.0), mark(1, 90.0, 150.0)]].concat());
        assert_eq!([dodge.at(0, 10.0), dodge.at(1, 10.0), dodge.at(0, 90.0), dodge.at(1, 90.0)], [-4.5, 4.5, 0.0, 0.0]);
    }

    #[test]
    fn labels_that_would_overlap_are_dropped_evenly_from_the_anchor_if_their_places_are_even() {
        assert_eq!(thinned(&[0.0, 10.0, 40.0], &[20.0; 3], 5.0, 0), [true, false, true]);
        assert_eq!(thinned(&[0.0, 20.0, 40.0, 60.0], &[20.0, 8.0, 8.0, 8.0], 5.0, 1), [false, true, false, true]);
    }
}
