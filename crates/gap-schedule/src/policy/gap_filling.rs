use crate::alea31::{Completion, Moves, Weight};
use crate::grid::{GridView, Scheduler};
use crate::policy::gap_filling_score::{Judge, Ledger};
use crate::policy::outlook::Slot;
use crate::policy::readings::Placement;
use crate::policy::reservations::Reservations;
use crate::queue::Waiting;
use crate::running::RunningJob;
use rand::RngExt;
use sim_core::{JobId, SiteId, Span, Stream, Time};
use std::collections::VecDeque;

/// Best Gap, and what builds on it: BGT and Swift Gap, on availability profiles (profile `clean`).
///
/// Every job that waits has a reservation. When a job comes, the earliest gap for it on each machine that it may use is
/// an option. The first, in order of preference, is taken; a later one if the plan with it is better than with the best so
/// far. A job keeps its reservation until it starts or is moved.
///
/// *Best Gap* compares plans by 10 × Δfair + Δresp + Δwait + Δsd > 0, each Δ relative to the old value: response, wait and
/// slowdown are means over the jobs that wait, as planned; fair is the sum over users of (1 + m − w)², with w a user's
/// waits, past and planned, per processor second, past, running and planned, and m the mean of w.
///
/// *BGT* is Best Gap, with a Tabu search at each multiple of 300 s while more than one job waits: four times as many rounds
/// as jobs wait. A round takes a random job of a random machine out of the plan, and puts it into the earliest gap of the
/// first machine, in random order, where the plan is better than before; else back. It is lost if nobody waits for that
/// machine, or if the job is tabu, as the last min(10, half the jobs) are that were taken in this search.
///
/// *Swift Gap* does the same, but compares by the weight Σⱼ (Aⱼ − Bⱼ) / Aⱼ > 0 of completions in the old plan, A, and in the
/// new, B. Since a reservation that is not moved stays, only the job in question has a term in it.
///
/// Under BGT and Swift Gap, an early end compresses the plan, as under [`Conservative`](crate::Conservative); under Best Gap
/// it does not. What nobody expected has the same consequences as there. An operation is one search for the earliest start
/// of one job on one machine.
///
/// Source: the paper on Swift Gap, whose authors ran Alea 3.1; [`alea31`](crate::alea31) is that simulator to the digit.
#[derive(Clone, Debug)]
pub struct GapFilling {
    placement: Placement,
    judge: Judge,
    search: Option<Search>,
    plan: Reservations,
    ledger: Ledger,
    newcomers: Vec<Waiting>,
    period: Span,
    /// When the search is due next.
    next_search: Option<Time>,
}

/// The Tabu search, and what it remembers.
#[derive(Clone, Debug)]
struct Search {
    moves: Moves,
    stream: Stream,
    tabu: VecDeque<JobId>,
    /// How many wait for each machine, by rank.
    jobs: Vec<usize>,
    accepted: u64,
}

/// Rounds for each job that waits.
const ROUNDS: usize = 4;

const LONGEST_LIST: usize = 10;

impl GapFilling {
    /// Best Gap. Jobs that do not tell their user share one.
    pub fn best_gap(placement: Placement) -> Self {
        Self {
            placement,
            judge: Judge::Decision,
            search: None,
            plan: Reservations::default(),
            ledger: Ledger::default(),
            newcomers: Vec::new(),
            period: Span::from_secs(300),
            next_search: None,
        }
    }

    /// BGT: Best Gap and Tabu search, which draws from `stream`.
    pub fn bgt(placement: Placement, stream: Stream) -> Self {
        let search = Search::new(Moves::Any, stream);
        Self { search: Some(search), ..Self::best_gap(placement) }
    }

    /// Swift Gap, as R1, R2 and R3 have it; the search draws from `stream`.
    pub fn swift_gap(
        placement: Placement,
        (completion, weight, moves): (Completion, Weight, Moves),
        stream: Stream,
    ) -> Self {
        let search = Search::new(moves, stream);
        let judge = Judge::Completion(completion, weight);
        Self { judge, search: Some(search), ..Self::best_gap(placement) }
    }

    /// The same, where the plan is searched at each multiple of `period` instead of 300 s.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[must_use]
    pub fn with_period(self, period: Span) -> Self {
        assert!(!period.is_zero(), "a search takes place now and then, not all the time");
        Self { period, ..self }
    }

    /// When and where the job is planned to start, as of the last pass.
    pub fn planned(&self, job: JobId) -> Option<(Time, SiteId)> {
        self.plan.promised(job)
    }

    /// Jobs that the search has moved so far.
    pub fn moved(&self) -> u64 {
        self.search.as_ref().map_or(0, |search| search.accepted)
    }

