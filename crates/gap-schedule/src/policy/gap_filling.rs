//! Best Gap, BGT and Swift Gap: each job in the best of its earliest gaps, and a search that moves jobs.

mod score;
#[cfg(test)]
mod tests;

use crate::order::Priority;
use crate::policy::Policy;
use crate::policy::machine_profiles::ReservedSlot;
use crate::policy::readings::{CompressOrder, Placement};
use crate::policy::reservations::Reservations;
use crate::queue::QueuedJob;
use crate::view::{RunningJob, Starts, View};
use rand::RngExt;
use score::{PlanComparator, UserUsage};
use sim_core::{JobId, SiteId, Span, Stream, Time};
use std::collections::VecDeque;

/// Best Gap and the policies built on it, BGT and Swift Gap, on availability profiles (profile `clean`).
///
/// Every waiting job has a reservation. When a job arrives, its earliest gap on each machine that it may use is an
/// option. The first, in order of preference, is taken; a later one replaces it if the plan with it is better than with
/// the best so far. A job keeps its reservation until it starts or is moved.
///
/// *Best Gap* compares plans by 10 × Δfair + Δresp + Δwait + Δsd > 0, each Δ relative to the old value: response, wait
/// and slowdown are means over the waiting jobs, as planned; fair is the sum over users of (1 + m − w)², with w a
/// user's waits, past and planned, per processor second, past, running and planned, and m the mean of w.
///
/// *BGT* is Best Gap, with a Tabu search at each multiple of 300 s while more than one job waits, of four rounds per waiting job. A
/// round takes a random job of a random machine out of the plan, and puts it into the earliest gap of the first machine, in random
/// order, where the plan is better than before; otherwise back. The round fails if no job waits for that machine, or if the job is
/// tabu, as the last min(10, half the jobs) are that were taken in this search. The rounds of all searches together are at most 64
/// per job that has arrived. On a single machine no search is
/// run, because no round could succeed: compression leaves no job a start earlier than its reserved one.
///
/// *Swift Gap* does the same, but compares by the weight Σⱼ (Aⱼ − Bⱼ) / Aⱼ > 0 of completions in the old plan, A, and
/// in the new, B, each from the job's submission. Since all other reservations stay, only the job in question
/// contributes a term. A round moves a job to other machines alone: "among the clusters rather than … within". What the
/// paper leaves open has one answer here; the crate `alea31` has the others.
///
/// Under BGT and Swift Gap, an early end compresses the plan, as under [`Conservative`](crate::Conservative) in order
/// of reserved starts ([`CompressOrder::Reserved`](crate::CompressOrder::Reserved)); on a single machine the schedules
/// are the same. Under Best Gap it does not. Unexpected events have the same consequences as there.
///
/// Source: the paper on Swift Gap, whose authors used Alea 3.1; the crate `alea31` reproduces that simulator exactly.
#[derive(Clone, Debug)]
pub struct GapFilling {
    search: Option<GapSearch>,
    plan: Reservations,
    usage: UserUsage,
    newcomers: Vec<QueuedJob>,
    period: Span,
    next_search: Option<Time>,
}

#[derive(Clone, Debug)]
struct GapSearch {
    stream: Stream,
    tabu: VecDeque<JobId>,
    jobs: Vec<usize>,
    /// Places in the plan, by reserved start.
    by_start: Vec<usize>,
    left: u64,
}

/// Rounds for each waiting job.
const ROUNDS: usize = 4;

const LONGEST_LIST: usize = 10;

/// Rounds for each job that has arrived, in all searches together.
const ROUNDS_PER_ARRIVAL: u64 = 64;

impl GapFilling {
    /// Returns Best Gap. Jobs without a user count as one user's.
    pub fn best_gap(placement: Placement) -> Self {
        Self::searching(placement, PlanComparator::Decision, None)
    }

    /// Returns BGT: Best Gap and Tabu search, which draws from `stream`.
    pub fn bgt(placement: Placement, stream: Stream) -> Self {
        Self::searching(placement, PlanComparator::Decision, Some(GapSearch::new(stream)))
    }

    /// Returns Swift Gap, whose search draws from `stream`.
    pub fn swift_gap(placement: Placement, stream: Stream) -> Self {
        Self::searching(placement, PlanComparator::Completion, Some(GapSearch::new(stream)))
    }

    fn searching(placement: Placement, comparator: PlanComparator, search: Option<GapSearch>) -> Self {
        Self {
            search,
            plan: Reservations::new(placement, CompressOrder::Reserved, Priority::default()),
            usage: UserUsage::new(comparator),
            newcomers: Vec::new(),
            period: Span::from_secs(300),
            next_search: None,
        }
    }

    /// Sets the period of the search, by default 300 s.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[must_use]
    pub fn with_period(self, period: Span) -> Self {
        assert!(!period.is_zero(), "a search takes place now and then, not all the time");
        Self { period, ..self }
    }

    /// Returns the planned start of the job and its machine, as of the last pass.
    pub fn planned(&self, job: JobId) -> Option<(Time, SiteId)> {
        let slot = self.plan.held.iter().find(|held| held.waiting.job == job)?.slot?;
        Some((slot.start, slot.site()))
    }

