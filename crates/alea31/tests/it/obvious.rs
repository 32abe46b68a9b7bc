//! Policies of the profile `alea31` in a second implementation, as slow and plain as the specification.

#![expect(clippy::float_cmp, reason = "instants are compared to the bit, as that simulator does")]

use crate::java::{Heap, hash_map_order};
use alea31::{Clock, GridState, JobIndex, JobRequest, Policy};
use rand::RngExt;
use sim_core::{SiteId, Span, Stream, Time};
use std::collections::{BTreeMap, VecDeque};

/// List of jobs for each cluster, planned from scratch at every query. It keeps its own record of the job on each
/// processor.
pub(crate) struct Obvious {
    kind: Kind,
    lists: Vec<Vec<JobIndex>>,
    /// Expected end of each job, as recorded last.
    expected: BTreeMap<JobIndex, Time>,
    /// Cluster of each job that was sent and has not ended, in the order of sending, with its start if it runs.
    present: Vec<(JobIndex, usize, Option<Clock>)>,
    /// Running job of each processor of each cluster.
    processors: Vec<Vec<Option<JobIndex>>>,
    /// Users in order of appearance, each with the waits and the processor seconds of its ended jobs. Plans of equal
    /// worth are common, and rounding then decides: sums are made in the same order as by the policy.
    users: Vec<(Option<u32>, f64, f64)>,
}

pub(crate) enum Kind {
    Cons,
    BestGap,
    Bgt(Stream),
}

struct Gap {
    start: f64,
    end: f64,
    processors: u32,
    job: Option<JobIndex>,
}

struct Planned {
    starts: Vec<f64>,
    gaps: Vec<Gap>,
}

