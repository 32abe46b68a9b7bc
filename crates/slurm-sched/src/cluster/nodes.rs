//! Sets of nodes as bitsets.

use std::fmt;

const BITS: usize = u64::BITS as usize;

/// Set of nodes of one cluster, by index in configuration order. All sets of one cluster have the same capacity.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct NodeSet {
    words: Box<[u64]>,
}

impl NodeSet {
    /// Returns an empty set for a cluster of `nodes` nodes.
    pub(crate) fn empty(nodes: usize) -> Self {
        Self { words: vec![0; nodes.div_ceil(BITS)].into() }
    }

    pub(crate) fn full(nodes: usize) -> Self {
        Self::of(nodes, 0..nodes)
    }

    pub(crate) fn of(nodes: usize, members: impl IntoIterator<Item = usize>) -> Self {
        let mut set = Self::empty(nodes);
        members.into_iter().for_each(|node| set.insert(node));
        set
    }

    pub(crate) fn insert(&mut self, node: usize) {
        self.words[node / BITS] |= 1 << (node % BITS);
    }

    pub(crate) fn contains(&self, node: usize) -> bool {
        self.words[node / BITS] & (1 << (node % BITS)) != 0
    }

    pub(crate) fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn intersect(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        Self { words: self.words.iter().zip(&other.words).map(|(word, other)| word & other).collect() }
    }

    pub(crate) fn unite(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.words.copy_from_slice(&other.words);
    }

    pub(crate) fn count_within(&self, other: &Self) -> usize {
        self.words.iter().zip(&other.words).map(|(word, other)| (word & other).count_ones() as usize).sum()
    }

    pub(crate) fn subtract(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(word, other)| word & other != 0)
    }

    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(word, other)| word & !other == 0)
    }

    /// Returns true if a node of this set is in `within` and missing from `left` or from `right`.
    pub(crate) fn offers_more(&self, within: &Self, left: &Self, right: &Self) -> bool {
        let mut words = self.words.iter().zip(&within.words).zip(left.words.iter().zip(&right.words));
        words.any(|((word, within), (left, right))| word & within & !(left & right) != 0)
    }

    /// Iterates over the nodes, lowest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let next = |rest: &u64| Some(rest & (rest - 1)).filter(|rest| *rest != 0);
            std::iter::successors(Some(*word).filter(|word| *word != 0), next)
                .map(move |rest| index * BITS + rest.trailing_zeros() as usize)
        })
    }
}

impl fmt::Debug for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
