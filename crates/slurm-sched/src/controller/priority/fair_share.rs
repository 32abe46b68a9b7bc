//! Usage in the tree of associations, and the two formulas from usage to a fair-share factor.

use crate::site::accounts::Association;
use crate::site::conf::PrioritySettings;
use std::cmp::Ordering;

#[derive(Clone, Debug)]
pub(crate) struct FairShare {
    pub(crate) nodes: Vec<ShareNode>,
    /// Fair-share factor of each association; 0 for accounts under fair tree.
    pub(crate) factors: Vec<f64>,
    users: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ShareNode {
    /// Account above, to which usage is also added.
    parent: Option<usize>,
    /// Nearest account above with shares of its own: with `Fairshare=parent` an account's children compete one level higher.
    level: Option<usize>,
    /// Associations that compete below this one, the newest first, as in slurmctld.
    children: Vec<usize>,
    is_user: bool,
    /// `None` for `Fairshare=parent`.
    shares: Option<u32>,
    /// Shares over those of the siblings; 0 without shares of its own.
    part: f64,
    /// Usage in billing seconds.
    pub(crate) usage: f64,
    /// Normalized shares and effective usage by the classic formula, where computed.
    effective: Option<(f64, f64)>,
    /// Usage over the root's when the association was last computed by the classic formula.
    normal: f64,
}

impl FairShare {
    /// Prepares a tree without usage. A parent precedes its children.
    pub(crate) fn new(associations: &[Association]) -> Self {
        let mut nodes: Vec<ShareNode> = Vec::with_capacity(associations.len());
        for own in associations {
            let parent = own.parent;
            let is_lifted = |at: usize| nodes[at].shares.is_none() && nodes[at].level.is_some();
            let level = parent.map(|at| if is_lifted(at) { nodes[at].level.unwrap_or(at) } else { at });
            let (is_user, shares) = (own.user.is_some(), own.shares);
            nodes.push(ShareNode { parent, level, is_user, shares, ..ShareNode::default() });
        }
        for at in (0..nodes.len()).rev() {
            let (level, competes) = (nodes[at].level, nodes[at].is_user || nodes[at].shares.is_some());
            if let Some(level) = level.filter(|_| competes) {
                nodes[level].children.push(at);
            }
        }
        for level in 0..nodes.len() {
            let children = std::mem::take(&mut nodes[level].children);
            let all = children.iter().filter_map(|&child| nodes[child].shares).map(u64::from).sum::<u64>();
            for &child in &children {
                nodes[child].part = super::ratio(f64::from(nodes[child].shares.unwrap_or(0)), all as f64);
            }
            nodes[level].children = children;
        }
        let users = nodes.iter().fold(0, |users, node| users + u32::from(node.is_user));
        Self { factors: vec![0.0; nodes.len()], nodes, users }
    }

    /// Multiplies all usage by `factor`.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.nodes.iter_mut().for_each(|node| node.usage *= factor);
    }

    /// Adds usage to an association and all accounts above it. Sums are kept, not recomputed (SPEC 2.2).
    pub(crate) fn add(&mut self, association: usize, usage: f64) {
        let mut place = Some(association);
        while let Some(at) = place {
            self.nodes[at].usage += usage;
            place = self.nodes[at].parent;
        }
    }

    /// Returns the share over the usage among siblings (SPEC 2.6).
    fn level_factor(&self, at: usize) -> f64 {
        let node = &self.nodes[at];
        let above = node.level.map_or(0.0, |level| self.nodes[level].usage);
        let usage = super::ratio(node.usage, above);
        match node.shares {
            None => f64::INFINITY,
            Some(0) => 0.0,
            Some(_) if usage == 0.0 => f64::INFINITY,
            Some(_) => node.part / usage,
        }
    }

    /// Returns the competing associations below `at` by falling level factor, at a tie users first, then in order.
    fn sorted(&self, at: usize) -> Vec<(f64, usize)> {
        let mut children: Vec<(f64, usize)> =
            self.nodes[at].children.iter().map(|&child| (self.level_factor(child), child)).collect();
        children.sort_by(|(a, x), (b, y)| {
            let order = b.partial_cmp(a).unwrap_or(Ordering::Equal);
            order.then_with(|| self.nodes[*y].is_user.cmp(&self.nodes[*x].is_user))
        });
        children
    }

