//! The log of the swift-gap paper, from the file to the schedule of Alea 3.1.

use crate::program::{Said, Workdir, manifest, number};
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// Returns starts and finishes by the log's number, in seconds.
fn oracle(name: &str) -> Option<BTreeMap<u64, (f64, f64)>> {
    let path = test_data::oracle(&format!("{name}.csv.gz"))?;
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = csv::Reader::from_reader(GzDecoder::new(file));
    assert_eq!(reader.headers().expect("a header"), vec!["job_id", "submit", "start", "finish", "cpus"]);
    let rows = reader.deserialize().map(|row| {
        let (job, _, start, finish, _): (u64, f64, f64, f64, u32) = row.expect("five numbers");
        (job, (start, finish))
    });
    Some(rows.collect())
}

/// Simulates a log of the folder on its machines, and returns a folder with the results.
fn simulated(traces: &Path, log: &str, options: &str) -> Workdir {
    let (dir, log) = (Workdir::new(), traces.join(log));
    let files = format!("{0}.swf.gz --machines {0}.swf.machines", log.display());
    dir.run(&format!("simulate {files} --profile alea31 --quiet --out . {options}"), 0);
    dir
}

#[test]
fn simulate_writes_the_schedules_that_alea_made() {
    let oracles = ["easy", "cons"].map(|policy| (policy, oracle(&format!("alea31_{policy}_wagap10000"))));
    let Some(traces) = test_data::traces() else { return };
    let dir = simulated(&traces, "wagap-2013", "--policy easy,cons --max-jobs 10000");
    for (policy, expected) in oracles {
        let Some(expected) = expected else { return };
        let jobs = dir.rows(&format!("{policy}/jobs.csv"));
        assert_eq!(jobs.len(), expected.len(), "{policy}: every job runs");
        for job in jobs {
            let (start, finish) = expected[&job["job"].parse().expect("a number")];
            let near = |column, theirs: f64| (number(&job[column]) - theirs).abs() <= 1.0;
            assert!(
                near("start", start) && near("finish", finish),
                "{policy}: from {start} to {finish}, found {job:?}"
            );
            assert!(["zewura", "zegox"].contains(&job["site"].as_str()));
        }
    }
    assert_eq!(manifest(dir.0.path())["profile"], "alea31");
}

/// Slowdown, wait and response are means over seven numbers of jobs. EASY's wait is a misprint, see the paper's record.
#[test]
fn simulate_meets_the_digits_of_table_3() {
    let Some(traces) = test_data::traces() else { return };
    let mut means = BTreeMap::from([("easy", [0.0; 3]), ("cons", [0.0; 3])]);
    for records in [3_000, 5_000, 7_000, 9_000, 10_000, 15_000, 17_500] {
        let dir = simulated(&traces, "wagap-2013", &format!("--policy easy,cons --max-jobs {records}"));
        for (policy, sums) in &mut means {
            let jobs = dir.rows(&format!("{policy}/jobs.csv"));
            let count = f64::from(u32::try_from(jobs.len()).expect("few"));
            for job in &jobs {
                let [submit, start, finish] = ["submit", "start", "finish"].map(|column| number(&job[column]));
                let of_job = [(finish - submit) / (finish - start), start - submit, finish - submit];
                sums.iter_mut().zip(of_job).for_each(|(sum, value)| *sum += value / count / 7.0);
            }
        }
    }
    for (policy, printed) in [("easy", [18.1, 1_056.4, 60_833.6]), ("cons", [15.55, 879.62, 60_656.70])] {
        for (ours, printed) in means[policy].into_iter().zip(printed) {
            assert!((ours - printed).abs() < 0.12, "{policy}: {ours} where {printed} is printed");
        }
    }
}

