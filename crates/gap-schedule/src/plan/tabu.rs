//! Tabu search, which moves late jobs into earlier gaps of a plan.

use super::{GapBound, Gaps, Plan, PlannedJob};
use sim_core::{JobId, Time};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Tabu search of §3.3: moves late jobs into earlier gaps, as long as that improves the plan.
///
/// One iteration takes the last late job that is not tabu from the machine with the most late jobs, makes it tabu, and
/// searches its earliest gap on one machine after the other, by index, its own included. The first gap that gives the
/// whole plan a weight above zero is kept; if none does, the job stays in place. The
/// search ends when every late job is tabu, or after a number of iterations.
///
/// A move removes the job, which is undone by a copy of its machine's part, and then fills a gap. Filling delays no job,
/// so its weight is computed without doing it.
#[derive(Clone, Debug)]
pub struct Tabu {
    /// Latest start of a gap: reading R8.
    pub bound: GapBound,
    /// Job to move: reading R11.
    pub choice: TabuChoice,
    /// State of the list between two calls: part of reading R12, like the next two.
    pub memory: TabuMemory,
    /// Largest number of iterations per call.
    pub iterations: u32,
    /// Largest number of jobs in the list.
    pub length: usize,
    /// Tabu jobs, oldest first.
    list: VecDeque<JobId>,
    /// Counts over all calls.
    pub counts: TabuCounts,
}

sim_core::answers! {
    /// Job of the machine that is moved: reading R11.
    pub enum TabuChoice {
        /// The last job that will be late.
        LastLate,
        /// The last job.
        Last,
    }
}

sim_core::answers! {
    /// State of the tabu list between two calls: part of reading R12.
    pub enum TabuMemory {
        /// Every call starts with an empty list.
        Cleared,
        /// The list is kept.
        Kept,
    }
}

/// Counts of the search.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct TabuCounts {
    /// Number of selected jobs.
    pub iterations: u64,
    /// Number of gaps weighed for them.
    pub tried: u64,
    /// Number of gaps taken.
    pub accepted: u64,
    /// Number of elementary operations: visits of planned or running jobs, of steps of idle processors, and of machines.
    pub operations: u64,
}

impl Default for Tabu {
    /// Returns the search with the default readings: at most 10 iterations, a list of 10, cleared at each call.
    fn default() -> Self {
        Self {
            bound: GapBound::default(),
            choice: TabuChoice::default(),
            memory: TabuMemory::default(),
            iterations: 10,
            length: 10,
            list: VecDeque::new(),
            counts: TabuCounts::default(),
        }
    }
}

impl Tabu {
    pub(super) fn improve(&mut self, plan: &mut Plan, now: Time) {
        if self.memory == TabuMemory::Cleared {
            self.list.clear();
        }
        for _ in 0..self.iterations {
            let Some((machine, position)) = self.select(plan) else { break };
            self.counts.iterations += 1;
            let before = plan.score();
            let part = plan.machines[machine].clone();
            self.counts.operations += (part.running.len() + part.planned.len()) as u64;
            let job = plan.machines[machine].remove(position, now);
            self.list.push_back(job.job);
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
                plan.machines[index].fill(start, job, now);
                self.counts.accepted += 1;
            } else {
                plan.machines[machine] = part;
            }
        }
    }

    /// Returns the next job to move: its machine and its index in the list.
    fn select(&mut self, plan: &Plan) -> Option<(usize, usize)> {
        let late = |machine: &usize| plan.machines[*machine].late;
        let mut open: Vec<usize> = (0..plan.machines.len()).filter(|machine| late(machine) > 0).collect();
        // Stable: the first of equals comes first.
        open.sort_by_key(|machine| Reverse(late(machine)));
        open.into_iter().find_map(|machine| {
            let planned = &plan.machines[machine].planned;
            let eligible = |planned: &PlannedJob| {
                (self.choice == TabuChoice::Last || !planned.is_on_time()) && !self.list.contains(&planned.job.job)
            };
            let position = planned.iter().rposition(eligible);
            self.counts.operations += (planned.len() - position.unwrap_or(0)) as u64;
            Some((machine, position?))
        })
    }
}
