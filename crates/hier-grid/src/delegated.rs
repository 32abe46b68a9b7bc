//! Jobs that a scheduler has pushed to its children and that were not reported started.

use crate::queue::{ClassAndHome, JobsByClass, LeafQueue};
use sim_core::JobId;

/// Jobs pushed to children and not reported started.
#[derive(Clone, Debug, Default)]
pub(crate) struct DelegatedJobs {
    by_child: Vec<JobsByClass>,
    /// By child: true if no message has come from it since jobs were pushed. These jobs may still be on their way, and jobs on their
    /// way cannot be cancelled.
    fresh: Vec<bool>,
}

impl DelegatedJobs {
    pub(crate) fn new(children: usize, classes: usize) -> Self {
        Self { by_child: vec![JobsByClass::new(children + 1, classes); children], fresh: vec![false; children] }
    }

    pub(crate) const fn children(&self) -> usize {
        self.by_child.len()
    }

    pub(crate) fn total(&self) -> u32 {
        self.by_child.iter().map(JobsByClass::total).sum()
    }

    pub(crate) fn count(&self, class: u8) -> u32 {
        self.by_child.iter().map(|held| held.count(class)).sum()
    }

    /// Other children from which jobs can be taken back.
    pub(crate) fn siblings(&self, slot: usize) -> impl Iterator<Item = (usize, &JobsByClass)> {
        let settled = move |child: usize| child != slot && !self.fresh[child];
        self.by_child.iter().enumerate().filter(move |(child, _)| settled(*child))
    }

    /// Records that jobs were pushed to a child (`fresh`), or that a message came from it.
    pub(crate) fn set_fresh(&mut self, slot: usize, fresh: bool) {
        self.fresh[slot] = fresh;
    }

    /// Returns false, without a change, if the job is there already.
    pub(crate) fn insert(&mut self, slot: usize, kind: ClassAndHome, job: JobId) -> bool {
        self.by_child[slot].insert(kind, job)
    }

    pub(crate) fn remove(&mut self, slot: usize, kind: ClassAndHome, job: JobId) -> bool {
        self.by_child[slot].remove(kind, job)
    }

    /// Removes a job from the first child that has it, and returns that child.
    pub(crate) fn remove_anywhere(&mut self, kind: ClassAndHome, job: JobId) -> Option<usize> {
        self.by_child.iter_mut().position(|held| held.remove(kind, job))
    }

    pub(crate) fn queue(&self, slot: usize, kind: ClassAndHome) -> &LeafQueue {
        self.by_child[slot].queue(kind)
    }
}
