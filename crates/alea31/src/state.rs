//! What a scheduler of Alea sees: [`GridState`], with a [`Cluster`] for each pool of processors.

use crate::job::{JobIndex, JobRequest};
use sim_core::{SiteId, Span, Time};

/// The clusters, and the requests of all jobs that have come in so far.
///
/// It knows neither run times nor what is still to come: what a policy could do with them does not compile.
#[derive(Clone, Debug)]
pub struct GridState {
    requests: Vec<JobRequest>,
    clusters: Vec<Cluster>,
}

/// One pool of processors.
#[derive(Clone, Debug)]
pub struct Cluster {
    processors: u32,
    free: u32,
    /// When running jobs reach their limits, and with how many processors, in order of time. (The job makes an
    /// entry unique.)
    limits: Vec<(Time, JobIndex, u32)>,
    /// The job that was sent and has not started yet.
    sent: Option<Sent>,
}

#[derive(Copy, Clone, Debug)]
struct Sent {
    processors: u32,
    limit: Span,
}

/// Processors that are released at one instant, as far as limits tell.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// When; never before the present.
    pub at: Time,
    /// How many.
    pub processors: u32,
}

impl GridState {
    pub(crate) fn new(processors: &[u32]) -> Self {
        let cluster =
            |processors: &u32| Cluster { processors: *processors, free: *processors, limits: Vec::new(), sent: None };
        Self { requests: Vec::new(), clusters: processors.iter().map(cluster).collect() }
    }

    /// How many jobs have come in so far, rejected ones included.
    pub fn submitted(&self) -> usize {
        self.requests.len()
    }

    /// What is known of a job that has come in.
    pub fn request(&self, job: JobIndex) -> &JobRequest {
        &self.requests[job.index()]
    }

    /// The clusters, the largest first.
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    /// The names of the clusters, the largest first.
    pub fn cluster_ids(&self) -> impl DoubleEndedIterator<Item = SiteId> + Clone + use<> {
        let clusters = u32::try_from(self.clusters.len()).expect("at most 127 clusters");
        (0..clusters).map(SiteId)
    }

    /// One cluster.
    pub fn cluster(&self, cluster: SiteId) -> &Cluster {
        &self.clusters[cluster.index()]
    }

    /// Whether `cluster` suits the job: it may use it, and there are enough processors in all.
    pub fn suits(&self, cluster: SiteId, job: JobIndex) -> bool {
        self.request(job).may_use(cluster) && self.is_wide_enough(cluster, job)
    }

    /// Whether there are enough processors in all on `cluster`, whether the job may use it or not.
    pub fn is_wide_enough(&self, cluster: SiteId, job: JobIndex) -> bool {
        self.request(job).processors() <= self.cluster(cluster).processors
    }

    /// Whether the job could start on `cluster` now, whether it may use it or not.
    pub fn has_room(&self, cluster: SiteId, job: JobIndex) -> bool {
        self.request(job).processors() <= self.cluster(cluster).free
    }

    /// Whether some cluster suits the job.
    pub fn can_run(&self, job: JobIndex) -> bool {
        self.cluster_ids().any(|cluster| self.suits(cluster, job))
    }

    pub(crate) fn submit(&mut self, request: JobRequest) {
        self.requests.push(request);
    }

    pub(crate) fn send(&mut self, job: JobIndex, cluster: SiteId) {
        let (processors, limit) = (self.request(job).processors(), self.request(job).limit());
        let cluster = &mut self.clusters[cluster.index()];
        assert!(processors <= cluster.free, "a job of {processors} was sent where {} are free", cluster.free);
        cluster.free -= processors;
        cluster.sent = Some(Sent { processors, limit });
    }

    pub(crate) fn start(&mut self, job: JobIndex, cluster: SiteId, now: Time) {
        let entry = self.entry(job, now);
        let cluster = &mut self.clusters[cluster.index()];
        cluster.sent = None;
        let place = cluster.limits.partition_point(|other| *other < entry);
        cluster.limits.insert(place, entry);
    }

    pub(crate) fn finish(&mut self, job: JobIndex, cluster: SiteId, start: Time) {
        let entry = self.entry(job, start);
        let cluster = &mut self.clusters[cluster.index()];
        let place = cluster.limits.binary_search(&entry).expect("a job that ends was running");
        cluster.limits.remove(place);
        cluster.free += entry.2;
    }

    fn entry(&self, job: JobIndex, start: Time) -> (Time, JobIndex, u32) {
        (start + self.request(job).limit(), job, self.request(job).processors())
    }
}

impl Cluster {
    /// Processors in all.
    pub const fn processors(&self) -> u32 {
        self.processors
    }

    /// Processors that no job holds and none was sent for.
    pub const fn free(&self) -> u32 {
        self.free
    }

    /// When processors become free if every job takes its limit, in order of time; one entry for each instant.
    ///
    /// A job beyond its limit is expected to end now. A job that was sent but has not started takes its processors as they
    /// become free, and holds them for its limit from when it has the last of them.
    pub fn releases(&self, now: Time, into: &mut Vec<Release>) {
        into.clear();
        let overdue = self.limits.partition_point(|(at, ..)| *at <= now);
        let sent = self.sent.map_or(0, |sent| sent.processors);
        let freed: u32 = self.limits[..overdue].iter().map(|(.., processors)| processors).sum();
        let at_once = self.free + sent + freed;
        if at_once > 0 {
            into.push(Release { at: now, processors: at_once });
        }
        for &(at, _, processors) in &self.limits[overdue..] {
            match into.last_mut() {
                Some(last) if last.at == at => last.processors += processors,
                _ => into.push(Release { at, processors }),
            }
        }
        if let Some(sent) = self.sent {
            hold(into, sent);
        }
    }
}

/// Takes the earliest processors for the job that was sent, and gives them back when it reaches its limit.
fn hold(releases: &mut Vec<Release>, sent: Sent) {
    let (mut missing, mut emptied, mut last) = (sent.processors, 0, Time::ZERO);
    for release in releases.iter_mut() {
        last = release.at;
        let taken = missing.min(release.processors);
        release.processors -= taken;
        missing -= taken;
        emptied += usize::from(release.processors == 0);
        if missing == 0 {
            break;
        }
    }
    releases.drain(..emptied);
    let at = last + sent.limit;
    let place = releases.partition_point(|release| release.at < at);
    match releases.get_mut(place) {
        Some(release) if release.at == at => release.processors += sent.processors,
        _ => releases.insert(place, Release { at, processors: sent.processors }),
    }
}
