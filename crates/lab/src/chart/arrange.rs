//! Keeping things apart: marks that would cover each other, names at line ends, tick labels.

use std::collections::BTreeSet;

/// A mark on the page: which series, where, and the vertical reach of its error bar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) series: usize,
    pub(super) x: f64,
    pub(super) y: f64,
    /// Upper and lower end of the error bar, in page pixels.
    pub(super) bar: Option<(f64, f64)>,
}

/// How far to the right of their true places marks stand, so that none hides another.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dodge {
    /// Each place on the horizontal axis, in pixels, with the offset of every series there.
    places: Vec<(f64, Vec<f64>)>,
}

impl Dodge {
    /// Looks at each place for itself: marks are moved where they touch and nowhere else.
    pub(super) fn new(series: usize, marks: &[Mark], widest: f64) -> Self {
        let mut order: Vec<&Mark> = marks.iter().collect();
        order.sort_by(|a, b| a.x.total_cmp(&b.x));
        let places = order.chunk_by(|a, b| b.x - a.x <= NEAR).map(|here| {
            let marks: Vec<Mark> = here.iter().map(|mark| **mark).collect();
            (marks[0].x, offsets(series, &marks, widest))
        });
        Self { places: places.collect() }
    }

    /// The offset of the mark of `series` at pixel `x`.
    pub(super) fn at(&self, series: usize, x: f64) -> f64 {
        let near = |(place, _): &&(f64, Vec<f64>)| (x - place).abs() <= NEAR;
        self.places.iter().find(near).map_or(0.0, |(_, offsets)| offsets[series])
    }
}

/// Marks no farther apart than this, in pixels, stand at one place.
const NEAR: f64 = 4.0;

/// How far to the right each series is moved at one place, in pixels.
///
/// A mark that touches no other stays where it is. Marks that touch stand side by side, in as few columns as a greedy
/// choice needs.
fn offsets(series: usize, marks: &[Mark], widest: f64) -> Vec<f64> {
    const STEP: f64 = 9.0;
    let mut neighbours = vec![BTreeSet::new(); series];
    for (k, a) in marks.iter().enumerate() {
        for b in marks[k + 1..].iter().filter(|b| a.series != b.series && touch(a, b)) {
            neighbours[a.series].insert(b.series);
            neighbours[b.series].insert(a.series);
        }
    }
    let mut column = vec![0; series];
    let mut group: Vec<usize> = (0..series).collect();
    for s in 0..series {
        let taken: BTreeSet<usize> = neighbours[s].range(..s).map(|&other| column[other]).collect();
        column[s] = (0..=s).find(|c| !taken.contains(c)).expect("s others cannot take s + 1 columns");
        for &other in &neighbours[s] {
            let (keep, gone) = (group[s].min(group[other]), group[s].max(group[other]));
            group.iter_mut().filter(|g| **g == gone).for_each(|g| *g = keep);
        }
    }
    (0..series)
        .map(|s| {
            let last =
                (0..series).filter(|&other| group[other] == group[s]).map(|other| column[other]).max().unwrap_or(0);
            let step = STEP.min(widest / (count(last) + 1.0));
            (count(column[s]) - count(last) / 2.0) * step
        })
        .collect()
}

/// Marks at the same x that overlap, or whose error bars do.
fn touch(a: &Mark, b: &Mark) -> bool {
    if (a.x - b.x).abs() > NEAR {
        return false;
    }
    let reach = |mark: &Mark| mark.bar.map_or((mark.y, mark.y), |(top, low)| (top.min(mark.y), low.max(mark.y)));
    let ((top_a, low_a), (top_b, low_b)) = (reach(a), reach(b));
    (a.y - b.y).abs() < 10.0 || (top_a <= low_b && top_b <= low_a)
}

