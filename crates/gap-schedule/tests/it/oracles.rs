//! Schedules that an independent simulator (pyss) made from logs whose events never coincide.

use crate::backfill::reserving;
use crate::{common, grid_common};
use gap_schedule::{Depth, Easy, Fcfs, Machine, Placement, Policy};
use sim_core::{Job, JobId, JobRecord, Span, Time};
use std::fs::File;

/// Jobs and their expected starts. All times of the file are milliseconds.
fn read(name: &str) -> Option<(Vec<Job>, Vec<Time>)> {
    let path = test_data::oracle(&format!("{name}.csv.gz"))?;
    let file = File::open(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let mut table = csv::Reader::from_reader(flate2::read::GzDecoder::new(file));
    assert_eq!(
        table.headers().expect("a header"),
        ["job_id", "submit", "start", "end", "procs", "run", "estimate"].as_slice()
    );
    let mut rows: Vec<[u64; 7]> = table.deserialize().map(|row| row.expect("seven numbers")).collect();
    rows.sort_by_key(|row| (row[1], row[0]));
    let millis = |millis: u64| millis * 1_000_000;
    let jobs = rows.iter().zip(0..).map(|([_, submit, _, _, processors, run, estimate], id)| {
        let processors = u32::try_from(*processors).expect("few processors");
        let runtime = Span::from_nanos(millis(*run.min(estimate)));
        let mut job = Job::new(JobId(id), Time::from_nanos(millis(*submit)), processors, runtime);
        job.request.estimate = Some(Span::from_nanos(millis(*estimate)));
        job
    });
    Some((jobs.collect(), rows.iter().map(|row| Time::from_nanos(millis(row[2]))).collect()))
}

fn check(name: &str, processors: u32, policy: impl Policy) {
    check_starts(name, |jobs| common::records(processors, policy, jobs));
}

fn check_depth(name: &str, processors: u32, depth: Depth) {
    let policy = reserving(depth, Placement::Fastest);
    check_starts(name, |jobs| grid_common::records(&[Machine::new(processors)], policy, jobs));
}

fn check_starts(name: &str, run: impl FnOnce(&[Job]) -> Vec<JobRecord>) {
    let Some((jobs, expected)) = read(name) else { return };
    let records = run(&jobs);
    assert_eq!(records.len(), expected.len(), "{name}: every job runs");
    for (record, expected) in records.iter().zip(expected) {
        assert_eq!(record.start, expected, "{name}: {record:?}");
    }
}

#[test]
fn fcfs_agrees_on_every_start_of_hpc2n() {
    check("pyss-fcfs-tf-hpc2n", 240, Fcfs::new());
}

#[test]
fn easy_agrees_on_every_start_of_hpc2n() {
    check("pyss-easy-tf-hpc2n", 240, Easy::default());
}

#[test]
fn fcfs_agrees_on_every_start_of_lublin_256() {
    check("pyss-fcfs-tf-lublin_256-exact-2k", 256, Fcfs::new());
}

#[test]
fn easy_agrees_on_every_start_of_lublin_256() {
    check("pyss-easy-tf-lublin_256-exact-2k", 256, Easy::default());
}

#[test]
fn conservative_backfilling_agrees_on_every_start_of_hpc2n() {
    check_depth("pyss-conservative-tf-hpc2n-exact", 240, Depth::All);
}

#[test]
fn one_reservation_agrees_with_easy_on_every_start_of_hpc2n() {
    check_depth("pyss-easy-tf-hpc2n", 240, Depth::Jobs(1));
}

#[test]
fn one_reservation_agrees_with_easy_on_every_start_of_lublin_256() {
    check_depth("pyss-easy-tf-lublin_256-exact-2k", 256, Depth::Jobs(1));
}
