//! The metrics of one run: the four columns of the paper's tables, and three that explain them.

use alea31::Means;
use sim_core::JobRecord;

lab::metrics! {
    pub(crate) struct Measured of Metric {
        /// Mean of response / time executed.
        slowdown: "slowdown" smaller,
        /// Mean time by which jobs end after they are due.
        tardiness: "tardiness" ("s") smaller,
        /// Mean time from submission to start.
        wait: "waiting time" ("s") smaller,
        /// Mean time from submission to end.
        response: "response time" ("s") smaller,
        /// Mean time from start to end.
        executed_time: "time executed" ("s"),
        /// Jobs that end after they are due, of all.
        late_percent: "late jobs" ("%") smaller,
        /// Jobs that ended.
        jobs: "jobs" zero,
    }
}

impl Measured {
    pub(super) fn of(records: &[JobRecord]) -> Self {
        let Means { slowdown, tardiness, wait, response } = Means::of(records);
        let is_late = |record: &&JobRecord| record.job.request.deadline.is_some_and(|due| record.finish > due);
        let (jobs, late) = (records.len() as f64, records.iter().filter(is_late).count() as f64);
        let late_percent = 100.0 * late / jobs;
        Self { slowdown, tardiness, wait, response, executed_time: response - wait, late_percent, jobs }
    }
}

/// The paper's four metrics, in the order of its tables.
pub(super) const FOUR: [Metric; 4] = [Metric::slowdown, Metric::tardiness, Metric::wait, Metric::response];

/// Their words, with units.
pub(super) const WORDS: [&str; 4] =
    [FOUR[0].declared().axis, FOUR[1].declared().axis, FOUR[2].declared().axis, FOUR[3].declared().axis];
