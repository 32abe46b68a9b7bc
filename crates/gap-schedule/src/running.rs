//! The jobs that run, by their expected ends.

use sim_core::{JobId, Request, Span, Time};

/// The jobs that run, sorted by expected end, so that no policy has to sort them.
///
/// Kept in short sorted chunks, each with the sum of its processors: starting or ending a job moves a few
/// neighbours, and the search for a [`shadow`](Self::shadow) leaps from chunk to chunk.
#[derive(Clone, Debug, Default)]
pub struct Running {
    chunks: Vec<Chunk>,
    len: usize,
}

/// A job that runs: all that a policy may know of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunningJob {
    /// Its start plus its estimate; [`Time::MAX`] if it has none. Past, if the job has outlived its estimate.
    pub expected_end: Time,
    /// Which job.
    pub job: JobId,
    /// The processors it holds.
    pub processors: u32,
    /// Its user, if known; none for an [outage](Self::OUTAGE).
    pub user: Option<u32>,
    /// When it started; for an outage, when the machine failed.
    pub start: Time,
}

/// When enough processors will be free, as far as is known now.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// The shadow time: the earliest instant at which enough are free.
    pub at: Time,
    /// Processors beyond the need that are free then, all releases of that instant counted.
    pub extra: u32,
}

#[derive(Clone, Debug, Default)]
struct Chunk {
    jobs: Vec<RunningJob>,
    processors: u32,
}

impl RunningJob {
    /// Not a job: what holds all processors of a machine that is down, see [`MultiCluster::with_outages`](crate::MultiCluster::with_outages).
    pub const OUTAGE: JobId = JobId(u32::MAX);

    /// The job as started at `start`.
    pub fn new(job: JobId, request: &Request, start: Time) -> Self {
        let expected_end = start.saturating_add(request.estimate.unwrap_or(Span::MAX));
        Self { expected_end, job, processors: request.processors, user: request.user, start }
    }
}

impl Running {
    /// Jobs in one chunk, at most.
    const CHUNK: usize = 64;

    /// Nothing runs.
    pub const fn new() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }

    /// How many jobs run.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing runs.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The jobs by expected end; of those with the same, by id.
    pub fn iter(&self) -> impl Iterator<Item = &RunningJob> {
        self.chunks.iter().flat_map(|chunk| &chunk.jobs)
    }

    /// The job starts.
    pub fn insert(&mut self, job: RunningJob) {
        if self.chunks.is_empty() {
            self.chunks.push(Chunk::default());
        }
        let position = self.chunk_of(&job).min(self.chunks.len() - 1);
        let chunk = &mut self.chunks[position];
        let place = chunk.jobs.partition_point(|other| *other < job);
        chunk.jobs.insert(place, job);
        chunk.processors += job.processors;
        self.len += 1;
        if chunk.jobs.len() > Self::CHUNK {
            let later = Chunk::from(chunk.jobs.split_off(Self::CHUNK / 2));
            chunk.processors -= later.processors;
            self.chunks.insert(position + 1, later);
        }
    }

    /// The job ends.
    ///
    /// # Panics
    ///
    /// If it does not run.
    pub fn remove(&mut self, job: &RunningJob) {
        let position = self.chunk_of(job);
        let found = self.chunks.get(position).and_then(|chunk| chunk.jobs.binary_search(job).ok());
        let place = found.unwrap_or_else(|| panic!("job {} ended but does not run", job.job));
        let chunk = &mut self.chunks[position];
        chunk.jobs.remove(place);
        chunk.processors -= job.processors;
        self.len -= 1;
        // The last chunk is kept for its memory.
        if chunk.jobs.is_empty() && self.chunks.len() > 1 {
            self.chunks.remove(position);
        }
    }

    /// The shadow time of a job that needs `need` processors while `free` are free: the earliest instant when the jobs
    /// that run, and those `starting` now (sorted, and no longer counted in `free`), will have given back enough. `None`
    /// if that is not known: too many processors are held by jobs without an estimate, whose expected end is [`Time::MAX`].
    ///
    /// A job that has not ended by its expected end is expected to end at any moment: 1 ns from `now`.
    pub fn shadow(&self, now: Time, mut free: u32, need: u32, mut starting: &[RunningJob]) -> Option<Shadow> {
        if free >= need {
            return Some(Shadow { at: now, extra: free - need });
        }
        // Leap over the chunks after whose last end there are still too few.
        let mut leapt = 0;
        for chunk in &self.chunks {
            let (due, later) = starting.split_at(starting.partition_point(|job| Some(job) <= chunk.jobs.last()));
            let freed = chunk.processors + due.iter().map(|job| job.processors).sum::<u32>();
            if free + freed >= need {
                break;
            }
            free += freed;
            starting = later;
            leapt += 1;
        }
        let mut running = self.chunks[leapt..].iter().flat_map(|chunk| &chunk.jobs).peekable();
        let mut starting = starting.iter().peekable();
        let soonest = now.saturating_add(Span::from_nanos(1));
        let mut shadow: Option<Time> = None;
        loop {
            let next = match (running.peek(), starting.peek()) {
                (Some(one), Some(other)) if other < one => starting.next(),
                (Some(_), _) => running.next(),
                (None, _) => starting.next(),
            };
            let Some(next) = next.filter(|next| next.expected_end < Time::MAX) else { break };
            let end = next.expected_end.max(soonest);
            if shadow.is_some_and(|at| at < end) {
                break;
            }
            free += next.processors;
            if free >= need {
                shadow = Some(end);
            }
        }
        shadow.map(|at| Shadow { at, extra: free - need })
    }

    /// The chunk that holds the job, if any does; the number of chunks if all end before it.
    fn chunk_of(&self, job: &RunningJob) -> usize {
        self.chunks.partition_point(|chunk| chunk.jobs.last() < Some(job))
    }
}

