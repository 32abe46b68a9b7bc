//! What is measured in one run: the four columns of the paper's tables, and what explains them.

use alea31::Means;
use sim_core::JobRecord;

/// The metrics of [`results`], in its order.
pub(super) const NAMES: [&str; 7] =
    ["slowdown", "tardiness", "wait", "response", "executed_time", "late_percent", "jobs"];

/// The paper's four, the first of [`NAMES`], in words.
pub(super) const WORDS: [&str; 4] = ["slowdown", "tardiness (s)", "waiting time (s)", "response time (s)"];

/// A value for each of [`NAMES`].
#[expect(clippy::cast_precision_loss, reason = "counts")]
pub(super) fn results(records: &[JobRecord]) -> Vec<f64> {
    let Means { slowdown, tardiness, wait, response } = Means::of(records);
    let is_late = |record: &&JobRecord| record.job.request.deadline.is_some_and(|due| record.finish > due);
    let late = records.iter().filter(is_late).count() as f64;
    let jobs = records.len() as f64;
    vec![slowdown, tardiness, wait, response, response - wait, 100.0 * late / jobs, jobs]
}
