//! State of a leaf scheduler (LGS), without clock and messages; those are in `trees::leaf`.

use crate::queue::LeafQueue;
use crate::uplink::Uplink;
use crate::world::Bag;
use sim_core::JobId;

#[derive(Clone, Debug, Default)]
pub(crate) struct LeafState {
    /// Classes of all jobs that discoveries have shown to it.
    pub(crate) known: Bag,
    pub(crate) channels: Vec<LeafChannel>,
    pub(crate) queues: Vec<LeafQueue>,
    pub(crate) queued: u32,
    pub(crate) tickets: u32,
    /// True if an RFJM has gone up for a server that matches no known job.
    pub(crate) wanting: bool,
    /// True if resources have changed since the last discovery.
    pub(crate) changed: bool,
}

/// Channel of an LGS: the jobs of its bag find servers at this site.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeafChannel {
    pub(crate) bag: Bag,
    pub(crate) power: u64,
    pub(crate) uplink: Uplink,
}

impl LeafState {
    /// Creates an LGS without any knowledge, in a world of `classes` classes of jobs.
    pub(crate) fn new(classes: usize) -> Self {
        Self { queues: vec![LeafQueue::default(); classes], ..Self::default() }
    }

    /// Takes the oldest queued job of the bag's classes.
    pub(crate) fn take_oldest(&mut self, bag: Bag) -> Option<JobId> {
        if self.queued == 0 {
            return None;
        }
        let heads = bag.classes().filter_map(|class| Some((*self.queues[usize::from(class)].first()?, class)));
        let (_, class) = heads.min()?;
        self.queued -= 1;
        self.queues[usize::from(class)].pop_first()
    }

    pub(crate) fn jobs(&self) -> impl Iterator<Item = JobId> {
        self.queues.iter().flatten().copied()
    }
}