impl From<Vec<RunningJob>> for Chunk {
    fn from(jobs: Vec<RunningJob>) -> Self {
        Self { processors: jobs.iter().map(|job| job.processors).sum(), jobs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Without an end, a job without an estimate.
    fn job(id: u32, end: impl Into<Option<u64>>, processors: u32) -> RunningJob {
        let expected_end = end.into().map_or(Time::MAX, Time::from_secs);
        RunningJob { expected_end, job: JobId(id), processors, user: None, start: Time::ZERO }
    }

    /// The shadow by its definition: the first instant at which the sum of what has been given back suffices.
    fn plain_shadow(now: Time, free: u32, need: u32, jobs: &[RunningJob]) -> Option<Shadow> {
        let end = |job: &RunningJob| job.expected_end.max(now + Span::from_nanos(1));
        // At an instant that is known, no job without an estimate has ended.
        let free_at = |at: Time| free + jobs.iter().filter(|job| end(job) <= at).map(|job| job.processors).sum::<u32>();
        let known = jobs.iter().filter(|job| job.expected_end < Time::MAX);
        let instants = std::iter::once(now).chain(known.map(end));
        let at = instants.filter(|at| free_at(*at) >= need).min()?;
        Some(Shadow { at, extra: free_at(at) - need })
    }

    proptest! {
        #[test]
        fn the_shadow_is_the_first_instant_at_which_enough_are_free(
            ends in prop::collection::vec((prop::option::weighted(0.9, 0..60_u64), 1..5_u32), 0..300),
            gone in prop::collection::vec(any::<prop::sample::Index>(), 0..100),
            starting in prop::collection::vec((prop::option::weighted(0.8, 20..60_u64), 1..5_u32), 0..6),
            (now, free, need) in (0..60_u64, 0..5_u32, 1..700_u32),
        ) {
            let mut twin: Vec<RunningJob> =
                (0..).zip(ends).map(|(id, (end, processors))| job(id, end, processors)).collect();
            let mut running = Running::new();
            for job in &twin {
                running.insert(*job);
            }
            for index in gone {
                if !twin.is_empty() {
                    running.remove(&twin.swap_remove(index.index(twin.len())));
                }
            }
            twin.sort_unstable();
            prop_assert!(running.iter().eq(&twin));
            prop_assert_eq!((running.len(), running.is_empty()), (twin.len(), twin.is_empty()));
            let mut starting: Vec<RunningJob> =
                (1_000..).zip(starting).map(|(id, (end, processors))| job(id, end, processors)).collect();
            starting.sort_unstable();
            let now = Time::from_secs(now);
            let shadow = running.shadow(now, free, need, &starting);
            twin.extend(starting);
            prop_assert_eq!(shadow, plain_shadow(now, free, need, &twin));
        }
    }

    #[test]
    fn behind_jobs_without_estimates_there_is_no_shadow() {
        let mut running = Running::new();
        running.insert(job(1, 10, 2));
        running.insert(job(2, None, 4));
        let shadow = |need| running.shadow(Time::ZERO, 1, need, &[job(3, None, 3)]);
        assert_eq!(shadow(3), Some(Shadow { at: Time::from_secs(10), extra: 0 }));
        assert_eq!(shadow(4), None);
        assert_eq!(shadow(10), None, "all of them, at no known instant");
    }

    #[test]
    #[should_panic(expected = "job 2 ended but does not run")]
    fn only_a_running_job_ends() {
        let mut running = Running::new();
        running.insert(job(1, 10, 1));
        running.remove(&job(2, 10, 1));
    }
}
