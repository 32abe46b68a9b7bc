//! One cluster's part of a plan: [`Lane`].

use super::floor::{Floor, Release};
use super::job::Job;
use sim_core::{Span, Time};

/// The jobs that wait for one cluster, in planned order, and the gaps between them.
///
/// A plan of Alea stores an order and no reservations. Starts follow by list scheduling: each job takes the processors that
/// are free first, starts when the last of them is free, and holds them for ⌊L + 1⌋ seconds. So starts never
/// decrease along the list. They are computed anew when the list or the clock has changed ([`Lane::update`]).
///
/// While a job collects processors, those that it already has are idle: a gap. A further job may fill gaps that follow
/// one another, and is then put before the job that made the first of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    waiting: Vec<usize>,
    /// Planned starts, in the same order, as of the last update.
    starts: Vec<Time>,
    gaps: Vec<Gap>,
    /// When processors become free if nobody waits, as of `released`.
    releases: Vec<Release>,
    released: Option<Time>,
    /// What is free behind the last job, from `free_from` on.
    free: Vec<Release>,
    free_from: usize,
    processors: u32,
    /// When the starts were computed; `None` if the list has changed since.
    updated: Option<Time>,
    /// How often that was.
    updates: u64,
}

/// Idle processors.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Gap {
    start: Time,
    end: Time,
    processors: u32,
    /// The place of the job that leaves them idle; the length of the list for those behind the last job.
    before: usize,
}

/// Where a job fits, and when it would start there.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    pub(super) place: usize,
    pub(super) start: Time,
}

impl Lane {
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn jobs(&self) -> &[usize] {
        &self.waiting
    }

    /// Jobs and their planned starts, as of the last update.
    pub(super) fn planned(&self) -> impl Iterator<Item = (usize, Time)> {
        self.waiting.iter().copied().zip(self.starts.iter().copied())
    }

    /// How often starts were computed so far.
    pub(super) const fn updates(&self) -> u64 {
        self.updates
    }

    pub(super) fn insert(&mut self, place: usize, job: usize) {
        self.waiting.insert(place, job);
        self.starts.insert(place, Time::MAX);
        self.updated = None;
    }

    pub(super) fn remove(&mut self, place: usize) -> usize {
        self.updated = None;
        self.starts.remove(place);
        self.waiting.remove(place)
    }

    /// The planned start of the first job, as of the last update.
    pub(super) fn first_start(&self) -> Option<Time> {
        self.starts.first().copied()
    }

    /// Computes starts and gaps, unless they are up to date.
    pub(super) fn update(&mut self, cluster: usize, now: Time, floor: &Floor) {
        if self.updated == Some(now) {
            return;
        }
        self.begin(cluster, now, floor);
        for place in 0..self.waiting.len() {
            self.plan(place, floor.job(self.waiting[place]));
        }
        self.close_gaps();
    }

    /// Says that starts are not up to date because what runs on the cluster has changed.
    pub(super) fn spoil(&mut self) {
        self.updated = None;
        self.released = None;
    }

    /// Becomes a lane of the same jobs in the same order, not yet up to date.
    pub(super) fn copy(&mut self, other: &Self) {
        self.waiting.clone_from(&other.waiting);
        self.starts.clone_from(&other.starts);
        self.releases.clone_from(&other.releases);
        self.released = other.released;
        self.updates = other.updates;
        self.updated = None;
    }

    /// Takes all jobs out and puts each back where it fits, in planned order.
    pub(super) fn compress(&mut self, cluster: usize, now: Time, floor: &Floor) {
        if self.waiting.is_empty() {
            return;
        }
        let jobs = std::mem::take(&mut self.waiting);
        self.begin(cluster, now, floor);
        self.close_gaps();
        for job in jobs {
            let fit = self.fit(floor.job(job));
            if fit.place == self.waiting.len() {
                // What is planned already stays as it is.
                self.open_gaps();
                self.waiting.push(job);
                self.plan(fit.place, floor.job(job));
                self.close_gaps();
            } else {
                self.insert(fit.place, job);
                self.update(cluster, now, floor);
            }
        }
    }

