//! Jobs in the order of their sequence numbers, also sorted by class and home; and those that a scheduler has pushed to its children.

use sim_core::JobId;
use std::collections::VecDeque;

/// Jobs, oldest first: a sorted ring. Jobs nearly always join at the back and leave at the front.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeafQueue(VecDeque<JobId>);

impl LeafQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn oldest(&self) -> Option<JobId> {
        self.0.front().copied()
    }

    pub(crate) fn newest(&self) -> Option<JobId> {
        self.0.back().copied()
    }

    /// Returns false, without a change, if the job is there already.
    #[inline]
    pub(crate) fn insert(&mut self, job: JobId) -> bool {
        match self.0.back() {
            // Jobs arrive nearly in order of their numbers: the back is tried before the search.
            Some(back) if *back >= job => match self.0.binary_search(&job) {
                Ok(_) => return false,
                Err(at) => self.0.insert(at, job),
            },
            _ => self.0.push_back(job),
        }
        true
    }

    #[inline]
    pub(crate) fn remove(&mut self, job: JobId) -> bool {
        // Nearly always the oldest leaves first.
        if self.0.front() == Some(&job) {
            self.0.pop_front();
            return true;
        }
        match self.0.binary_search(&job) {
            Ok(at) => self.0.remove(at).is_some(),
            Err(_) => false,
        }
    }

    pub(crate) fn pop_oldest(&mut self) -> Option<JobId> {
        self.0.pop_front()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = JobId> {
        self.0.iter().copied()
    }
}

/// Place of a job in a scheduler's lists: its class, and the child whose range holds its work station.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClassAndHome {
    pub(crate) class: u8,
    /// Child, or the number of children if the work station lies elsewhere.
    pub(crate) home: usize,
}

/// Jobs by home and class, with a count for each class.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobsByClass {
    classes: usize,
    queues: Vec<LeafQueue>,
    count: Vec<u32>,
    total: u32,
}

impl JobsByClass {
    pub(crate) fn new(homes: usize, classes: usize) -> Self {
        Self { classes, queues: vec![LeafQueue::default(); homes * classes], count: vec![0; classes], total: 0 }
    }

    pub(crate) const fn total(&self) -> u32 {
        self.total
    }

    #[inline]
    pub(crate) fn count(&self, class: u8) -> u32 {
        self.count[usize::from(class)]
    }

    #[inline]
    pub(crate) fn queue(&self, kind: ClassAndHome) -> &LeafQueue {
        &self.queues[kind.home * self.classes + usize::from(kind.class)]
    }

    fn queue_mut(&mut self, kind: ClassAndHome) -> &mut LeafQueue {
        &mut self.queues[kind.home * self.classes + usize::from(kind.class)]
    }

    /// Returns false, without a change, if the job is there already.
    #[inline]
    pub(crate) fn insert(&mut self, kind: ClassAndHome, job: JobId) -> bool {
        let new = self.queue_mut(kind).insert(job);
        self.count[usize::from(kind.class)] += u32::from(new);
        self.total += u32::from(new);
        new
    }

    #[inline]
    pub(crate) fn remove(&mut self, kind: ClassAndHome, job: JobId) -> bool {
        let there = self.queue_mut(kind).remove(job);
        if there {
            self.count[usize::from(kind.class)] -= 1;
            self.total -= 1;
        }
        there
    }

    /// Removes and returns every job of the classes for which `takes` is true.
    pub(crate) fn drain(&mut self, takes: impl Fn(u8) -> bool) -> Vec<JobId> {
        let mut jobs = Vec::new();
        // Queues are stored home by home, so those of a class are `classes` apart.
        for (class, count) in (0_u8..).zip(&mut self.count).filter(|(class, count)| **count > 0 && takes(*class)) {
            for queue in self.queues.iter_mut().skip(class.into()).step_by(self.classes) {
                jobs.extend(queue.0.drain(..));
            }
            self.total -= std::mem::take(count);
        }
        jobs
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = JobId> {
        self.queues.iter().flat_map(LeafQueue::iter)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(jobs: &[u32]) -> LeafQueue {
        let mut queue = LeafQueue::default();
        for job in jobs {
            queue.insert(JobId(*job));
        }
        queue
    }

    #[test]
    fn jobs_stand_in_the_order_of_their_numbers_however_they_join() {
        let queue = filled(&[5, 9, 2, 7]);
        assert_eq!(queue.iter().collect::<Vec<_>>(), [2, 5, 7, 9].map(JobId));
        assert_eq!((queue.oldest(), queue.newest()), (Some(JobId(2)), Some(JobId(9))));
    }
}
