//! Jobs in the order of their sequence numbers, also sorted by class and home; and those that a scheduler has pushed to its children.

use sim_core::JobId;
use std::collections::BTreeSet;

/// Jobs, oldest first.
pub(crate) type LeafQueue = BTreeSet<JobId>;

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
    pub(crate) total: u32,
}

impl JobsByClass {
    pub(crate) fn new(homes: usize, classes: usize) -> Self {
        Self { classes, queues: vec![LeafQueue::new(); homes * classes], count: vec![0; classes], total: 0 }
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
        let there = self.queue_mut(kind).remove(&job);
        if there {
            self.count[usize::from(kind.class)] -= 1;
            self.total -= 1;
        }
        there
    }

    pub(crate) fn drain(&mut self, takes: impl Fn(u8) -> bool) -> Vec<JobId> {
        let mut jobs = Vec::new();
        // Queues are stored home by home, so those of a class are `classes` apart.
        for (class, count) in (0_u8..).zip(&mut self.count).filter(|(class, count)| **count > 0 && takes(*class)) {
            for queue in self.queues.iter_mut().skip(class.into()).step_by(self.classes) {
                jobs.extend(std::mem::take(queue));
            }
            self.total -= std::mem::take(count);
        }
        jobs
    }
}

/// Jobs pushed to a child and not reported started.
#[derive(Clone, Debug)]
pub(crate) struct DelegatedJobs {
    pub(crate) jobs: JobsByClass,
    /// True if no message has come from the child since jobs were pushed. These jobs may still be on their way, and jobs on their
    /// way cannot be cancelled.
    pub(crate) fresh: bool,
}
