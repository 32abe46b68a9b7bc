//! Jobs that wait, in an order of their own.

use crate::min_demand::{MinDemand, MinDemandTree};
use crate::order::{Priority, Turn};
use crate::policy::line::Line;
use crate::queue::QueuedJob;
use crate::view::View;
use sim_core::{JobId, JobTable, Time};
use std::collections::BTreeSet;

/// The jobs that wait, by a [`Priority`]; of those with equal keys, by arrival.
///
/// In an order that time does not change, jobs join and leave in O(log n), and now and then O(n / 32), and a walk leaps over stretches in which
/// nobody can start. In one that it does, the queue is sorted at each [`refresh`](Self::refresh), in O(n log n).
///
/// Jobs stand in short sorted chunks; over the least demands of the chunks stands a tree, as over those of the jobs of a
/// [`Queue`](crate::Queue).
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedQueue {
    priority: Priority,
    /// None of those in use is empty; behind them are empty ones, kept for their memory.
    chunks: Vec<Chunk>,
    /// How many chunks are in use.
    used: usize,
    /// A leaf for each chunk in use.
    tree: MinDemandTree,
    /// Unless the queue is sorted anew each time.
    places: JobTable<Place>,
    arrivals: u64,
    /// Those who have come since the last refresh, and their arrivals: many start at once, and never join the others.
    newcomers: Vec<(QueuedJob, u64)>,
    /// Those who have not waited for the threshold, by submission, if there is a threshold.
    patient: BTreeSet<(Time, JobId)>,
    /// Scratch buffer of a sort.
    sorting: Vec<(Place, QueuedJob)>,
}

/// Where a job stands; no two jobs stand in the same place.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    turn: Turn,
    arrival: u64,
}

/// Some neighbours in the queue.
#[derive(Clone, Debug)]
struct Chunk {
    places: Vec<Place>,
    jobs: Vec<QueuedJob>,
    /// What each of the jobs demands.
    demands: Vec<MinDemand>,
}

/// A walk along an [`OrderedQueue`], in its order.
#[derive(Clone, Debug)]
pub(super) struct Walk<'a> {
    queue: &'a OrderedQueue,
    chunk: usize,
    /// The next job in the chunk.
    at: usize,
}

/// A walk that passes over some jobs.
#[derive(Clone, Debug)]
pub(super) struct Except<'a> {
    pub(super) walk: Walk<'a>,
    /// In ascending order.
    pub(super) jobs: &'a [JobId],
}

impl OrderedQueue {
    /// Nobody waits.
    pub(super) fn new(priority: Priority) -> Self {
        Self { priority, ..Self::default() }
    }

    const fn is_sorted_anew(&self) -> bool {
        self.priority.order.changes_with_time()
    }

    /// The job comes to wait, behind all that wait already as far as ties are concerned.
    pub(super) fn push(&mut self, job: &QueuedJob) {
        if self.is_sorted_anew() {
            return;
        }
        self.newcomers.push((*job, self.arrivals));
        self.arrivals += 1;
    }

    /// The job leaves, if it is here.
    pub(super) fn remove(&mut self, job: &QueuedJob) {
        if let Some(newcomer) = self.newcomers.iter().position(|(other, _)| other.job == job.job) {
            self.newcomers.remove(newcomer);
        } else if let Some(place) = self.places.remove(job.job) {
            self.take_out(place);
            self.patient.remove(&(job.submit, job.job));
        }
    }

    /// Puts the queue into its order at the present instant. Needed before a [`walk`](Self::walk).
    ///
    /// A queue that is sorted anew then has the jobs of the view, but for those in `gone`, by ascending id.
    pub(super) fn refresh(&mut self, view: &View<'_>, gone: &[JobId]) {
        if self.is_sorted_anew() {
            self.sort(view, gone);
            return;
        }
        let mut newcomers = std::mem::take(&mut self.newcomers);
        for (job, arrival) in newcomers.drain(..) {
            self.insert(Place { turn: self.priority.turn(&job, view.now), arrival }, &job);
            if self.is_waiting_for_the_threshold(&job, view.now) {
                self.patient.insert((job.submit, job.job));
            }
        }
        self.newcomers = newcomers;
        while let Some((submit, job)) = self.patient.first().copied() {
            let threshold = self.priority.threshold.expect("only with a threshold is anybody patient");
            if view.now.saturating_since(submit) < threshold {
                break;
            }
            self.patient.pop_first();
            let place = self.places.remove(job).expect("who is patient waits");
            let queued = self.take_out(place);
            self.insert(Place { turn: self.priority.turn(&queued, view.now), ..place }, &queued);
        }
    }

