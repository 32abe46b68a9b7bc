//! Costs of a plan in Best Gap and in Swift Gap.

use crate::policy::machine_profiles::ReservedSlot;
use crate::policy::reservations::{HeldReservation, Reservations};
use crate::queue::QueuedJob;
use crate::view::{RunningJob, View};
use rustc_hash::FxHashMap;
use sim_core::{JobId, Time};

/// Compares plans that differ in one job.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum PlanComparator {
    /// 10 × fairness + response + wait + slowdown, each as a relative gain, is above zero.
    #[default]
    Decision,
    /// Σⱼ (Aⱼ − Bⱼ) / Aⱼ is above zero, A and B being completions in the old plan and in the new, from the submissions
    /// on: responses. All terms but that of the job in question vanish.
    Completion,
}

/// Costs that a comparator uses; smaller is better. Under [`PlanComparator::Completion`] `response` is that of the job
/// in question, and the others are zero.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct PlanCost {
    fairness: f64,
    response: f64,
    wait: f64,
    slowdown: f64,
}

/// Lower bound of a divisor, which keeps the ratio finite.
const GUARD: f64 = 1e-13;

impl PlanCost {
    pub(super) fn is_better_than(&self, old: &Self) -> bool {
        let gain = |of: fn(&Self) -> f64, least: f64| (of(old) - of(self)) / of(old).max(least);
        let decision = 10.0 * gain(|cost| cost.fairness, GUARD)
            + gain(|cost| cost.response, GUARD)
            + gain(|cost| cost.wait, GUARD)
            + gain(|cost| cost.slowdown, 1.0);
        decision > 0.0
    }
}

/// Waits and processor time of each user: in jobs that have ended, and in those that wait or run.
///
/// Sums are integers, so that removing a job from a plan and putting it back is exact: a sum that is kept up to date
/// equals that of the plan summed up again.
#[derive(Clone, Debug, Default)]
pub(super) struct UserUsage {
    pub(super) comparator: PlanComparator,
    // Never iterated: its order cannot reach a result.
    places: FxHashMap<Option<u32>, usize>,
    users: Vec<UserSums>,
    /// User of each job that waits or runs, and its processors × estimate, in nanoseconds.
    // Never iterated.
    jobs: FxHashMap<JobId, (usize, i128)>,
    /// Sums of the plan; `None` until needed, and after a change of more than one job.
    pub(super) sums: Option<PlanSums>,
    /// Scratch buffer, reused across plans.
    ratios: Vec<f64>,
}

#[derive(Copy, Clone, Debug, Default)]
struct UserSums {
    /// Nanoseconds that started jobs have waited.
    waited: i128,
    /// Nanoseconds that jobs will have waited by the plan that is summed up.
    will_wait: i128,
    /// Processor nanoseconds: for jobs that have ended, those they used; for others, processors × estimate.
    used: i128,
    /// Sum of all waits per processor second, in seconds.
    ratio: f64,
}

#[derive(Copy, Clone, Debug, Default)]
pub(super) struct PlanSums {
    /// Nanoseconds.
    wait: i128,
    /// Nanoseconds.
    response: i128,
    /// In units of 2⁻³².
    slowdown: i128,
    jobs: i128,
}

impl UserUsage {
    pub(super) fn new(comparator: PlanComparator) -> Self {
        Self { comparator, ..Self::default() }
    }

    pub(super) fn arrive(&mut self, job: &QueuedJob) {
        let next = self.users.len();
        let user = *self.places.entry(job.request.user).or_insert(next);
        if user == next {
            self.users.push(UserSums::default());
        }
        let estimate = job.request.estimate;
        let estimate = estimate.unwrap_or_else(|| panic!("job {} has no estimate to plan with", job.job));
        let claim = i128::from(job.request.processors) * i128::from(estimate.as_nanos());
        self.users[user].change(|user| user.used += claim);
        self.jobs.insert(job.job, (user, claim));
    }

    /// Starts the job, which leaves the plan.
    pub(super) fn start(&mut self, job: &QueuedJob, planned: ReservedSlot, view: &View<'_>) {
        self.count(-1, job, planned, view);
        let waited = i128::from(view.now.saturating_since(job.submit).as_nanos());
        self.users[self.jobs[&job.job].0].change(|user| user.waited += waited);
    }

