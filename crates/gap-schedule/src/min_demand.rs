//! Least demands of waiting jobs, and tournament trees.

use sim_core::{Request, Span};

/// Least demand of a set of waiting jobs: the narrowest width and the shortest estimate, not necessarily of the same
/// job. For a single job, its own demands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct MinDemand {
    pub(crate) processors: u32,
    /// Expected runtime; [`Span::MAX`] where there is no estimate.
    pub(crate) estimate: Span,
}

impl MinDemand {
    /// Demand of the empty set.
    pub(crate) const NOTHING: Self = Self { processors: u32::MAX, estimate: Span::MAX };

    pub(crate) fn of(request: &Request) -> Self {
        Self { processors: request.processors, estimate: request.estimate.unwrap_or(Span::MAX) }
    }
}

/// Value of a place, or of several places together.
pub(crate) trait Combined: Copy + PartialEq {
    fn and(self, other: Self) -> Self;
}

impl Combined for MinDemand {
    #[inline]
    fn and(self, other: Self) -> Self {
        Self { processors: self.processors.min(other.processors), estimate: self.estimate.min(other.estimate) }
    }
}

/// Free processors of several machines: the largest number.
impl Combined for u32 {
    #[inline]
    fn and(self, other: Self) -> Self {
        self.max(other)
    }
}

/// Tournament tree over places, with the value of 2, 4, 8, … neighbours together: a search for a place skips all places among which
/// none can be suitable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tournament<T> {
    /// Node `n` has the children `2n` and `2n + 1`; the leaf of place `p` is `width + p`. Half of the nodes are leaves.
    nodes: Vec<T>,
}

impl<T: Combined> Tournament<T> {
    const fn width(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Returns a tree with room for at least `width` places. The first ones have these values, the others are `empty`.
    pub(crate) fn planted(width: usize, places: impl IntoIterator<Item = T>, empty: T) -> Self {
        let width = width.next_power_of_two();
        let mut nodes = vec![empty; width];
        nodes.extend(places);
        debug_assert!(nodes.len() <= 2 * width, "there is room for every place");
        nodes.resize(2 * width, empty);
        for node in (1..width).rev() {
            nodes[node] = nodes[2 * node].and(nodes[2 * node + 1]);
        }
        Self { nodes }
    }

    pub(crate) fn root(&self) -> T {
        self.nodes[1]
    }

    pub(crate) fn at(&self, place: usize) -> T {
        self.nodes[self.width() + place]
    }

    #[inline]
    pub(crate) fn set(&mut self, place: usize, value: T) {
        let mut node = self.width() + place;
        let mut value = value;
        while self.nodes[node] != value {
            self.nodes[node] = value;
            node /= 2;
            if node == 0 {
                break;
            }
            value = self.nodes[2 * node].and(self.nodes[2 * node + 1]);
        }
    }

    /// Returns the first `suitable` place, not before `from`, whose value is `worth` it. `worth` must accept every set that contains
    /// a place it would accept.
    #[inline]
    pub(crate) fn next(
        &self,
        from: usize,
        worth: impl Fn(T) -> bool,
        suitable: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        self.search(self.width() + from, worth, suitable)
    }

    /// Like [`next`](Self::next) for all places, from the root down.
    #[inline]
    pub(crate) fn first(&self, worth: impl Fn(T) -> bool, suitable: impl Fn(usize) -> bool) -> Option<usize> {
        self.search(1, worth, suitable)
    }

    #[inline]
    fn search(&self, mut node: usize, worth: impl Fn(T) -> bool, suitable: impl Fn(usize) -> bool) -> Option<usize> {
        let width = self.width();
        loop {
            if worth(self.nodes[node]) {
                if node < width {
                    node *= 2;
                    continue;
                }
                if suitable(node - width) {
                    return Some(node - width);
                }
            }
            // On to the right, with the largest subtree that begins there. The right neighbour of the root is the end.
            node += 1;
            node >>= node.trailing_zeros();
            if node == 1 {
                return None;
            }
        }
    }
}
