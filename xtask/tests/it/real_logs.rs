//! Logs of the Parallel Workloads Archive, if available.

use crate::program::{Workdir, manifest, table};
use sim_core::Span;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use test_data::Need;
use workload::{SwfReader, SwfRecord};

/// Parses whole seconds.
fn seconds(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no whole number of seconds"))
}

/// Checks properties of a run of `simulate` under any policy, from the log and `jobs.csv` alone.
///
/// `sites` are the places by name, with their processors; the log is read without repairs but for its limits.
fn check_schedules(trace: &Path, out: &Path, sites: &BTreeMap<&str, i64>) {
    let log: BTreeMap<u64, SwfRecord> = SwfReader::open(trace)
        .expect("a log")
        .map(|record| record.expect("a record"))
        .map(|record| (record.number, record))
        .collect();
    let (_, summary) = table(&out.join("summary.csv"));
    for row in summary {
        let policy = &row["policy"];
        let mut jobs = csv::Reader::from_path(out.join(policy).join("jobs.csv")).expect("a table");
        let header = jobs.headers().expect("a header").clone();
        let columns = ["job", "submit", "start", "finish", "processors", "site", "state"]
            .map(|name| header.iter().position(|known| known == name).expect(name));
        let (mut started, mut rejected, mut cut) = (0, 0, 0);
        // Changes of each site's busy processors at each instant: a finish frees processors for a start at the same instant.
        let mut changes: BTreeMap<(&str, u64), i64> = BTreeMap::new();
        for job in jobs.records() {
            let job = job.expect("a row");
            let [job, submit, start, finish, processors, site, state] = columns.map(|column| &job[column]);
            if state == "rejected" {
                rejected += 1;
                continue;
            }
            (started, cut) = (started + 1, cut + u64::from(state == "cut"));
            let (submit, start, finish) = (seconds(submit), seconds(start), seconds(finish));
            let record = &log[&job.parse::<u64>().expect("a number")];
            let context = || format!("job {job} under {policy}");
            assert!(submit <= start, "{} started before it was submitted", context());
            let runtime = record.runtime.expect("it ran");
            let limit = record.requested_time.filter(|limit| !limit.is_zero()).unwrap_or(runtime);
            assert_eq!(Span::from_secs(finish - start), runtime.min(limit), "{}", context());
            let width = i64::from(record.processors().expect("it has processors"));
            assert_eq!(processors, width.to_string(), "{}", context());
            assert_eq!(state, if runtime > limit { "cut" } else { "done" }, "{}", context());
            let (site, _) = sites.get_key_value(site).expect(site);
            *changes.entry((site, start)).or_default() += width;
            *changes.entry((site, finish)).or_default() -= width;
        }
        for (column, count) in [("jobs", started), ("rejected", rejected), ("cut", cut)] {
            assert_eq!(row[column], count.to_string(), "{column} under {policy}");
        }
        let mut busy: BTreeMap<&str, i64> = BTreeMap::new();
        for ((site, at), change) in changes {
            let busy = busy.entry(site).or_default();
            *busy += change;
            assert!((0..=sites[site]).contains(busy), "{busy} processors of {site} busy at {at} s under {policy}");
        }
        assert!(busy.values().all(|busy| *busy == 0));
    }
}

const EVERY: &str = "fcfs,easy,cons,best-gap,bgt,sg,flex,eg-edf,eg-edf-tabu";

/// Returns a folder with the results of a run.
fn simulated(policies: &str, trace: &Path, options: &str) -> Workdir {
    let dir = Workdir::new();
    dir.run(&format!("simulate {} --policy {policies} --quiet --out .{options}", trace.display()), 0);
    dir
}

#[test]
fn every_policy_keeps_to_the_clusters_of_wagap() {
    let Some(traces) = test_data::traces() else { return };
    let (trace, machines) = (traces.join("wagap-2013.swf.gz"), traces.join("wagap-2013.swf.machines"));
    let dir = simulated(EVERY, &trace, &format!(" --deadlines factor:2 --machines {}", machines.display()));
    check_schedules(&trace, dir.0.path(), &[("zewura", 1600), ("zegox", 576)].into());
    assert_eq!(dir.rows("summary.csv")[0]["jobs"], "17898");
}