    pub(super) fn finish(&mut self, job: &RunningJob, now: Time) {
        let (user, claim) = self.jobs.remove(&job.job).expect("a job that ends has arrived");
        let worked = i128::from(job.processors) * i128::from(now.since(job.start).as_nanos());
        self.users[user].change(|user| user.used += worked - claim);
    }

    /// Sums up the plan, as far as the comparator needs it, unless already done.
    pub(super) fn sum_up(&mut self, plan: &Reservations, view: &View<'_>) {
        if self.comparator == PlanComparator::Completion || self.sums.is_some() {
            return;
        }
        self.sums = Some(PlanSums::default());
        self.users.iter_mut().for_each(|user| user.change(|user| user.will_wait = 0));
        for HeldReservation { waiting, slot } in &plan.held {
            if let Some(slot) = *slot {
                self.count(1, waiting, slot, view);
            }
        }
    }

    /// Adds the job to the sums, with that start; with a `sign` of −1, removes it.
    pub(super) fn count(&mut self, sign: i128, job: &QueuedJob, planned: ReservedSlot, view: &View<'_>) {
        let Some(sums) = self.sums else { return };
        let terms = Self::terms(job, planned, view);
        self.sums = Some(sums.with(sign, terms));
        self.users[self.jobs[&job.job].0].change(|user| user.will_wait += sign * terms.wait);
    }

    /// Returns the cost of the plan that has been summed up, with `job` added.
    pub(super) fn value(&mut self, job: &QueuedJob, planned: ReservedSlot, view: &View<'_>) -> PlanCost {
        let terms = Self::terms(job, planned, view);
        if self.comparator == PlanComparator::Completion {
            return PlanCost { response: seconds(terms.response), ..PlanCost::default() };
        }
        let sums = self.sums.expect("the plan has been summed up").with(1, terms);
        let (jobs, slowdown) = (sums.jobs as f64, sums.slowdown as f64 / SLOWDOWN_UNITS);
        PlanCost {
            fairness: self.fairness(self.jobs[&job.job].0, terms.wait),
            response: seconds(sums.response) / jobs,
            wait: seconds(sums.wait) / jobs,
            slowdown: (slowdown / jobs).max(1.0),
        }
    }

    fn terms(job: &QueuedJob, ReservedSlot { start, machine }: ReservedSlot, view: &View<'_>) -> PlanSums {
        let length = view.machines[machine].expects(&job.request);
        let response = start.saturating_add(length).saturating_since(job.submit);
        let slowdown = response.as_secs_f64().max(1.0) / length.as_secs_f64().max(1.0);
        #[expect(clippy::cast_possible_truncation, reason = "from 0 to 2⁶⁷")]
        let slowdown = (slowdown * SLOWDOWN_UNITS) as i128;
        let wait = start.saturating_since(job.submit).as_nanos().into();
        PlanSums { wait, response: response.as_nanos().into(), slowdown, jobs: 1 }
    }

    /// Returns the sum over users of (1 + m − w)², where w is a user's wait per processor second, and m its mean over
    /// users; the user `of` waits `by` nanoseconds longer.
    fn fairness(&mut self, of: usize, by: i128) -> f64 {
        self.ratios.clear();
        self.ratios.extend(self.users.iter().map(|user| user.ratio));
        self.ratios[of] = self.users[of].ratio_with(by);
        let mean = self.ratios.iter().sum::<f64>() / self.ratios.len() as f64;
        self.ratios.iter().map(|ratio| (1.0 + mean - ratio) * (1.0 + mean - ratio)).sum()
    }
}

/// Slowdown of 1 in units.
const SLOWDOWN_UNITS: f64 = (1_u64 << 32) as f64;

fn seconds(nanos: i128) -> f64 {
    nanos as f64 / 1e9
}

impl UserSums {
    fn change(&mut self, change: impl FnOnce(&mut Self)) {
        change(self);
        self.ratio = self.ratio_with(0);
    }

    /// Returns the ratio if the user waits some nanoseconds more.
    fn ratio_with(&self, more: i128) -> f64 {
        seconds(self.waited + self.will_wait + more) / seconds(self.used).max(1.0)
    }
}

impl PlanSums {
    /// Returns the sums with the terms of a job; with a `sign` of −1, without them.
    fn with(self, sign: i128, terms: Self) -> Self {
        Self {
            wait: self.wait + sign * terms.wait,
            response: self.response + sign * terms.response,
            slowdown: self.slowdown + sign * terms.slowdown,
            jobs: self.jobs + sign * terms.jobs,
        }
    }
}
