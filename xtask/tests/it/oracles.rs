//! Schedules of independent simulators, on workloads without ties: every start and finish, exactly.

use crate::program::{folder, table, xtask};
use flate2::read::GzDecoder;
use sim_core::Span;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use workload::{SwfRecord, SwfWriter};

/// One row of a schedule, times in milliseconds.
struct Scheduled {
    job: u64,
    submit: u64,
    start: u64,
    end: u64,
    processors: u32,
    run: u64,
    estimate: u64,
}

fn read(path: &Path) -> Vec<Scheduled> {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = csv::Reader::from_reader(GzDecoder::new(file));
    assert_eq!(
        reader.headers().expect("a header"),
        vec!["job_id", "submit", "start", "end", "procs", "run", "estimate"]
    );
    let row = |row: Result<csv::StringRecord, _>| {
        let row = row.expect("a row");
        let number = |column: usize| row[column].parse::<u64>().expect("a number");
        Scheduled {
            job: number(0),
            submit: number(1),
            start: number(2),
            end: number(3),
            processors: u32::try_from(number(4)).expect("a few"),
            run: number(5),
            estimate: number(6),
        }
    };
    reader.records().map(row).collect()
}

/// The workload as a log.
fn as_swf(jobs: &[Scheduled]) -> Vec<u8> {
    let mut log = SwfWriter::new(Vec::new());
    let millis = |count: u64| Some(Span::from_nanos(1_000_000 * count));
    for job in jobs {
        let record = SwfRecord {
            submit: millis(job.submit),
            runtime: millis(job.run),
            allocated_processors: Some(job.processors),
            requested_time: millis(job.estimate),
            ..SwfRecord::numbered(job.job)
        };
        log.record(&record).expect("into memory");
    }
    log.into_inner()
}

/// `12.345` in milliseconds.
fn in_millis(text: &str) -> u64 {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    assert!(part.len() <= 3, "{text} has fractions of a millisecond");
    format!("{whole}{part:0<3}").parse().expect("digits")
}

fn check(workload: &str, processors: u32) {
    let Some(oracles) = test_data::oracles() else { return };
    let folder = folder();
    let schedule = |policy: &str| read(&oracles.join(format!("pyss-{policy}-tf-{workload}.csv.gz")));
    let schedules = ["fcfs", "easy"].map(|policy| (policy, schedule(policy)));
    let log = crate::program::file(&folder, "log.swf", as_swf(&schedules[0].1));
    let out = folder.path().join("out");
    let procs = processors.to_string();
    let arguments = ["simulate", "--policy", "fcfs,easy", "--estimates", "user", "--quiet", "--procs", &procs];
    xtask().args(arguments).arg("--trace").arg(log).arg("--out").arg(&out).assert().code(0);
    for (policy, schedule) in schedules {
        let (_, rows) = table(&out.join(policy).join("jobs.csv"));
        let ours: BTreeMap<u64, (u64, u64)> = rows
            .iter()
            .map(|row| (row["job"].parse().expect("a number"), (in_millis(&row["start"]), in_millis(&row["finish"]))))
            .collect();
        assert_eq!(ours.len(), schedule.len(), "{policy} on {workload}");
        let origin = schedule.iter().map(|job| job.submit).min().expect("some jobs");
        for job in schedule {
            let theirs = (job.start - origin, job.end - origin);
            assert_eq!(ours[&job.job], theirs, "start and finish of job {} under {policy} on {workload}", job.job);
        }
    }
}

#[test]
fn fcfs_and_easy_agree_with_pyss_on_hpc2n() {
    check("hpc2n", 240);
}

#[test]
fn fcfs_and_easy_agree_with_pyss_on_an_overloaded_lublin_workload() {
    check("lublin_256-exact-2k", 256);
}
