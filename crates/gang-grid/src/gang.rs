//! Submissions, gangs that have been routed to processors, and the grid scheduler's queue of the other gangs.

use crate::config::GangOrder;
use sim_core::{Job, JobId, ProcId, SiteId, Span, Time};
use std::collections::BTreeMap;

/// Job on its way into the grid, with the service times of its tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The job. A local has an origin, the site of its arrival, and one processor; a gang has no origin, and arrives
    /// at the grid scheduler. `runtime` is that of the longest task.
    pub job: Job,
    /// A gang's tasks, one per processor. Empty for a local, whose only task is the job itself.
    pub tasks: Box<[Span]>,
}

impl Submission {
    /// A local that arrives at `site` and takes `service` at reference speed.
    pub fn local(id: JobId, submit: Time, site: SiteId, service: Span) -> Self {
        let mut job = Job::new(id, submit, 1, service);
        job.origin = Some(site);
        Self { job, tasks: Box::new([]) }
    }

    /// A gang with these tasks, of which the schedulers know the service times exactly (§3.2).
    ///
    /// # Panics
    ///
    /// Panics if there is no task, or more than 2³² − 1.
    pub fn gang(id: JobId, submit: Time, tasks: impl IntoIterator<Item = Span>) -> Self {
        let tasks: Box<[Span]> = tasks.into_iter().collect();
        let longest = tasks.iter().copied().max().expect("a gang has at least one task");
        let processors = u32::try_from(tasks.len()).expect("a gang has fewer than 2³² tasks");
        Self { job: Job::new(id, submit, processors, longest), tasks }
    }
}

/// A gang whose tasks have been routed: it waits for its processors, or runs.
#[derive(Clone, Debug)]
pub struct Gang {
    /// Its number.
    pub id: JobId,
    /// Processor of each task, and the time for which the task occupies it, speed and overhead included: the schedulers know this of
    /// gangs (§3.2).
    pub tasks: Vec<(ProcId, Span)>,
    /// True if it uses processors of more than one site.
    pub spans_sites: bool,
    /// Start promised when it was routed.
    pub promised_start: Time,
    /// Present start: the latest free time over its processors, computed when one of them last began or ended
    /// something. If a job outlives its estimate this instant may have passed; the gang may then start at any moment.
    pub present_start: Time,
    /// While it waits: number of its processors that are busy with something else. While it runs: number of tasks left.
    pub(crate) outstanding: u32,
    /// True if its tasks run.
    pub started: bool,
}

impl Gang {
    pub(crate) fn size(&self) -> u32 {
        u32::try_from(self.tasks.len()).expect("a gang has fewer than 2³² tasks")
    }
}

/// Grid scheduler's queue. Policies see it, so it shows sizes and no jobs.
#[derive(Clone, Debug, Default)]
pub struct GangQueue {
    /// By number of tasks, and by age among equals.
    gangs: BTreeMap<(u32, u64), Submission>,
    joined: u64,
}

impl GangQueue {
    /// Number of gangs in the queue.
    pub fn len(&self) -> usize {
        self.gangs.len()
    }

    /// Returns true if the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.gangs.is_empty()
    }

    /// Number of tasks of the smallest gang that may go next under `order`.
    pub(crate) fn smallest_allowed(&self, order: GangOrder) -> Option<u32> {
        let mut sizes = self.gangs.keys().map(|(size, _)| *size);
        if order == GangOrder::LargestOnly { sizes.next_back() } else { sizes.next() }
    }

    /// Number and size of each gang, smallest first, oldest first among equals.
    pub fn iter(&self) -> impl Iterator<Item = (JobId, u32)> {
        self.gangs.iter().map(|((size, _), gang)| (gang.job.id, *size))
    }

    /// Size of the gang that `order` takes next, among those that need at most `processors`; the oldest of this size is next.
    pub(crate) fn next_size(&self, order: GangOrder, processors: u32) -> Option<u32> {
        let mut fitting = self.gangs.range(..=(processors, u64::MAX)).map(|(key, _)| *key);
        let (size, _) = match order {
            GangOrder::LargestThatFits => fitting.next_back(),
            GangOrder::LargestOnly => self.gangs.keys().next_back().copied().filter(|(size, _)| *size <= processors),
            GangOrder::OldestThatFits => fitting.min_by_key(|(_, joined)| *joined),
        }?;
        Some(size)
    }

    pub(crate) fn push(&mut self, gang: Submission) {
        self.gangs.insert((gang.job.request.processors, self.joined), gang);
        self.joined += 1;
    }

    /// Takes the oldest gang of this size.
    pub(crate) fn pop(&mut self, size: u32) -> Option<Submission> {
        let key = *self.gangs.range((size, 0)..=(size, u64::MAX)).next()?.0;
        self.gangs.remove(&key)
    }
}
