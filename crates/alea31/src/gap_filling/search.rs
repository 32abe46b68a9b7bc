//! Search that improves a plan: [`ListSearch`].

use crate::gap_filling::comparator::{Incumbent, ListComparator};
use crate::plan::schedule::ClusterSchedule;
use crate::plan::usage::UserLedger;
use crate::plan::{ListPlan, site};
use crate::readings::{Acceptance, Moves, Pick, Readings, Rounds, Suitability};
use crate::state::{Clock, GridState, JobIndex};
use rand::RngExt;
use sim_core::{SiteId, Stream};
use std::collections::VecDeque;

/// Tabu search: removes a job from the plan and inserts it where it fits first on another cluster or the same, and
/// keeps the move if the plan is better.
///
/// A selected job is tabu until min(10, half the plan) others have been selected. A round fails if it selects a tabu
/// job, or a cluster for which no job waits.
#[derive(Clone, Debug)]
pub(crate) struct ListSearch {
    readings: Readings,
    stream: Stream,
    tabu: VecDeque<JobIndex>,
    longest_list: usize,
    /// Jobs to come, in the order of [`Pick`].
    order: VecDeque<JobIndex>,
    /// Schedules that a move changes; scratch buffers, reused across calls.
    source: ClusterSchedule,
    target: ClusterSchedule,
    clusters: Vec<SiteId>,
    incumbent: Incumbent,
    /// Number of plans so far: one more with each search, and with each kept move.
    plans: u64,
    /// By job: the last of these plans in which no cluster was better for it. As long as that plan stands, the job need
    /// not be tried again.
    kept: Vec<u64>,
}

/// Rounds for each waiting job.
const ROUNDS: usize = 4;

/// Rounds for each waiting job after which a search ends that continues while it gains.
const MOST_ROUNDS: usize = 64;

const LONGEST_LIST: usize = 10;

impl ListSearch {
    pub(crate) fn new(comparator: ListComparator, readings: Readings, stream: Stream) -> Self {
        Self {
            readings,
            stream,
            tabu: VecDeque::new(),
            longest_list: 0,
            order: VecDeque::new(),
            source: ClusterSchedule::default(),
            target: ClusterSchedule::default(),
            clusters: Vec::new(),
            incumbent: Incumbent::new(comparator),
            plans: 0,
            kept: Vec::new(),
        }
    }

    pub(crate) fn improve(&mut self, plan: &mut ListPlan, usage: &mut UserLedger, now: Clock, state: &GridState) {
        let size = plan.jobs().count();
        if size < 2 {
            return;
        }
        plan.update(now, state);
        self.tabu.clear();
        self.longest_list = LONGEST_LIST.min(size / 2);
        self.order.clear();
        self.plans += 1;
        self.kept.resize(state.submitted(), 0);
        self.incumbent.restart();
        self.incumbent.is_worse_than(plan, usage, state);
        let (passes, rounds) = match self.readings.rounds {
            Rounds::FourTimes | Rounds::EarlyEnds => (1, ROUNDS * size),
            Rounds::UntilNoGain => (MOST_ROUNDS, size),
            Rounds::PerArrival => (1, 1),
        };
        if self.readings.acceptance == Acceptance::EachMove {
            // Keeps every move that is better, and ends early when as many rounds as a pass has were idle.
            let mut idle = 0;
            for _ in 0..passes * rounds {
                let taken = self.take(plan, state);
                let has_moved = taken.is_some_and(|taken| self.relocate(plan, taken, Some(&mut *usage), now, state));
                idle = if has_moved { 0 } else { idle + 1 };
                if idle == rounds {
                    break;
                }
            }
            return;
        }
        // Makes all moves of a pass, and keeps all if the final plan is better.
        for _ in 0..passes {
            let before = plan.clone();
            for _ in 0..rounds {
                if let Some(taken) = self.take(plan, state) {
                    self.relocate(plan, taken, None, now, state);
                }
            }
            if !self.incumbent.is_worse_than(plan, usage, state) {
                plan.clone_from(&before);
                break;
            }
        }
    }

    /// Returns the next job to move, if it is not tabu: its cluster, and its place there.
    fn take(&mut self, plan: &ListPlan, state: &GridState) -> Option<(SiteId, usize)> {
        let (cluster, place) = match self.readings.pick {
            Pick::Random => {
                let cluster = site(self.stream.random_range(0..state.clusters().len()));
                let jobs = plan.schedule(cluster).len();
                if jobs == 0 {
                    return None;
                }
                (cluster, self.stream.random_range(0..jobs))
            }
            Pick::ListOrder | Pick::WorstFirst => {
                if self.order.is_empty() {
                    self.put_in_order(plan, state);
                }
                plan.find(self.order.pop_front().expect("jobs wait"))
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

    fn put_in_order(&mut self, plan: &ListPlan, state: &GridState) {
        if self.readings.pick == Pick::ListOrder {
            self.order.extend(plan.jobs());
        } else {
            let planned = plan.schedules().flat_map(|(_, schedule)| schedule.planned());
            let completion = |job, start| self.incumbent.comparator.completion(job, start, state);
            let mut ends: Vec<_> = planned.map(|(job, start)| (completion(job, start), job)).collect();
            ends.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            self.order.extend(ends.into_iter().map(|(_, job)| job));
        }
    }

    /// Shuffles the order in which clusters are tried.
    fn shuffle(&mut self, clusters: usize) {
        self.clusters.clear();
        for cluster in 0..clusters {
            let place = self.stream.random_range(0..=cluster);
            self.clusters.push(site(cluster));
            self.clusters.swap(place, cluster);
        }
    }

    /// Moves the job in this place to the first cluster, in random order, where that is better, or without `usage` to
    /// the first that suits. Returns true if it was moved.
    fn relocate(
        &mut self,
        plan: &mut ListPlan,
        (from, place): (SiteId, usize),
        mut usage: Option<&mut UserLedger>,
        now: Clock,
        state: &GridState,
    ) -> bool {
        let job = plan.schedule(from).job(place);
        // Drawn in any case, so that the skip below changes no later draw.
        self.shuffle(state.clusters().len());
        if usage.is_some() && self.kept[job.index()] == self.plans {
            return false;
        }
        self.source.copy(plan.schedule(from), place);
        self.source.remove(place);
        let keeps_to_suitable = matches!(self.readings.suitability, Suitability::Checked | Suitability::NotInFilling);
        for &to in &self.clusters {
            let suits = state.suits(to, job) || !keeps_to_suitable && state.is_wide_enough(to, job);
            if !suits || to == from && self.readings.moves == Moves::BetweenClusters {
                continue;
            }
            let rest = if to == from {
                self.source.update(from, now, state);
                &self.source
            } else {
                plan.schedule(to)
            };
            let next = rest.earliest_place(state.request(job));
            if to == from && next == place {
                continue; // the very same plan
            }
            self.target.copy(rest, next);
            self.target.insert(next, job, state);
            let mut exchange = |plan: &mut ListPlan| {
                plan.swap(to, &mut self.target);
                if to != from {
                    plan.swap(from, &mut self.source);
                }
            };
            exchange(plan);
            let is_better = usage.as_mut().is_none_or(|usage| {
                plan.schedule_mut(from).update_starts(from, now, state);
                plan.schedule_mut(to).update_starts(to, now, state);
                self.incumbent.is_worse_than(plan, usage, state)
            });
            if is_better {
                plan.update(now, state);
                self.plans += 1;
                return true;
            }
            exchange(plan);
        }
        self.kept[job.index()] = self.plans;
        false
    }
}
