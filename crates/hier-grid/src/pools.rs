//! Lists that messages carry: kept in pools, so that a message in the calendar is a few words that can be copied.

use crate::ids::narrow;
use crate::world::Bag;
use sim_core::JobId;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Handle(u32);

/// Lists that messages carry. An emptied list keeps its memory for the next message.
#[derive(Clone, Debug)]
pub(crate) struct Pool<T> {
    lists: Vec<Vec<T>>,
    vacant: Vec<u32>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { lists: Vec::new(), vacant: Vec::new() }
    }
}

impl<T> Pool<T> {
    pub(crate) fn open(&mut self) -> Vec<T> {
        match self.vacant.last() {
            Some(place) => std::mem::take(&mut self.lists[*place as usize]),
            None => Vec::new(),
        }
    }

    pub(crate) fn keep(&mut self, list: Vec<T>) -> Handle {
        match self.vacant.pop() {
            Some(place) => {
                self.lists[place as usize] = list;
                Handle(place)
            }
            None => {
                self.lists.push(list);
                Handle(narrow(self.lists.len() - 1))
            }
        }
    }

    pub(crate) fn get(&self, handle: Handle) -> &[T] {
        &self.lists[handle.0 as usize]
    }

    /// Takes the list out. Give it back with [`recycle`](Self::recycle).
    pub(crate) fn take(&mut self, handle: Handle) -> Vec<T> {
        self.vacant.push(handle.0);
        std::mem::take(&mut self.lists[handle.0 as usize])
    }

    /// Keeps the memory of a list that is no longer needed.
    pub(crate) fn recycle(&mut self, mut list: Vec<T>) {
        list.clear();
        if let Some(place) = self.vacant.last() {
            let spare = &mut self.lists[*place as usize];
            if spare.capacity() < list.capacity() {
                *spare = list;
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.lists.iter().flatten()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.vacant.len() == self.lists.len()
    }
}

/// The lists of all messages that are on their way, a pool for each meaning.
///
/// Jobs that a message *moves* and jobs that it only *names* lie apart: a search for the whereabouts of every job
/// ([`whereabouts`](crate::Grid::whereabouts)) must count the former and not the latter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pools {
    /// Jobs that move with the message.
    pub(crate) jobs: Pool<JobId>,
    /// Jobs that are wanted back, and are elsewhere.
    pub(crate) wanted: Pool<JobId>,
    /// Bags with the power behind them.
    pub(crate) bags: Pool<(Bag, u64)>,
    /// Bags that have been bound.
    pub(crate) ports: Pool<Bag>,
}

impl Pools {
    /// Whether every list of every pool has been taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.wanted.is_empty() && self.bags.is_empty() && self.ports.is_empty()
    }
}
