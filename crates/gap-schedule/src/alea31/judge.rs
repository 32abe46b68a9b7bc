//! Which of two plans is better: [`Judge`].

use super::floor::Floor;
use super::lane::Lane;
use super::plan::View;
use super::readings::{Completion, Weight};
use super::score::{GUARD, Ledger, Score};
use sim_core::{Span, Time};

/// Compares plans of the same jobs.
#[derive(Copy, Clone, Debug)]
pub(super) enum Judge {
    /// By [`Score::decision`], as Best Gap does.
    Decision,
    /// By completion times, as Swift Gap does.
    Completion(Completion, Weight),
}

/// What a judge looks at in one plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Value {
    score: Score,
    /// Jobs and their planned completions, in order of jobs; empty if the judge does not look at them.
    completions: Vec<(usize, Span)>,
}

impl Judge {
    pub(super) fn value(self, view: &View<'_>, ledger: &mut Ledger, floor: &Floor) -> Value {
        let mut value = Value::default();
        if !matches!(self, Self::Completion(_, Weight::SumOfRatios | Weight::RatioOfSums)) {
            value.score = ledger.score(view, floor);
        }
        if matches!(self, Self::Completion(..)) {
            let planned = view.lanes().flat_map(Lane::planned);
            value.completions.extend(planned.map(|(job, start)| (job, self.completion(job, start, floor))));
            value.completions.sort_unstable();
        }
        value
    }

    /// When a job completes that is planned to start at `start`: since its submission, or else by the clock.
    pub(super) fn completion(self, job: usize, start: Time, floor: &Floor) -> Span {
        let job = floor.job(job);
        let from = match self {
            Self::Completion(Completion::AbsoluteClock, _) => Time::ZERO,
            Self::Completion(Completion::FromSubmission, _) | Self::Decision => job.submit(),
        };
        (start + job.planned_time()).saturating_since(from)
    }

    /// Whether `new` is better than `old`: its weight is above zero.
    pub(super) fn prefers(self, new: &Value, old: &Value) -> bool {
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
fn sum_of_ratios(new: &Value, old: &Value) -> f64 {
    pairs(new, old).map(|(a, b)| (a - b) / a.max(GUARD)).sum()
}

/// Σⱼ (Aⱼ − Bⱼ), which has the sign of its ratio to Σⱼ Aⱼ.
fn gain(new: &Value, old: &Value) -> f64 {
    pairs(new, old).map(|(a, b)| a - b).sum()
}

/// Each job's completion in the old plan and in the new, in seconds.
fn pairs(new: &Value, old: &Value) -> impl Iterator<Item = (f64, f64)> {
    assert_eq!(old.completions.len(), new.completions.len(), "plans of the same jobs are compared");
    let pairs = old.completions.iter().zip(&new.completions);
    pairs.map(|((_, old), (_, new))| (old.as_secs_f64(), new.as_secs_f64()))
}
