//! The search that improves a plan: [`Search`].

use super::floor::Floor;
use super::judge::{Judge, Value};
use super::lane::Lane;
use super::plan::{Plan, View};
use super::readings::{Acceptance, Moves, Pick, Readings, Rounds, Suitability};
use super::score::Ledger;
use rand::RngExt;
use sim_core::{Stream, Time};
use std::collections::VecDeque;

/// Tabu search: takes a job out of the plan and puts it where it fits first on another cluster or the same, and lets it stay
/// if that makes a better plan.
///
/// A job that was taken is tabu until min(10, half the plan) others have been; a round that takes a tabu job, or finds a
/// cluster for which nobody waits, is lost.
#[derive(Clone, Debug)]
pub(super) struct Search {
    moves: Moves,
    pick: Pick,
    rounds: Rounds,
    acceptance: Acceptance,
    keeps_to_suitable: bool,
    stream: Stream,
    tabu: VecDeque<usize>,
    longest_list: usize,
    /// What [`Pick`] puts in order, and how far it has come.
    order: Vec<usize>,
    next: usize,
    /// The lanes that a move changes, kept for their memory only.
    source: Lane,
    target: Lane,
    clusters: Vec<usize>,
}

/// Rounds for each job that waits.
const ROUNDS: usize = 4;

/// A search that goes on while it gains ends after so many rounds for each job that waits.
const MOST_ROUNDS: usize = 64;

const LONGEST_LIST: usize = 10;

