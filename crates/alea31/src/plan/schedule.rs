//! Part of a plan for one cluster: [`ClusterSchedule`].

use crate::plan::slots::{FreeSlots, hash_order};
use crate::state::{Clock, GridState, JobIndex, JobRequest};
use sim_core::SiteId;

/// Waiting jobs of one cluster, in planned order, and the gaps between them.
///
/// A plan of Alea stores an order and no reservations. Starts follow by list scheduling: each job takes the processors
/// that are free first, starts when the last of them is free, and holds them for ⌊L + 1⌋ seconds. So starts never
/// decrease along the list. They are recomputed when the list or the clock has changed ([`ClusterSchedule::update`]).
///
/// While a job collects processors, those that it already has are idle: a gap. A further job may fill consecutive gaps,
/// and is then inserted before the job that made the first of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterSchedule {
    waiting: Vec<ListedJob>,
    gaps: Vec<ListGap>,
    free: FreeSlots,
    processors: u32,
    /// Instant at which starts were computed, by Alea's clock; `None` if the running jobs of the cluster have changed since.
    planned: Option<f64>,
    /// Number of jobs at the head of the list whose starts are still valid.
    known: usize,
    /// Least number of these jobs whose gaps are recorded.
    gapped: usize,
    /// True if all gaps are recorded, those behind the last job included.
    has_gaps: bool,
    updates: u64,
}

/// Job of the list, with the data for planning. All times are in seconds, by Alea's clock.
#[derive(Copy, Clone, Debug)]
struct ListedJob {
    job: JobIndex,
    processors: u32,
    length: f64,
    /// Start as of the last update.
    start: f64,
}

/// Number of jobs between marks of the state of the plan: a list that changes behind a mark is planned again from there.
const STRIDE: usize = 32;

#[derive(Copy, Clone, Debug, PartialEq)]
struct ListGap {
    start: f64,
    end: f64,
    processors: u32,
    /// Place of the job that leaves them idle; the length of the list for those behind the last job.
    before: usize,
}

impl ClusterSchedule {
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn jobs(&self) -> impl ExactSizeIterator<Item = JobIndex> {
        self.waiting.iter().map(|waiting| waiting.job)
    }

    pub(crate) fn job(&self, place: usize) -> JobIndex {
        self.waiting[place].job
    }

    /// Jobs and their planned starts, as of the last update.
    pub(crate) fn planned(&self) -> impl Iterator<Item = (JobIndex, f64)> {
        self.waiting.iter().map(|waiting| (waiting.job, waiting.start))
    }

    /// Number of times that starts and gaps were computed.
    pub(crate) const fn updates(&self) -> u64 {
        self.updates
    }

    pub(crate) fn insert(&mut self, place: usize, job: JobIndex, state: &GridState) {
        let request = state.request(job);
        let waiting =
            ListedJob { job, processors: request.processors, length: request.planned_seconds, start: f64::MAX };
        self.waiting.insert(place, waiting);
        self.forget_from(place);
    }

    pub(crate) fn remove(&mut self, place: usize) {
        self.waiting.remove(place);
        self.forget_from(place);
    }

    /// Marks starts and gaps from this place on as out of date.
    fn forget_from(&mut self, place: usize) {
        self.known = self.known.min(place);
        self.gapped = self.gapped.min(place);
        self.has_gaps = false;
    }

    fn is_known(&self, now: Clock) -> bool {
        self.planned == Some(now.seconds) && self.known == self.waiting.len()
    }

    /// Computes starts and gaps, unless they are up to date.
    pub(crate) fn update(&mut self, cluster: SiteId, now: Clock, state: &GridState) {
        if !self.is_known(now) || !self.has_gaps {
            self.updates += 1;
            let from = self.resume(self.known.min(self.gapped), cluster, now, state);
            self.gaps.truncate(self.gaps.partition_point(|gap| gap.before < from));
            for place in from..self.waiting.len() {
                self.plan_between_gaps(place);
            }
            self.end_plan();
        }
    }

    /// Computes starts alone, unless they are up to date: sufficient to compare tried plans.
    pub(crate) fn update_starts(&mut self, cluster: SiteId, now: Clock, state: &GridState) {
        if !self.is_known(now) {
            let from = self.resume(self.known, cluster, now, state);
            for waiting in &mut self.waiting[from..] {
                waiting.start = self.free.take(waiting.processors);
                self.free.give_back(waiting.start + waiting.length, waiting.processors);
            }
            self.known = self.waiting.len();
        }
    }

    /// Marks starts as out of date, because the running jobs of the cluster have changed.
    pub(crate) fn invalidate(&mut self) {
        self.planned = None;
    }

