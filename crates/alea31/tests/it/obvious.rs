//! The policies of the profile `alea31` written once more, as slowly and plainly as the specification puts them.

use alea31::{GridState, JobIndex, JobRequest, Policy, Release};
use rand::RngExt;
use sim_core::{SiteId, Span, Stream, Time};
use std::collections::{BTreeMap, VecDeque};

/// A list of jobs for each cluster, planned from scratch whenever anybody asks.
pub(crate) struct Obvious {
    kind: Kind,
    lists: Vec<Vec<JobIndex>>,
    /// When a job is expected to end, as it was written down last.
    expected: BTreeMap<JobIndex, Time>,
    /// Where jobs run, and since when.
    running: BTreeMap<JobIndex, (usize, Time)>,
    /// Users in order of appearance, and for each what jobs that have started waited for, and what all jobs use. Plans of equal
    /// worth are common, and rounding then decides: sums are made in the same order as by the policy.
    users: Vec<(u32, f64, f64)>,
}

pub(crate) enum Kind {
    Cons,
    BestGap,
    Bgt(Stream),
}

struct Gap {
    start: Time,
    end: Time,
    processors: u32,
    job: Option<JobIndex>,
}

struct Planned {
    starts: Vec<Time>,
    gaps: Vec<Gap>,
}