impl Search {
    /// As `readings` have it, drawing from `stream`.
    pub(super) fn new(readings: &Readings, stream: Stream) -> Self {
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
            source: Lane::default(),
            target: Lane::default(),
            clusters: Vec::new(),
        }
    }

    /// Improves `plan` as `judge` sees it.
    pub(super) fn improve(&mut self, plan: &mut Plan, judge: Judge, ledger: &mut Ledger, now: Time, floor: &Floor) {
        let size = plan.len();
        if size < 2 {
            return;
        }
        plan.update(now, floor);
        self.tabu.clear();
        self.longest_list = LONGEST_LIST.min(size / 2);
        self.order.clear();
        self.next = 0;
        let mut value = judge.value(&View::of(plan), ledger, floor);
        match self.acceptance {
            Acceptance::EachMove => self.move_by_move(plan, Judged { judge, ledger, value: &mut value }, now, floor),
            Acceptance::WholePass => self.pass_by_pass(plan, Judged { judge, ledger, value: &mut value }, now, floor),
        }
    }

    /// Moves that are better stay.
    fn move_by_move(&mut self, plan: &mut Plan, mut judged: Judged<'_>, now: Time, floor: &Floor) {
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
            if let Some(taken) = self.take(plan, judged.judge, floor)
                && self.relocate(plan, taken, Some(&mut judged), now, floor)
            {
                idle = 0;
            }
        }
    }

    /// All moves are made, and all stay if the plan is better in the end.
    fn pass_by_pass(&mut self, plan: &mut Plan, mut judged: Judged<'_>, now: Time, floor: &Floor) {
        let size = plan.len();
        let (passes, rounds) = match self.rounds {
            Rounds::FourTimes | Rounds::EarlyEnds => (1, ROUNDS * size),
            Rounds::UntilNoGain => (MOST_ROUNDS, size),
            Rounds::PerArrival => (1, 1),
        };
        for _ in 0..passes {
            let before = plan.lanes.clone();
            for _ in 0..rounds {
                if let Some(taken) = self.take(plan, judged.judge, floor) {
                    self.relocate(plan, taken, None, now, floor);
                }
            }
            if !judged.is_better(&View::of(plan), floor) {
                plan.lanes = before;
                break;
            }
        }
    }

    /// The next job to move, if it is not tabu: its cluster, and its place there.
    fn take(&mut self, plan: &Plan, judge: Judge, floor: &Floor) -> Option<(usize, usize)> {
        let (cluster, place) = match self.pick {
            Pick::Random => {
                let cluster = self.stream.random_range(0..plan.lanes.len());
                let jobs = plan.lanes[cluster].len();
                if jobs == 0 {
                    return None;
                }
                (cluster, self.stream.random_range(0..jobs))
            }
            Pick::ListOrder | Pick::WorstFirst => {
                if self.next == self.order.len() {
                    self.put_in_order(plan, judge, floor);
                }
                let job = self.order[self.next];
                self.next += 1;
                plan.find(job)
            }
        };
        let job = plan.lanes[cluster].job(place);
        if self.tabu.contains(&job) {
            return None;
        }
        self.tabu.push_back(job);
        if self.tabu.len() > self.longest_list {
            self.tabu.pop_front();
        }
        Some((cluster, place))
    }

    fn put_in_order(&mut self, plan: &Plan, judge: Judge, floor: &Floor) {
        self.next = 0;
        self.order.clear();
        if self.pick == Pick::ListOrder {
            self.order.extend(plan.lanes.iter().flat_map(Lane::jobs));
        } else {
            let planned = plan.lanes.iter().flat_map(Lane::planned);
            let mut ends: Vec<_> = planned.map(|(job, start)| (judge.completion(job, start, floor), job)).collect();
            ends.sort_by_key(|(completion, _)| std::cmp::Reverse(*completion));
            self.order.extend(ends.into_iter().map(|(_, job)| job));
        }
    }

    /// The order in which clusters are tried.
    fn shuffle(&mut self, clusters: usize) {
        self.clusters.clear();
        for cluster in 0..clusters {
            let place = self.stream.random_range(0..=cluster);
            self.clusters.push(cluster);
            self.clusters.swap(place, cluster);
        }
    }

    /// Moves the job in this place to the first of the shuffled clusters where that is better, or to the first that suits if
    /// nobody judges. Whether it was moved.
    fn relocate(
        &mut self,
        plan: &mut Plan,
        (from, place): (usize, usize),
        mut judged: Option<&mut Judged<'_>>,
        now: Time,
        floor: &Floor,
    ) -> bool {
        let job = plan.lanes[from].job(place);
        self.shuffle(plan.lanes.len());
        self.source.copy(&plan.lanes[from]);
        self.source.remove(place);
        for &to in &self.clusters {
            let suits = if self.keeps_to_suitable { floor.suits(to, job) } else { floor.is_wide_enough(to, job) };
            if !suits || to == from && self.moves == Moves::BetweenClusters {
                continue;
            }
            let fit = if to == from {
                self.source.update(from, now, floor);
                self.source.fit(floor.job(job))
            } else {
                plan.lanes[to].fit(floor.job(job))
            };
            if to == from && fit.place == place {
                continue; // the very same plan
            }
            self.target.copy(if to == from { &self.source } else { &plan.lanes[to] });
            self.target.insert(fit.place, job, floor);
            let is_better = judged.as_mut().is_none_or(|judged| {
                self.source.try_out(from, now, floor);
                self.target.try_out(to, now, floor);
                judged.is_better(&View::of(plan).with(to, &self.target).with(from, &self.source), floor)
            });
            if is_better {
                std::mem::swap(&mut plan.lanes[to], &mut self.target);
                if to != from {
                    std::mem::swap(&mut plan.lanes[from], &mut self.source);
                }
                plan.update(now, floor);
                return true;
            }
        }
        false
    }
}

/// Who judges a move, and the plan as it stands.
struct Judged<'a> {
    judge: Judge,
    ledger: &'a mut Ledger,
    value: &'a mut Value,
}

impl Judged<'_> {
    /// Whether the plan would be better so. If it is, that is what later plans are compared with.
    fn is_better(&mut self, tried: &View<'_>, floor: &Floor) -> bool {
        let new = self.judge.value(tried, self.ledger, floor);
        let is_better = self.judge.prefers(&new, self.value);
        if is_better {
            *self.value = new;
        }
        is_better
    }
}