    /// Plans the job in the best of the earliest gaps.
    fn place(&mut self, waiting: &Waiting, view: &GridView<'_>) {
        let mut best = None;
        self.ledger.sum_up(self.judge, &self.plan, view);
        for rank in self.plan.ranks() {
            let Some(slot) = self.plan.earliest_on(rank, &waiting.request, view.now) else { continue };
            let value = self.ledger.value(self.judge, waiting, (self.plan.machine(slot), slot.start), view);
            if best.as_ref().is_none_or(|(_, best)| self.judge.prefers(&value, best)) {
                best = Some((slot, value));
            }
        }
        self.plan.insert(*waiting, best.map(|(slot, _)| slot));
    }

    fn start_due(&mut self, now: Time, starts: &mut Vec<(JobId, SiteId)>) {
        let Self { plan, ledger, .. } = self;
        plan.start_due(now, |waiting, machine| {
            ledger.start(waiting.job, now);
            starts.push((waiting.job, machine));
        });
    }
}

impl Search {
    fn new(moves: Moves, stream: Stream) -> Self {
        Self { moves, stream, tabu: VecDeque::new(), jobs: Vec::new(), accepted: 0 }
    }

    /// Improves the plan, as `judge` sees it.
    fn improve(&mut self, plan: &mut Reservations, judge: Judge, ledger: &mut Ledger, view: &GridView<'_>) {
        self.tabu.clear();
        self.count(plan);
        ledger.sum_up(judge, plan, view);
        for _ in 0..ROUNDS * plan.held().len() {
            self.round(plan, judge, ledger, view);
        }
    }

    /// Tries to move one job.
    fn round(&mut self, plan: &mut Reservations, judge: Judge, ledger: &mut Ledger, view: &GridView<'_>) {
        let size = plan.held().len();
        let Some((number, from)) = self.choose(plan) else { return };
        let mut taken = plan.take(number);
        let waiting = taken.waiting;
        self.tabu.push_back(waiting.job);
        if self.tabu.len() > LONGEST_LIST.min(size / 2) {
            self.tabu.pop_front();
        }
        let at = |plan: &Reservations, slot: Slot| (plan.machine(slot), slot.start);
        ledger.remove(judge, &waiting, at(plan, from), view);
        let before = ledger.value(judge, &waiting, at(plan, from), view);
        let mut to = from;
        for rank in self.shuffled(plan.ranks().len()) {
            if rank == from.rank && self.moves == Moves::BetweenClusters {
                continue;
            }
            let slot = plan.earliest_on(rank, &waiting.request, view.now);
            let Some(slot) = slot.filter(|slot| *slot != from) else { continue };
            let after = ledger.value(judge, &waiting, at(plan, slot), view);
            if judge.prefers(&after, &before) {
                to = slot;
                self.accepted += 1;
                break;
            }
        }
        self.jobs[from.rank] -= 1;
        self.jobs[to.rank] += 1;
        ledger.add(judge, &waiting, at(plan, to), view);
        taken.slot = Some(to);
        plan.put_back(taken);
    }

    /// A random job of a random machine, by its number in the plan, if there is one and it is not tabu.
    fn choose(&mut self, plan: &Reservations) -> Option<(usize, Slot)> {
        let rank = self.stream.random_range(0..plan.ranks().len());
        if self.jobs[rank] == 0 {
            return None;
        }
        loop {
            let number = self.stream.random_range(0..plan.held().len());
            let held = &plan.held()[number];
            if let Some(slot) = held.slot.filter(|slot| slot.rank == rank) {
                return (!self.tabu.contains(&held.waiting.job)).then_some((number, slot));
            }
        }
    }

    /// Counts the jobs that wait for each machine.
    fn count(&mut self, plan: &Reservations) {
        self.jobs.clear();
        self.jobs.resize(plan.ranks().len(), 0);
        plan.held().iter().filter_map(|held| held.slot).for_each(|slot| self.jobs[slot.rank] += 1);
    }

    /// The machines, in random order.
    fn shuffled(&mut self, machines: usize) -> Vec<usize> {
        let mut order = Vec::with_capacity(machines);
        for rank in 0..machines {
            let place = self.stream.random_range(0..=rank);
            order.push(rank);
            order.swap(place, rank);
        }
        order
    }
}

impl Scheduler for GapFilling {
    fn begin(&mut self, view: &GridView<'_>) {
        self.plan = Reservations::new(view.machines, self.placement);
    }

    /// # Panics
    ///
    /// If the job has no estimate: then nothing can be planned.
    fn arrive(&mut self, job: &Waiting, submit: Time, _: &GridView<'_>) {
        self.ledger.arrive(job, submit);
        self.newcomers.push(*job);
    }