    /// Plans the job in the best of the earliest gaps. A single gap needs no comparison.
    fn place(&mut self, waiting: &QueuedJob, view: &View<'_>) {
        let Self { plan, usage, .. } = self;
        let machines = plan.profiles.order.iter();
        let slot = |machine: &usize| plan.profiles.earliest_on(*machine, &waiting.request, view.now);
        let slots: Vec<ReservedSlot> = machines.filter_map(slot).collect();
        let mut best = slots.first().copied();
        if slots.len() > 1 {
            usage.sum_up(plan, view);
            let mut least = usage.value(waiting, slots[0], view);
            for slot in &slots[1..] {
                let value = usage.value(waiting, *slot, view);
                if value.is_better_than(&least) {
                    (best, least) = (Some(*slot), value);
                }
            }
        }
        if let Some(slot) = best {
            usage.count(1, waiting, slot, view);
        }
        plan.insert(*waiting, best);
    }

    fn start_due(&mut self, view: &View<'_>, starts: &mut Starts) {
        let Self { plan, usage, .. } = self;
        plan.start_due(view.now, |waiting, slot| {
            usage.start(waiting, slot, view);
            starts.push((waiting.job, slot.site()));
        });
    }
}

impl GapSearch {
    const fn new(stream: Stream) -> Self {
        Self { stream, tabu: VecDeque::new(), jobs: Vec::new(), by_start: Vec::new(), left: 0 }
    }

    fn improve(&mut self, plan: &mut Reservations, usage: &mut UserUsage, view: &View<'_>) {
        self.tabu.clear();
        self.jobs.clear();
        self.jobs.resize(view.machines.len(), 0);
        plan.held.iter().filter_map(|held| held.slot).for_each(|slot| self.jobs[slot.machine] += 1);
        self.by_start = plan.by_start();
        usage.sum_up(plan, view);
        let rounds = self.left.min((ROUNDS * plan.held.len()) as u64);
        self.left -= rounds;
        for _ in 0..rounds {
            self.round(plan, usage, view);
        }
    }

    fn round(&mut self, plan: &mut Reservations, usage: &mut UserUsage, view: &View<'_>) {
        let Some((place, from)) = self.choose(plan) else { return };
        let waiting = plan.held[place].waiting;
        self.tabu.push_back(waiting.job);
        if self.tabu.len() > LONGEST_LIST.min(plan.held.len() / 2) {
            self.tabu.pop_front();
        }
        plan.profiles.cancel(from, &waiting.request);
        usage.count(-1, &waiting, from, view);
        let before = usage.value(&waiting, from, view);
        let mut to = from;
        for machine in self.shuffled(&plan.profiles.order) {
            if machine == from.machine && usage.comparator == PlanComparator::Completion {
                continue;
            }
            let slot = plan.profiles.earliest_on(machine, &waiting.request, view.now);
            let Some(slot) = slot.filter(|slot| *slot != from) else { continue };
            let after = usage.value(&waiting, slot, view);
            if after.is_better_than(&before) {
                to = slot;
                break;
            }
        }
        self.jobs[from.machine] -= 1;
        self.jobs[to.machine] += 1;
        usage.count(1, &waiting, to, view);
        plan.profiles.reserve(to, &waiting.request);
        plan.held[place].slot = Some(to);
        if to != from {
            self.by_start = plan.by_start();
        }
    }

    /// Returns a random job of a random machine, by its place in the plan, if there is one and it is not tabu.
    fn choose(&mut self, plan: &Reservations) -> Option<(usize, ReservedSlot)> {
        let machines = &plan.profiles.order;
        let machine = machines[self.stream.random_range(0..machines.len())];
        if self.jobs[machine] == 0 {
            return None;
        }
        loop {
            let place = self.by_start[self.stream.random_range(0..plan.held.len())];
            let held = &plan.held[place];
            if let Some(slot) = held.slot.filter(|slot| slot.machine == machine) {
                return (!self.tabu.contains(&held.waiting.job)).then_some((place, slot));
            }
        }
    }

    fn shuffled(&mut self, machines: &[usize]) -> Vec<usize> {
        let mut order = Vec::with_capacity(machines.len());
        for (rank, machine) in machines.iter().enumerate() {
            let place = self.stream.random_range(0..=rank);
            order.push(*machine);
            order.swap(place, rank);
        }
        order
    }
}

impl Policy for GapFilling {
    fn begin(&mut self, view: &View<'_>) {
        self.plan.begin(view);
    }

    /// # Panics
    ///
    /// If the job has no estimate, because it cannot be planned then.
    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        self.usage.arrive(job);
        if let Some(search) = &mut self.search {
            search.left += ROUNDS_PER_ARRIVAL;
        }
        self.newcomers.push(*job);
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.usage.finish(job, view.now);
        self.plan.finish(job, machine, view);
    }

    fn on_expiry(&mut self, _: &RunningJob, _: &RunningJob, _: SiteId, _: &View<'_>) {
        self.plan.is_stale = true;
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        if self.plan.update(self.search.is_some(), view) {
            self.usage.sums = None;
        }
        for waiting in std::mem::take(&mut self.newcomers) {
            self.place(&waiting, view);
        }
        self.start_due(view, starts);
        // On one machine, no search could find anything.
        if let Some(search) = self.search.as_mut().filter(|_| view.machines.len() > 1) {
            if self.next_search == Some(view.now) && self.plan.held.len() > 1 {
                search.improve(&mut self.plan, &mut self.usage, view);
                self.start_due(view, starts);
            }
            let period = self.period.as_nanos();
            let next = (view.now.as_nanos() / period + 1).checked_mul(period).map(Time::from_nanos);
            // Jobs that by expectations can never start are no reason to search.
            let is_worth_it = self.plan.held.len() > 1 && self.plan.next_start().is_some();
            self.next_search =
                next.filter(|_| is_worth_it && self.search.as_ref().is_some_and(|search| search.left > 0));
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        [self.plan.next_start(), self.next_search].into_iter().flatten().min()
    }
}
