//! How good a plan looks to Best Gap and to Swift Gap.

use crate::policy::gap_filling_readings::{Completion, Weight};
use crate::policy::held_reservations::Reservation;
use crate::policy::reservations::Reservations;
use crate::queue::QueuedJob;
use crate::view::View;
use rustc_hash::FxHashMap;
use sim_core::{JobId, SiteId, Span, Time};

/// Compares plans that differ in one job.
#[derive(Copy, Clone, Debug)]
pub(super) enum PlanComparator {
    /// 10 × fairness + response + wait + slowdown, each as a relative gain, is above zero.
    Decision,
    /// Σⱼ (Aⱼ − Bⱼ) / Aⱼ is above zero, A and B being completions in the old plan and in the new. All terms but that of the
    /// job in question vanish.
    Completion(Completion, Weight),
}

/// What a comparator looks at; all are better when smaller.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct PlanCost {
    fairness: f64,
    response: f64,
    wait: f64,
    slowdown: f64,
    /// Of the job in question, in seconds.
    completion: f64,
}

/// Keeps a ratio finite.
const GUARD: f64 = 1e-13;

impl PlanComparator {
    /// Whether `new` is better than `old`.
    pub(super) fn prefers(self, new: &PlanCost, old: &PlanCost) -> bool {
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

impl PlanCost {
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
///
/// Sums are whole numbers, so that taking a job out of a plan and putting it back leaves nothing behind: a sum that is kept
/// up to date is that of the plan summed up anew.
#[derive(Clone, Debug, Default)]
pub(super) struct UserUsage {
    // Never iterated: its order cannot reach a result.
    places: FxHashMap<Option<u32>, usize>,
    users: Vec<User>,
    // Never iterated.
    jobs: FxHashMap<JobId, Present>,
    /// Of the plan; `None` until it is asked for.
    sums: Option<Sums>,
    /// Kept for its memory only.
    ratios: Vec<f64>,
}

#[derive(Copy, Clone, Debug, Default)]
struct User {
    /// Nanoseconds that jobs waited which have started.
    waited: u128,
    /// Nanoseconds that jobs will have waited by the plan that is summed up.
    will_wait: u128,
    /// Processor nanoseconds: of jobs that have ended, what they used; of others, processors × estimate.
    used: u128,
    /// All waits per processor second, in seconds.
    ratio: f64,
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

impl UserUsage {
    pub(super) fn arrive(&mut self, waiting: &QueuedJob, submit: Time) {
        let next = self.users.len();
        let user = *self.places.entry(waiting.request.user).or_insert(next);
        if user == next {
            self.users.push(User::default());
        }
        let estimate = waiting.request.estimate;
        let estimate = estimate.unwrap_or_else(|| panic!("job {} has no estimate to plan with", waiting.job));
        let present = Present { submit, user, estimate, processors: waiting.request.processors, start: Time::MAX };
        self.users[user].change(|user| user.used += present.claim());
        self.jobs.insert(waiting.job, present);
    }

    /// The job starts, and is no part of the plan any more.
    pub(super) fn start(&mut self, job: &QueuedJob, planned: (SiteId, Time), view: &View<'_>) {
        self.remove(job, planned, view);
        let present = self.jobs.get_mut(&job.job).expect("a job that starts has arrived");
        present.start = view.now;
        let wait = present.wait(view.now);
        self.users[present.user].change(|user| user.waited += wait);
    }

    pub(super) fn finish(&mut self, job: JobId, now: Time) {
        let present = self.jobs.remove(&job).expect("a job that ends has arrived");
        let worked = u128::from(present.processors) * u128::from(now.since(present.start).as_nanos());
        self.users[present.user].change(|user| user.used = user.used - present.claim() + worked);
    }

    /// The job has been interrupted, and will wait for all of that time.
    pub(super) fn lose(&mut self, job: JobId, now: Time) {
        let present = self.jobs[&job];
        self.users[present.user].change(|user| user.waited -= present.wait(present.start));
        self.finish(job, now);
    }

    /// The plan has changed in more than one job.
    pub(super) fn forget_plan(&mut self) {
        self.sums = None;
    }

    /// Sums up the plan, as far as `comparator` looks at it, if that has not been done yet.
    pub(super) fn sum_up(&mut self, comparator: PlanComparator, plan: &Reservations, view: &View<'_>) {
        if comparator.looks_at_completion_alone() || self.sums.is_some() {
            return;
        }
        self.sums = Some(Sums::default());
        self.users.iter_mut().for_each(|user| user.change(|user| user.will_wait = 0));
        for Reservation { waiting, slot, .. } in plan.held().iter() {
            if let Some(slot) = *slot {
                self.add(waiting, (plan.machine(slot), slot.start), view);
            }
        }
    }

    /// The job is part of the plan, with that start.
    pub(super) fn add(&mut self, job: &QueuedJob, planned: (SiteId, Time), view: &View<'_>) {
        let Some(sums) = self.sums else { return };
        let terms = self.terms(job, planned, view);
        self.users[terms.user].change(|user| user.will_wait += terms.wait);
        self.sums = Some(sums.with(&terms));
    }

    /// The job, planned to start so, is no part of the plan any more.
    pub(super) fn remove(&mut self, job: &QueuedJob, planned: (SiteId, Time), view: &View<'_>) {
        let Some(sums) = self.sums else { return };
        let terms = self.terms(job, planned, view);
        self.users[terms.user].change(|user| user.will_wait -= terms.wait);
        self.sums = Some(sums.without(&terms));
    }

    /// The value of the plan that has been summed up, with `job` beside it.
    pub(super) fn value(
        &mut self,
        comparator: PlanComparator,
        job: &QueuedJob,
        planned: (SiteId, Time),
        view: &View<'_>,
    ) -> PlanCost {
        let terms = self.terms(job, planned, view);
        let response = seconds(terms.response);
        let completion = match comparator {
            PlanComparator::Completion(Completion::AbsoluteClock, _) => {
                response + self.jobs[&job.job].submit.as_secs_f64()
            }
            _ => response,
        };
        if comparator.looks_at_completion_alone() {
            return PlanCost { completion, ..PlanCost::default() };
        }
        let sums = self.sums.expect("the plan has been summed up").with(&terms);
        #[expect(clippy::cast_precision_loss, reason = "a count, and a sum in units of 2⁻³²")]
        let (jobs, slowdown) = (sums.jobs as f64, sums.slowdown as f64 / SLOWDOWN_UNITS);
        PlanCost {
            fairness: self.fairness(terms.user, terms.wait),
            response: seconds(sums.response) / jobs,
            wait: seconds(sums.wait) / jobs,
            slowdown: (slowdown / jobs).max(1.0),
            completion,
        }
    }

    fn terms(&self, job: &QueuedJob, (machine, start): (SiteId, Time), view: &View<'_>) -> Terms {
        let present = &self.jobs[&job.job];
        let length = view.machines[machine.index()].expects(&job.request);
        let response = start.saturating_add(length).saturating_since(present.submit);
        let slowdown = response.as_secs_f64().max(1.0) / length.as_secs_f64().max(1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2⁶⁷")]
        let slowdown = (slowdown * SLOWDOWN_UNITS) as u128;
        Terms { user: present.user, wait: present.wait(start), response: response.as_nanos().into(), slowdown }
    }

    /// The sum over users of (1 + m − w)², where w is what a user waits per processor second, and m its mean over users; one
    /// user waits longer by so many nanoseconds.
    fn fairness(&mut self, of: usize, by: u128) -> f64 {
        self.ratios.clear();
        self.ratios.extend(self.users.iter().map(|user| user.ratio));
        self.ratios[of] = self.users[of].ratio_with(by);
        #[expect(clippy::cast_precision_loss, reason = "few users")]
        let mean = self.ratios.iter().sum::<f64>() / self.ratios.len() as f64;
        self.ratios.iter().map(|ratio| (1.0 + mean - ratio) * (1.0 + mean - ratio)).sum()
    }
}

/// Sums over the jobs of a plan: nanoseconds, and units of slowdown.
#[derive(Copy, Clone, Debug, Default)]
struct Sums {
    wait: u128,
    response: u128,
    slowdown: u128,
    jobs: u64,
}

/// What one job adds to them.
struct Terms {
    user: usize,
    wait: u128,
    response: u128,
    slowdown: u128,
}

/// A slowdown of 1 is so many units.
const SLOWDOWN_UNITS: f64 = (1_u64 << 32) as f64;

#[expect(clippy::cast_precision_loss, reason = "for means and ratios")]
fn seconds(nanos: u128) -> f64 {
    nanos as f64 / 1e9
}

impl User {
    fn change(&mut self, change: impl FnOnce(&mut Self)) {
        change(self);
        self.ratio = self.ratio_with(0);
    }

    /// If the user waits so many nanoseconds more.
    fn ratio_with(&self, more: u128) -> f64 {
        seconds(self.waited + self.will_wait + more) / seconds(self.used).max(1.0)
    }
}

impl Sums {
    const fn with(self, terms: &Terms) -> Self {
        let Self { wait, response, slowdown, jobs } = self;
        Self {
            wait: wait + terms.wait,
            response: response + terms.response,
            slowdown: slowdown + terms.slowdown,
            jobs: jobs + 1,
        }
    }

    const fn without(self, terms: &Terms) -> Self {
        let Self { wait, response, slowdown, jobs } = self;
        Self {
            wait: wait - terms.wait,
            response: response - terms.response,
            slowdown: slowdown - terms.slowdown,
            jobs: jobs - 1,
        }
    }
}

impl Present {
    /// Processor nanoseconds that it asks for.
    fn claim(&self) -> u128 {
        u128::from(self.processors) * u128::from(self.estimate.as_nanos())
    }

    /// In nanoseconds.
    fn wait(&self, start: Time) -> u128 {
        start.saturating_since(self.submit).as_nanos().into()
    }
}
