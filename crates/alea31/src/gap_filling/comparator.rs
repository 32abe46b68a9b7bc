//! Comparison of plans: [`ListComparator`], and the best one so far: [`Incumbent`].

use crate::plan::ListPlan;
use crate::plan::usage::{GUARD, MeanScore, UserLedger};
use crate::readings::{Completion, Weight};
use crate::state::{GridState, JobIndex};

/// Compares plans of the same jobs.
#[derive(Copy, Clone, Debug)]
pub(crate) enum ListComparator {
    /// By [`MeanScore::decision`], as Best Gap does.
    Decision,
    /// By completion times, as Swift Gap does.
    Completion(Completion, Weight),
}

#[derive(Clone, Debug)]
pub(crate) struct Incumbent {
    pub(crate) comparator: ListComparator,
    /// `None` before the first plan.
    cost: Option<ListCost>,
}

#[derive(Clone, Debug, Default)]
struct ListCost {
    score: MeanScore,
    /// Planned completions in seconds, in order of submission: gains are summed in that order, independent of the plan.
    /// Empty if the comparator does not use them.
    completions: Vec<(JobIndex, f64)>,
}

impl Incumbent {
    pub(crate) fn new(comparator: ListComparator) -> Self {
        Self { comparator, cost: None }
    }

    /// Forgets the best plan, to compare plans of other jobs.
    pub(crate) fn restart(&mut self) {
        self.cost = None;
    }

    /// Returns true if an updated plan is better, and then makes it the incumbent. The first plan is.
    pub(crate) fn is_worse_than(&mut self, tried: &ListPlan, usage: &mut UserLedger, state: &GridState) -> bool {
        let tried = self.comparator.assess(tried, usage, state);
        let is_better = self.cost.as_ref().is_none_or(|cost| self.comparator.prefers(&tried, cost));
        if is_better {
            self.cost = Some(tried);
        }
        is_better
    }
}

impl ListComparator {
    fn assess(self, plan: &ListPlan, usage: &mut UserLedger, state: &GridState) -> ListCost {
        let mut cost = ListCost::default();
        if !matches!(self, Self::Completion(_, Weight::SumOfRatios | Weight::RatioOfSums)) {
            cost.score = usage.score(plan, state);
        }
        if matches!(self, Self::Completion(..)) {
            let planned = plan.schedules().flat_map(|(_, schedule)| schedule.planned());
            cost.completions.extend(planned.map(|(job, start)| (job, self.completion(job, start, state))));
            cost.completions.sort_unstable_by_key(|(job, _)| *job);
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

    fn prefers(self, new: &ListCost, old: &ListCost) -> bool {
        // Completion of each job in the old plan, A, and in the new, B, in seconds.
        let completions = old.completions.iter().zip(&new.completions).map(|((job, a), (same, b))| {
            assert_eq!(job, same, "plans of the same jobs are compared");
            (*a, *b)
        });
        let decision = || old.score.decision(&new.score);
        let ratio = |(a, b): (f64, f64)| (a - b) / a.max(GUARD);
        let weight: f64 = match self {
            Self::Decision => decision(),
            Self::Completion(_, Weight::SumOfRatios) => completions.map(ratio).sum(),
            // It has the sign of its ratio to Σⱼ Aⱼ.
            Self::Completion(_, Weight::RatioOfSums) => completions.map(|(a, b)| a - b).sum(),
            Self::Completion(_, Weight::AddedToDecision) => decision() + completions.map(ratio).sum::<f64>(),
        };
        weight > 0.0
    }
}
