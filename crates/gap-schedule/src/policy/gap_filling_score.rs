//! How good a plan looks to Best Gap and to Swift Gap.

use crate::alea31::{Completion, Weight};
use crate::grid::GridView;
use crate::policy::outlook::Slot;
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
    /// Kept for its memory only.
    waits: Vec<f64>,
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

    /// The value of `plan` with `job` at `slot` beside, or, if it waits for another one, instead.
    pub(super) fn value(
        &mut self,
        judge: Judge,
        plan: &Reservations,
        (job, slot): (&Waiting, Slot),
        view: &GridView<'_>,
    ) -> Value {
        let mut value = Value::default();
        let end = |waiting: &Waiting, machine: SiteId, start: Time| {
            let length = view.machines[machine.index()].expects(&waiting.request);
            (start.saturating_add(length), length)
        };
        let (completion, _) = end(job, plan.machine(slot), slot.start);
        value.completion = match judge {
            Judge::Completion(Completion::AbsoluteClock, _) => completion.as_secs_f64(),
            _ => completion.saturating_since(self.jobs[&job.job].submit).as_secs_f64(),
        };
        if judge.looks_at_completion_alone() {
            return value;
        }
        let mut jobs: u32 = 0;
        self.waits.clear();
        self.waits.extend(self.users.iter().map(|user| user.waited));
        let others = plan.held().iter().filter(|held| held.waiting.job != job.job);
        let others = others.filter_map(|Reservation { waiting, slot, .. }| Some((waiting, (*slot)?)));
        for (waiting, slot) in others.chain([(job, slot)]) {
            let present = self.jobs[&waiting.job];
            let (end, length) = end(waiting, plan.machine(slot), slot.start);
            let wait = present.wait(slot.start);
            let response = end.saturating_since(present.submit).as_secs_f64();
            value.wait += wait;
            value.response += response;
            value.slowdown += response.max(1.0) / length.as_secs_f64().max(1.0);
            self.waits[present.user] += wait;
            jobs += 1;
        }
        let jobs = f64::from(jobs);
        value.wait /= jobs;
        value.response /= jobs;
        value.slowdown = (value.slowdown / jobs).max(1.0);
        value.fairness = self.fairness();
        value
    }

    /// The sum over users of (1 + m − w)², where w is what a user waits per processor second, and m its mean over users.
    fn fairness(&mut self) -> f64 {
        let mut sum = 0.0;
        for (wait, user) in self.waits.iter_mut().zip(&self.users) {
            *wait /= user.used.max(1.0);
            sum += *wait;
        }
        #[expect(clippy::cast_precision_loss, reason = "few users")]
        let mean = sum / self.waits.len() as f64;
        self.waits.iter().map(|wait| (1.0 + mean - wait) * (1.0 + mean - wait)).sum()
    }
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
