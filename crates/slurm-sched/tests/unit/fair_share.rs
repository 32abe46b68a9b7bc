//! Fair tree compared with a naive twin, and the classic formula with cases worked by hand.

use crate::Version;
use crate::controller::priority::FairShare;
use crate::site::accounts::Association;
use proptest::prelude::*;

/// Accounts and users: parent, true for a user, shares, own usage. The first is the root.
type Tree = Vec<(usize, bool, Option<u32>, u32)>;

fn associations(tree: &Tree) -> Vec<Association> {
    let one = |(at, &(parent, is_user, shares, _)): (usize, &(usize, bool, Option<u32>, u32))| Association {
        parent: (at > 0).then_some(parent),
        account: format!("a{at}"),
        user: is_user.then(|| format!("u{at}")),
        shares,
        ..Association::default()
    };
    tree.iter().enumerate().map(one).collect()
}

fn charged(tree: &Tree) -> FairShare {
    let mut fair_share = FairShare::new(&associations(tree));
    tree.iter().enumerate().for_each(|(at, node)| fair_share.add(at, f64::from(node.3)));
    fair_share
}

/// Computes all factors by the classic formula.
fn classic(tree: &mut FairShare, dampening: f64, depth_oblivious: bool) {
    let mut settings = super::site("NodeName=n1\nPartitionName=p Nodes=n1", None, Version::V22_05).conf.priority;
    settings.dampening = dampening;
    settings.flags.extend(depth_oblivious.then(|| "DEPTH_OBLIVIOUS".to_owned()));
    tree.begin_classic(&settings);
    (0..tree.factors.len()).for_each(|at| tree.renew_classic(at, &settings));
}

/// Literal form of SPEC 2.6: one recursion that sorts by repeated search. Usage is recomputed from the leaves.
struct Twin<'a> {
    tree: &'a Tree,
    rank: u32,
    next: u32,
    users: u32,
    factors: Vec<f64>,
}

