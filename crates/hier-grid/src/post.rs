//! Messages on their way: small enough to be events, with lists kept in pools.

use crate::message::{Address, Kind, Payload, Reason};
use crate::tree::SchedulerId;
use crate::world::{Bag, narrow};
use sim_core::JobId;

/// A message on its way.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    pub(crate) from: Address,
    pub(crate) to: Address,
    pub(crate) body: Body,
}

/// What it says: a [`Payload`] whose lists are handles.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Request { job: JobId, hops: u32 },
    Forward { job: JobId, hops: u32 },
    Rfjm { anew: bool },
    Discover { round: u32, known: Bag, jobs: u32 },
    Bags { round: u32, bags: Handle, wanting: bool },
    Ports { bags: Handle },
    Rfc { bag: Bag, wants: Bag, ticket: u32 },
    Block { bag: Bag, ticket: u32, jobs: Handle },
    Cancel { by: SchedulerId, number: u32, reason: Reason, jobs: Handle },
    Cancelled { by: SchedulerId, number: u32, reason: Reason, asked: u32, jobs: Handle },
    Started { job: JobId },
    Returned { jobs: Handle },
    Offer { job: JobId },
    Answer { job: JobId },
    Accept { job: JobId },
    Confirm { job: JobId },
    Decline { job: JobId },
    Restarted,
}

impl Body {
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Request { .. } => Kind::Request,
            Self::Forward { .. } => Kind::Forward,
            Self::Rfjm { .. } => Kind::Rfjm,
            Self::Discover { .. } => Kind::Discover,
            Self::Bags { .. } => Kind::Bags,
            Self::Ports { .. } => Kind::Ports,
            Self::Rfc { .. } => Kind::Rfc,
            Self::Block { .. } => Kind::Block,
            Self::Cancel { .. } => Kind::Cancel,
            Self::Cancelled { .. } => Kind::Cancelled,
            Self::Started { .. } => Kind::Started,
            Self::Returned { .. } => Kind::Returned,
            Self::Offer { .. } => Kind::Offer,
            Self::Answer { .. } => Kind::Answer,
            Self::Accept { .. } => Kind::Accept,
            Self::Confirm { .. } => Kind::Confirm,
            Self::Decline { .. } => Kind::Decline,
            Self::Restarted => Kind::Restarted,
        }
    }

    /// As it is recorded.
    pub(crate) fn payload(self, pools: &Pools) -> Payload {
        match self {
            Self::Request { job, hops } => Payload::Request { job, hops },
            Self::Forward { job, hops } => Payload::Forward { job, hops },
            Self::Rfjm { anew } => Payload::Rfjm { anew },
            Self::Discover { round, known, jobs } => Payload::Discover { round, known, jobs },
            Self::Bags { round, bags, wanting } => {
                Payload::Bags { round, bags: pools.bags.get(bags).to_vec(), wanting }
            }
            Self::Ports { bags } => Payload::Ports { bags: pools.bags.get(bags).iter().map(|(bag, _)| *bag).collect() },
            Self::Rfc { bag, wants, ticket } => Payload::Rfc { bag, wants, ticket },
            Self::Block { bag, ticket, jobs } => Payload::Block { bag, ticket, jobs: pools.jobs.get(jobs).to_vec() },
            Self::Cancel { by, number, reason, jobs } => {
                Payload::Cancel { by, number, reason, jobs: pools.wishes.get(jobs).to_vec() }
            }
            Self::Cancelled { by, number, reason, asked, jobs } => {
                Payload::Cancelled { by, number, reason, asked, jobs: pools.jobs.get(jobs).to_vec() }
            }
            Self::Started { job } => Payload::Started { job },
            Self::Returned { jobs } => Payload::Returned { jobs: pools.jobs.get(jobs).to_vec() },
            Self::Offer { job } => Payload::Offer { job },
            Self::Answer { job } => Payload::Answer { job },
            Self::Accept { job } => Payload::Accept { job },
            Self::Confirm { job } => Payload::Confirm { job },
            Self::Decline { job } => Payload::Decline { job },
            Self::Restarted => Payload::Restarted,
        }
    }
}

/// A list in a pool.
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
    /// A list to be filled.
    pub(crate) fn open(&mut self) -> Vec<T> {
        match self.vacant.last() {
            Some(place) => std::mem::take(&mut self.lists[*place as usize]),
            None => Vec::new(),
        }
    }

    /// Keeps a list until it is taken.
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

    /// All that is in lists.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.lists.iter().flatten()
    }

    /// Whether every list has been taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.vacant.len() == self.lists.len()
    }
}

/// All pools.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pools {
    /// Jobs on their way.
    pub(crate) jobs: Pool<JobId>,
    /// Jobs that are wanted back, and are elsewhere.
    pub(crate) wishes: Pool<JobId>,
    pub(crate) bags: Pool<(Bag, u64)>,
}

impl Pools {
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.wishes.is_empty() && self.bags.is_empty()
    }
}
