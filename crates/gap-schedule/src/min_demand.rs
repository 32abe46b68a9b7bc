//! Least demands of waiting jobs, and a tree of them.

use sim_core::{Request, Span};

/// Least demand of a set of waiting jobs: the narrowest width and the shortest estimate, not necessarily of the same
/// job. For a single job, its own demands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct MinDemand {
    /// Number of processors.
    pub(crate) processors: u32,
    /// Expected runtime; [`Span::MAX`] where there is no estimate.
    pub(crate) estimate: Span,
}

impl MinDemand {
    /// Demand of the empty set.
    pub(crate) const NOTHING: Self = Self { processors: u32::MAX, estimate: Span::MAX };

    /// Demand of one job.
    pub(crate) fn of(request: &Request) -> Self {
        Self { processors: request.processors, estimate: request.estimate.unwrap_or(Span::MAX) }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self { processors: self.processors.min(other.processors), estimate: self.estimate.min(other.estimate) }
    }
}

/// Tournament tree over the places of a queue by least demand: a walk along the queue skips all places where no job can
/// start.
#[derive(Clone, Debug, Default)]
pub(crate) struct MinDemandTree {
    /// Node `n` has the children `2n` and `2n + 1`; the leaf of place `p` is `width + p`. Half of the nodes are leaves.
    nodes: Vec<MinDemand>,
}

impl MinDemandTree {
    const fn width(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Least demand over all places.
    pub(crate) fn root(&self) -> MinDemand {
        self.nodes[1]
    }

    /// Fills the whole tree, with room for at least `width` places. The first ones have these demands.
    pub(crate) fn plant(&mut self, width: usize, places: impl IntoIterator<Item = MinDemand>) {
        let width = width.next_power_of_two();
        self.nodes.clear();
        self.nodes.resize(width, MinDemand::NOTHING);
        self.nodes.extend(places);
        debug_assert!(self.nodes.len() <= 2 * width, "there is room for every place");
        self.nodes.resize(2 * width, MinDemand::NOTHING);
        for node in (1..width).rev() {
            self.nodes[node] = self.nodes[2 * node].and(self.nodes[2 * node + 1]);
        }
    }

    /// Adds a job to a place.
    #[inline]
    pub(crate) fn join(&mut self, place: usize, demand: MinDemand) {
        let mut node = self.width() + place;
        while node > 0 {
            let least = self.nodes[node].and(demand);
            if self.nodes[node] == least {
                break;
            }
            self.nodes[node] = least;
            node /= 2;
        }
    }

    /// Replaces the least demand of a place.
    #[inline]
    pub(crate) fn set(&mut self, place: usize, least: MinDemand) {
        let mut node = self.width() + place;
        let mut least = least;
        while self.nodes[node] != least {
            self.nodes[node] = least;
            node /= 2;
            if node == 0 {
                break;
            }
            least = self.nodes[2 * node].and(self.nodes[2 * node + 1]);
        }
    }

    /// Returns the first place, not before `from`, whose least demand is `worth` it.
    #[inline]
    pub(crate) fn next(&self, from: usize, worth: &impl Fn(MinDemand) -> bool) -> Option<usize> {
        let width = self.width();
        if from >= width {
            return None;
        }
        let mut node = width + from;
        loop {
            if worth(self.nodes[node]) {
                if node >= width {
                    return Some(node - width);
                }
                node *= 2;
                continue;
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
