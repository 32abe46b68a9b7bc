//! Measurements of one run.

use super::metrics::Measured;
use alea31::Means;
use sim_core::JobRecord;

/// Returns the metrics over the jobs that ended.
#[expect(clippy::cast_precision_loss, reason = "counts")]
pub(super) fn results(records: &[JobRecord]) -> Measured {
    let Means { slowdown, tardiness, wait, response } = Means::of(records);
    let is_late = |record: &&JobRecord| record.job.request.deadline.is_some_and(|due| record.finish > due);
    let late = records.iter().filter(is_late).count() as f64;
    let jobs = records.len() as f64;
    Measured {
        slowdown,
        tardiness,
        wait,
        response,
        executed_time: response - wait,
        late_percent: 100.0 * late / jobs,
        jobs,
    }
}
