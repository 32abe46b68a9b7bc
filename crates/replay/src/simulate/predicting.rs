//! Predicted run times: the settings `predict` and `correct` of a policy's name, and `--estimates mean-of-user:K`.

use gap_schedule::{
    Doubling, Increments, MeanOfUser, PredictionCounts, Predictions, Requested, TimesRequested, ToRequested,
};
use workload::Estimates;

/// A predictor of run times, and the correction of predictions that expire.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Predicting {
    predictor: fn(u32) -> Predictions,
    /// K of `mean-of-user=K`.
    jobs: u32,
    corrector: fn(Predictions) -> Predictions,
}

impl Predicting {
    pub(super) const PREDICTORS: &str =
        "requested, clairvoyant, double-requested, tsafrir, or mean-of-user=K with K from 1 to 1000";
    pub(super) const CORRECTORS: &str = "requested, doubling, tsafrir or none";

    /// Predictor of the estimates `mean-of-user:K`; `None` for the others.
    pub(crate) fn by_estimates(estimates: Estimates) -> Option<Self> {
        let Estimates::MeanOfUser(jobs) = estimates else { return None };
        Some(Self::new(|jobs| Predictions::by(MeanOfUser::new(jobs)), jobs))
    }

    fn new(predictor: fn(u32) -> Predictions, jobs: u32) -> Self {
        Self { predictor, jobs, corrector: |predictions| predictions.corrected_by(ToRequested) }
    }

    /// The predictor of the setting `predict`.
    pub(super) fn named(text: &str) -> Option<Self> {
        Some(match text {
            "requested" => Self::new(|_| Predictions::by(Requested), 0),
            "clairvoyant" => Self::new(|_| Predictions::clairvoyant(), 0),
            "double-requested" => Self::new(|_| Predictions::by(TimesRequested(2)), 0),
            "tsafrir" => Self::new(|_| Predictions::by(MeanOfUser::tsafrir()), 0),
            _ => {
                let jobs = text.strip_prefix("mean-of-user=")?.parse().ok();
                Self::by_estimates(Estimates::MeanOfUser(jobs.filter(|jobs| (1..=1000).contains(jobs))?))?
            }
        })
    }

    /// The same with the correction of the setting `correct`.
    pub(super) fn corrected(self, text: &str) -> Option<Self> {
        let corrector: fn(Predictions) -> Predictions = match text {
            "requested" => self.corrector,
            "doubling" => |predictions| predictions.corrected_by(Doubling),
            "tsafrir" => |predictions| predictions.corrected_by(Increments::tsafrir()),
            "none" => |predictions| predictions,
            _ => return None,
        };
        Some(Self { corrector, ..self })
    }

    pub(crate) fn at_work(self) -> Predictions {
        (self.corrector)((self.predictor)(self.jobs))
    }
}

/// Share of jobs, in percent, that outlived their prediction; `None` without predictions.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 jobs")]
pub(super) fn expired_percent(counts: &PredictionCounts) -> Option<f64> {
    (counts.predicted > 0).then(|| 100.0 * counts.expired as f64 / counts.predicted as f64)
}

pub(super) fn in_words(policy: &str, counts: &PredictionCounts) -> String {
    let PredictionCounts { predicted, expired, corrections, .. } = *counts;
    let share = expired_percent(counts).map_or_else(String::new, |share| format!(" ({share:.1} %)"));
    let accuracy = counts.accuracy().map_or_else(String::new, |accuracy| format!("; accuracy {accuracy:.3}"));
    format!("{policy}: {expired} of {predicted} predictions expired{share}, corrected {corrections} times{accuracy}")
}
