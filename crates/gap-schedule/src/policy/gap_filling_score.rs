//! How good a plan looks to Best Gap and to Swift Gap.

use crate::alea31::{Completion, Weight};
use crate::grid::GridView;
use crate::policy::reservations::{Reservation, Reservations};
use crate::queue::Waiting;
use rustc_hash::FxHashMap;
use sim_core::{JobId, SiteId, Span, Time};

/// Compares plans that differ in one job.
#[derive(Copy, Clone, Debug)]
pub(super) enum Judge {
    /// 10 × fairness + response + wait + slowdown, each as a relative gain, is above zero.
    Decision,
    /// Σⱼ (Aⱼ − Bⱼ) / Aⱼ is above zero, A and B being completions in the old plan and in the new. All terms but that of the
    /// job in question vanish.
    Completion(Completion, Weight),
}

/// What a judge looks at; all are better when smaller.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Value {
    fairness: f64,
    response: f64,
    wait: f64,
    slowdown: f64,
    /// Of the job in question, in seconds.
    completion: f64,
}

/// Keeps a ratio finite.
const GUARD: f64 = 1e-13;

impl Judge {
    /// Whether `new` is better than `old`.
    pub(super) fn prefers(self, new: &Value, old: &Value) -> bool {
        let ratio = gain(old.completion, new.completion, GUARD);
        match self {
            Self::Decision => old.decision(new) > 0.0,
            Self::Completion(_, Weight::SumOfRatios | Weight::RatioOfSums) => ratio > 0.0,
            Self::Completion(_, Weight::AddedToDecision) => old.decision(new) + ratio > 0.0,
        }
    }

    const fn looks_at_completion_alone(self) -> bool {
        matches!(self, Self::Completion(_, Weight::SumOfRatios | Weight::RatioOfSums))
    }
}

impl Value {
    fn decision(&self, new: &Self) -> f64 {
        10.0 * gain(self.fairness, new.fairness, GUARD)
            + gain(self.response, new.response, GUARD)
            + gain(self.wait, new.wait, GUARD)
            + gain(self.slowdown, new.slowdown, 1.0)
    }
}

/// By how much less `new` is than `old`, relative to it.
fn gain(old: f64, new: f64, least: f64) -> f64 {
    (old - new) / old.max(least)
}

/// What each user has waited for and used: in jobs that have ended, and in those that wait or run.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    // Never iterated: its order cannot reach a result.
    places: FxHashMap<Option<u32>, usize>,
    users: Vec<User>,
    // Never iterated.
    jobs: FxHashMap<JobId, Present>,
    /// Of the plan that was summed up last.
    sums: Sums,
    /// Seconds that each user waited and will wait by that plan.
    waits: Vec<f64>,
    /// Kept for its memory only.
    ratios: Vec<f64>,
}

#[derive(Copy, Clone, Debug, Default)]
struct User {
    /// Seconds that jobs waited which have started.
    waited: f64,
    /// Processor seconds: of jobs that have ended, what they used; of others, processors × estimate.
    used: f64,
}

/// A job that waits or runs.
#[derive(Copy, Clone, Debug)]
struct Present {
    submit: Time,
    user: usize,
    estimate: Span,
    processors: u32,
    /// Since when it runs.
    start: Time,
}

impl Ledger {
    pub(super) fn arrive(&mut self, waiting: &Waiting, submit: Time) {
        let next = self.users.len();
        let user = *self.places.entry(waiting.request.user).or_insert(next);
        if user == next {
            self.users.push(User::default());
        }
        let estimate = waiting.request.estimate;
        let estimate = estimate.unwrap_or_else(|| panic!("job {} has no estimate to plan with", waiting.job));
        let present = Present { submit, user, estimate, processors: waiting.request.processors, start: Time::MAX };
        self.users[user].used += present.claim();
        self.jobs.insert(waiting.job, present);
    }

    pub(super) fn start(&mut self, job: JobId, now: Time) {
        let present = self.jobs.get_mut(&job).expect("a job that starts has arrived");
        present.start = now;
        self.users[present.user].waited += present.wait(now);
    }

    pub(super) fn finish(&mut self, job: JobId, now: Time) {
        let present = self.jobs.remove(&job).expect("a job that ends has arrived");
        let worked = f64::from(present.processors) * now.since(present.start).as_secs_f64();
        self.users[present.user].used += worked - present.claim();
    }

