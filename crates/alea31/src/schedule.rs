//! One cluster's part of a plan: [`ClusterSchedule`].

use crate::clock::Clock;
use crate::job::{JobIndex, JobRequest};
use crate::slots::{FreeSlots, hash_order};
use crate::state::GridState;
use sim_core::SiteId;

/// The jobs that wait for one cluster, in planned order, and the gaps between them.
///
/// A plan of Alea stores an order and no reservations. Starts follow by list scheduling: each job takes the processors that
/// are free first, starts when the last of them is free, and holds them for ⌊L + 1⌋ seconds. So starts never
/// decrease along the list. They are computed anew when the list or the clock has changed ([`ClusterSchedule::update`]).
///
/// While a job collects processors, those that it already has are idle: a gap. A further job may fill gaps that follow
/// one another, and is then put before the job that made the first of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterSchedule {
    waiting: Vec<PlannedJob>,
    gaps: Vec<Gap>,
    free: FreeSlots,
    processors: u32,
    /// When the starts were computed, by Alea's clock; `None` if the list has changed since.
    planned: Option<f64>,
    /// Whether the gaps were computed with them.
    has_gaps: bool,
    /// How often all was computed.
    updates: u64,
}

/// A job of the list; what planning needs of it lies beside it. All times are in seconds, by Alea's clock.
#[derive(Copy, Clone, Debug)]
struct PlannedJob {
    job: JobIndex,
    processors: u32,
    length: f64,
    /// As of the last update.
    start: f64,
}

/// Idle processors.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Gap {
    start: f64,
    end: f64,
    processors: u32,
    /// The place of the job that leaves them idle; the length of the list for those behind the last job.
    before: usize,
}

/// Where a job fits, and when it would start there.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Fit {
    pub(crate) place: usize,
    pub(crate) start: f64,
}

impl ClusterSchedule {
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The jobs in planned order.
    pub(crate) fn jobs(&self) -> impl ExactSizeIterator<Item = JobIndex> {
        self.waiting.iter().map(|waiting| waiting.job)
    }

    /// The job in this place.
    pub(crate) fn job(&self, place: usize) -> JobIndex {
        self.waiting[place].job
    }

    /// Jobs and their planned starts, as of the last update.
    pub(crate) fn planned(&self) -> impl Iterator<Item = (JobIndex, f64)> {
        self.waiting.iter().map(|waiting| (waiting.job, waiting.start))
    }

    /// How often starts and gaps were computed so far.
    pub(crate) const fn updates(&self) -> u64 {
        self.updates
    }

    pub(crate) fn insert(&mut self, place: usize, job: JobIndex, state: &GridState) {
        let request = state.request(job);
        let waiting =
            PlannedJob { job, processors: request.processors(), length: request.planned_seconds(), start: f64::MAX };
        self.waiting.insert(place, waiting);
        self.planned = None;
    }

    pub(crate) fn remove(&mut self, place: usize) {
        self.waiting.remove(place);
        self.planned = None;
    }

    /// Computes starts and gaps, unless they are up to date.
    pub(crate) fn update(&mut self, cluster: SiteId, now: Clock, state: &GridState) {
        if self.planned != Some(now.seconds) || !self.has_gaps {
            self.updates += 1;
            self.begin(cluster, now, state);
            self.has_gaps = true;
            for place in 0..self.waiting.len() {
                self.plan_between_gaps(place);
            }
            self.add_trailing_gaps();
        }
    }

    /// Computes starts alone, unless they are up to date: enough to comparator what is tried.
    pub(crate) fn update_starts(&mut self, cluster: SiteId, now: Clock, state: &GridState) {
        if self.planned != Some(now.seconds) {
            self.begin(cluster, now, state);
            self.has_gaps = false;
            for waiting in &mut self.waiting {
                waiting.start = self.free.take(waiting.processors);
                self.free.give_back(waiting.start + waiting.length, waiting.processors);
            }
        }
    }

    /// Says that starts are not up to date because what runs on the cluster has changed.
    pub(crate) fn invalidate(&mut self) {
        self.planned = None;
        self.free.invalidate();
    }

