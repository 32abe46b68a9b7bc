//! Grid trees: parents, children and sites of schedulers.

use crate::world::network::Network;
use crate::world::shape::Shape;
use crate::world::{SchedulerId, World, narrow};
use serde::{Deserialize, Serialize};
use sim_core::{SiteId, Span};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scheduler {
    pub(crate) parent: Option<SchedulerId>,
    /// Position among the children of its parent.
    pub(crate) slot: usize,
    /// Its children, by number; none at a leaf.
    pub(crate) children: Range<u32>,
    pub(crate) sites: Range<u32>,
    pub(crate) tree: u32,
    pub(crate) level: u32,
}

impl Scheduler {
    /// Site at which it sits: the first of its range.
    pub(crate) const fn site(&self) -> SiteId {
        SiteId(self.sites.start)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SchedulerForest {
    pub(crate) schedulers: Vec<Scheduler>,
    pub(crate) roots: Vec<SchedulerId>,
    /// Latency from the root to the farthest leaf, along the tree.
    pub(crate) deepest: Vec<Span>,
    pub(crate) leaf_of_site: Vec<SchedulerId>,
    pub(crate) edges: Vec<u32>,
}

impl SchedulerForest {
    pub(crate) fn plant(world: &World, trees: u32, network: &Network) -> Self {
        let mut forest = Self { leaf_of_site: vec![SchedulerId(0); world.sites() as usize], ..Self::default() };
        let mut first_site = 0;
        for (tree, shape) in (0..).zip(world.shape.cut(trees as usize)) {
            first_site = forest.add(tree, &shape, first_site, |a, b| network.latency(world.distance(a, b)));
        }
        forest
    }

    /// Adds one tree, level by level, so that the children of a scheduler are neighbours. Returns the first site behind it.
    fn add(&mut self, tree: u32, shape: &Shape, first_site: u32, hop: impl Fn(SiteId, SiteId) -> Span) -> u32 {
        let sites = |shape: &Shape, first: u32| first..first + narrow(shape.leaves());
        let end = sites(shape, first_site).end;
        let first = self.schedulers.len();
        self.roots.push(SchedulerId(narrow(first)));
        let root = Scheduler { parent: None, slot: 0, children: 0..0, sites: sites(shape, first_site), tree, level: 0 };
        self.schedulers.push(root);
        let mut deepest = Span::ZERO;
        let mut shapes = vec![(shape, Span::ZERO)];
        let mut at = first;
        // Breadth first: the schedulers from `at` on still lack their children, and `shapes` holds the shapes of the tree's schedulers
        // with their latency from the root.
        while at < self.schedulers.len() {
            let (shape, latency) = shapes[at - first];
            deepest = deepest.max(latency);
            let children = narrow(self.schedulers.len());
            let mut next = self.schedulers[at].sites.start;
            if shape.children.is_empty() {
                self.leaf_of_site[next as usize] = SchedulerId(narrow(at));
            }
            for (slot, child) in shape.children.iter().enumerate() {
                let latency = latency + hop(self.schedulers[at].site(), SiteId(next));
                let sites = sites(child, next);
                next = sites.end;
                let level = self.schedulers[at].level + 1;
                let parent = Some(SchedulerId(narrow(at)));
                self.schedulers.push(Scheduler { parent, slot, children: 0..0, sites, tree, level });
                shapes.push((child, latency));
            }
            self.schedulers[at].children = children..narrow(self.schedulers.len());
            at += 1;
        }
        self.deepest.push(deepest);
        self.edges.push(narrow(shapes.len() - 1));
        end
    }

    pub(crate) fn is_leaf(&self, scheduler: SchedulerId) -> bool {
        self.schedulers[scheduler.index()].children.is_empty()
    }

    pub(crate) fn is_root(&self, scheduler: SchedulerId) -> bool {
        self.schedulers[scheduler.index()].parent.is_none()
    }

    /// Returns the child whose range holds the site; the number of children if there is none.
    #[inline]
    pub(crate) fn home_slot(&self, at: &Scheduler, site: u32) -> usize {
        // Home is elsewhere: butterfly has no nearer child to offer.
        if !at.sites.contains(&site) {
            return at.children.len();
        }
        let children = &self.schedulers[at.children.start as usize..at.children.end as usize];
        children.partition_point(|child| child.sites.end <= site)
    }
}

/// Role of a scheduler, with its name in the paper.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Grid system scheduler: the root of the only tree.
    Gss,
    /// The root of one tree of several, a peer of the other roots.
    Pgss,
    /// An intermediate scheduler.
    Gs,
    /// Leaf grid scheduler: that of a site.
    Lgs,
}
