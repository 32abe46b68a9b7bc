//! Queue of waiting jobs, in order of arrival.

use crate::min_demand::{MinDemand, Tournament};
use rustc_hash::FxHashMap;
use sim_core::{Job, JobId, Request, Time};
use std::sync::OnceLock;

/// Queue of waiting jobs, in order of arrival. Appending and removing anywhere cost O(log n).
///
/// A tree holds the least demands of 2, 4, 8, … neighbours. The policies of this crate use it to skip whole stretches
/// of jobs that cannot start. It is built at its first use, so that policies that never use it do not pay for it.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Jobs in order of arrival, `None` where a job has left, until the vector is full and is compacted.
    slots: Vec<Option<QueuedJob>>,
    /// Tree with a leaf for each slot; built at its first use.
    tree: OnceLock<Tournament<MinDemand>>,
    /// Number of slots to fill before the queue is compacted.
    room: usize,
    /// Index below which every slot is empty.
    front: usize,
    /// Slot of each job. Never iterated.
    places: FxHashMap<JobId, usize>,
}

/// Waiting job: all that a policy may know of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct QueuedJob {
    /// Id of the job.
    pub job: JobId,
    /// Request of the submitter. Where the world has [`Predictions`](crate::Predictions), the estimate is the predicted
    /// run time.
    pub request: Request,
    /// Time of submission.
    pub submit: Time,
}

/// Iterator over a [`Queue`], in order of arrival.
#[derive(Clone, Debug)]
pub struct WaitingJobs<'a> {
    queue: &'a Queue,
    /// Next slot.
    at: usize,
}

impl QueuedJob {
    /// Returns the part of the job that a policy may know.
    pub const fn of(job: &Job) -> Self {
        Self { job: job.id, request: job.request, submit: job.submit }
    }
}

impl Queue {
    const SMALLEST: usize = 16;

    /// Number of waiting jobs.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns true if no job waits.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the job with this id, if it waits.
    pub fn get(&self, job: JobId) -> Option<&QueuedJob> {
        let place = self.places.get(&job)?;
        self.slots[*place].as_ref()
    }

    /// Iterates over the jobs in order of arrival.
    pub const fn iter(&self) -> WaitingJobs<'_> {
        WaitingJobs { queue: self, at: self.front }
    }

    /// Appends the job.
    ///
    /// # Panics
    ///
    /// If a job of this id waits already.
    pub fn push(&mut self, job: QueuedJob) {
        if self.slots.len() == self.room {
            self.close_up();
        }
        let (place, is_new) = (self.slots.len(), self.places.insert(job.job, self.slots.len()).is_none());
        assert!(is_new, "job {} joined a queue in which it waits already", job.job);
        self.slots.push(Some(job));
        if let Some(tree) = self.tree.get_mut() {
            tree.set(place, MinDemand::of(&job.request));
        }
    }

    /// Removes the job from any position; `None` if it does not wait.
    pub fn remove(&mut self, job: JobId) -> Option<QueuedJob> {
        let place = self.places.remove(&job)?;
        let removed = self.slots[place].take();
        if let Some(tree) = self.tree.get_mut() {
            tree.set(place, MinDemand::NOTHING);
        }
        if self.places.is_empty() {
            self.slots.clear();
            self.front = 0;
        } else {
            while self.slots[self.front].is_none() {
                self.front += 1;
            }
        }
        removed
    }

    /// Drops the empty slots and doubles the room, so that the jobs that arrive until the next time pay for it
    /// (amortised).
    fn close_up(&mut self) {
        self.slots.retain(Option::is_some);
        self.front = 0;
        self.room = (2 * self.slots.len()).next_power_of_two().max(Self::SMALLEST);
        for (place, job) in self.slots.iter().flatten().enumerate() {
            self.places.insert(job.job, place);
        }
        if self.tree.take().is_some() {
            self.tree = OnceLock::from(self.planted());
        }
    }

    fn planted(&self) -> Tournament<MinDemand> {
        let demand = |job: &QueuedJob| MinDemand::of(&job.request);
        let places = self.slots.iter().map(|slot| slot.as_ref().map_or(MinDemand::NOTHING, demand));
        Tournament::planted(self.room, places, MinDemand::NOTHING)
    }

    /// Returns the job in this slot, which is not empty.
    pub(crate) fn at(&self, slot: usize) -> &QueuedJob {
        self.slots[slot].as_ref().expect("a job waits there")
    }

    pub(crate) fn least(&self) -> MinDemand {
        self.tree().root()
    }

    fn tree(&self) -> &Tournament<MinDemand> {
        self.tree.get_or_init(|| self.planted())
    }
}

impl<'a> IntoIterator for &'a Queue {
    type Item = &'a QueuedJob;
    type IntoIter = WaitingJobs<'a>;

    fn into_iter(self) -> WaitingJobs<'a> {
        self.iter()
    }
}

impl<'a> WaitingJobs<'a> {
    /// Slot of the last job. Slots ascend by arrival, and stay while the queue is borrowed.
    pub(crate) const fn slot(&self) -> usize {
        self.at - 1
    }

    /// Returns the next job whose demands are `worth` a start, in O(log n) for each stretch that looked worth it.
    ///
    /// `worth` is called for single jobs and for stretches of neighbours. It must accept every stretch that contains a
    /// job it would accept. It does if it accepts whatever demands less than something it accepts.
    pub(crate) fn next_where(&mut self, worth: impl Fn(MinDemand) -> bool) -> Option<&'a QueuedJob> {
        let slots = &self.queue.slots;
        let waits = |slot: usize| slots.get(slot).is_some_and(Option::is_some);
        let found = if self.at < slots.len() { self.queue.tree().next(self.at, worth, waits) } else { None };
        self.at = found.map_or(slots.len(), |slot| slot + 1);
        slots[found?].as_ref()
    }
}

impl<'a> Iterator for WaitingJobs<'a> {
    type Item = &'a QueuedJob;

    fn next(&mut self) -> Option<&'a QueuedJob> {
        let ahead = self.queue.slots.get(self.at..)?;
        let skipped = ahead.iter().position(Option::is_some)?;
        self.at += skipped + 1;
        ahead[skipped].as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::Span;

    fn queued(id: u32) -> QueuedJob {
        QueuedJob::of(&Job::new(JobId(id), Time::ZERO, 1, Span::from_secs(1)))
    }

    #[test]
    fn memory_follows_the_jobs_that_wait() {
        let mut queue = Queue::default();
        for id in 0..1_000 {
            queue.push(queued(id));
        }
        for id in 1..1_000 {
            queue.remove(JobId(id));
        }
        // The head stays while others pass it.
        for id in 1_000..100_000 {
            queue.push(queued(id));
            queue.remove(JobId(id));
        }
        assert_eq!((queue.len(), queue.room), (1, Queue::SMALLEST));
    }
}
