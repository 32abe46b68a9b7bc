//! State that a scheduler of Alea sees: [`GridState`], with a [`Cluster`] for each pool of processors and a [`JobRequest`] for
//! each job; and the instants of the simulator: [`Clock`].

use sim_core::{Job, SiteId, SiteSet, Span, Time};
use std::collections::BTreeSet;

/// Clusters, and the requests of all jobs submitted so far.
///
/// It contains neither run times nor future jobs, so that no policy that uses them compiles.
#[derive(Clone, Debug)]
pub struct GridState {
    requests: Vec<JobRequest>,
    clusters: Vec<Cluster>,
}

/// Pool of processors.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Total number of processors.
    pub processors: u32,
    /// Number of processors that no running or sent job holds.
    pub free: u32,
    /// Processors that no running job holds, those of the sent job included.
    idle: BTreeSet<u32>,
    /// Running jobs in the order in which they reach their limits.
    running: Vec<Occupant>,
    /// Job that was sent and has not started yet.
    sent: Option<JobRequest>,
}

/// Running job with its processors: those of the lowest numbers that were idle.
#[derive(Clone, Debug)]
struct Occupant {
    job: JobIndex,
    limit_at: Time,
    start: f64,
    limit: f64,
    processors: Vec<u32>,
}

/// Processors that are released at one instant, according to limits.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Release {
    /// Instant in seconds by Alea's clock; never before the present.
    pub(crate) at: f64,
    pub(crate) processors: u32,
    /// Lowest number among them.
    pub(crate) first: u32,
}

impl GridState {
    pub(crate) fn new(processors: &[u32]) -> Self {
        Self { requests: Vec::new(), clusters: processors.iter().copied().map(Cluster::new).collect() }
    }

    /// Number of jobs submitted so far, rejected ones included.
    pub(crate) fn submitted(&self) -> usize {
        self.requests.len()
    }

    /// Returns the request of a submitted job.
    pub fn request(&self, job: JobIndex) -> &JobRequest {
        &self.requests[job.index()]
    }

    /// Clusters, the largest first.
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    /// Ids of the clusters, the largest first.
    pub fn cluster_ids(&self) -> impl DoubleEndedIterator<Item = SiteId> + Clone + use<> {
        let clusters = u32::try_from(self.clusters.len()).expect("at most 127 clusters");
        (0..clusters).map(SiteId)
    }

    /// Returns one cluster.
    pub fn cluster(&self, cluster: SiteId) -> &Cluster {
        &self.clusters[cluster.index()]
    }

    /// Returns true if `cluster` suits the job: the job may use it, and it has enough processors in total.
    pub fn suits(&self, cluster: SiteId, job: JobIndex) -> bool {
        self.request(job).sites.contains(cluster) && self.is_wide_enough(cluster, job)
    }

    /// Returns true if `cluster` has enough processors in total, even if the job may not use it.
    pub(crate) fn is_wide_enough(&self, cluster: SiteId, job: JobIndex) -> bool {
        self.request(job).processors <= self.cluster(cluster).processors
    }

    /// Returns true if the job could start on `cluster` now, even if it may not use it.
    pub(crate) fn has_room(&self, cluster: SiteId, job: JobIndex) -> bool {
        self.request(job).processors <= self.cluster(cluster).free
    }

    /// Returns true if the job runs on `cluster`. A job that is done does not, though its scheduler may not have been
    /// informed: Alea's scheduler reads the state of a job from the machine (`GridletInfo.getStatus`).
    pub fn is_running(&self, cluster: SiteId, job: JobIndex) -> bool {
        self.cluster(cluster).running.iter().any(|running| running.job == job)
    }

    pub(crate) fn submit(&mut self, request: JobRequest) {
        self.requests.push(request);
    }

    pub(crate) fn send(&mut self, job: JobIndex, cluster: SiteId) {
        let request = *self.request(job);
        let (cluster, processors) = (&mut self.clusters[cluster.index()], request.processors);
        assert!(processors <= cluster.free, "a job of {processors} was sent where {} are free", cluster.free);
        cluster.free -= processors;
        assert!(cluster.sent.is_none(), "one job at a time is on its way to a cluster");
        cluster.sent = Some(request);
    }

    pub(crate) fn start(&mut self, job: JobIndex, cluster: SiteId, now: Clock) {
        let request = *self.request(job);
        let cluster = &mut self.clusters[cluster.index()];
        cluster.sent = None;
        let processors = (0..request.processors).map(|_| cluster.idle.pop_first().expect("a sent job has room"));
        let processors = processors.collect();
        let limit_at = now.time + request.limit;
        let place = cluster.running.partition_point(|other| other.limit_at <= limit_at);
        let limit = request.limit.as_secs_f64();
        cluster.running.insert(place, Occupant { job, limit_at, start: now.seconds, limit, processors });
    }

    pub(crate) fn finish(&mut self, job: JobIndex, cluster: SiteId) {
        let cluster = &mut self.clusters[cluster.index()];
        let place = cluster.running.iter().position(|running| running.job == job).expect("a job that ends was running");
        let Occupant { processors, .. } = cluster.running.remove(place);
        cluster.free += u32::try_from(processors.len()).expect("no wider than the cluster");
        cluster.idle.extend(processors);
    }
}

