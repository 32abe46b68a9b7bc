//! Tabu search: late jobs are moved into earlier gaps of a plan.

use super::gaps::{GapBound, Gaps};
use super::{Plan, PlannedJob};
use crate::machine::site;
use serde::{Deserialize, Serialize};
use sim_core::{JobId, Time};
use std::collections::VecDeque;

/// Tabu search of §3.3: moves late jobs into earlier gaps, as long as that improves the plan.
///
/// One iteration takes the last late job that is not tabu from the machine with the most late jobs, makes it tabu, and
/// looks for its earliest gap on one machine after the other, by index, its own included. The first that gives the whole
/// plan a [weight](super::Score::weight_over) above zero is kept; if none does, the job stays where it was. It ends
/// when no late job is left that is not tabu, or after a number of iterations.
///
/// A move is taking the job out, which is undone exactly, and then filling a gap, which delays no job and is therefore
/// weighed without being done.
#[derive(Clone, Debug)]
pub struct Tabu {
    bound: GapBound,
    choice: TabuChoice,
    memory: TabuMemory,
    iterations: u32,
    length: usize,
    /// Oldest first.
    list: VecDeque<JobId>,
    counts: TabuCounts,
    exhausted: Vec<usize>,
}

sim_core::answers! {
    /// Which job of the machine is moved: reading R11.
    pub enum TabuChoice {
        /// The last one that will be late.
        LastLate,
        /// The last one.
        Last,
    }
}

sim_core::answers! {
    /// What becomes of the tabu list between two calls: part of reading R12.
    pub enum TabuMemory {
        /// Every call starts with an empty list.
        Cleared,
        /// The list goes on.
        Kept,
    }
}

/// Counts of the search.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TabuCounts {
    /// Jobs that were selected.
    pub iterations: u64,
    /// Gaps for them that were weighed.
    pub tried: u64,
    /// Gaps that were taken.
    pub accepted: u64,
    /// Elementary operations: planned or running jobs, steps of idle processors, and machines looked at.
    pub operations: u64,
}

impl Default for Tabu {
    fn default() -> Self {
        Self::new()
    }
}

impl Tabu {
    /// The search with the default readings: at most 10 iterations, a list of 10, cleared at each call.
    pub fn new() -> Self {
        Self {
            bound: GapBound::default(),
            choice: TabuChoice::default(),
            memory: TabuMemory::default(),
            iterations: 10,
            length: 10,
            list: VecDeque::new(),
            counts: TabuCounts::default(),
            exhausted: Vec::new(),
        }
    }

    /// The same, with another reading of how late a gap may start (R8).
    #[must_use]
    pub fn with_bound(self, bound: GapBound) -> Self {
        Self { bound, ..self }
    }

    /// The same, moving other jobs (R11).
    #[must_use]
    pub fn with_choice(self, choice: TabuChoice) -> Self {
        Self { choice, ..self }
    }

    /// The same, with at most `iterations` per call, and a list of `length` jobs, kept or not (R12).
    #[must_use]
    pub fn with_limits(self, iterations: u32, length: usize, memory: TabuMemory) -> Self {
        Self { iterations, length, memory, ..self }
    }

    /// The same, with at most `iterations` per call.
    #[must_use]
    pub fn with_iterations(self, iterations: u32) -> Self {
        Self { iterations, ..self }
    }

    /// Its counts, over all calls.
    pub const fn counts(&self) -> TabuCounts {
        self.counts
    }

    /// Improves the plan.
    pub fn improve(&mut self, plan: &mut Plan, now: Time) {
        if self.memory == TabuMemory::Cleared {
            self.list.clear();
        }
        for _ in 0..self.iterations {
            if !self.iterate(plan, now) {
                break;
            }
        }
    }

    /// One iteration. `false` if there is no job to move.
    fn iterate(&mut self, plan: &mut Plan, now: Time) -> bool {
        let Some((machine, position)) = self.select(plan) else {
            return false;
        };
        self.counts.iterations += 1;
        let before = plan.score();
        let part = &plan.machines[machine];
        self.counts.operations += (part.running.len() + part.planned.len()) as u64;
        let taken = plan.take(machine, position, now);
        let job = taken.job;
        self.list.push_back(job.id);
        while self.list.len() > self.length {
            self.list.pop_front();
        }
        let without = plan.score();
        let gaps = Gaps::new(plan, &job, now, self.bound);
        let better = (0..plan.machines.len()).find_map(|index| {
            self.counts.operations += 1;
            let span = gaps.span(index)?;
            let start = gaps.start(index, span, Time::MAX, &mut self.counts.operations)?;
            self.counts.tried += 1;
            let end = start + span;
            let weight = without.with(end, job.is_met_by(end)).weight_over(&before);
            (weight > 0.0).then_some((index, start))
        });
        if let Some((index, start)) = better {
            let gap = plan.machines[index].gap_at(start, &job);
            plan.fill(site(index), &gap, job, now);
            self.counts.accepted += 1;
        } else {
            plan.put_back(taken);
        }
        true
    }

    /// The next job to move: machine and number in its list.
    fn select(&mut self, plan: &Plan) -> Option<(usize, usize)> {
        self.exhausted.clear();
        loop {
            let mut most: Option<(usize, u32)> = None;
            for (index, summary) in plan.summaries.iter().enumerate() {
                if summary.late > most.map_or(0, |(_, late)| late) && !self.exhausted.contains(&index) {
                    most = Some((index, summary.late));
                }
            }
            let (machine, _) = most?;
            let planned = &plan.machines[machine].planned;
            let eligible = |planned: &PlannedJob| {
                (self.choice == TabuChoice::Last || !planned.is_on_time()) && !self.list.contains(&planned.job.id)
            };
            if let Some(position) = planned.iter().rposition(eligible) {
                self.counts.operations += (planned.len() - position) as u64;
                return Some((machine, position));
            }
            self.counts.operations += planned.len() as u64;
            self.exhausted.push(machine);
        }
    }
}
