//! The search that improves a plan: [`Search`].

use crate::clock::Clock;
use crate::comparator::{PlanComparator, PlanCost};
use crate::job::JobIndex;
use crate::plan::{Plan, PlanView};
use crate::readings::{Acceptance, Moves, Pick, Readings, Rounds, Suitability};
use crate::schedule::ClusterSchedule;
use crate::state::GridState;
use crate::usage::UserUsage;
use rand::RngExt;
use sim_core::{SiteId, Stream};
use std::collections::VecDeque;

/// Tabu search: takes a job out of the plan and puts it where it fits first on another cluster or the same, and lets it stay
/// if that makes a better plan.
///
/// A job that was taken is tabu until min(10, half the plan) others have been; a round that takes a tabu job, or finds a
/// cluster for which nobody waits, is lost.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    moves: Moves,
    pick: Pick,
    rounds: Rounds,
    acceptance: Acceptance,
    keeps_to_suitable: bool,
    stream: Stream,
    tabu: VecDeque<JobIndex>,
    longest_list: usize,
    /// What [`Pick`] puts in order, and how far it has come.
    order: Vec<JobIndex>,
    next: usize,
    /// The schedules that a move changes; scratch buffers, reused across calls.
    source: ClusterSchedule,
    target: ClusterSchedule,
    clusters: Vec<SiteId>,
}

/// Rounds for each job that waits.
const ROUNDS: usize = 4;

/// A search that goes on while it gains ends after so many rounds for each job that waits.
const MOST_ROUNDS: usize = 64;

const LONGEST_LIST: usize = 10;

impl Search {
    /// As `readings` have it, drawing from `stream`.
    pub(crate) fn new(readings: &Readings, stream: Stream) -> Self {
        let Readings { moves, pick, rounds, acceptance, suitability, .. } = *readings;
        Self {
            moves,
            pick,
            rounds,
            acceptance,
            keeps_to_suitable: matches!(suitability, Suitability::Checked | Suitability::NotInFilling),
            stream,
            tabu: VecDeque::new(),
            longest_list: 0,
            order: Vec::new(),
            next: 0,
            source: ClusterSchedule::default(),
            target: ClusterSchedule::default(),
            clusters: Vec::new(),
        }
    }

    /// Improves `plan` as `comparator` sees it.
    pub(crate) fn improve(
        &mut self,
        plan: &mut Plan,
        comparator: PlanComparator,
        usage: &mut UserUsage,
        now: Clock,
        state: &GridState,
    ) {
        let size = plan.len();
        if size < 2 {
            return;
        }
        plan.update(now, state);
        self.tabu.clear();
        self.longest_list = LONGEST_LIST.min(size / 2);
        self.order.clear();
        self.next = 0;
        let mut cost = comparator.cost(&PlanView::of(plan), usage, state);
        match self.acceptance {
            Acceptance::EachMove => {
                self.move_by_move(plan, Incumbent { comparator, usage, cost: &mut cost }, now, state)
            }
            Acceptance::WholePass => {
                self.pass_by_pass(plan, Incumbent { comparator, usage, cost: &mut cost }, now, state)
            }
        }
    }

    /// Moves that are better stay.
    fn move_by_move(&mut self, plan: &mut Plan, mut incumbent: Incumbent<'_>, now: Clock, state: &GridState) {
        let size = plan.len();
        let (most, patience) = match self.rounds {
            Rounds::FourTimes | Rounds::EarlyEnds => (ROUNDS * size, usize::MAX),
            Rounds::UntilNoGain => (MOST_ROUNDS * size, size),
            Rounds::PerArrival => (1, usize::MAX),
        };
        let mut idle = 0;
        for _ in 0..most {
            if idle == patience {
                break;
            }
            idle += 1;
            if let Some(taken) = self.take(plan, incumbent.comparator, state)
                && self.relocate(plan, taken, Some(&mut incumbent), now, state)
            {
                idle = 0;
            }
        }
    }

    /// All moves are made, and all stay if the plan is better in the end.
    fn pass_by_pass(&mut self, plan: &mut Plan, mut incumbent: Incumbent<'_>, now: Clock, state: &GridState) {
        let size = plan.len();
        let (passes, rounds) = match self.rounds {
            Rounds::FourTimes | Rounds::EarlyEnds => (1, ROUNDS * size),
            Rounds::UntilNoGain => (MOST_ROUNDS, size),
            Rounds::PerArrival => (1, 1),
        };
        for _ in 0..passes {
            let before = plan.clone();
            for _ in 0..rounds {
                if let Some(taken) = self.take(plan, incumbent.comparator, state) {
                    self.relocate(plan, taken, None, now, state);
                }
            }
            if !incumbent.is_better(&PlanView::of(plan), state) {
                plan.clone_from(&before);
                break;
            }
        }
    }

