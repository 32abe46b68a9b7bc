//! Predicted run times: the settings `predict` and `correct` of a policy's name, and `--estimates mean-of-user:K`.

use crate::units::float;
use gap_schedule::{Corrector, MeanOfUser, PredictionCounts, Predictions, Requested, TimesRequested};
use workload::Estimates;

pub(super) const PREDICTORS: &str =
    "requested, clairvoyant, double-requested, tsafrir, or mean-of-user=K with K from 1 to 1000";
pub(super) const CORRECTORS: &str = "requested, doubling, tsafrir or none";

/// Predictions of the setting `predict`, without a correction.
pub(super) fn predicted(text: &str) -> Option<Predictions> {
    Some(match text {
        "requested" => Predictions::by(Requested),
        "clairvoyant" => Predictions::clairvoyant(),
        "double-requested" => Predictions::by(TimesRequested(2)),
        "tsafrir" => Predictions::by(MeanOfUser::tsafrir()),
        _ => {
            let jobs = text.strip_prefix("mean-of-user=")?.parse().ok();
            Predictions::by(MeanOfUser::new(jobs.filter(|jobs| (1..=1000).contains(jobs))?))
        }
    })
}

/// The correction of the setting `correct`.
pub(super) fn corrected(text: &str) -> Option<fn(Predictions) -> Predictions> {
    Some(match text {
        "requested" => to_requested,
        "doubling" => |predictions| predictions.corrected_by(Corrector::Doubling),
        "tsafrir" => |predictions| predictions.corrected_by(Corrector::tsafrir()),
        "none" => |predictions| predictions,
        _ => return None,
    })
}

/// The correction of predictions whose setting `correct` is not given.
pub(super) fn to_requested(predictions: Predictions) -> Predictions {
    predictions.corrected_by(Corrector::ToRequested)
}

/// Predictions of the estimates `mean-of-user:K`; `None` for the others.
pub(crate) fn by_estimates(estimates: Estimates) -> Option<Predictions> {
    let Estimates::MeanOfUser(jobs) = estimates else { return None };
    Some(to_requested(Predictions::by(MeanOfUser::new(jobs))))
}

/// Share of jobs, in percent, that outlived their prediction; `None` without predictions.
pub(super) fn expired_percent(counts: &PredictionCounts) -> Option<f64> {
    (counts.predicted > 0).then(|| 100.0 * float(counts.expired) / float(counts.predicted))
}

pub(super) fn in_words(policy: &str, counts: &PredictionCounts) -> String {
    let PredictionCounts { predicted, expired, corrections, .. } = *counts;
    let share = expired_percent(counts).map_or_else(String::new, |share| format!(" ({share:.1} %)"));
    let accuracy = counts.accuracy().map_or_else(String::new, |accuracy| format!("; accuracy {accuracy:.3}"));
    format!("{policy}: {expired} of {predicted} predictions expired{share}, corrected {corrections} times{accuracy}")
}
