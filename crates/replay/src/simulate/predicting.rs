//! Predicted run times: the settings `predict` and `correct` of a policy's name, and `--estimates mean-of-user:K`.

use super::name::PolicyName;
use gap_schedule::{
    Doubling, Increments, MeanOfUser, PredictionCounts, Predictions, Requested, TimesRequested, ToRequested,
};
use workload::Estimates;

/// A predictor of run times, and the correction of predictions that expire.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Predicting {
    predict: Predict,
    correct: Correct,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Predict {
    Requested,
    Clairvoyant,
    DoubleRequested,
    Tsafrir,
    MeanOfUser(u32),
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum Correct {
    None,
    #[default]
    Requested,
    Doubling,
    Tsafrir,
}

const PREDICTORS: &str = "requested, clairvoyant, double-requested, tsafrir, or mean-of-user=K with K from 1 to 1000";
const CORRECTORS: &str = "requested, doubling, tsafrir or none";

/// Estimates that jobs carry: the request if run times are predicted during the run; the request stays the limit.
pub(crate) const fn carried(estimates: Estimates) -> Estimates {
    match estimates {
        Estimates::MeanOfUser(_) => Estimates::User,
        estimates => estimates,
    }
}

impl Predicting {
    /// Predictor of the estimates `mean-of-user:K`; `None` for the others.
    pub(crate) const fn by_estimates(estimates: Estimates) -> Option<Self> {
        match estimates {
            Estimates::MeanOfUser(jobs) => {
                Some(Self { predict: Predict::MeanOfUser(jobs), correct: Correct::Requested })
            }
            _ => None,
        }
    }

    /// Takes `predict` and `correct` out of a name; `None` if it has neither.
    pub(super) fn take(name: &mut PolicyName) -> Result<Option<Self>, String> {
        let given = name.to_string();
        let predict = name.take("predict", PREDICTORS, predict)?;
        let correct = name.take("correct", CORRECTORS, correct)?;
        match (predict, correct) {
            (Some(predict), correct) => Ok(Some(Self { predict, correct: correct.unwrap_or_default() })),
            (None, Some(_)) => Err(format!(
                "{given:?}: correct says what to expect of a job that outlives its prediction, and nothing is predicted; add \
                 predict=tsafrir, or leave correct out"
            )),
            (None, None) => Ok(None),
        }
    }

    /// Predictor and correction before the first job.
    pub(crate) fn at_work(self) -> Predictions {
        let predictions = match self.predict {
            Predict::Requested => Predictions::by(Requested),
            Predict::Clairvoyant => Predictions::clairvoyant(),
            Predict::DoubleRequested => Predictions::by(TimesRequested::double()),
            Predict::Tsafrir => Predictions::by(MeanOfUser::tsafrir()),
            Predict::MeanOfUser(jobs) => Predictions::by(MeanOfUser::new(jobs)),
        };
        match self.correct {
            Correct::None => predictions,
            Correct::Requested => predictions.corrected_by(ToRequested),
            Correct::Doubling => predictions.corrected_by(Doubling),
            Correct::Tsafrir => predictions.corrected_by(Increments::tsafrir()),
        }
    }
}

fn predict(text: &str) -> Option<Predict> {
    match text {
        "requested" => Some(Predict::Requested),
        "clairvoyant" => Some(Predict::Clairvoyant),
        "double-requested" => Some(Predict::DoubleRequested),
        "tsafrir" => Some(Predict::Tsafrir),
        _ => {
            let jobs = text.strip_prefix("mean-of-user=")?.parse().ok()?;
            (1..=1000).contains(&jobs).then_some(Predict::MeanOfUser(jobs))
        }
    }
}

fn correct(text: &str) -> Option<Correct> {
    match text {
        "none" => Some(Correct::None),
        "requested" => Some(Correct::Requested),
        "doubling" => Some(Correct::Doubling),
        "tsafrir" => Some(Correct::Tsafrir),
        _ => None,
    }
}

/// Share of jobs, in percent, that outlived their prediction; `None` without predictions.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 jobs")]
pub(super) fn expired_percent(counts: &PredictionCounts) -> Option<f64> {
    (counts.predicted > 0).then(|| 100.0 * counts.expired as f64 / counts.predicted as f64)
}

/// The counts in one line.
pub(super) fn in_words(policy: &str, counts: &PredictionCounts) -> String {
    let PredictionCounts { predicted, expired, corrections, .. } = *counts;
    let share = expired_percent(counts).map_or_else(String::new, |share| format!(" ({share:.1} %)"));
    let accuracy = counts.accuracy().map_or_else(String::new, |accuracy| format!("; accuracy {accuracy:.3}"));
    format!("{policy}: {expired} of {predicted} predictions expired{share}, corrected {corrections} times{accuracy}")
}