#[test]
fn every_policy_keeps_to_the_machine_of_hpc2n() {
    let Some(traces) = test_data::traces() else { return };
    let trace = traces.join("HPC2N-2002-2.2-cln.swf.gz");
    let dir = simulated(EVERY, &trace, " --deadlines factor:2 --no-report --tables jobs,summary");
    assert_eq!(manifest(dir.0.path())["machine"], "240 processors, from the log");
    check_schedules(&trace, dir.0.path(), &[("pool", 240)].into());
    assert_eq!(dir.rows("summary.csv")[0]["jobs"], "202871");
}

/// Returns all logs in the folder, each with its machine file if there is one.
fn logs(traces: &Path) -> Vec<(PathBuf, Option<PathBuf>)> {
    let mut logs: Vec<PathBuf> = std::fs::read_dir(traces)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(".swf.gz"))
        .collect();
    logs.sort_unstable();
    let with_machines = |log: PathBuf| {
        let machines = log.with_extension("machines");
        (log, machines.is_file().then_some(machines))
    };
    logs.into_iter().map(with_machines).collect()
}

/// The number of jobs is limited by the time of a test. Repairs of the log and jobs that never ran are reported.
#[test]
fn every_policy_ends_on_every_log_and_anomalies_are_counted() {
    let Some(traces) = test_data::traces() else { return };
    let logs = logs(&traces);
    assert!(!logs.is_empty(), "no log in {}", traces.display());
    for (log, machines) in logs {
        let machines = match machines {
            Some(file) => format!(" --machines {}", file.display()),
            // This log has no header; the archive's page describes its machines.
            None if log.to_string_lossy().contains("METACENTRUM-2009") => " --procs 806".to_owned(),
            None => String::new(),
        };
        let dir = simulated(EVERY, &log, &format!(" --deadlines factor:2 --max-jobs 3000{machines}"));
        let repairs = manifest(dir.0.path())["repairs"].clone();
        let count = |rule: &str| repairs[rule].as_u64().unwrap_or(0);
        let skipped = count("no-submit") + count("no-runtime") + count("no-processors");
        let summary = dir.rows("summary.csv");
        assert_eq!(summary.len(), EVERY.split(',').count(), "{}", log.display());
        for row in summary {
            let ran = seconds(&row["jobs"]) + seconds(&row["rejected"]);
            assert_eq!(ran + skipped, 3000, "{} under {}: {repairs}", log.display(), row["policy"]);
        }
        let report = dir.text("report.html");
        for (rule, _) in repairs.as_object().expect("a table") {
            assert!(report.contains(rule), "{}: the report does not tell of {rule}", log.display());
        }
    }
}

/// `--estimates` equals a predictor that is never corrected: jobs end at their requests at the latest.
#[test]
fn doubled_requests_give_the_schedule_of_the_predictor_that_doubles_them() {
    let Some(trace) = test_data::trace("KTH-SP2-1996-2.1-cln.swf.gz") else { return };
    let jobs = |policy: &str, options: &str| {
        simulated(policy, &trace, &format!(" --max-jobs 3000{options}")).text(&format!("{policy}/jobs.csv"))
    };
    let doubled = jobs("easy", " --estimates request-factor:2");
    assert!(doubled == jobs("easy+predict=double-requested", ""), "the schedules differ");
    assert!(doubled != jobs("easy", ""), "estimates matter");
}

/// Memory depends on the jobs in the system, not on the length of the log: 313 000 records in less than 100 MiB.
#[test]
fn cea_curie_takes_less_than_100_mib() {
    let Some(traces) = test_data::traces() else { return };
    let dir = simulated("easy", &traces.join("CEA-Curie-2011-2.1-cln.swf.gz"), "");
    let Some(peak) = manifest(dir.0.path())["timings"]["peak_memory_mib"].as_f64() else {
        return test_data::skip(Need::Memory, "this system does not tell how much memory was used");
    };
    eprintln!("peak memory: {peak:.1} MiB");
    assert!(peak < 100.0, "{peak} MiB");
}