impl Cluster {
    fn new(processors: u32) -> Self {
        Self { processors, free: processors, idle: (0..processors).collect(), running: Vec::new(), sent: None }
    }

    /// Returns the releases of processors if every job takes its limit: one entry for each instant, in order of time.
    ///
    /// A job beyond its limit is expected to end now. A job that was sent but has not started is expected on the processors of the
    /// lowest numbers among those that are free now, and to hold them for its limit (`ResourceInfo.predictFirstFreeSlots`).
    pub(crate) fn releases(&self, now: f64) -> Vec<Release> {
        let number = |processors: usize| u32::try_from(processors).expect("no wider than the cluster");
        // Alea's formula: rounding may separate values that are equal on paper, and is the same for equal starts.
        let end = |job: &Occupant| now + (job.limit - (now - job.start)).max(0.0);
        let mut releases = Vec::with_capacity(self.running.len() + 2);
        for job in &self.running {
            let first = *job.processors.first().expect("at least one processor");
            releases.push(Release { at: end(job), processors: number(job.processors.len()), first });
        }
        match self.sent {
            None => releases.extend(self.idle.first().map(|first| {
                let processors = number(self.idle.len());
                Release { at: now, processors, first: *first }
            })),
            Some(sent) => {
                releases.retain(|release| release.at > now);
                let due = self.running.iter().filter(|job| end(job) <= now);
                let due = due.flat_map(|job| job.processors.iter().copied());
                let mut at_once: Vec<u32> = self.idle.iter().copied().chain(due).collect();
                at_once.sort_unstable();
                let (taken, left) = at_once.split_at(sent.processors as usize);
                for (processors, at) in [(taken, now + sent.limit.as_secs_f64()), (left, now)] {
                    if let Some(first) = processors.first() {
                        releases.push(Release { at, processors: number(processors.len()), first: *first });
                    }
                }
            }
        }
        releases.sort_unstable_by(|a, b| a.at.total_cmp(&b.at));
        releases.dedup_by(|next, release| {
            let is_same = next.at.to_bits() == release.at.to_bits();
            if is_same {
                release.processors += next.processors;
                release.first = release.first.min(next.first);
            }
            is_same
        });
        releases
    }
}

/// Part of a job that the scheduler knows: not its run time.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct JobRequest {
    /// Number of processors, at least 1.
    pub processors: u32,
    /// Limit L, on which reservations are based. At least 1 s.
    pub limit: Span,
    /// Duration in a plan: ⌊L + 1⌋ seconds.
    pub planned_time: Span,
    pub(crate) planned_seconds: f64,
    /// Processors × limit, in seconds.
    pub(crate) claim: f64,
    /// Submission.
    pub submit: Time,
    pub(crate) submit_seconds: f64,
    pub(crate) sites: SiteSet,
    /// User. Jobs without a user belong to one common user.
    pub user: Option<u32>,
}

impl JobRequest {
    pub(crate) fn of(job: &Job) -> Self {
        let limit = limit(job);
        Self {
            processors: job.request.processors,
            limit,
            planned_time: rounded_up(limit),
            planned_seconds: rounded_up(limit).as_secs_f64(),
            claim: f64::from(job.request.processors) * limit.as_secs_f64(),
            submit: job.submit,
            submit_seconds: job.submit.as_secs_f64(),
            sites: job.request.sites,
            user: job.request.user,
        }
    }
}

/// Returns the limit at which the job is cut: its estimate, or else its run time. At least 1 s.
pub fn limit(job: &Job) -> Span {
    job.request.estimate.unwrap_or(job.runtime).max(SECOND)
}

/// Returns the work of the job, after which its cluster finds it done at the next look: the runtime, cut at the limit. At least 1 s.
pub fn work(job: &Job) -> Span {
    job.runtime.max(SECOND).min(limit(job))
}

/// Returns the time from the job's start to the look of its cluster for its end: ⌊work + 1⌋ seconds.
pub fn executed_time(job: &Job) -> Span {
    rounded_up(work(job))
}

sim_core::id! {
    /// Position of a job in order of submission, from 0; not its number in the log.
    JobIndex
}

const SECOND: Span = Span::from_secs(1);

/// Returns ⌊t + 1⌋ seconds: the simulator intends to round up (`(int) (time + 1)`), and adds a second to whole numbers.
fn rounded_up(time: Span) -> Span {
    Span::from_secs(time.as_nanos() / SECOND.as_nanos() + 1)
}

/// Instant, both exact and as shown by Alea's clock, in seconds as a double.
///
/// Alea adds delays to a double, so that its instants are off by some 10⁻¹⁰ s, more so after long chains of starts 8 ms
/// apart. Alea takes equal times in the order of their hashes, and sums them to compare plans, so this affects its
/// decisions. The order of events and the records follow the exact time.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Clock {
    /// Exact instant.
    pub time: Time,
    /// Instant shown by Alea's clock.
    pub seconds: f64,
}

impl Clock {
    /// Returns an instant without accumulated delays, such as that of a submission or of the start-up.
    pub(crate) fn at(time: Time) -> Self {
        Self { time, seconds: time.as_secs_f64() }
    }

    pub(crate) fn after(self, delay: Span) -> Self {
        Self { time: self.time + delay, seconds: self.seconds + delay.as_secs_f64() }
    }
}