    /// The next job to move, if it is not tabu: its cluster, and its place there.
    fn take(&mut self, plan: &Plan, comparator: PlanComparator, state: &GridState) -> Option<(SiteId, usize)> {
        let (cluster, place) = match self.pick {
            Pick::Random => {
                let cluster = site(self.stream.random_range(0..state.clusters().len()));
                let jobs = plan.schedule(cluster).len();
                if jobs == 0 {
                    return None;
                }
                (cluster, self.stream.random_range(0..jobs))
            }
            Pick::ListOrder | Pick::WorstFirst => {
                if self.next == self.order.len() {
                    self.put_in_order(plan, comparator, state);
                }
                let job = self.order[self.next];
                self.next += 1;
                plan.find(job)
            }
        };
        let job = plan.schedule(cluster).job(place);
        if self.tabu.contains(&job) {
            return None;
        }
        self.tabu.push_back(job);
        if self.tabu.len() > self.longest_list {
            self.tabu.pop_front();
        }
        Some((cluster, place))
    }

    fn put_in_order(&mut self, plan: &Plan, comparator: PlanComparator, state: &GridState) {
        self.next = 0;
        self.order.clear();
        if self.pick == Pick::ListOrder {
            self.order.extend(plan.schedules().flat_map(|(_, schedule)| schedule.jobs()));
        } else {
            let planned = plan.schedules().flat_map(|(_, schedule)| schedule.planned());
            let mut ends: Vec<_> =
                planned.map(|(job, start)| (comparator.completion(job, start, state), job)).collect();
            ends.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            self.order.extend(ends.into_iter().map(|(_, job)| job));
        }
    }

    /// The order in which clusters are tried.
    fn shuffle(&mut self, clusters: usize) {
        self.clusters.clear();
        for cluster in 0..clusters {
            let place = self.stream.random_range(0..=cluster);
            self.clusters.push(site(cluster));
            self.clusters.swap(place, cluster);
        }
    }

    /// Moves the job in this place to the first of the shuffled clusters where that is better, or to the first that suits if
    /// nobody compares. Whether it was moved.
    fn relocate(
        &mut self,
        plan: &mut Plan,
        (from, place): (SiteId, usize),
        mut incumbent: Option<&mut Incumbent<'_>>,
        now: Clock,
        state: &GridState,
    ) -> bool {
        let job = plan.schedule(from).job(place);
        self.shuffle(state.clusters().len());
        self.source.copy(plan.schedule(from));
        self.source.remove(place);
        for &to in &self.clusters {
            let suits = if self.keeps_to_suitable { state.suits(to, job) } else { state.is_wide_enough(to, job) };
            if !suits || to == from && self.moves == Moves::BetweenClusters {
                continue;
            }
            let fit = if to == from {
                self.source.update(from, now, state);
                self.source.earliest_fit(state.request(job))
            } else {
                plan.schedule(to).earliest_fit(state.request(job))
            };
            if to == from && fit.place == place {
                continue; // the very same plan
            }
            self.target.copy(if to == from { &self.source } else { plan.schedule(to) });
            self.target.insert(fit.place, job, state);
            let is_better = incumbent.as_mut().is_none_or(|incumbent| {
                self.source.update_starts(from, now, state);
                self.target.update_starts(to, now, state);
                incumbent.is_better(&PlanView::of(plan).with(to, &self.target).with(from, &self.source), state)
            });
            if is_better {
                std::mem::swap(plan.schedule_mut(to), &mut self.target);
                if to != from {
                    std::mem::swap(plan.schedule_mut(from), &mut self.source);
                }
                plan.update(now, state);
                return true;
            }
        }
        false
    }
}

fn site(cluster: usize) -> SiteId {
    SiteId(u32::try_from(cluster).expect("at most 127 clusters"))
}

/// What the plan as it stands costs, and who compares it with others.
struct Incumbent<'a> {
    comparator: PlanComparator,
    usage: &'a mut UserUsage,
    cost: &'a mut PlanCost,
}

impl Incumbent<'_> {
    /// Whether the plan would be better so. If it is, that is what later plans are compared with.
    fn is_better(&mut self, tried: &PlanView<'_>, state: &GridState) -> bool {
        let new = self.comparator.cost(tried, self.usage, state);
        let is_better = self.comparator.prefers(&new, self.cost);
        if is_better {
            *self.cost = new;
        }
        is_better
    }
}