    /// A walk along all who wait.
    pub(super) const fn walk(&self) -> Walk<'_> {
        Walk { queue: self, chunk: 0, at: 0 }
    }

    fn is_waiting_for_the_threshold(&self, job: &QueuedJob, now: Time) -> bool {
        self.priority.threshold.is_some_and(|threshold| now.saturating_since(job.submit) < threshold)
    }

    fn sort(&mut self, view: &View<'_>, gone: &[JobId]) {
        let mut sorting = std::mem::take(&mut self.sorting);
        sorting.clear();
        let here = (0..).zip(view.queue).filter(|(_, job)| gone.binary_search(&job.job).is_err());
        sorting.extend(here.map(|(arrival, job)| (Place { turn: self.priority.turn(job, view.now), arrival }, *job)));
        sorting.sort_unstable_by_key(|(place, _)| *place);
        self.chunks[..self.used].iter_mut().for_each(Chunk::clear);
        self.used = sorting.len().div_ceil(Chunk::LENGTH);
        self.chunks.resize_with(self.chunks.len().max(self.used), Chunk::new);
        for (chunk, jobs) in self.chunks.iter_mut().zip(sorting.chunks(Chunk::LENGTH)) {
            for (at, (place, job)) in jobs.iter().enumerate() {
                chunk.insert(at, *place, job);
            }
        }
        self.plant();
        self.sorting = sorting;
    }

    /// The chunk in use that has the place, or where it would have to be.
    fn chunk_of(&self, place: Place) -> usize {
        self.chunks[..self.used].partition_point(|chunk| chunk.places.last() < Some(&place))
    }

    fn insert(&mut self, place: Place, job: &QueuedJob) {
        self.places.insert(job.job, place);
        if self.used == 0 {
            self.open(0);
        }
        let number = self.chunk_of(place).min(self.used - 1);
        let chunk = &mut self.chunks[number];
        let at = chunk.places.partition_point(|other| *other < place);
        chunk.insert(at, place, job);
        if chunk.places.len() > Chunk::LENGTH {
            let later = chunk.split();
            self.open(number + 1);
            self.chunks[number + 1] = later;
            self.plant();
        } else {
            self.tree.join(number, MinDemand::of(&job.request));
        }
    }

    fn take_out(&mut self, place: Place) -> QueuedJob {
        let number = self.chunk_of(place);
        let chunk = &mut self.chunks[number];
        let at = chunk.places.binary_search(&place).expect("who has a place stands there");
        let job = chunk.remove(at);
        if chunk.places.is_empty() {
            // Out of the way, and kept for its memory.
            self.chunks[number..self.used].rotate_left(1);
            self.used -= 1;
            self.plant();
        } else if self.tree.least(number).may_rest_on(MinDemand::of(&job.request)) {
            self.tree.set(number, self.chunks[number].least());
        }
        job
    }

    /// Makes room for an empty chunk of this number.
    fn open(&mut self, number: usize) {
        if self.used == self.chunks.len() {
            self.chunks.push(Chunk::new());
        }
        self.used += 1;
        self.chunks[number..self.used].rotate_right(1);
        if self.used == 1 {
            self.plant();
        }
    }

    /// Writes the tree anew.
    fn plant(&mut self) {
        self.tree.plant(self.used, self.chunks[..self.used].iter().map(Chunk::least));
    }

    /// The first chunk, from this number on, that may hold somebody worth a start.
    fn next_chunk(&self, from: usize, worth: &impl Fn(MinDemand) -> bool) -> Option<usize> {
        if from >= self.used {
            return None;
        }
        self.tree.next(from, worth).filter(|number| *number < self.used)
    }
}

impl Chunk {
    /// Jobs in one chunk, at most.
    const LENGTH: usize = 32;

    fn new() -> Self {
        let length = Self::LENGTH + 1;
        Self {
            places: Vec::with_capacity(length),
            jobs: Vec::with_capacity(length),
            demands: Vec::with_capacity(length),
        }
    }

    fn clear(&mut self) {
        self.places.clear();
        self.jobs.clear();
        self.demands.clear();
    }

    fn insert(&mut self, at: usize, place: Place, job: &QueuedJob) {
        self.places.insert(at, place);
        self.jobs.insert(at, *job);
        self.demands.insert(at, MinDemand::of(&job.request));
    }

    fn remove(&mut self, at: usize) -> QueuedJob {
        self.places.remove(at);
        self.demands.remove(at);
        self.jobs.remove(at)
    }

    /// Its second half.
    fn split(&mut self) -> Self {
        let mut later = Self::new();
        let half = self.places.len() / 2;
        later.places.extend(self.places.drain(half..));
        later.jobs.extend(self.jobs.drain(half..));
        later.demands.extend(self.demands.drain(half..));
        later
    }

    fn least(&self) -> MinDemand {
        MinDemand::of_all(&self.demands)
    }
}