impl Obvious {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, lists: Vec::new(), expected: BTreeMap::new(), running: BTreeMap::new(), users: Vec::new() }
    }

    /// List scheduling over entries of free processors, sorted anew after each job.
    fn plan(&self, cluster: usize, now: Time, state: &GridState) -> Planned {
        let mut free = Vec::new();
        state.clusters()[cluster].releases(now, &mut free);
        let mut planned = Planned { starts: Vec::new(), gaps: Vec::new() };
        for &job in &self.lists[cluster] {
            let processors = state.request(job).processors();
            let mut collected = 0;
            let mut start = now;
            while collected < processors {
                let first = free.remove(0);
                if collected > 0 {
                    planned.gaps.push(Gap { start, end: first.at, processors: collected, job: Some(job) });
                }
                start = first.at;
                let taken = first.processors.min(processors - collected);
                collected += taken;
                if taken < first.processors {
                    free.insert(0, Release { at: start, processors: first.processors - taken });
                }
            }
            planned.starts.push(start);
            free.push(Release { at: start + state.request(job).planned_time(), processors });
            free.sort_by_key(|release| release.at);
        }
        let earliest = free.iter().map(|release| release.at).min().expect("processors");
        let latest = free.iter().map(|release| release.at).max().expect("processors");
        if earliest < latest {
            let processors =
                free.iter().filter(|release| release.at == earliest).map(|release| release.processors).sum();
            planned.gaps.push(Gap { start: earliest, end: latest, processors, job: None });
        }
        let processors = state.clusters()[cluster].processors();
        planned.gaps.push(Gap { start: latest, end: Time::MAX, processors, job: None });
        planned
    }

    /// Where the job would go: the chain of gaps is looked for from every gap in turn.
    fn place(&self, job: JobIndex, cluster: usize, now: Time, state: &GridState) -> usize {
        let gaps = self.plan(cluster, now, state).gaps;
        let (needed, limit) = (state.request(job).processors(), state.request(job).limit());
        let chain_fits = |first: usize| {
            let (mut length, mut end) = (Span::ZERO, gaps[first].start);
            for gap in &gaps[first..] {
                if gap.processors < needed || gap.start > end {
                    return false;
                }
                let rest = gap.end.since(gap.start);
                if limit.saturating_sub(length) <= rest {
                    return true;
                }
                length += rest;
                end = gap.end;
            }
            false
        };
        // A chain that a gap belongs to already is not tried again from that gap: it ends where the first one ends.
        let first = (0..gaps.len()).find(|first| chain_fits(*first)).expect("the last gap has no end");
        gaps[first].job.map_or(self.lists[cluster].len(), |job| {
            self.lists[cluster].iter().position(|other| *other == job).expect("gaps belong to jobs of the list")
        })
    }

    /// Writes down when everything on the cluster is expected to end.
    fn update(&mut self, cluster: usize, now: Time, state: &GridState) {
        let starts = self.plan(cluster, now, state).starts;
        for (job, start) in self.lists[cluster].iter().zip(starts) {
            self.expected.insert(*job, start + state.request(*job).planned_time());
        }
        for (job, (place, start)) in &self.running {
            if *place == cluster {
                self.expected.insert(*job, (*start + state.request(*job).limit()).max(now));
            }
        }
    }

    fn update_all(&mut self, now: Time, state: &GridState) {
        for cluster in 0..self.lists.len() {
            self.update(cluster, now, state);
        }
    }

    fn start_of(&self, job: JobIndex, cluster: usize, now: Time, state: &GridState) -> Time {
        let place = self.lists[cluster].iter().position(|other| *other == job).expect("it is planned there");
        self.plan(cluster, now, state).starts[place]
    }

    fn take_out(&mut self, job: JobIndex) {
        for list in &mut self.lists {
            list.retain(|other| *other != job);
        }
    }

    fn user_of(&mut self, job: JobIndex, state: &GridState) -> &mut (u32, f64, f64) {
        self.users.iter_mut().find(|(user, ..)| *user == state.request(job).user()).expect("it came")
    }

    /// Fairness, response, wait, slowdown.
    fn score(&self, now: Time, state: &GridState) -> [f64; 4] {
        let since = |time: Time, job: &JobRequest| time.saturating_since(job.submit()).as_secs_f64();
        let (mut response, mut wait, mut slowdown, mut jobs) = (0.0, 0.0, 0.0, 0);
        let mut users = self.users.clone();
        for cluster in 0..self.lists.len() {
            for (job, start) in self.lists[cluster].iter().zip(self.plan(cluster, now, state).starts) {
                let job = state.request(*job);
                let end = start + job.planned_time();
                users.iter_mut().find(|(user, ..)| *user == job.user()).expect("it came").1 += since(start, job);
                wait += since(start, job);
                response += since(end, job);
                slowdown += since(end, job).max(1.0) / job.planned_time().as_secs_f64();
                jobs += 1;
            }
        }
        let each: Vec<f64> = users.iter().map(|(_, waited, used)| waited / used.max(1.0)).collect();
        let mean = each.iter().sum::<f64>() / each.len() as f64;
        let fairness = each.iter().map(|wait| (1.0 + mean - wait).powi(2)).sum();
        let jobs = f64::from(jobs.max(1));
        [fairness, response / jobs, wait / jobs, (slowdown / jobs).max(1.0)]
    }

    fn cons(&mut self, job: JobIndex, now: Time, state: &GridState) {
        let mut best: Option<(Time, usize, usize)> = None;
        for cluster in (0..self.lists.len()).filter(|cluster| state.suits(site(*cluster), job)) {
            let place = self.place(job, cluster, now, state);
            self.lists[cluster].insert(place, job);
            let start = self.start_of(job, cluster, now, state);
            if best.is_none_or(|(best, ..)| start < best) {
                best = Some((start, cluster, place));
            }
            self.take_out(job);
        }
        let (_, cluster, place) = best.expect("some cluster suits");
        self.lists[cluster].insert(place, job);
    }

    fn best_gap(&mut self, job: JobIndex, now: Time, state: &GridState) {
        let mut best: Option<([f64; 4], usize, usize)> = None;
        for cluster in (0..self.lists.len()).filter(|cluster| state.suits(site(*cluster), job)) {
            let place = self.place(job, cluster, now, state);
            self.lists[cluster].insert(place, job);
            let score = self.score(now, state);
            if best.is_none_or(|(best, ..)| decision(best, score) > 0.0) {
                best = Some((score, cluster, place));
            }
            self.take_out(job);
        }
        let (_, cluster, place) = best.expect("some cluster suits");
        self.lists[cluster].insert(place, job);
    }
}

fn site(cluster: usize) -> SiteId {
    SiteId(u32::try_from(cluster).expect("few"))
}

fn reserved(job: &JobRequest) -> f64 {
    f64::from(job.processors()) * job.limit().as_secs_f64()
}

