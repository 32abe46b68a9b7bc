//! Comparison of plans: [`ListComparator`], and the best one so far: [`Incumbent`].

use crate::job::JobIndex;
use crate::plan::ListPlan;
use crate::readings::{Completion, Weight};
use crate::state::GridState;
use crate::usage::{GUARD, MeanScore, UserLedger};

/// Compares plans of the same jobs.
#[derive(Copy, Clone, Debug)]
pub(crate) enum ListComparator {
    /// By [`MeanScore::decision`], as Best Gap does.
    Decision,
    /// By completion times, as Swift Gap does.
    Completion(Completion, Weight),
}

/// Cost of the best plan so far, of plans of the same jobs.
#[derive(Clone, Debug)]
pub(crate) struct Incumbent {
    pub(crate) comparator: ListComparator,
    /// `None` before the first plan.
    cost: Option<ListCost>,
    ranks: Ranks,
}

/// Measures of one plan that a comparator uses.
#[derive(Clone, Debug, Default)]
struct ListCost {
    score: MeanScore,
    /// Planned completions in seconds, by the ranks of jobs; empty if the comparator does not use them.
    completions: Vec<f64>,
}

/// Ranks of the jobs of a plan, in order of submission: gains are summed in that order, independent of the plan.
#[derive(Clone, Debug, Default)]
struct Ranks {
    jobs: Vec<JobIndex>,
    /// Rank by job, for the jobs that are in the plan.
    rank_of: Vec<usize>,
}

impl Ranks {
    fn rank(&mut self, jobs: impl Iterator<Item = JobIndex>) {
        self.jobs.clear();
        self.jobs.extend(jobs);
        self.jobs.sort_unstable();
        let jobs = self.jobs.last().map_or(0, |last| last.index() + 1);
        self.rank_of.resize(self.rank_of.len().max(jobs), 0);
        for (rank, job) in self.jobs.iter().enumerate() {
            self.rank_of[job.index()] = rank;
        }
    }
}

impl Incumbent {
    /// Returns the state before the first plan.
    pub(crate) fn new(comparator: ListComparator) -> Self {
        Self { comparator, cost: None, ranks: Ranks::default() }
    }

    /// Forgets the best plan. From now on, plans of these jobs are compared.
    pub(crate) fn restart(&mut self, jobs: impl Iterator<Item = JobIndex>) {
        self.cost = None;
        if matches!(self.comparator, ListComparator::Completion(..)) {
            self.ranks.rank(jobs);
        }
    }

    /// Returns true if an updated plan is better, and then makes it the incumbent. The first plan is.
    pub(crate) fn is_worse_than(&mut self, tried: &ListPlan, usage: &mut UserLedger, state: &GridState) -> bool {
        let tried = self.comparator.assess(tried, &self.ranks, usage, state);
        let is_better = self.cost.as_ref().is_none_or(|cost| self.comparator.prefers(&tried, cost));
        if is_better {
            self.cost = Some(tried);
        }
        is_better
    }
}

impl ListComparator {
    /// Returns the cost of a plan of the ranked jobs.
    fn assess(self, plan: &ListPlan, ranks: &Ranks, usage: &mut UserLedger, state: &GridState) -> ListCost {
        let mut cost = ListCost::default();
        if !matches!(self, Self::Completion(_, Weight::SumOfRatios | Weight::RatioOfSums)) {
            cost.score = usage.score(plan, state);
        }
        if matches!(self, Self::Completion(..)) {
            cost.completions.resize(ranks.jobs.len(), f64::NAN);
            for (job, start) in plan.schedules().flat_map(|(_, schedule)| schedule.planned()) {
                cost.completions[ranks.rank_of[job.index()]] = self.completion(job, start, state);
            }
        }
        cost
    }

    /// Returns the completion of a job that is planned to start at `start`: since its submission, or else by the clock.
    pub(crate) fn completion(self, job: JobIndex, start: f64, state: &GridState) -> f64 {
        let job = state.request(job);
        let from = match self {
            Self::Completion(Completion::AbsoluteClock, _) => 0.0,
            Self::Completion(Completion::FromSubmission, _) | Self::Decision => job.submit_seconds,
        };
        (start + job.planned_seconds - from).max(0.0)
    }

    /// Returns true if `new` is better than `old`: its weight is above zero.
    fn prefers(self, new: &ListCost, old: &ListCost) -> bool {
        match self {
            Self::Decision => old.score.decision(&new.score) > 0.0,
            Self::Completion(_, Weight::SumOfRatios) => sum_of_ratios(new, old) > 0.0,
            Self::Completion(_, Weight::RatioOfSums) => gain(new, old) > 0.0,
            Self::Completion(_, Weight::AddedToDecision) => {
                old.score.decision(&new.score) + sum_of_ratios(new, old) > 0.0
            }
        }
    }
}

/// Returns Σⱼ (Aⱼ − Bⱼ) / Aⱼ.
fn sum_of_ratios(new: &ListCost, old: &ListCost) -> f64 {
    pairs(new, old).map(|(a, b)| (a - b) / a.max(GUARD)).sum()
}

/// Returns Σⱼ (Aⱼ − Bⱼ), which has the sign of its ratio to Σⱼ Aⱼ.
fn gain(new: &ListCost, old: &ListCost) -> f64 {
    pairs(new, old).map(|(a, b)| a - b).sum()
}

/// Returns each job's completion in the old plan and in the new, in seconds.
fn pairs(new: &ListCost, old: &ListCost) -> impl Iterator<Item = (f64, f64)> {
    assert_eq!(old.completions.len(), new.completions.len(), "plans of the same jobs are compared");
    old.completions.iter().copied().zip(new.completions.iter().copied())
}