    /// Copies `other`, but keeps the plan only of the jobs before this place; needs an update.
    pub(crate) fn copy(&mut self, other: &Self, place: usize) {
        self.waiting.clone_from(&other.waiting);
        let gaps = other.gaps.partition_point(|gap| gap.before < place);
        self.gaps.clear();
        self.gaps.extend_from_slice(&other.gaps[..gaps]);
        self.free.copy(&other.free, place / STRIDE + 1);
        (self.processors, self.planned, self.updates) = (other.processors, other.planned, other.updates);
        (self.known, self.gapped) = (other.known, other.gapped);
        self.forget_from(place);
    }

    /// Removes all jobs and inserts each again where it fits, in planned order.
    pub(crate) fn compress(&mut self, cluster: SiteId, now: Clock, state: &GridState) {
        if self.waiting.is_empty() {
            return;
        }
        let jobs = std::mem::take(&mut self.waiting);
        self.forget_from(0);
        self.update(cluster, now, state);
        for waiting in jobs {
            let place = self.earliest_place(state.request(waiting.job));
            if place == self.waiting.len() {
                // The existing plan stays as it is, except for the gaps behind the last job.
                while self.gaps.pop_if(|gap| gap.before == place).is_some() {}
                self.waiting.push(waiting);
                self.plan_between_gaps(place);
                self.end_plan();
            } else {
                self.insert(place, waiting.job, state);
                self.update(cluster, now, state);
            }
        }
    }

    /// Returns the first place where the job fits, and its start there: see [`earliest_place`](Self::earliest_place).
    pub(crate) fn earliest_fit(&self, job: &JobRequest) -> (usize, f64) {
        let first = self.first_gap(job);
        // The gap behind the last job begins when all processors are free, but a job starts as soon as it has enough.
        let is_last = first.before == self.waiting.len();
        let start = if is_last { self.free.when(job.processors) } else { first.start };
        (first.before, start)
    }

    /// Returns the first place where the job fits: before the job that leaves the first gap of the first fitting chain of gaps, in the
    /// order of their creation. In a fitting chain each gap is wide enough, none begins after the previous one has ended, and together
    /// they are long enough. A gap that is too narrow or begins too late ends a chain; one that is wide enough begins the next.
    ///
    /// The schedule must be up to date, and the job no wider than the cluster.
    pub(crate) fn earliest_place(&self, job: &JobRequest) -> usize {
        self.first_gap(job).before
    }

    /// Returns the first gap of the chain.
    fn first_gap(&self, job: &JobRequest) -> ListGap {
        let (needed, limit) = (job.processors, job.limit.as_secs_f64());
        let mut chain: Option<(ListGap, f64, f64)> = None;
        for gap in &self.gaps {
            if gap.processors < needed {
                chain = None;
                continue;
            }
            let (first, missing) = match chain {
                Some((first, end, missing)) if gap.start <= end => (first, missing),
                _ => (*gap, limit),
            };
            // The last gap never ends, so its length is infinite.
            let length = if gap.end < f64::MAX { gap.end - gap.start } else { gap.end };
            if missing <= length {
                return first;
            }
            chain = Some((first, gap.end, missing - length));
        }
        unreachable!("the last gap has no end and all processors")
    }

    /// Prepares to plan the jobs from some place on, given that the plan of the first `known` jobs is valid: from the
    /// last mark among these, or else from the beginning, with the running jobs. Returns that place.
    fn resume(&mut self, known: usize, cluster: SiteId, now: Clock, state: &GridState) -> usize {
        if self.planned == Some(now.seconds) {
            let mark = (known / STRIDE).min(self.free.marks() - 1);
            self.free.rewind(mark);
            return mark * STRIDE;
        }
        let cluster = state.cluster(cluster);
        self.processors = cluster.processors;
        let mut releases = cluster.releases(now.seconds);
        hash_order(&mut releases);
        self.free.begin(releases);
        self.planned = Some(now.seconds);
        self.gapped = 0;
        self.has_gaps = false;
        0
    }

    /// Plans the job in this place, behind all those before it, and records the gaps that it leaves.
    fn plan_between_gaps(&mut self, place: usize) {
        if place == STRIDE * self.free.marks() {
            self.free.mark();
        }
        let ListedJob { processors, length, .. } = self.waiting[place];
        let (mut missing, mut collected) = (processors, 0);
        let start = loop {
            let (at, taken) = self.free.pop(missing);
            missing -= taken;
            collected += taken;
            if missing == 0 {
                break at;
            }
            self.gaps.push(ListGap { start: at, end: self.free.first(), processors: collected, before: place });
        };
        self.free.give_back(start + length, processors);
        self.waiting[place].start = start;
    }

    /// Ends a plan of all jobs: adds the gaps behind the last one, which are the processors free first, until all are
    /// free; then all, for ever.
    fn end_plan(&mut self) {
        let (first, last) = (self.free.first(), self.free.last());
        let before = self.waiting.len();
        (self.known, self.gapped, self.has_gaps) = (before, before, true);
        if first < last {
            self.gaps.push(ListGap { start: first, end: last, processors: self.free.at_first(), before });
        }
        self.gaps.push(ListGap { start: last, end: f64::MAX, processors: self.processors, before });
    }
}
