//! Predicted run times: the settings `predict` and `correct` of a policy's name, and `--estimates mean-of-user:K`.

use gap_schedule::{
    Doubling, Increments, MeanOfUser, PredictionCounts, Predictions, Requested, TimesRequested, ToRequested,
};
use workload::Estimates;

/// A predictor of run times by its name; the number is K of `mean-of-user=K`.
type Predictor = (&'static str, fn(u32) -> Predictions);

const PREDICTORS: [Predictor; 5] = [
    ("requested", |_| Predictions::by(Requested)),
    ("clairvoyant", |_| Predictions::clairvoyant()),
    ("double-requested", |_| Predictions::by(TimesRequested(2))),
    ("tsafrir", |_| Predictions::by(MeanOfUser::tsafrir())),
    MEAN_OF_USER,
];
const MEAN_OF_USER: Predictor = ("mean-of-user", |jobs| Predictions::by(MeanOfUser::new(jobs)));

/// The correction of predictions that expire, by its name.
type Corrector = (&'static str, fn(Predictions) -> Predictions);

const CORRECTORS: [Corrector; 4] = [
    TO_REQUESTED,
    ("doubling", |predictions| predictions.corrected_by(Doubling)),
    ("tsafrir", |predictions| predictions.corrected_by(Increments::tsafrir())),
    ("none", |predictions| predictions),
];
const TO_REQUESTED: Corrector = ("requested", |predictions| predictions.corrected_by(ToRequested));

/// A predictor of run times, and the correction of predictions that expire.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Predicting {
    predictor: Predictor,
    jobs: u32,
    corrector: Corrector,
}

/// Estimates that jobs carry: the request if run times are predicted during the run; the request stays the limit.
pub(crate) const fn carried(estimates: Estimates) -> Estimates {
    match estimates {
        Estimates::MeanOfUser(_) => Estimates::User,
        estimates => estimates,
    }
}

impl Predicting {
    pub(super) const PREDICTORS: &str =
        "requested, clairvoyant, double-requested, tsafrir, or mean-of-user=K with K from 1 to 1000";
    pub(super) const CORRECTORS: &str = "requested, doubling, tsafrir or none";

    /// Predictor of the estimates `mean-of-user:K`; `None` for the others.
    pub(crate) const fn by_estimates(estimates: Estimates) -> Option<Self> {
        let Estimates::MeanOfUser(jobs) = estimates else { return None };
        Some(Self { predictor: MEAN_OF_USER, jobs, corrector: TO_REQUESTED })
    }

    /// The predictor of the setting `predict`.
    pub(super) fn named(text: &str) -> Option<Self> {
        let (name, jobs) = match text.split_once('=') {
            Some((name, jobs)) => (name, jobs.parse().ok().filter(|jobs| (1..=1000).contains(jobs))?),
            None => (text, 0),
        };
        let predictor = PREDICTORS.into_iter().find(|(known, _)| *known == name)?;
        ((name == MEAN_OF_USER.0) == (jobs > 0)).then_some(Self { predictor, jobs, corrector: TO_REQUESTED })
    }

    /// The same with the correction of the setting `correct`.
    pub(super) fn corrected(self, text: &str) -> Option<Self> {
        let corrector = CORRECTORS.into_iter().find(|(known, _)| *known == text)?;
        Some(Self { corrector, ..self })
    }

    /// Predictor and correction before the first job.
    pub(crate) fn at_work(self) -> Predictions {
        (self.corrector.1)((self.predictor.1)(self.jobs))
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