/// A log without column 21, on a cluster of 120 nodes with 2 processors each.
#[test]
fn simulate_runs_every_job_of_the_hpc2n_excerpt() {
    let Some(traces) = test_data::traces() else { return };
    let dir = simulated(&traces, "hpc2n-excerpt", "--policy easy,cons,best-gap");
    for policy in ["easy", "cons", "best-gap"] {
        let jobs = dir.rows(&format!("{policy}/jobs.csv"));
        assert_eq!(jobs.len(), 3_145, "{policy}: every job runs");
        let first = jobs.iter().map(|job| number(&job["start"])).fold(f64::INFINITY, f64::min);
        assert!(
            (first - 16.9768).abs() < 1e-9,
            "{policy}: the first pass comes 8 ms after the start-up, not at {first} s"
        );
    }
    assert_eq!(manifest(dir.0.path())["start_up"], 16.9688);
}

const MACHINES: &str = "0\ta\t1\t2\t1\t0\n1\tbig\t2\t4\t1\t0\n";

/// The larger cluster comes first in any order of the file; one job requests the small cluster, one a cluster that does not exist.
const LOG: &str = "\
1 100 0 50 2 -1 -1 2 60 -1 1 7 1 -1 1 1 -1 -1 {1} q 1:ppn=2
2 200 0 50 2 -1 -1 2 60 -1 1 7 1 -1 1 1 -1 -1 {1} q 1:ppn=2:cl_a
3 210 0 -1 2 -1 -1 2 60 -1 1 7 1 -1 1 1 -1 -1 {1} q 1:ppn=2
4 300 0 50 2 -1 -1 2 40 -1 1 8 1 -1 1 1 -1 -1 {1} q 1:ppn=2:cl_other
";

#[test]
fn jobs_ask_for_clusters_and_one_that_asks_for_none_is_rejected() {
    let dir = Workdir::with("log.swf", LOG);
    dir.file("log.machines", MACHINES);
    let on_machines = "simulate log.swf --profile alea31 --out out --machines log.machines --policy";
    let Said { out, err } = dir.run(&format!("{on_machines} easy,cons,best-gap,bgt,sg"), 0);
    assert!(out.contains("1 job was rejected: no cluster is what they ask for"), "{out}");
    assert!(err.contains("repair no-runtime: 1"), "{err}");
    assert_eq!(manifest(&dir.path("out"))["repairs"]["cut-at-estimate"], 1);
    for policy in ["easy", "cons", "best-gap", "bgt", "sg"] {
        let mut jobs = dir.rows(&format!("out/{policy}/jobs.csv"));
        jobs.retain(|job| job["state"] != "rejected");
        let told: Vec<[&str; 4]> =
            jobs.iter().map(|job| ["job", "start", "finish", "site"].map(|column| job[column].as_str())).collect();
        assert_eq!(told, [["1", "15.1792", "66.1792", "big"], ["2", "100.008", "151.008", "a"]], "{policy}");
    }
    dir.run(&format!("{on_machines} easy --startup 16.969s"), 0);
    assert!(dir.text("out/report.html").contains("no job starts in the first 16.969 s"));
    let jobs = dir.rows("out/easy/jobs.csv");
    let first = jobs.iter().find(|job| job["state"] != "rejected").expect("a job that ran");
    assert_eq!(first["start"], "16.977");
    assert_eq!(manifest(&dir.path("out"))["start_up"], 16.969);
    dir.file("fast.machines", "0\ta\t1\t2\t2.5\t0\n");
    for (options, message) in [
        ("--policy easy", "--profile alea31 needs --machines FILE"),
        ("--machines log.machines --policy flex", "--policy flex is not one of --profile alea31"),
        ("--machines log.machines --policy easy --startup 2d", "expected a span of at most a day"),
        ("--machines log.machines --policy easy --estimates exact", "--estimates does not go with"),
        ("--machines log.machines --policy easy --deadlines factor:2", "--deadlines does not go with"),
        ("--machines log.machines --policy easy --inside machine", "--inside does not go with"),
        ("--machines log.machines --policy easy --passes per-event", "--passes does not go with"),
        ("--model metasched --clusters log.machines --policy ffit", "--profile alea31 goes with"),
        ("--machines fast.machines --policy easy", "has no speeds"),
    ] {
        dir.refuses(&format!("simulate log.swf --profile alea31 --out out {options}"), &[message]);
    }
}
