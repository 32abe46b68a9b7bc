//! The log of the swift-gap paper, from the file to the schedule that Alea 3.1 made of it.

use crate::program::data;
use flate2::read::GzDecoder;
use gap_schedule::alea31::{Clusters, Cons, Easy, Job, Policy, run};
use std::collections::BTreeMap;
use std::fs::File;
use workload::{Alea31Intake, Machines, SwfReader};

/// Starts and finishes by the log's number, in seconds.
fn oracle(name: &str) -> Option<BTreeMap<u64, (f64, f64)>> {
    let path = data("GRID_ORACLES")?.join(format!("{name}.csv.gz"));
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = csv::Reader::from_reader(GzDecoder::new(file));
    assert_eq!(reader.headers().expect("a header"), vec!["job_id", "submit", "start", "finish", "cpus"]);
    let rows = reader.deserialize().map(|row| {
        let (job, _, start, finish, _): (u64, f64, f64, f64, u32) = row.expect("five numbers");
        (job, (start, finish))
    });
    Some(rows.collect())
}

fn check(policy: &str, records: u64, make: impl Policy) {
    let (Some(traces), Some(expected)) = (data("GRID_TRACES"), oracle(&format!("alea31_{policy}_wagap{records}")))
    else {
        return;
    };
    let machines = Machines::open(&traces.join("wagap-2013.swf.machines")).expect("two clusters");
    let log = SwfReader::open(&traces.join("wagap-2013.swf.gz")).expect("a log");
    let mut intake = Alea31Intake::new(log, &machines, Some(records));
    let processors: Vec<u32> = intake.clusters().iter().map(|cluster| cluster.processors()).collect();
    let taken = intake.by_ref().collect::<Result<Vec<_>, _>>().expect("a log");
    let numbers: Vec<u64> = taken.iter().map(|job| job.number).collect();
    let jobs: Vec<Job> = taken
        .into_iter()
        .map(|job| Job {
            job: job.job,
            clusters: job.clusters.into_iter().fold(Clusters::NONE, Clusters::with),
            user: job.user.expect("every job has a user"),
        })
        .collect();
    let records = run(&processors, make, jobs);
    assert_eq!(records.len(), expected.len(), "{policy}: every job runs");
    for record in records {
        let (start, finish) = expected[&numbers[record.job.id.index()]];
        let near = |ours: f64, theirs: f64| (ours - theirs).abs() <= 1.0;
        assert!(
            near(record.start.as_secs_f64(), start) && near(record.finish.as_secs_f64(), finish),
            "{policy}: from {start} to {finish}, found {record:?}"
        );
    }
}

#[test]
fn easy_schedules_the_log_as_alea_did() {
    check("easy", 10_000, Easy::default());
}

#[test]
fn cons_schedules_the_log_as_alea_did() {
    check("cons", 10_000, Cons::default());
}
