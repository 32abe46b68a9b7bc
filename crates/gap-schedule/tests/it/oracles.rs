//! Schedules of an independent simulator (pyss) for logs whose events never coincide.

use crate::backfill::reserving;
use crate::common::records;
use gap_schedule::{Depth, Easy, Fcfs, Placement, Policy};
use sim_core::{Job, JobId, Span, Time};
use std::fs::File;

/// Reads jobs and their expected starts. All times of the file are milliseconds.
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

#[test]
fn every_start_of_pyss_is_met() {
    let depth = |depth| -> Box<dyn Policy> { Box::new(reserving(depth, Placement::Fastest)) };
    let cases: [(&str, u32, Box<dyn Policy>); 7] = [
        ("pyss-fcfs-tf-hpc2n", 240, Box::new(Fcfs::default())),
        ("pyss-easy-tf-hpc2n", 240, Box::new(Easy::default())),
        ("pyss-easy-tf-hpc2n", 240, depth(Depth::Jobs(1))),
        ("pyss-conservative-tf-hpc2n-exact", 240, depth(Depth::All)),
        ("pyss-fcfs-tf-lublin_256-exact-2k", 256, Box::new(Fcfs::default())),
        ("pyss-easy-tf-lublin_256-exact-2k", 256, Box::new(Easy::default())),
        ("pyss-easy-tf-lublin_256-exact-2k", 256, depth(Depth::Jobs(1))),
    ];
    for (name, processors, policy) in cases {
        let Some((jobs, expected)) = read(name) else { return };
        let records = records(processors, policy, &jobs);
        assert_eq!(records.len(), expected.len(), "{name}: every job runs");
        for (record, expected) in records.iter().zip(expected) {
            assert_eq!(record.start, expected, "{name}: {record:?}");
        }
    }
}