    /// Becomes a schedule of the same jobs in the same order, without gaps.
    pub(crate) fn copy(&mut self, other: &Self) {
        self.waiting.clone_from(&other.waiting);
        self.free.copy(&other.free);
        self.updates = other.updates;
        self.planned = None;
    }

    /// Takes all jobs out and puts each back where it fits, in planned order.
    pub(crate) fn compress(&mut self, cluster: SiteId, now: Clock, state: &GridState) {
        if self.waiting.is_empty() {
            return;
        }
        let jobs = std::mem::take(&mut self.waiting);
        self.planned = None;
        self.update(cluster, now, state);
        for waiting in jobs {
            let fit = self.earliest_fit(state.request(waiting.job));
            if fit.place == self.waiting.len() {
                // What is planned already stays as it is.
                self.remove_trailing_gaps();
                self.waiting.push(waiting);
                self.plan_between_gaps(fit.place);
                self.add_trailing_gaps();
            } else {
                self.insert(fit.place, waiting.job, state);
                self.update(cluster, now, state);
            }
        }
    }

    /// The first chain of gaps, in the order in which they arose, in which the job fits: each wide enough, none beginning
    /// after the one before has ended, and long enough together. A gap that is too small, or that begins too late, ends a chain;
    /// one that is wide enough begins the next.
    ///
    /// The schedule has to be up to date, and the job no wider than the cluster.
    pub(crate) fn earliest_fit(&self, job: &JobRequest) -> Fit {
        let (needed, limit) = (job.processors(), job.limit().as_secs_f64());
        let mut chain: Option<(Gap, f64, f64)> = None;
        for gap in &self.gaps {
            if gap.processors < needed {
                chain = None;
                continue;
            }
            let (first, missing) = match chain {
                Some((first, end, missing)) if gap.start <= end => (first, missing),
                _ => (*gap, limit),
            };
            // The last gap is as long as it ends late: for ever.
            let length = if gap.end < f64::MAX { gap.end - gap.start } else { gap.end };
            if missing <= length {
                // The gap behind the last job begins when all processors are free, but a job starts as soon as it has enough.
                let is_last = first.before == self.waiting.len();
                let start = if is_last { self.free.when(needed) } else { first.start };
                return Fit { place: first.before, start };
            }
            chain = Some((first, gap.end, missing - length));
        }
        unreachable!("the last gap has no end and all processors")
    }

    /// Forgets starts, and sees what runs.
    fn begin(&mut self, cluster: SiteId, now: Clock, state: &GridState) {
        let cluster = state.cluster(cluster);
        self.processors = cluster.processors();
        self.free.begin(now.seconds, || {
            let mut releases = cluster.releases(now.seconds);
            hash_order(&mut releases);
            releases
        });
        self.gaps.clear();
        self.planned = Some(now.seconds);
    }

    /// Plans the job in this place, behind all those before it, and notes the gaps that it leaves.
    fn plan_between_gaps(&mut self, place: usize) {
        let PlannedJob { processors, length, .. } = self.waiting[place];
        let (mut missing, mut collected) = (processors, 0);
        let start = loop {
            let (at, taken) = self.free.pop(missing);
            missing -= taken;
            collected += taken;
            if missing == 0 {
                break at;
            }
            self.gaps.push(Gap { start: at, end: self.free.first(), processors: collected, before: place });
        };
        self.free.give_back(start + length, processors);
        self.waiting[place].start = start;
    }

    /// Adds the gaps behind the last job: what is free first, until all is free; then all, for ever.
    fn add_trailing_gaps(&mut self) {
        let (first, last) = (self.free.first(), self.free.last());
        let before = self.waiting.len();
        if first < last {
            self.gaps.push(Gap { start: first, end: last, processors: self.free.at_first(), before });
        }
        self.gaps.push(Gap { start: last, end: f64::MAX, processors: self.processors, before });
    }

    /// Takes those gaps away again.
    fn remove_trailing_gaps(&mut self) {
        while self.gaps.pop_if(|gap| gap.before == self.waiting.len()).is_some() {}
    }
}