impl Twin<'_> {
    fn usage(&self, at: usize) -> u64 {
        let below = (1..self.tree.len()).filter(|&child| self.tree[child].0 == at);
        u64::from(self.tree[at].3) + below.map(|child| self.usage(child)).sum::<u64>()
    }

    fn competitors(&self, at: usize) -> Vec<usize> {
        let below = (1..self.tree.len()).rev().filter(|&child| self.tree[child].0 == at);
        let lift = |child: usize| match self.tree[child] {
            (_, false, None, _) => self.competitors(child),
            _ => vec![child],
        };
        let mut all: Vec<usize> = below.flat_map(lift).collect();
        all.sort_by(|a, b| b.cmp(a));
        all
    }

    fn walk(&mut self, at: usize, tied: bool) {
        let mut left = self.competitors(at);
        let all: u32 = left.iter().filter_map(|&child| self.tree[child].2).sum();
        let level = |child: usize| match self.tree[child].2 {
            None => f64::INFINITY,
            Some(0) => 0.0,
            Some(_) if self.usage(child) == 0 => f64::INFINITY,
            Some(shares) => f64::from(shares) / f64::from(all) / (self.usage(child) as f64 / self.usage(at) as f64),
        };
        let factors: Vec<f64> =
            (0..self.tree.len()).map(|child| if left.contains(&child) { level(child) } else { 0.0 }).collect();
        let mut previous: Option<usize> = None;
        while !left.is_empty() {
            let mut best = 0;
            for candidate in 1..left.len() {
                let (a, b) = (left[candidate], left[best]);
                let tie = factors[a].to_bits() == factors[b].to_bits();
                if factors[a] > factors[b] || (tie && self.tree[a].1 && !self.tree[b].1) {
                    best = candidate;
                }
            }
            let child = left.remove(best);
            let tied = previous.map_or(tied, |previous| factors[previous].to_bits() == factors[child].to_bits());
            previous = Some(child);
            if self.tree[child].1 {
                self.rank = if tied { self.rank } else { self.next };
                self.factors[child] = f64::from(self.rank) / f64::from(self.users);
                self.next -= 1;
            } else {
                self.walk(child, tied);
            }
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let node = (
        any::<prop::sample::Index>(),
        any::<bool>(),
        prop_oneof![4 => (0_u32..4).prop_map(Some), 1 => Just(None)],
        0_u32..5,
    );
    prop::collection::vec(node, 0..24).prop_map(|nodes| {
        let mut tree: Tree = vec![(0, false, Some(1), 0)];
        for (parent, is_user, shares, usage) in nodes {
            let accounts: Vec<usize> = (0..tree.len()).filter(|&at| !tree[at].1).collect();
            let parent = accounts[parent.index(accounts.len())];
            tree.push((parent, is_user, shares, if is_user { usage } else { 0 }));
        }
        tree
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn fair_tree_ranks_as_its_naive_twin(tree in trees()) {
        let mut fair_share = charged(&tree);
        fair_share.fair_tree();
        let users = u32::try_from(tree.iter().filter(|node| node.1).count()).expect("few");
        let mut twin = Twin { tree: &tree, rank: users, next: users, users, factors: vec![0.0; tree.len()] };
        twin.walk(0, false);
        prop_assert_eq!(fair_share.factors, twin.factors);
    }

    #[test]
    fn classic_factors_are_within_bounds_and_fall_with_usage(tree in trees(), oblivious in any::<bool>()) {
        let mut fair_share = charged(&tree);
        classic(&mut fair_share, 1.0, oblivious);
        prop_assert!(fair_share.factors.iter().all(|factor| (0.0..=1.0).contains(factor)), "{:?}", fair_share.factors);
        for (at, node) in tree.iter().enumerate().filter(|(_, node)| node.1 && node.2.is_some_and(|shares| shares > 0)) {
            let before = fair_share.factors[at];
            let mut more = charged(&tree);
            more.add(at, 3.0);
            classic(&mut more, 1.0, oblivious);
            prop_assert!(oblivious || more.factors[at] <= before + 1e-12, "{at} {node:?}");
        }
    }
}

#[test]
fn classic_factors_are_those_by_hand() {
    // Accounts 1 (3 shares) and 2 (1 share); users 3 and 4 (1 each) in 1; user 5 in 2; user 6 in 2 shares its account's value.
    let tree: Tree = vec![
        (0, false, Some(1), 0),
        (0, false, Some(3), 0),
        (0, false, Some(1), 0),
        (1, true, Some(1), 30),
        (1, true, Some(1), 10),
        (2, true, Some(1), 60),
        (2, true, None, 0),
    ];
    // Un: 0.4, 0.6, 0.3, 0.1, 0.6. Below the root Ue = Un. Ue(3) = 0.3 + 0.1 / 2 = 0.35; Ue(4) = 0.1 + 0.3 / 2 = 0.25; Ue(5) = 0.6;
    // shares: 3/4, 1/4, 3/8, 3/8, 1/4.
    for (dampening, exponents) in [
        (1.0, [0.4 / 0.75, 2.4, 0.35 / 0.375, 0.25 / 0.375, 2.4, 2.4]),
        (2.0, [0.4 / 1.5, 1.2, 0.35 / 0.75, 0.25 / 0.75, 1.2, 1.2]),
    ] {
        let mut fair_share = charged(&tree);
        classic(&mut fair_share, dampening, false);
        for (at, exponent) in (1..).zip(exponents) {
            let factor = fair_share.factors[at];
            assert!((libm::log2(factor) + exponent).abs() < 1e-12, "{at}: {factor}");
        }
    }
    // DEPTH_OBLIVIOUS: Rp(1) = 0.4 / 0.75, Rl(3) = (0.3 / 0.375) / (0.4 / 0.75) = 1.5: logarithms of unlike sign.
    let mut fair_share = charged(&tree);
    // Siblings count with their usage of the previous computation.
    classic(&mut fair_share, 1.0, true);
    classic(&mut fair_share, 1.0, true);
    let above: f64 = 0.4 / 0.75;
    let power = 1.0 / (1.0 + (5.0 * libm::log(above)).powi(2));
    assert!((libm::log2(fair_share.factors[3]) + above * libm::pow(1.5, power)).abs() < 1e-12);
    // User 4: Rl = 0.5, of like sign: simply the ratio of usage to shares.
    assert!((libm::log2(fair_share.factors[4]) + 0.1 / 0.375).abs() < 1e-12);
}