fn decision(old: [f64; 4], new: [f64; 4]) -> f64 {
    let least = [1e-13, 1e-13, 1e-13, 1.0];
    let gains = old.into_iter().zip(new).zip(least).map(|((old, new), least)| (old - new) / old.max(least));
    gains.zip([10.0, 1.0, 1.0, 1.0]).map(|(gain, weight)| gain * weight).sum()
}

impl Policy for Obvious {
    fn submit(&mut self, job: JobIndex, now: Time, state: &GridState) {
        self.lists.resize(state.clusters().len(), Vec::new());
        let user = state.request(job).user();
        if self.users.iter().all(|(other, ..)| *other != user) {
            self.users.push((user, 0.0, 0.0));
        }
        self.user_of(job, state).2 += reserved(state.request(job));
        match self.kind {
            Kind::Cons => self.cons(job, now, state),
            Kind::BestGap | Kind::Bgt(_) => self.best_gap(job, now, state),
        }
        self.update_all(now, state);
    }

    fn select(&mut self, _: Time, state: &GridState) -> Option<(JobIndex, SiteId)> {
        let has_room = |cluster: &usize| {
            let first = self.lists[*cluster].first();
            first.is_some_and(|job| state.request(*job).processors() <= state.clusters()[*cluster].free())
        };
        let cluster = (0..self.lists.len()).find(has_room)?;
        Some((self.lists[cluster].remove(0), site(cluster)))
    }

    fn start(&mut self, job: JobIndex, cluster: SiteId, now: Time, state: &GridState) {
        self.running.insert(job, (cluster.index(), now));
        self.user_of(job, state).1 += now.saturating_since(state.request(job).submit()).as_secs_f64();
    }

    fn finish(&mut self, job: JobIndex, cluster: SiteId, start: Time, now: Time, state: &GridState) {
        let cluster = cluster.index();
        self.running.remove(&job);
        let used = f64::from(state.request(job).processors()) * now.since(start).as_secs_f64();
        self.user_of(job, state).2 += used - reserved(state.request(job));
        let early = self.expected[&job].saturating_since(now);
        if matches!(self.kind, Kind::Cons) && early > Span::from_secs(60) && !self.lists[cluster].is_empty() {
            for waiting in std::mem::take(&mut self.lists[cluster]) {
                let place = self.place(waiting, cluster, now, state);
                self.lists[cluster].insert(place, waiting);
            }
            self.update(cluster, now, state);
        }
    }

    fn period(&self) -> Option<Span> {
        matches!(self.kind, Kind::Bgt(_)).then_some(Span::from_secs(300))
    }

    fn search(&mut self, now: Time, state: &GridState) {
        let size: usize = self.lists.iter().map(Vec::len).sum();
        if size < 2 {
            return;
        }
        let mut tabu = VecDeque::new();
        for _ in 0..4 * size {
            let Kind::Bgt(stream) = &mut self.kind else { unreachable!("only BGT searches") };
            let from = stream.random_range(0..self.lists.len());
            if self.lists[from].is_empty() {
                continue;
            }
            let place = stream.random_range(0..self.lists[from].len());
            let job = self.lists[from][place];
            if tabu.contains(&job) {
                continue;
            }
            tabu.push_back(job);
            if tabu.len() > 10.min(size / 2) {
                tabu.pop_front();
            }
            let mut clusters: Vec<usize> = Vec::new();
            for cluster in 0..self.lists.len() {
                let place = stream.random_range(0..=cluster);
                clusters.push(cluster);
                clusters.swap(place, cluster);
            }
            let before = self.score(now, state);
            let lists = self.lists.clone();
            self.lists[from].remove(place);
            let moved = clusters.into_iter().filter(|cluster| state.suits(site(*cluster), job)).any(|to| {
                let place = self.place(job, to, now, state);
                self.lists[to].insert(place, job);
                // The very same plan is no gain, whatever the rounding.
                let is_better = self.lists != lists && decision(before, self.score(now, state)) > 0.0;
                if !is_better {
                    self.lists[to].remove(place);
                }
                is_better
            });
            if !moved {
                self.lists = lists;
            }
        }
        self.update_all(now, state);
    }
}
