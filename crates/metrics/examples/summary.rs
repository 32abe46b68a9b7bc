//! Five jobs of a log, summarised.
//!
//! Scenario: a cluster of 4 processors finished five jobs. Their records would normally be read from a log; here they are
//! constants. Two jobs have a deadline.
//!
//! Shows:
//! - the construction of a `JobRecord` from submit, start, finish and processors,
//! - the conversion of records into `Totals`, and of these into named columns,
//! - that an undefined value is an empty cell instead of a zero.

use metrics::Totals;
use sim_core::{Job, JobId, JobRecord, SiteId, Time};
use std::fmt::Write;

const CAPACITY: u32 = 4;

/// Submit, start, finish (seconds), processors, deadline.
const LOG: [(u64, u64, u64, u32, Option<u64>); 5] = [
    (0, 0, 300, 2, None),
    (10, 10, 70, 2, Some(100)),
    (20, 300, 420, 4, Some(400)),
    (30, 70, 75, 1, None), // a short job: slowdown 9, bounded slowdown 4.5
    (40, 420, 480, 1, None),
];

pub(crate) fn report() -> String {
    let records: Vec<JobRecord> = (0..)
        .zip(LOG)
        .map(|(id, (submit, start, finish, processors, deadline))| {
            let (start, finish) = (Time::from_secs(start), Time::from_secs(finish));
            // On a machine where every processor runs at reference speed, the run time is finish − start.
            let mut job = Job::new(JobId(id), Time::from_secs(submit), processors, finish.since(start));
            job.request.deadline = deadline.map(Time::from_secs);
            JobRecord { job, start, finish, site: SiteId(0), processors }
        })
        .collect();

    let mut totals = Totals::new(CAPACITY, &[]);
    records.iter().for_each(|record| totals.add(record));

    let mut report = String::new();
    for (metric, value) in totals.row() {
        let cell = value.map_or(String::new(), |value| format!("{value:.3}"));
        writeln!(report, "{metric:36} {cell:>10}").expect("a string takes in everything");
    }
    report
}

fn main() {
    print!("{}", report());
}
