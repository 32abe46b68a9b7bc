//! Jobs that a scheduler has pushed to its children, and has not heard of since.
//!
//! A scheduler may have hundreds of children, and is asked after every message whether there is anything to take back from
//! them. So sums over all children are kept.

use crate::queue::{ClassAndHome, JobsByClass, Queue};
use sim_core::JobId;

/// Jobs pushed to children and not reported started.
#[derive(Clone, Debug, Default)]
pub(crate) struct DelegatedJobs {
    by_child: Vec<JobsByClass>,
    /// By child: whether nothing was heard of it since jobs were pushed. They may still be on their way, and jobs on their
    /// way cannot be cancelled.
    fresh: Vec<bool>,
    /// By class: jobs of children that are not fresh.
    settled: Vec<u32>,
    /// By home and class: jobs of all children.
    kinds: Vec<u32>,
    count: Vec<u32>,
    total: u32,
}

impl DelegatedJobs {
    pub(crate) fn new(children: usize, classes: usize) -> Self {
        Self {
            by_child: vec![JobsByClass::new(children + 1, classes); children],
            fresh: vec![false; children],
            settled: vec![0; classes],
            kinds: vec![0; (children + 1) * classes],
            count: vec![0; classes],
            total: 0,
        }
    }

    pub(crate) const fn children(&self) -> usize {
        self.by_child.len()
    }

    pub(crate) const fn total(&self) -> u32 {
        self.total
    }

    pub(crate) fn count(&self, class: u8) -> u32 {
        self.count[usize::from(class)]
    }

    /// Jobs of a class that could be taken back, but for those of one child.
    #[inline]
    pub(crate) fn settled_beside(&self, slot: usize, class: u8) -> u32 {
        // `settled` is without the jobs of fresh children already.
        let own = if self.fresh[slot] { 0 } else { self.by_child[slot].count(class) };
        self.settled[usize::from(class)] - own
    }

    /// Whether there is a job of the kind, but for those of one child.
    #[inline]
    pub(crate) fn holds_beside(&self, slot: usize, kind: ClassAndHome) -> bool {
        self.kinds[self.place(kind)] as usize > self.by_child[slot].queue(kind).len()
    }

    /// Children other than this one from which jobs can be taken back.
    pub(crate) fn siblings(&self, slot: usize) -> impl Iterator<Item = (usize, &JobsByClass)> {
        let settled = move |child: usize| child != slot && !self.fresh[child];
        self.by_child.iter().enumerate().filter(move |(child, _)| settled(*child))
    }

    /// Jobs have been pushed to a child, or something was heard of it.
    pub(crate) fn set_fresh(&mut self, slot: usize, fresh: bool) {
        if std::mem::replace(&mut self.fresh[slot], fresh) == fresh {
            return;
        }
        // The child's jobs join or leave the sum as a whole.
        for (class, settled) in (0..).zip(&mut self.settled) {
            let own = self.by_child[slot].count(class);
            *settled = if fresh { *settled - own } else { *settled + own };
        }
    }

    /// False, and nothing changed, if it is there already.
    pub(crate) fn insert(&mut self, slot: usize, kind: ClassAndHome, job: JobId) -> bool {
        let new = self.by_child[slot].insert(kind, job);
        if new {
            let place = self.place(kind);
            self.settled[usize::from(kind.class)] += u32::from(!self.fresh[slot]);
            self.kinds[place] += 1;
            self.count[usize::from(kind.class)] += 1;
            self.total += 1;
        }
        new
    }

    pub(crate) fn remove(&mut self, slot: usize, kind: ClassAndHome, job: JobId) -> bool {
        let there = self.by_child[slot].remove(kind, job);
        if there {
            self.uncount(slot, kind);
        }
        there
    }

    /// Removes a job from the first child that has it, and tells which that is.
    pub(crate) fn remove_anywhere(&mut self, kind: ClassAndHome, job: JobId) -> Option<usize> {
        // Hundreds of children and nearly always nothing to find: the sum answers first.
        if self.kinds[self.place(kind)] == 0 {
            return None;
        }
        let slot = self.by_child.iter_mut().position(|held| held.remove(kind, job))?;
        self.uncount(slot, kind);
        Some(slot)
    }

    pub(crate) fn pop(&mut self, slot: usize, kind: ClassAndHome, oldest: bool) -> Option<JobId> {
        let job = self.by_child[slot].pop(kind, oldest)?;
        self.uncount(slot, kind);
        Some(job)
    }

    /// Takes one job of a child out of the sums.
    fn uncount(&mut self, slot: usize, kind: ClassAndHome) {
        let place = self.place(kind);
        self.settled[usize::from(kind.class)] -= u32::from(!self.fresh[slot]);
        self.kinds[place] -= 1;
        self.count[usize::from(kind.class)] -= 1;
        self.total -= 1;
    }

    fn place(&self, kind: ClassAndHome) -> usize {
        kind.home * self.count.len() + usize::from(kind.class)
    }

    pub(crate) fn queue(&self, slot: usize, kind: ClassAndHome) -> &Queue {
        self.by_child[slot].queue(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::narrow;
    use proptest::prelude::*;

    const CHILDREN: usize = 3;
    const CLASSES: u8 = 2;

    /// A child, a kind, a job, and what is done with them.
    fn step() -> impl Strategy<Value = (usize, ClassAndHome, u32, u8)> {
        (0..CHILDREN, 0..CLASSES, 0..=CHILDREN, 0..8_u32, 0..6_u8)
            .prop_map(|(slot, class, home, job, act)| (slot, ClassAndHome { class, home }, job, act))
    }

    proptest! {
        /// The sums are what adding up gives.
        #[test]
        fn sums_are_those_of_all_children_whatever_is_done(steps in prop::collection::vec(step(), 0..60)) {
            let mut delegated = DelegatedJobs::new(CHILDREN, CLASSES.into());
            for (slot, kind, job, act) in steps {
                match act {
                    0 => delegated.set_fresh(slot, true),
                    1 => delegated.set_fresh(slot, false),
                    2 => {
                        let first = (0..CHILDREN).find(|child| delegated.queue(*child, kind).iter().any(|of| of == JobId(job)));
                        prop_assert_eq!(delegated.remove_anywhere(kind, JobId(job)), first);
                    }
                    3 => {
                        delegated.pop(slot, kind, job % 2 == 0);
                    }
                    4 => {
                        delegated.remove(slot, kind, JobId(job));
                    }
                    _ => {
                        delegated.insert(slot, kind, JobId(job));
                    }
                }
                let held = |child, class, home| delegated.queue(child, ClassAndHome { class, home }).iter().count();
                let count = |child, class| narrow((0..=CHILDREN).map(|home| held(child, class, home)).sum());
                let all = |class| (0..CHILDREN).map(|child| count(child, class)).sum::<u32>();
                prop_assert_eq!(delegated.total(), (0..CLASSES).map(all).sum::<u32>());
                for class in 0..CLASSES {
                    prop_assert_eq!(delegated.count(class), all(class));
                    for slot in 0..CHILDREN {
                        let settled = delegated.siblings(slot).map(|(child, _)| count(child, class)).sum::<u32>();
                        prop_assert_eq!(delegated.settled_beside(slot, class), settled);
                        for home in 0..=CHILDREN {
                            let kind = ClassAndHome { class, home };
                            let holds = (0..CHILDREN).any(|child| child != slot && !delegated.queue(child, kind).is_empty());
                            prop_assert_eq!(delegated.holds_beside(slot, kind), holds);
                        }
                    }
                }
            }
        }
    }
}
