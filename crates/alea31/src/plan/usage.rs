//! Score of a plan in Best Gap: [`MeanScore`], and its data about users: [`UserLedger`].

use crate::plan::ListPlan;
use crate::state::{Clock, GridState, JobIndex};
use rustc_hash::FxHashMap;
use sim_core::SiteId;

/// Four means over a plan, all better when smaller.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct MeanScore {
    fairness: f64,
    response: f64,
    wait: f64,
    slowdown: f64,
}

/// Weight of fairness beside the other three.
const FAIRNESS: f64 = 10.0;

/// Lower bound of a divisor, which keeps the ratio finite.
pub(crate) const GUARD: f64 = 1e-13;

impl MeanScore {
    /// Gain of `new` over this score, as a sum of relative gains.
    pub(crate) fn decision(&self, new: &Self) -> f64 {
        let gain = |old: f64, new: f64, least: f64| (old - new) / old.max(least);
        FAIRNESS * gain(self.fairness, new.fairness, GUARD)
            + gain(self.response, new.response, GUARD)
            + gain(self.wait, new.wait, GUARD)
            + gain(self.slowdown, new.slowdown, 1.0)
    }
}

/// Waits and usage of each user: in jobs that have ended, in those that run or were sent, and by a plan.
///
/// Sums are taken in Alea's order, because plans of equal worth are common and rounding then decides. Ended jobs come
/// first, in the order in which they ended (`Scheduler.updateLengthStatistics`). Then follow, cluster by cluster, the
/// jobs that were sent there and have not ended, in the order in which they were sent, and the jobs planned there
/// (`ResourceInfo.updateFairness`, `CommonObjectives.predictFairness`).
#[derive(Clone, Debug, Default)]
pub(crate) struct UserLedger {
    places: FxHashMap<Option<u32>, usize>, // never iterated: its order cannot reach a result
    /// Ended jobs by user, in order of the users' first submission.
    ended: Vec<LedgerEntry>,
    present: Vec<ClusterLedger>,
    /// User of each job, as an index.
    owners: Vec<usize>,
    /// By users; scratch buffers, reused across calls.
    total: Vec<LedgerEntry>,
    of_cluster: Vec<LedgerEntry>,
}

#[derive(Copy, Clone, Debug, Default)]
struct LedgerEntry {
    /// Seconds that jobs waited.
    waited: f64,
    /// Processor seconds: for ended jobs, those they used; for others, processors × limit.
    used: f64,
}

/// Jobs that were sent to a cluster and have not ended.
#[derive(Clone, Debug, Default)]
struct ClusterLedger {
    /// Jobs in the order in which they were sent.
    jobs: Vec<(JobIndex, LedgerEntry)>,
    /// Sums by users; `None` if they must be recomputed.
    sums: Option<Vec<LedgerEntry>>,
}

impl UserLedger {
    pub(crate) fn submit(&mut self, job: JobIndex, state: &GridState) {
        let next = self.ended.len();
        let user = *self.places.entry(state.request(job).user).or_insert(next);
        if user == next {
            self.ended.push(LedgerEntry::default());
        }
        self.owners.resize(state.submitted(), 0);
        self.owners[job.index()] = user;
        self.present.resize_with(state.clusters().len(), ClusterLedger::default);
    }

    /// Adds a job that was sent: until it starts, its wait counts as zero.
    pub(crate) fn send(&mut self, job: JobIndex, cluster: SiteId, state: &GridState) {
        let present = &mut self.present[cluster.index()];
        present.jobs.push((job, LedgerEntry { waited: 0.0, used: state.request(job).claim }));
        present.sums = None;
    }

    pub(crate) fn start(&mut self, job: JobIndex, cluster: SiteId, now: Clock, state: &GridState) {
        let present = &mut self.present[cluster.index()];
        let mut latest_first = present.jobs.iter_mut().rev();
        let (_, usage) = latest_first.find(|(other, _)| *other == job).expect("what starts was sent");
        usage.waited = (now.seconds - state.request(job).submit_seconds).max(0.0);
        present.sums = None;
    }

    pub(crate) fn finish(&mut self, job: JobIndex, cluster: SiteId, start: Clock, now: Clock, state: &GridState) {
        let present = &mut self.present[cluster.index()];
        let place = present.jobs.iter().position(|(other, _)| *other == job).expect("what ends was sent");
        present.jobs.remove(place);
        present.sums = None;
        let request = state.request(job);
        let ended = &mut self.ended[self.owners[job.index()]];
        ended.waited += (start.seconds - request.submit_seconds).max(0.0);
        ended.used += (now.seconds - start.seconds) * f64::from(request.processors);
    }

    /// Returns the score of an updated plan.
    pub(crate) fn score(&mut self, plan: &ListPlan, state: &GridState) -> MeanScore {
        let mut score = MeanScore::default();
        let mut jobs: u32 = 0;
        self.total.clone_from(&self.ended);
        for (present, (_, schedule)) in self.present.iter_mut().zip(plan.schedules()) {
            let users = self.ended.len();
            if present.sums.as_ref().is_none_or(|sums| sums.len() != users) {
                let mut sums = vec![LedgerEntry::default(); users];
                present.jobs.iter().for_each(|(job, usage)| sums[self.owners[job.index()]].add(*usage));
                present.sums = Some(sums);
            }
            self.of_cluster.clone_from(present.sums.as_ref().expect("summed up above"));
            // Per cluster first, and then over all: `ResourceInfo.update`, `CommonObjectives`.
            let (mut response, mut wait, mut slowdown) = (0.0, 0.0, 0.0);
            for (job, start) in schedule.planned() {
                let request = state.request(job);
                let (submit, length) = (request.submit_seconds, request.planned_seconds);
                let waited = (start - submit).max(0.0);
                wait += waited;
                response += (start + length - submit).max(0.0);
                slowdown += (start + length - submit).max(1.0) / length;
                self.of_cluster[self.owners[job.index()]].add(LedgerEntry { waited, used: request.claim });
                jobs += 1;
            }
            score.response += response;
            score.wait += wait;
            score.slowdown += slowdown;
            self.total.iter_mut().zip(&self.of_cluster).for_each(|(total, usage)| total.add(*usage));
        }
        let jobs = f64::from(jobs.max(1));
        score.wait /= jobs;
        score.response /= jobs;
        score.slowdown = (score.slowdown / jobs).max(1.0);
        score.fairness = fairness(&self.total);
        score
    }
}

impl LedgerEntry {
    fn add(&mut self, other: Self) {
        self.waited += other.waited;
        self.used += other.used;
    }

    /// Returns the seconds waited per processor second used.
    fn normalized_wait(self) -> f64 {
        self.waited / self.used.max(1.0)
    }
}

/// Returns the sum over users of (1 + (m − w))², where w is a user's wait per processor second, and m its mean over users.
fn fairness(users: &[LedgerEntry]) -> f64 {
    let mean = users.iter().map(|user| user.normalized_wait()).fold(0.0, |sum, wait| sum + wait) / users.len() as f64;
    let deviation = |user: &LedgerEntry| 1.0 + (mean - user.normalized_wait());
    users.iter().map(deviation).fold(0.0, |sum, deviation| sum + deviation * deviation)
}
