//! One cluster's part of a plan: [`ClusterSchedule`].

use crate::job::{JobIndex, JobRequest};
use crate::state::{GridState, Release};
use sim_core::{SiteId, Span, Time};

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
    /// When the starts were computed; `None` if the list has changed since.
    planned: Option<Time>,
    /// Whether the gaps were computed with them.
    has_gaps: bool,
    /// How often all was computed.
    updates: u64,
}

/// A job of the list; what planning needs of it lies beside it.
#[derive(Copy, Clone, Debug)]
struct PlannedJob {
    job: JobIndex,
    processors: u32,
    length: Span,
    /// As of the last update.
    start: Time,
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
pub(crate) struct Fit {
    pub(crate) place: usize,
    pub(crate) start: Time,
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
    pub(crate) fn planned(&self) -> impl Iterator<Item = (JobIndex, Time)> {
        self.waiting.iter().map(|waiting| (waiting.job, waiting.start))
    }

    /// How often starts and gaps were computed so far.
    pub(crate) const fn updates(&self) -> u64 {
        self.updates
    }

    pub(crate) fn insert(&mut self, place: usize, job: JobIndex, state: &GridState) {
        let request = state.request(job);
        let waiting =
            PlannedJob { job, processors: request.processors(), length: request.planned_time(), start: Time::MAX };
        self.waiting.insert(place, waiting);
        self.planned = None;
    }

    pub(crate) fn remove(&mut self, place: usize) {
        self.waiting.remove(place);
        self.planned = None;
    }

    /// Computes starts and gaps, unless they are up to date.
    pub(crate) fn update(&mut self, cluster: SiteId, now: Time, state: &GridState) {
        if self.planned != Some(now) || !self.has_gaps {
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
    pub(crate) fn update_starts(&mut self, cluster: SiteId, now: Time, state: &GridState) {
        if self.planned != Some(now) {
            self.begin(cluster, now, state);
            self.has_gaps = false;
            for waiting in &mut self.waiting {
                waiting.start = self.free.take(waiting.processors);
                self.free.give(waiting.start + waiting.length, waiting.processors);
            }
        }
    }

    /// Says that starts are not up to date because what runs on the cluster has changed.
    pub(crate) fn invalidate(&mut self) {
        self.planned = None;
        self.free.released = None;
    }

    /// Becomes a schedule of the same jobs in the same order, without gaps.
    pub(crate) fn copy(&mut self, other: &Self) {
        self.waiting.clone_from(&other.waiting);
        self.free.copy(&other.free);
        self.updates = other.updates;
        self.planned = None;
    }

    /// Takes all jobs out and puts each back where it fits, in planned order.
    pub(crate) fn compress(&mut self, cluster: SiteId, now: Time, state: &GridState) {
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
    fn begin(&mut self, cluster: SiteId, now: Time, state: &GridState) {
        let cluster = state.cluster(cluster);
        self.processors = cluster.processors();
        self.free.begin(now, |releases| cluster.releases(now, releases));
        self.gaps.clear();
        self.planned = Some(now);
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
        self.free.give(start + length, processors);
        self.waiting[place].start = start;
    }

    /// Adds the gaps behind the last job: what is free first, until all is free; then all, for ever.
    fn add_trailing_gaps(&mut self) {
        let (first, last) = (self.free.first(), self.free.last());
        let before = self.waiting.len();
        if first < last {
            self.gaps.push(Gap { start: first, end: last, processors: self.free.at_first(), before });
        }
        self.gaps.push(Gap { start: last, end: Time::MAX, processors: self.processors, before });
    }

    /// Takes those gaps away again.
    fn remove_trailing_gaps(&mut self) {
        while self.gaps.pop_if(|gap| gap.before == self.waiting.len()).is_some() {}
    }
}

/// When processors become free, while jobs take them one after the other and give them back.
///
/// Two queues in order of time: what running jobs release, which only shrinks, and what planned jobs give back. At
/// one instant the former comes first, and what was given back first comes first.
#[derive(Clone, Debug, Default)]
struct FreeSlots {
    /// As of `released`.
    releases: Vec<Release>,
    released: Option<Time>,
    next_release: usize,
    /// Of the next release, how many processors are left.
    left: u32,
    returns: Vec<Release>,
    next_return: usize,
}

impl FreeSlots {
    /// Starts anew at `now`, reading what runs if that is not known yet.
    fn begin(&mut self, now: Time, read: impl FnOnce(&mut Vec<Release>)) {
        if self.released != Some(now) {
            read(&mut self.releases);
            self.released = Some(now);
        }
        self.next_release = 0;
        self.left = self.releases.first().map_or(0, |release| release.processors);
        self.returns.clear();
        self.next_return = 0;
    }

    fn copy(&mut self, other: &Self) {
        self.releases.clone_from(&other.releases);
        self.released = other.released;
    }

    /// Takes from the first entry, at most `missing`.
    #[inline]
    fn pop(&mut self, missing: u32) -> (Time, u32) {
        let release = self.releases.get(self.next_release);
        let given = self.returns.get_mut(self.next_return);
        match (release, given) {
            (release, Some(given)) if release.is_none_or(|release| given.at < release.at) => {
                let taken = missing.min(given.processors);
                given.processors -= taken;
                self.next_return += usize::from(given.processors == 0);
                (given.at, taken)
            }
            (Some(release), _) => {
                let taken = missing.min(self.left);
                self.left -= taken;
                let at = release.at;
                if self.left == 0 {
                    self.next_release += 1;
                    self.left = self.releases.get(self.next_release).map_or(0, |release| release.processors);
                }
                (at, taken)
            }
            (None, _) => unreachable!("a job is no wider than its cluster"),
        }
    }

    /// Takes so many processors; when the last of them is free.
    #[inline]
    fn take(&mut self, processors: u32) -> Time {
        let mut missing = processors;
        loop {
            let (at, taken) = self.pop(missing);
            missing -= taken;
            if missing == 0 {
                return at;
            }
        }
    }

    /// Gives processors back at an instant.
    #[inline]
    fn give(&mut self, at: Time, processors: u32) {
        let later = self.returns[self.next_return..].partition_point(|given| given.at <= at);
        self.returns.insert(self.next_return + later, Release { at, processors });
    }

    /// The entries that are left, in order of time.
    fn entries(&self) -> impl Iterator<Item = Release> {
        let mut releases = self.releases[self.next_release..].iter().copied().peekable();
        if let Some(first) = releases.peek_mut() {
            first.processors = self.left;
        }
        let mut returns = self.returns[self.next_return..].iter().copied().peekable();
        std::iter::from_fn(move || match (releases.peek(), returns.peek()) {
            (Some(release), Some(given)) if given.at < release.at => returns.next(),
            (Some(_), _) => releases.next(),
            (None, _) => returns.next(),
        })
    }

    /// When so many processors are free.
    fn when(&self, processors: u32) -> Time {
        let mut free = 0;
        let mut enough = self.entries().skip_while(|release| {
            free += release.processors;
            free < processors
        });
        enough.next().expect("a job is no wider than its cluster").at
    }

    fn first(&self) -> Time {
        self.entries().next().expect("processors are free some day").at
    }

    fn last(&self) -> Time {
        let release = self.releases[self.next_release..].last();
        let given = self.returns[self.next_return..].last();
        release.into_iter().chain(given).map(|release| release.at).max().expect("processors are free some day")
    }

    /// How many are free when the first is.
    fn at_first(&self) -> u32 {
        let first = self.first();
        self.entries().take_while(|release| release.at == first).map(|release| release.processors).sum()
    }
}
