//! Predicted run times: the paper on logs and without, and `simulate` against published schedules.

use crate::program::{Workdir, said, table};
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

const COLUMNS: &str =
    "log,order,predictor,corrector,jobs,avgft,maxft,RMSFT,avgstretch,maxstretch,RMSS,avgbsld,maxbsld,RMSBSLD";

#[test]
fn without_a_log_a_stand_in_runs_and_the_report_says_so() {
    let dir = Workdir::new();
    let mut run = dir.command("reproduce predictions --quick --quiet --check --out .");
    said(run.env_remove("GRID_TRACES"), 0);
    let page = dir.text("report.html");
    assert!(page.contains("A stand-in: none of the logs was found") && page.contains("KTH-SP2-1996-2.1-cln.swf"));
    assert_eq!(dir.rows("claims.csv").iter().map(|claim| claim["id"].as_str()).collect::<Vec<_>>(), ["G2", "G3", "G4"]);
    let (columns, rows) = table(&dir.path("data/rows.csv"));
    assert_eq!(columns.join(","), COLUMNS);
    assert_eq!(rows.len(), 12);
    assert!(rows.iter().all(|row| row["log"] == "stand-in"));
}

#[test]
fn quick_verdicts_with_two_logs_are_those_on_record() {
    let Some(traces) = test_data::traces() else { return };
    let dir = Workdir::new();
    dir.run(&format!("reproduce predictions --quick --quiet --check --out . --traces {}", traces.display()), 0);
    let (columns, rows) = table(&dir.path("data/rows.csv"));
    assert_eq!((columns.join(",").as_str(), rows.len()), (COLUMNS, 24));
    let published = rows.iter().find(|row| row["log"] == "KTH-SP2" && row["predictor"] == "requested").expect("EASY");
    assert_eq!(published["jobs"], "28467");
}

/// Returns the workload of a published schedule as a log, and its starts by job.
fn published(path: &Path) -> (String, BTreeMap<String, i64>) {
    let opened = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut schedule = csv::Reader::from_reader(GzDecoder::new(opened));
    let (mut log, mut starts) = (String::new(), BTreeMap::new());
    let mut rows: Vec<[i64; 9]> = schedule.deserialize().map(|row| row.expect("nine numbers")).collect();
    rows.sort_by_key(|row| (row[1], row[0]));
    for [job, submit, start, run, width, requested, user, ..] in rows {
        log += &format!("{job} {submit} -1 {run} {width} -1 -1 {width} {requested} -1 1 {user} -1 -1 -1 -1 -1 -1\n");
        starts.insert(job.to_string(), start);
    }
    (log, starts)
}

#[test]
fn simulate_with_the_passes_of_pyss_gives_every_published_start() {
    let Some(oracles) = test_data::oracles() else { return };
    for (name, policy) in [
        ("easy-KTH-SP2", "easy"),
        ("easy-clairvoyant-KTH-SP2", "easy+predict=clairvoyant"),
        ("easypp-tsafrir-KTH-SP2", "easy+predict=tsafrir+correct=tsafrir+backfill=spf"),
    ] {
        let (log, starts) = published(&oracles.join(format!("predictsim-sc15-{name}.csv.gz")));
        let dir = Workdir::with("log.swf", log);
        dir.run(&format!("simulate log.swf --quiet --procs 100 --passes pyss --policy {policy} --out out"), 0);
        let rows = dir.rows(&format!("out/{policy}/jobs.csv"));
        assert_eq!(rows.len(), starts.len());
        for row in rows {
            // The first job of this log is submitted at 0.
            assert_eq!(row["start"], starts[&row["job"]].to_string(), "{name}: job {}", row["job"]);
        }
        let (columns, summary) = table(&dir.path("out/summary.csv"));
        let expired = columns.contains(&"predictions_expired_percent".to_owned());
        assert_eq!(expired, policy.contains("predict"), "{name}");
        if policy.contains("clairvoyant") {
            assert_eq!(summary[0]["predictions_expired_percent"], "0");
        }
    }
}

/// Six jobs of one user, with requests of an hour and run times of 100 s or 300 s.
#[test]
fn a_mean_of_user_is_a_prediction_that_is_corrected_and_no_limit() {
    let mut log = "; MaxProcs: 4\n".to_owned();
    for (job, run) in [100, 100, 300, 100, 300, 100].into_iter().enumerate() {
        log += &format!("{} {} 0 {run} 4 -1 -1 4 3600 -1 1 7 1 -1 -1 -1 -1 -1\n", job + 1, 1000 * job);
    }
    let dir = Workdir::with("log.swf", log);
    let run = "simulate log.swf --estimates mean-of-user:2 --policy easy,easy+predict=clairvoyant --out out";
    let told = dir.run(run, 0).out;
    // The predictions of jobs 3 and 5 were 100 s and 200 s.
    assert!(told.contains("easy: 2 of 6 predictions expired (33.3 %), corrected 2 times"), "{told}");
    let rows = dir.rows("out/easy/jobs.csv");
    assert!(rows.iter().all(|row| row["state"] == "done"), "no prediction kills a job");
}
