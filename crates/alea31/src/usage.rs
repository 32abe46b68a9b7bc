//! How good a plan looks to Best Gap: [`Score`], and what it has to know of users: [`UserUsage`].

use crate::job::JobIndex;
use crate::plan::PlanView;
use crate::state::GridState;
use rustc_hash::FxHashMap;
use sim_core::Time;

/// Four means over a plan, all better when smaller.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct Score {
    fairness: f64,
    response: f64,
    wait: f64,
    slowdown: f64,
}

/// The weight of fairness beside the other three.
const FAIRNESS: f64 = 10.0;

/// Keeps a ratio finite.
pub(crate) const GUARD: f64 = 1e-13;

impl Score {
    /// By how much `new` is better than this, as a sum of relative gains.
    pub(crate) fn decision(&self, new: &Self) -> f64 {
        let gain = |old: f64, new: f64, least: f64| (old - new) / old.max(least);
        FAIRNESS * gain(self.fairness, new.fairness, GUARD)
            + gain(self.response, new.response, GUARD)
            + gain(self.wait, new.wait, GUARD)
            + gain(self.slowdown, new.slowdown, 1.0)
    }
}

/// What each user has waited for and used: in jobs that have ended, and in those that were sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserUsage {
    places: FxHashMap<u32, usize>, // never iterated: its order cannot reach a result
    users: Vec<User>,
    /// Whose each job is.
    owners: Vec<usize>,
    /// Waits in the plan; scratch buffer, reused across calls.
    waits: Vec<f64>,
}

#[derive(Copy, Clone, Debug, Default)]
struct User {
    /// Seconds that jobs waited which have started.
    waited: f64,
    /// Processor seconds: of jobs that have ended, what they used; of others, processors × limit, planned ones included.
    used: f64,
}

impl UserUsage {
    pub(crate) fn submit(&mut self, job: JobIndex, state: &GridState) {
        let next = self.users.len();
        let user = *self.places.entry(state.request(job).user()).or_insert(next);
        if user == next {
            self.users.push(User::default());
        }
        self.owners.resize(state.submitted(), 0);
        self.owners[job.index()] = user;
        self.users[user].used += limit_work(job, state);
    }

    pub(crate) fn start(&mut self, job: JobIndex, now: Time, state: &GridState) {
        self.users[self.owners[job.index()]].waited += now.saturating_since(state.request(job).submit()).as_secs_f64();
    }

    pub(crate) fn finish(&mut self, job: JobIndex, start: Time, now: Time, state: &GridState) {
        let worked = f64::from(state.request(job).processors()) * now.since(start).as_secs_f64();
        self.users[self.owners[job.index()]].used += worked - limit_work(job, state);
    }

    /// The score of a plan that is up to date.
    pub(crate) fn score(&mut self, view: &PlanView<'_>, state: &GridState) -> Score {
        let mut score = Score::default();
        let mut jobs: u32 = 0;
        self.waits.clear();
        self.waits.extend(self.users.iter().map(|user| user.waited));
        for schedule in view.schedules() {
            for (index, start) in schedule.planned() {
                let job = state.request(index);
                let length = job.planned_time();
                let wait = start.saturating_since(job.submit()).as_secs_f64();
                let response = (start + length).saturating_since(job.submit()).as_secs_f64();
                score.wait += wait;
                score.response += response;
                score.slowdown += response.max(1.0) / length.as_secs_f64();
                self.waits[self.owners[index.index()]] += wait;
                jobs += 1;
            }
        }
        let jobs = f64::from(jobs.max(1));
        score.wait /= jobs;
        score.response /= jobs;
        score.slowdown = (score.slowdown / jobs).max(1.0);
        score.fairness = self.fairness();
        score
    }

    /// The sum over users of (1 + m − w)², where w is what a user waits per processor second, and m its mean over users.
    fn fairness(&mut self) -> f64 {
        let mut sum = 0.0;
        for (wait, user) in self.waits.iter_mut().zip(&self.users) {
            *wait /= user.used.max(1.0);
            sum += *wait;
        }
        #[expect(clippy::cast_precision_loss, reason = "few users")]
        let mean = sum / self.waits.len().max(1) as f64;
        self.waits.iter().map(|wait| (1.0 + mean - wait) * (1.0 + mean - wait)).sum()
    }
}

fn limit_work(job: JobIndex, state: &GridState) -> f64 {
    let job = state.request(job);
    f64::from(job.processors()) * job.limit().as_secs_f64()
}
