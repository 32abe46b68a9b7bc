//! Which of two plans is better: [`PlanComparator`].

use crate::job::JobIndex;
use crate::plan::PlanView;
use crate::readings::{Completion, Weight};
use crate::schedule::ClusterSchedule;
use crate::state::GridState;
use crate::usage::{GUARD, Score, UserUsage};

/// Compares plans of the same jobs.
#[derive(Copy, Clone, Debug)]
pub(crate) enum PlanComparator {
    /// By [`Score::decision`], as Best Gap does.
    Decision,
    /// By completion times, as Swift Gap does.
    Completion(Completion, Weight),
}

/// What a comparator looks at in one plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanCost {
    score: Score,
    /// Jobs and their planned completions in seconds, in order of jobs; empty if the comparator does not look at them.
    completions: Vec<(JobIndex, f64)>,
}

impl PlanComparator {
    pub(crate) fn cost(self, view: &PlanView<'_>, usage: &mut UserUsage, state: &GridState) -> PlanCost {
        let mut cost = PlanCost::default();
        if !matches!(self, Self::Completion(_, Weight::SumOfRatios | Weight::RatioOfSums)) {
            cost.score = usage.score(view, state);
        }
        if matches!(self, Self::Completion(..)) {
            let planned = view.schedules().flat_map(ClusterSchedule::planned);
            cost.completions.extend(planned.map(|(job, start)| (job, self.completion(job, start, state))));
            cost.completions.sort_unstable_by_key(|(job, _)| *job);
        }
        cost
    }

    /// When a job completes that is planned to start at `start`: since its submission, or else by the clock.
    pub(crate) fn completion(self, job: JobIndex, start: f64, state: &GridState) -> f64 {
        let job = state.request(job);
        let from = match self {
            Self::Completion(Completion::AbsoluteClock, _) => 0.0,
            Self::Completion(Completion::FromSubmission, _) | Self::Decision => job.submit_seconds(),
        };
        (start + job.planned_seconds() - from).max(0.0)
    }

    /// Whether `new` is better than `old`: its weight is above zero.
    pub(crate) fn prefers(self, new: &PlanCost, old: &PlanCost) -> bool {
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

/// Σⱼ (Aⱼ − Bⱼ) / Aⱼ.
fn sum_of_ratios(new: &PlanCost, old: &PlanCost) -> f64 {
    pairs(new, old).map(|(a, b)| (a - b) / a.max(GUARD)).sum()
}

/// Σⱼ (Aⱼ − Bⱼ), which has the sign of its ratio to Σⱼ Aⱼ.
fn gain(new: &PlanCost, old: &PlanCost) -> f64 {
    pairs(new, old).map(|(a, b)| a - b).sum()
}

/// Each job's completion in the old plan and in the new, in seconds.
fn pairs(new: &PlanCost, old: &PlanCost) -> impl Iterator<Item = (f64, f64)> {
    assert_eq!(old.completions.len(), new.completions.len(), "plans of the same jobs are compared");
    let pairs = old.completions.iter().zip(&new.completions);
    pairs.map(|((_, old), (_, new))| (*old, *new))
}