impl Line for Walk<'_> {
    fn next(&mut self) -> Option<QueuedJob> {
        let used = &self.queue.chunks[..self.queue.used];
        while let Some(chunk) = used.get(self.chunk) {
            if let Some(job) = chunk.jobs.get(self.at) {
                self.at += 1;
                return Some(*job);
            }
            self.chunk += 1;
            self.at = 0;
        }
        None
    }

    fn next_where(&mut self, worth: impl Fn(MinDemand) -> bool) -> Option<QueuedJob> {
        loop {
            let found = self.queue.next_chunk(self.chunk, &worth);
            let Some(number) = found else {
                (self.chunk, self.at) = (self.queue.used, 0);
                return None;
            };
            if number > self.chunk {
                (self.chunk, self.at) = (number, 0);
            }
            let chunk = &self.queue.chunks[number];
            if let Some(ahead) = chunk.demands[self.at..].iter().position(|demand| worth(*demand)) {
                let at = self.at + ahead;
                self.at = at + 1;
                return Some(chunk.jobs[at]);
            }
            (self.chunk, self.at) = (number + 1, 0);
        }
    }

    fn has_where(&self, worth: impl Fn(MinDemand) -> bool) -> bool {
        self.clone().next_where(worth).is_some()
    }
}

impl Line for Except<'_> {
    fn next(&mut self) -> Option<QueuedJob> {
        loop {
            let next = self.walk.next()?;
            if self.jobs.binary_search(&next.job).is_err() {
                return Some(next);
            }
        }
    }

    fn next_where(&mut self, worth: impl Fn(MinDemand) -> bool) -> Option<QueuedJob> {
        loop {
            let next = self.walk.next_where(&worth)?;
            if self.jobs.binary_search(&next.job).is_err() {
                return Some(next);
            }
        }
    }

    fn has_where(&self, worth: impl Fn(MinDemand) -> bool) -> bool {
        self.clone().next_where(worth).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Order;
    use crate::queue::Queue;
    use proptest::prelude::*;
    use sim_core::{Job, Span};

    proptest! {
        /// The twin: a vector in order of arrival, sorted at each look.
        #[test]
        fn any_joining_leaving_and_waiting_keeps_the_order(
            steps in prop::collection::vec((0..4_u32, 1..9_u32, 1..40_u64, any::<prop::sample::Index>()), 0..400),
            order in prop::sample::select(Order::ALL.to_vec()),
            threshold in prop::option::of((0..50_u64).prop_map(Span::from_secs)),
        ) {
            let priority = Priority { order, threshold };
            let mut queue = OrderedQueue::new(priority);
            let (mut here, mut now) = (Queue::new(), Time::ZERO);
            for (id, (action, processors, estimate, who)) in (0..).zip(steps) {
                match action {
                    0 if !here.is_empty() => {
                        let gone = *here.iter().nth(who.index(here.len())).expect("somebody");
                        here.remove(gone.job);
                        queue.remove(&gone);
                        queue.remove(&gone); // who is not here cannot leave
                    }
                    1 => now += Span::from_secs(estimate),
                    _ => {
                        let mut job = Job::new(JobId(id), now, processors, Span::from_secs(estimate % 5));
                        job.request.estimate = Some(job.runtime).filter(|_| estimate > 3);
                        queue.push(&QueuedJob::of(&job));
                        here.push(QueuedJob::of(&job));
                    }
                }
                let view = View { now, machines: &[], free: &[], running: &[], queue: &here };
                queue.refresh(&view, &[]);
                let mut twin: Vec<QueuedJob> = here.iter().copied().collect();
                twin.sort_by_key(|job| priority.turn(job, now));
                let mut walk = queue.walk();
                let found: Vec<QueuedJob> = std::iter::from_fn(|| walk.next()).collect();
                prop_assert_eq!(&found, &twin);
                // A walk goes on from where it is, and passes over whom it is told to.
                let (widest, longest) = (processors / 2, Span::from_secs(estimate));
                let worth = |least: MinDemand| least.processors <= widest && least.estimate <= longest;
                let out: Vec<JobId> = here.iter().step_by(3).map(|job| job.job).collect();
                let mut walk = Except { walk: queue.walk(), jobs: &out };
                let first = walk.next();
                let mut found: Vec<QueuedJob> = first.into_iter().collect();
                prop_assert_eq!(walk.has_where(worth), walk.clone().next_where(worth).is_some());
                found.extend(std::iter::from_fn(|| walk.next_where(worth)));
                let mut plain = twin.iter().filter(|job| !out.contains(&job.job)).copied();
                let mut expected: Vec<QueuedJob> = plain.next().into_iter().collect();
                expected.extend(plain.filter(|job| worth(MinDemand::of(&job.request))));
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn memory_follows_the_jobs_that_wait() {
        let mut queue = OrderedQueue::new(Priority::of(Order::Sjf));
        let here = Queue::new();
        let nobody = View { now: Time::ZERO, machines: &[], free: &[], running: &[], queue: &here };
        for id in 0..50_000 {
            let job =
                QueuedJob::of(&Job::new(JobId(id), Time::ZERO, 1, Span::from_secs(u64::from(id) * 7_919 % 1_009)));
            queue.push(&job);
            queue.refresh(&nobody, &[]);
            if id >= 100 {
                let shortest = queue.walk().next().expect("a hundred wait");
                queue.remove(&shortest);
            }
        }
        assert!(queue.chunks.len() < 20, "{} chunks for 100 jobs", queue.chunks.len());
    }
}