    /// Computes all factors by fair tree: users are ranked in a walk down the sorted tree (SPEC 2.6).
    ///
    /// Contrary to the documentation, children of tied accounts are not merged: the accounts are walked one after the
    /// other, and the tie is passed down to the first child of the second (SPEC 2.7).
    pub(crate) fn fair_tree(&mut self) {
        if self.nodes.is_empty() {
            return;
        }
        let (mut rank, mut next) = (self.users, self.users);
        // Levels being walked: remaining children, last first; level factor before them; tie of the first.
        let level = |tree: &Self, at: usize, tied: bool| {
            let mut children = tree.sorted(at);
            children.reverse();
            (children, None::<f64>, tied)
        };
        let mut walk = vec![level(self, 0, false)];
        while let Some((children, previous, tied_first)) = walk.last_mut() {
            let Some((factor, at)) = children.pop() else {
                walk.pop();
                continue;
            };
            #[expect(clippy::float_cmp, reason = "a tie is equality of bits, as in slurmctld")]
            let tied = previous.map_or(*tied_first, |previous| previous == factor);
            *previous = Some(factor);
            if self.nodes[at].is_user {
                if !tied {
                    rank = next;
                }
                self.factors[at] = f64::from(rank) / f64::from(self.users);
                next -= 1;
            } else {
                let below = level(self, at, tied);
                walk.push(below);
            }
        }
    }

    /// Begins the classic formula (SPEC 2.5) with the effective usage of accounts. That of users is computed by [`Self::renew_classic`], from the usage at that moment.
    pub(crate) fn begin_classic(&mut self, settings: &PrioritySettings) {
        self.nodes.iter_mut().for_each(|node| node.effective = None);
        // Depth first, the newest first: DEPTH_OBLIVIOUS sums the normalized usage of siblings, of which the later ones are stale.
        let mut left = if self.nodes.is_empty() { vec![] } else { vec![0] };
        while let Some(at) = left.pop() {
            self.renew_classic(at, settings);
            left.extend(self.nodes[at].children.iter().rev().filter(|child| !self.nodes[**child].is_user));
        }
    }

    /// Computes the factor of an association, unless already done since [`Self::begin_classic`].
    pub(crate) fn renew_classic(&mut self, at: usize, settings: &PrioritySettings) {
        if self.nodes[at].effective.is_some() {
            return;
        }
        let own = super::ratio(self.nodes[at].usage, self.nodes[0].usage).min(1.0);
        self.nodes[at].normal = own;
        let node = &self.nodes[at];
        let above = |level: usize| self.nodes[level].effective.unwrap_or((1.0, 1.0));
        let value = match (node.level, node.shares) {
            (None, _) => (1.0, 1.0),
            (Some(level), None) => above(level),
            // Below the root the effective usage is the normalized one.
            (Some(0), Some(_)) => (node.part, own),
            (Some(level), Some(_)) => {
                let (shares_above, usage_above) = above(level);
                let shares = node.part * shares_above;
                let usage = if settings.has("DEPTH_OBLIVIOUS") {
                    let siblings = self.nodes[level].children.iter().map(|&child| self.nodes[child].normal).sum();
                    oblivious(shares, own, shares_above, usage_above, siblings)
                } else {
                    own + (usage_above - own) * node.part
                };
                (shares, usage)
            }
        };
        let (shares, usage) = value;
        self.nodes[at].effective = Some(value);
        self.factors[at] = if shares > 0.0 { libm::pow(2.0, -(usage / shares) / settings.dampening) } else { 0.0 };
    }
}

/// Returns the effective usage under `DEPTH_OBLIVIOUS`.
fn oblivious(shares: f64, own: f64, shares_above: f64, usage_above: f64, siblings: f64) -> f64 {
    let above = super::ratio(usage_above, shares_above);
    let local = super::ratio(super::ratio(own, shares), super::ratio(siblings, shares_above));
    if above == 0.0 || local == 0.0 {
        return own;
    }
    let (log_above, log_local) = (libm::log(above), libm::log(local));
    let power = if log_above * log_local >= 0.0 { 1.0 } else { 1.0 / (1.0 + (5.0 * log_above) * (5.0 * log_above)) };
    shares * above * libm::pow(local, power)
}