/// Baselines for names that want to stand at `wanted`, at least `gap` apart; `None` if one would have to move more
/// than `far` or leave the interval `within`.
pub(super) fn spread(wanted: &[f64], gap: f64, far: f64, within: (f64, f64)) -> Option<Vec<f64>> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    // Groups that stand as one block, each block at its members' mean.
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let start = |block: &[usize]| {
        let mean = block.iter().map(|&k| wanted[k]).sum::<f64>() / count(block.len());
        mean - gap * (count(block.len()) - 1.0) / 2.0
    };
    for k in order {
        let mut block = vec![k];
        while let Some(above) = blocks.pop() {
            if start(&above) + gap * count(above.len()) <= start(&block) {
                blocks.push(above);
                break;
            }
            block = above.into_iter().chain(block).collect();
        }
        blocks.push(block);
    }
    let mut placed = wanted.to_vec();
    for block in &blocks {
        for (rank, &k) in block.iter().enumerate() {
            placed[k] = start(block) + gap * count(rank);
        }
    }
    let fits = placed.iter().zip(wanted).all(|(p, w)| (p - w).abs() <= far && (within.0..=within.1).contains(p));
    fits.then_some(placed)
}

/// Which labels to show so that neighbours keep `gap` between them.
pub(super) fn thinned(places: &[f64], widths: &[f64], gap: f64) -> Vec<bool> {
    let mut free_from = f64::NEG_INFINITY;
    places
        .iter()
        .zip(widths)
        .map(|(place, width)| {
            let shown = place - width / 2.0 >= free_from;
            if shown {
                free_from = place + width / 2.0 + gap;
            }
            shown
        })
        .collect()
}

/// The least distance between different x places.
pub(super) fn least_distance(marks: &[Mark]) -> Option<f64> {
    let mut places: Vec<f64> = marks.iter().map(|m| m.x).collect();
    places.sort_by(f64::total_cmp);
    places.windows(2).map(|pair| pair[1] - pair[0]).filter(|d| *d > 4.0).min_by(f64::total_cmp)
}

/// A number of things, as a factor.
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
    fn only_marks_that_touch_are_moved_and_they_stay_centred() {
        let marks = [mark(0, 10.0, 50.0), mark(1, 10.0, 52.0), mark(2, 10.0, 200.0)];
        assert_eq!(offsets(3, &marks, 60.0), [-4.5, 4.5, 0.0]);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "halves are exact")]
    fn marks_are_moved_at_the_places_where_they_touch_and_at_no_other() {
        let marks = [mark(0, 10.0, 50.0), mark(1, 10.0, 52.0), mark(0, 90.0, 50.0), mark(1, 90.0, 150.0)];
        let dodge = Dodge::new(2, &marks, 60.0);
        assert_eq!([dodge.at(0, 10.0), dodge.at(1, 10.0)], [-4.5, 4.5]);
        assert_eq!([dodge.at(0, 90.0), dodge.at(1, 90.0)], [0.0, 0.0]);
    }

    #[test]
    fn the_ends_of_a_chain_share_a_column() {
        let marks = [mark(0, 10.0, 50.0), mark(1, 10.0, 58.0), mark(2, 10.0, 66.0)];
        assert_eq!(offsets(3, &marks, 60.0), [-4.5, 4.5, -4.5]);
    }

    #[test]
    fn crowded_places_bound_the_movement() {
        let marks = [mark(0, 10.0, 50.0), mark(1, 10.0, 50.0)];
        assert_eq!(offsets(2, &marks, 4.0), [-1.0, 1.0]);
    }

    #[test]
    fn names_spread_around_where_they_wanted_to_be() {
        assert_eq!(spread(&[100.0, 104.0, 300.0], 14.0, 9.0, (0.0, 400.0)), Some(vec![95.0, 109.0, 300.0]));
    }

    #[test]
    fn names_that_would_move_far_are_not_placed() {
        assert_eq!(spread(&[100.0; 4], 14.0, 9.0, (0.0, 400.0)), None);
    }

    #[test]
    fn labels_that_would_overlap_are_dropped() {
        assert_eq!(thinned(&[0.0, 10.0, 40.0], &[20.0; 3], 5.0), [true, false, true]);
    }
}
