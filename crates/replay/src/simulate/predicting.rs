//! Predicted run times: `--estimates mean-of-user:K`, and the outcomes of predictions in words.

use gap_schedule::{Corrector, MeanOfUser, PredictionCounts, Predictions};
use lab::units::float;
use workload::Estimates;

/// Predictions of the estimates `mean-of-user:K`; `None` for the others.
pub(crate) fn by_estimates(estimates: Estimates) -> Option<Predictions> {
    let Estimates::MeanOfUser(jobs) = estimates else { return None };
    Some(Predictions::by(MeanOfUser::new(jobs)).corrected_by(Corrector::ToRequested))
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