    fn finish(&mut self, job: &RunningJob, machine: SiteId, view: &GridView<'_>) {
        self.ledger.finish(job.job, view.now);
        self.plan.finish(job, machine, view);
    }

    fn down(&mut self, machine: SiteId, lost: &[RunningJob], view: &GridView<'_>) {
        for job in lost {
            self.ledger.lose(job.job, view.now);
        }
        self.plan.look_again(machine, view);
    }

    fn up(&mut self, machine: SiteId, view: &GridView<'_>) {
        self.plan.look_again(machine, view);
    }

    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        self.plan.update(self.search.is_some(), view);
        for waiting in std::mem::take(&mut self.newcomers) {
            self.place(&waiting, view);
        }
        self.start_due(view.now, starts);
        if let Some(search) = &mut self.search {
            if self.next_search == Some(view.now) && self.plan.held().len() > 1 {
                search.improve(&mut self.plan, self.judge, &mut self.ledger, view);
                self.start_due(view.now, starts);
            }
            let period = self.period.as_nanos();
            let next = (view.now.as_nanos() / period + 1).checked_mul(period).map(Time::from_nanos);
            // Those who can never start, as far as is known, are no reason to search.
            let is_worth_it = self.plan.held().len() > 1 && self.plan.next_start().is_some();
            self.next_search = next.filter(|_| is_worth_it);
        }
    }

    fn wake(&self) -> Option<Time> {
        [self.plan.next_start(), self.next_search].into_iter().flatten().min()
    }

    fn operations(&self) -> u64 {
        self.plan.operations()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Machine;
    use crate::running::Running;
    use proptest::prelude::*;
    use sim_core::{Job, Purpose, Streams};

    proptest! {
        /// Of a search in earnest, each round: the plan is weighed as a whole, which no round does.
        #[test]
        fn no_round_of_the_search_makes_the_plan_worse(
            speeds in prop::collection::vec(1..4_u8, 1..5),
            jobs in prop::collection::vec((1..5_u32, 1..40_u64, 0..3_u32), 2..30),
            seed in any::<u64>(),
            decides in any::<bool>(),
        ) {
            let machines: Vec<Machine> =
                speeds.into_iter().map(|speed| Machine { processors: 4, speed: speed.into() }).collect();
            let (free, running) = (vec![4; machines.len()], vec![Running::new(); machines.len()]);
            let view = GridView { now: Time::ZERO, machines: &machines, free: &free, running: &running };
            let stream = Streams::new(seed, 0).stream(Purpose("search"), 0);
            let mut policy = if decides {
                GapFilling::bgt(Placement::FirstFit, stream)
            } else {
                let readings = (Completion::FromSubmission, Weight::SumOfRatios, Moves::Any);
                GapFilling::swift_gap(Placement::FirstFit, readings, stream)
            };
            policy.begin(&view);
            for (id, (processors, runtime, user)) in (0..).zip(&jobs) {
                let Job { id, mut request, .. } = Job::new(JobId(id), Time::ZERO, *processors, Span::from_secs(*runtime));
                request.user = Some(*user);
                let waiting = Waiting { job: id, request };
                policy.arrive(&waiting, Time::ZERO, &view);
                // In no good order, so that there is something to improve.
                let slot = policy.plan.earliest_on(0, &request, Time::from_secs(10));
                policy.plan.insert(waiting, slot);
            }
            let GapFilling { judge, search, mut plan, mut ledger, .. } = policy;
            let mut search = search.expect("both search");
            search.count(&plan);
            ledger.sum_up(judge, &plan, &view);
            for _ in 0..100 {
                let (before, accepted) = (plan.clone(), search.accepted);
                search.round(&mut plan, judge, &mut ledger, &view);
                let slot = |plan: &Reservations, job: JobId| {
                    plan.held().iter().find(|held| held.waiting.job == job).and_then(|held| held.slot).expect("it waits")
                };
                let moved: Vec<Waiting> = (before.held().iter().map(|held| held.waiting))
                    .filter(|waiting| slot(&plan, waiting.job) != slot(&before, waiting.job))
                    .collect();
                prop_assert_eq!(moved.len() as u64, search.accepted - accepted);
                if let [moved] = moved[..] {
                    let value = |plan: &Reservations| {
                        let slot = slot(plan, moved.job);
                        let planned = (plan.machine(slot), slot.start);
                        let mut ledger = ledger.clone();
                        ledger.sum_up(judge, plan, &view);
                        ledger.remove(judge, &moved, planned, &view);
                        ledger.value(judge, &moved, planned, &view)
                    };
                    let (old, new) = (value(&before), value(&plan));
                    prop_assert!(judge.prefers(&new, &old), "{old:?} {new:?}");
                    prop_assert!(!judge.prefers(&old, &new), "{old:?} {new:?}");
                }
            }
        }
    }
}
