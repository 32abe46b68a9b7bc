//! Separation of marks that would cover each other, and of tick labels.

use std::collections::BTreeSet;

/// A mark on the page: its series, its place, and the vertical extent of its error bar.
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

/// Converts a count to a factor.
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
