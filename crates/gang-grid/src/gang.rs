//! Gangs that have been routed to processors, and the grid scheduler's queue of those that have not.

use crate::config::GangOrder;
use crate::submission::Submission;
use sim_core::{JobId, ProcId, Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// A gang whose tasks have been routed: it waits for its processors, or runs.
#[derive(Clone, Debug)]
pub struct Gang {
    /// Its number.
    pub id: JobId,
    /// Where task `i` runs, and how long it occupies that processor, speed and overhead included: the schedulers know that of
    /// gangs (§3.2).
    pub tasks: Vec<(ProcId, Span)>,
    /// Whether it uses processors of more than one site.
    pub spans_sites: bool,
    /// The start it was promised when it was routed.
    pub promised_start: Time,
    /// The start as it stands: the latest free time over its processors, reckoned when one of them last began or ended
    /// something. If a job outlives its estimate this instant may have passed; the start is then any moment.
    pub present_start: Time,
    /// While it waits: how many of its processors are busy with something else. While it runs: how many tasks are left.
    pub(crate) outstanding: u32,
    pub(crate) started: bool,
}

impl Gang {
    /// Number of its tasks.
    ///
    /// # Panics
    ///
    /// Never: a gang has fewer than 2³² tasks.
    pub fn size(&self) -> u32 {
        u32::try_from(self.tasks.len()).expect("a gang has fewer than 2³² tasks")
    }

    /// Whether its tasks run, rather than wait.
    pub const fn has_started(&self) -> bool {
        self.started
    }
}

/// The grid scheduler's queue, by size, and by age among equals. It shows sizes and no jobs: policies look at it.
#[derive(Clone, Debug, Default)]
pub struct GangQueue {
    by_size: BTreeMap<u32, VecDeque<(u64, Submission)>>,
    joined: u64,
    len: usize,
}

impl GangQueue {
    /// Gangs in the queue.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether no gang is in the queue.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of tasks of the smallest gang that may go next under `order`.
    pub(crate) fn smallest_allowed(&self, order: GangOrder) -> Option<u32> {
        let mut sizes = self.by_size.keys().copied();
        match order {
            GangOrder::LargestThatFits | GangOrder::OldestThatFits => sizes.next(),
            GangOrder::LargestOnly => sizes.next_back(),
        }
    }

    /// Number and size of each gang, smallest first, oldest first among equals.
    pub fn iter(&self) -> impl Iterator<Item = (JobId, u32)> {
        self.by_size.iter().flat_map(|(size, gangs)| gangs.iter().map(|(_, gang)| (gang.job.id, *size)))
    }

    /// Size of the gang that `order` takes next, of those that need at most `processors`; the oldest of this size is meant.
    pub(crate) fn next_size(&self, order: GangOrder, processors: u32) -> Option<u32> {
        match order {
            GangOrder::LargestThatFits => Some(*self.by_size.range(..=processors).next_back()?.0),
            GangOrder::LargestOnly => self.by_size.keys().next_back().copied().filter(|size| *size <= processors),
            GangOrder::OldestThatFits => {
                let fitting = self.by_size.range(..=processors);
                Some(*fitting.min_by_key(|(_, gangs)| gangs.front().map(|(joined, _)| *joined))?.0)
            }
        }
    }

    pub(crate) fn push(&mut self, gang: Submission) {
        self.by_size.entry(gang.job.request.processors).or_default().push_back((self.joined, gang));
        self.joined += 1;
        self.len += 1;
    }

    /// Takes the oldest gang of this size.
    pub(crate) fn pop(&mut self, size: u32) -> Option<Submission> {
        let gangs = self.by_size.get_mut(&size)?;
        let (_, gang) = gangs.pop_front()?;
        if gangs.is_empty() {
            self.by_size.remove(&size);
        }
        self.len -= 1;
        Some(gang)
    }
}
