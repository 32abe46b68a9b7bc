//! The clusters, and what a scheduler of Alea knows of their jobs.

use super::job::Job;
use crate::grid::site;
use sim_core::{Span, Time};
use std::sync::Arc;

/// All clusters and all jobs, as a policy sees them. Jobs are known by their place in [`Floor::jobs`].
#[derive(Clone, Debug)]
pub struct Floor {
    jobs: Arc<[Job]>,
    clusters: Vec<Cluster>,
}

/// One pool of processors.
#[derive(Clone, Debug)]
pub struct Cluster {
    processors: u32,
    free: u32,
    /// When running jobs reach their limits, and with how many processors, in order of time. (The number of the job makes
    /// an entry unique.)
    limits: Vec<(Time, u32, u32)>,
    /// The job that was sent and has not started yet.
    sent: Option<Sent>,
}

#[derive(Copy, Clone, Debug)]
struct Sent {
    processors: u32,
    limit: Span,
}

/// Processors that become free at one instant, as far as limits tell.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// When; never before the present.
    pub at: Time,
    /// How many.
    pub processors: u32,
}

impl Floor {
    pub(super) fn new(processors: &[u32], jobs: Arc<[Job]>) -> Self {
        let cluster =
            |processors: &u32| Cluster { processors: *processors, free: *processors, limits: Vec::new(), sent: None };
        Self { jobs, clusters: processors.iter().map(cluster).collect() }
    }

    /// All jobs of the run, those to come included: a policy looks at those it was told of.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The job in place `job`.
    pub fn job(&self, job: usize) -> &Job {
        &self.jobs[job]
    }

    /// The clusters, the largest first.
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    /// Whether `cluster` suits the job: it may use it, and there are enough processors in all.
    pub fn suits(&self, cluster: usize, job: usize) -> bool {
        self.jobs[job].job.request.sites.contains(site(cluster)) && self.is_wide_enough(cluster, job)
    }

    /// Whether there are enough processors in all on `cluster`, whether the job may use it or not.
    pub fn is_wide_enough(&self, cluster: usize, job: usize) -> bool {
        self.jobs[job].processors() <= self.clusters[cluster].processors
    }

    /// Whether some cluster suits the job.
    pub fn can_run(&self, job: usize) -> bool {
        (0..self.clusters.len()).any(|cluster| self.suits(cluster, job))
    }

    pub(super) fn send(&mut self, job: usize, cluster: usize) {
        let (processors, limit) = (self.jobs[job].processors(), self.jobs[job].limit());
        let cluster = &mut self.clusters[cluster];
        assert!(processors <= cluster.free, "a job of {processors} was sent where {} are free", cluster.free);
        cluster.free -= processors;
        cluster.sent = Some(Sent { processors, limit });
    }

    pub(super) fn begin(&mut self, job: usize, cluster: usize, now: Time) {
        let entry = self.entry(job, now);
        let cluster = &mut self.clusters[cluster];
        cluster.sent = None;
        let place = cluster.limits.partition_point(|other| *other < entry);
        cluster.limits.insert(place, entry);
    }

    pub(super) fn end(&mut self, job: usize, cluster: usize, start: Time) {
        let entry = self.entry(job, start);
        let cluster = &mut self.clusters[cluster];
        let place = cluster.limits.binary_search(&entry).expect("a job that ends was running");
        cluster.limits.remove(place);
        cluster.free += entry.2;
    }

    fn entry(&self, job: usize, start: Time) -> (Time, u32, u32) {
        let id = u32::try_from(job).expect("fewer than 4 billion jobs");
        (start + self.jobs[job].limit(), id, self.jobs[job].processors())
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