    /// The job has been interrupted, and will wait for all of that time.
    pub(super) fn lose(&mut self, job: JobId, now: Time) {
        let present = self.jobs[&job];
        self.users[present.user].waited -= present.wait(present.start);
        self.finish(job, now);
    }

    /// Sums up the plan, as `judge` looks at it.
    pub(super) fn sum_up(&mut self, judge: Judge, plan: &Reservations, view: &GridView<'_>) {
        self.sums = Sums::default();
        self.waits.clear();
        if judge.looks_at_completion_alone() {
            return;
        }
        self.waits.extend(self.users.iter().map(|user| user.waited));
        for Reservation { waiting, slot, .. } in plan.held() {
            if let Some(slot) = *slot {
                self.add(judge, waiting, (plan.machine(slot), slot.start), view);
            }
        }
    }

    /// The job is part of the plan, with that start.
    pub(super) fn add(&mut self, judge: Judge, job: &Waiting, planned: (SiteId, Time), view: &GridView<'_>) {
        self.count(judge, job, planned, view, 1.0);
    }

    /// The job, planned to start so, is no part of the plan any more.
    pub(super) fn remove(&mut self, judge: Judge, job: &Waiting, planned: (SiteId, Time), view: &GridView<'_>) {
        self.count(judge, job, planned, view, -1.0);
    }

    fn count(&mut self, judge: Judge, job: &Waiting, planned: (SiteId, Time), view: &GridView<'_>, times: f64) {
        if judge.looks_at_completion_alone() {
            return;
        }
        let Terms { user, wait, response, slowdown } = self.terms(job, planned, view);
        self.sums.wait += times * wait;
        self.sums.response += times * response;
        self.sums.slowdown += times * slowdown;
        self.sums.jobs += times;
        self.waits[user] += times * wait;
    }

    /// The value of the plan that has been summed up, with `job` beside it.
    pub(super) fn value(&mut self, judge: Judge, job: &Waiting, planned: (SiteId, Time), view: &GridView<'_>) -> Value {
        let terms = self.terms(job, planned, view);
        let completion = match judge {
            Judge::Completion(Completion::AbsoluteClock, _) => {
                terms.response + self.jobs[&job.job].submit.as_secs_f64()
            }
            _ => terms.response,
        };
        if judge.looks_at_completion_alone() {
            return Value { completion, ..Value::default() };
        }
        let jobs = self.sums.jobs + 1.0;
        Value {
            fairness: self.fairness(terms.user, terms.wait),
            response: (self.sums.response + terms.response) / jobs,
            wait: (self.sums.wait + terms.wait) / jobs,
            slowdown: ((self.sums.slowdown + terms.slowdown) / jobs).max(1.0),
            completion,
        }
    }

    fn terms(&self, job: &Waiting, (machine, start): (SiteId, Time), view: &GridView<'_>) -> Terms {
        let present = &self.jobs[&job.job];
        let length = view.machines[machine.index()].expects(&job.request);
        let response = start.saturating_add(length).saturating_since(present.submit).as_secs_f64();
        let slowdown = response.max(1.0) / length.as_secs_f64().max(1.0);
        Terms { user: present.user, wait: present.wait(start), response, slowdown }
    }

    /// The sum over users of (1 + m − w)², where w is what a user waits per processor second, and m its mean over users; one
    /// user waits longer by so many seconds.
    fn fairness(&mut self, of: usize, by: f64) -> f64 {
        self.ratios.clear();
        self.ratios.extend(self.waits.iter().zip(&self.users).map(|(wait, user)| wait / user.used.max(1.0)));
        self.ratios[of] = (self.waits[of] + by) / self.users[of].used.max(1.0);
        #[expect(clippy::cast_precision_loss, reason = "few users")]
        let mean = self.ratios.iter().sum::<f64>() / self.ratios.len() as f64;
        self.ratios.iter().map(|ratio| (1.0 + mean - ratio) * (1.0 + mean - ratio)).sum()
    }
}

/// Sums over the jobs of a plan.
#[derive(Copy, Clone, Debug, Default)]
struct Sums {
    wait: f64,
    response: f64,
    slowdown: f64,
    jobs: f64,
}

/// What one job adds to them; in seconds, but for the slowdown.
struct Terms {
    user: usize,
    wait: f64,
    response: f64,
    slowdown: f64,
}

impl Present {
    /// Processor seconds that it asks for.
    fn claim(&self) -> f64 {
        f64::from(self.processors) * self.estimate.as_secs_f64()
    }

    fn wait(&self, start: Time) -> f64 {
        start.saturating_since(self.submit).as_secs_f64()
    }
}
