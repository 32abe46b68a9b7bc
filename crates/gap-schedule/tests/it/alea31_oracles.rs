//! Schedules that Alea 3.1 itself made, and the table that was printed from them.

use crate::alea31_common::{WAGAP, means, open, records, wagap};
use gap_schedule::alea31::{Easy, Means, Policy};
use std::collections::BTreeMap;

/// Starts and finishes by number of the job.
fn oracle(name: &str) -> Option<BTreeMap<u32, (f64, f64)>> {
    let mut table = csv::Reader::from_reader(open("GRID_ORACLES", &format!("{name}.csv.gz"))?);
    assert_eq!(table.headers().expect("a header"), ["job_id", "submit", "start", "finish", "cpus"].as_slice());
    let rows = table.deserialize().map(|row| {
        let (job, _, start, finish, _): (u32, f64, f64, f64, u32) = row.expect("five numbers");
        (job, (start, finish))
    });
    Some(rows.collect())
}

fn check(policy: &str, jobs: usize, make: impl Policy) {
    let name = format!("alea31_{policy}_wagap{jobs}");
    let (Some(expected), Some(jobs)) = (oracle(&name), wagap(jobs)) else { return };
    let records = records(&WAGAP, make, &jobs);
    assert_eq!(records.len(), expected.len(), "{name}: every job runs");
    let mut near = 0;
    let (mut wait, mut response) = (0.0, 0.0);
    for record in &records {
        let (start, finish) = expected[&record.job.id.0];
        let is_near = |ours: f64, theirs: f64| (ours - theirs).abs() <= 1.0;
        near += usize::from(is_near(record.start.as_secs_f64(), start) && is_near(record.finish.as_secs_f64(), finish));
        wait += start - record.job.submit.as_secs_f64();
        response += finish - record.job.submit.as_secs_f64();
    }
    let ours = Means::of(&records);
    let n = records.len() as f64;
    eprintln!(
        "{name}: {near} of {n}; wait {} / {}, response {} / {}",
        ours.wait,
        wait / n,
        ours.response,
        response / n
    );
}

#[test]
fn easy_agrees_with_alea_on_3000_jobs() {
    check("easy", 3_000, Easy::default());
}

#[test]
fn easy_agrees_with_alea_on_10000_jobs() {
    check("easy", 10_000, Easy::default());
}

#[test]
fn easy_prints_the_column_of_table_3() {
    let Some(means) = means(|| Box::new(Easy::default())) else { return };
    eprintln!("{means:#?} {:#?}", Means::mean(&means));
}