impl Obvious {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            lists: Vec::new(),
            expected: BTreeMap::new(),
            present: Vec::new(),
            processors: Vec::new(),
            users: Vec::new(),
        }
    }

    /// Returns the release of each processor of the cluster, according to limits.
    fn free_at(&self, cluster: usize, now: f64, state: &GridState) -> Vec<f64> {
        let mut free_at: Vec<f64> = vec![now; self.processors[cluster].len()];
        for (job, _, start) in self.present.iter().filter(|(_, other, _)| *other == cluster) {
            let limit = state.request(*job).limit.as_secs_f64();
            if let Some(start) = start {
                // Processors of jobs that are done, but not yet reported, are free as well.
                if !state.is_running(site(cluster), *job) {
                    continue;
                }
                let remaining = (limit - (now - start.seconds)).max(0.0);
                let on = self.processors[cluster].iter().zip(&mut free_at).filter(|(on, _)| **on == Some(*job));
                on.for_each(|(_, free_at)| *free_at += remaining);
            } else {
                let mut order: Vec<usize> = (0..free_at.len()).collect();
                order.sort_by(|a, b| free_at[*a].total_cmp(&free_at[*b]));
                let taken = &order[..state.request(*job).processors as usize];
                let from = taken.iter().map(|processor| free_at[*processor]).fold(now, f64::max);
                taken.iter().for_each(|processor| free_at[*processor] = from + limit);
            }
        }
        free_at
    }

    /// Plans by list scheduling over a heap of free processors.
    fn plan(&self, cluster: usize, now: Clock, state: &GridState) -> Planned {
        let free_at = self.free_at(cluster, now.seconds, state);
        let mut free = Heap::default();
        for at in hash_map_order(&free_at) {
            free.insert(at, u32::try_from(free_at.iter().filter(|other| **other == at).count()).expect("few"));
        }
        let mut planned = Planned { starts: Vec::new(), gaps: Vec::new() };
        for &job in &self.lists[cluster] {
            let processors = state.request(job).processors;
            let mut collected = 0;
            let mut start = now.seconds;
            while collected < processors {
                let (at, slot) = *free.min();
                if collected > 0 {
                    planned.gaps.push(Gap { start, end: at, processors: collected, job: Some(job) });
                }
                start = at;
                if collected + slot > processors {
                    free.min().1 -= processors - collected;
                    collected = processors;
                } else {
                    free.delete_min();
                    collected += slot;
                }
            }
            planned.starts.push(start);
            free.insert(start + state.request(job).planned_time.as_secs_f64(), processors);
        }
        let earliest = free.slots().iter().map(|(at, _)| *at).fold(f64::MAX, f64::min);
        let latest = free.slots().iter().map(|(at, _)| *at).fold(f64::MIN, f64::max);
        if earliest < latest {
            let first = free.slots().iter().filter(|(at, _)| *at == earliest);
            let processors = first.map(|(_, processors)| processors).sum();
            planned.gaps.push(Gap { start: earliest, end: latest, processors, job: None });
        }
        let processors = state.clusters()[cluster].processors;
        planned.gaps.push(Gap { start: latest, end: f64::MAX, processors, job: None });
        planned
    }

    /// Returns the place of the job: the chain of gaps is searched from every gap in turn.
    fn place(&self, job: JobIndex, cluster: usize, now: Clock, state: &GridState) -> usize {
        let gaps = self.plan(cluster, now, state).gaps;
        let (needed, limit) = (state.request(job).processors, state.request(job).limit.as_secs_f64());
        let chain_fits = |first: usize| {
            let (mut missing, mut end) = (limit, gaps[first].start);
            for gap in &gaps[first..] {
                if gap.processors < needed || gap.start > end {
                    return false;
                }
                let length = if gap.job.is_none() && gap.end == f64::MAX { f64::MAX } else { gap.end - gap.start };
                if missing <= length {
                    return true;
                }
                missing -= length;
                end = gap.end;
            }
            false
        };
        // A chain is not tried again from one of its later gaps: it ends where the first one ends.
        let first = (0..gaps.len()).find(|first| chain_fits(*first)).expect("the last gap has no end");
        gaps[first].job.map_or(self.lists[cluster].len(), |job| {
            self.lists[cluster].iter().position(|other| *other == job).expect("gaps belong to jobs of the list")
        })
    }

    /// Records the expected end of every job on the cluster.
    fn update(&mut self, cluster: usize, now: Clock, state: &GridState) {
        let starts = self.plan(cluster, now, state).starts;
        for (job, start) in self.lists[cluster].iter().zip(starts) {
            let start = Time::ZERO + Span::from_secs_f64(start);
            self.expected.insert(*job, start + state.request(*job).planned_time);
        }
        for (job, place, start) in &self.present {
            if let Some(start) = start
                && *place == cluster
            {
                self.expected.insert(*job, (start.time + state.request(*job).limit).max(now.time));
            }
        }
    }

    fn update_all(&mut self, now: Clock, state: &GridState) {
        for cluster in 0..self.lists.len() {
            self.update(cluster, now, state);
        }
    }

    fn start_of(&self, job: JobIndex, cluster: usize, now: Clock, state: &GridState) -> f64 {
        let place = self.lists[cluster].iter().position(|other| *other == job).expect("it is planned there");
        self.plan(cluster, now, state).starts[place]
    }

    fn take_out(&mut self, job: JobIndex) {
        for list in &mut self.lists {
            list.retain(|other| *other != job);
        }
    }

    fn user_of(&mut self, job: JobIndex, state: &GridState) -> &mut (Option<u32>, f64, f64) {
        self.users.iter_mut().find(|(user, ..)| *user == state.request(job).user).expect("it came")
    }

    /// Returns fairness, response, wait and slowdown.
    fn score(&self, now: Clock, state: &GridState) -> [f64; 4] {
        let submit = |job: &JobRequest| job.submit.as_secs_f64();
        let (mut response, mut wait, mut slowdown, mut jobs) = (0.0, 0.0, 0.0, 0);
        let mut users = self.users.clone();
        for cluster in 0..self.lists.len() {
            let mut of_cluster: Vec<(f64, f64)> = vec![(0.0, 0.0); users.len()];
            let mut add = |job: &JobRequest, waited: f64| {
                let user = self.users.iter().position(|(user, ..)| *user == job.user).expect("it came");
                of_cluster[user].0 += waited;
                of_cluster[user].1 += reserved(job);
            };
            for (job, _, start) in self.present.iter().filter(|(_, other, _)| *other == cluster) {
                let job = state.request(*job);
                add(job, start.map_or(0.0, |start| (start.seconds - submit(job)).max(0.0)));
            }
            let mut sums = [0.0; 3];
            for (job, start) in self.lists[cluster].iter().zip(self.plan(cluster, now, state).starts) {
                let job = state.request(*job);
                let length = job.planned_time.as_secs_f64();
                let (waited, responded) = ((start - submit(job)).max(0.0), start + length - submit(job));
                add(job, waited);
                sums[0] += responded.max(0.0);
                sums[1] += waited;
                sums[2] += responded.max(1.0) / length;
                jobs += 1;
            }
            response += sums[0];
            wait += sums[1];
            slowdown += sums[2];
            for (user, (waited, used)) in users.iter_mut().zip(of_cluster) {
                user.1 += waited;
                user.2 += used;
            }
        }
        let each: Vec<f64> = users.iter().map(|(_, waited, used)| waited / used.max(1.0)).collect();
        let mean = each.iter().fold(0.0, |sum, wait| sum + wait) / each.len() as f64;
        let fairness = each.iter().fold(0.0, |sum, wait| sum + (1.0 + (mean - wait)) * (1.0 + (mean - wait)));
        let jobs = f64::from(jobs.max(1));
        [fairness, response / jobs, wait / jobs, (slowdown / jobs).max(1.0)]
    }

    fn cons(&mut self, job: JobIndex, now: Clock, state: &GridState) {
        let mut best: Option<(f64, usize, usize)> = None;
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

    fn best_gap(&mut self, job: JobIndex, now: Clock, state: &GridState) {
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
    f64::from(job.processors) * job.limit.as_secs_f64()
}

fn decision(old: [f64; 4], new: [f64; 4]) -> f64 {
    let least = [1e-13, 1e-13, 1e-13, 1.0];
    let gains = old.into_iter().zip(new).zip(least).map(|((old, new), least)| (old - new) / old.max(least));
    gains.zip([10.0, 1.0, 1.0, 1.0]).map(|(gain, weight)| gain * weight).sum()
}

impl Policy for Obvious {
    fn submit(&mut self, job: JobIndex, now: Clock, state: &GridState) {
        self.lists.resize(state.clusters().len(), Vec::new());
        self.processors = if self.processors.is_empty() {
            state.clusters().iter().map(|cluster| vec![None; cluster.processors as usize]).collect()
        } else {
            std::mem::take(&mut self.processors)
        };
        let user = state.request(job).user;
        if self.users.iter().all(|(other, ..)| *other != user) {
            self.users.push((user, 0.0, 0.0));
        }
        match self.kind {
            Kind::Cons => self.cons(job, now, state),
            Kind::BestGap | Kind::Bgt(_) => self.best_gap(job, now, state),
        }
        self.update_all(now, state);
    }

    fn select(&mut self, _: Clock, state: &GridState, sent: &mut Vec<(JobIndex, SiteId)>) {
        for cluster in 0..self.lists.len() {
            let Some(&first) = self.lists[cluster].first() else { continue };
            if state.request(first).processors <= state.clusters()[cluster].free {
                self.lists[cluster].remove(0);
                self.present.push((first, cluster, None));
                sent.push((first, site(cluster)));
                if matches!(self.kind, Kind::Cons) {
                    return;
                }
            }
        }
    }

    fn start(&mut self, job: JobIndex, cluster: SiteId, now: Clock, state: &GridState) {
        self.present.iter_mut().find(|(other, ..)| *other == job).expect("it was sent").2 = Some(now);
        let idle = self.processors[cluster.index()].iter_mut().filter(|processor| processor.is_none());
        idle.take(state.request(job).processors as usize).for_each(|processor| *processor = Some(job));
    }

    fn finish(&mut self, job: JobIndex, cluster: SiteId, start: Clock, now: Clock, state: &GridState) {
        let cluster = cluster.index();
        self.present.retain(|(other, ..)| *other != job);
        self.processors[cluster].iter_mut().filter(|on| **on == Some(job)).for_each(|on| *on = None);
        let request = state.request(job);
        let waited = (start.seconds - request.submit.as_secs_f64()).max(0.0);
        let used = (now.seconds - start.seconds) * f64::from(request.processors);
        let user = self.user_of(job, state);
        user.1 += waited;
        user.2 += used;
        let early = self.expected[&job].saturating_since(now.time);
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

    fn search(&mut self, now: Clock, state: &GridState) {
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
                // An identical plan is no gain, independent of rounding.
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