    /// The first chain of gaps, in the order in which they arose, in which the job fits: each wide enough, none beginning
    /// after the one before has ended, and long enough together. A gap that is too small, or that begins too late, ends a chain;
    /// one that is wide enough begins the next.
    ///
    /// The lane has to be up to date, and the job no wider than the cluster.
    pub(super) fn fit(&self, job: &Job) -> Fit {
        let (needed, limit) = (job.processors(), job.limit());
        let mut chain: Option<(Gap, Time, Span)> = None;
        for gap in &self.gaps {
            if gap.processors < needed {
                chain = None;
                continue;
            }
            let (first, missing) = match chain {
                Some((first, end, missing)) if gap.start <= end => (first, missing),
                _ => (*gap, limit),
            };
            let length = gap.end.since(gap.start);
            if missing <= length {
                return Fit { place: first.before, start: self.start_in(first, needed) };
            }
            chain = Some((first, gap.end, missing - length));
        }
        unreachable!("the last gap has no end and all processors")
    }

    /// When a job starts that is put into a chain which begins with `gap`.
    fn start_in(&self, gap: Gap, needed: u32) -> Time {
        if gap.before < self.waiting.len() {
            return gap.start;
        }
        // The gap behind the last job begins when all processors are free, but a job starts as soon as it has enough.
        let mut free = 0;
        let enough = self.free[self.free_from..].iter().find(|release| {
            free += release.processors;
            free >= needed
        });
        enough.expect("a cluster that is wide enough frees enough processors").at
    }

    /// Forgets starts and gaps, and sees what runs.
    fn begin(&mut self, cluster: usize, now: Time, floor: &Floor) {
        let cluster = &floor.clusters()[cluster];
        if self.released != Some(now) {
            cluster.releases(now, &mut self.releases);
            self.released = Some(now);
        }
        self.free.clone_from(&self.releases);
        self.free_from = 0;
        self.processors = cluster.processors();
        self.starts.clear();
        self.gaps.clear();
        self.updated = Some(now);
        self.updates += 1;
    }

    /// Plans the job in this place, behind all those before it.
    fn plan(&mut self, place: usize, job: &Job) {
        let (mut missing, mut collected) = (job.processors(), 0);
        let start = loop {
            let release = &mut self.free[self.free_from];
            if missing < release.processors {
                release.processors -= missing;
                break release.at;
            }
            missing -= release.processors;
            collected += release.processors;
            let at = release.at;
            self.free_from += 1;
            if missing == 0 {
                break at;
            }
            let end = self.free[self.free_from].at;
            self.gaps.push(Gap { start: at, end, processors: collected, before: place });
        };
        self.starts.push(start);
        // Behind equals: what was free earlier is taken earlier. Entries of one instant stay apart.
        let at = start + job.planned_time();
        let later = self.free[self.free_from..].partition_point(|release| release.at <= at);
        self.free.insert(self.free_from + later, Release { at, processors: job.processors() });
    }

    /// Adds the gaps behind the last job: what is free first, until all is free; then all, for ever.
    fn close_gaps(&mut self) {
        let free = &self.free[self.free_from..];
        let (first, last) = (free[0].at, free[free.len() - 1].at);
        let before = self.waiting.len();
        if first < last {
            let processors = free.iter().take_while(|release| release.at == first).map(|release| release.processors);
            self.gaps.push(Gap { start: first, end: last, processors: processors.sum(), before });
        }
        self.gaps.push(Gap { start: last, end: Time::MAX, processors: self.processors, before });
    }

    /// Takes those gaps away again.
    fn open_gaps(&mut self) {
        while self.gaps.pop_if(|gap| gap.before == self.waiting.len()).is_some() {}
    }
}
