//! Logs of the Parallel Workloads Archive, where they are at hand.

use crate::program::{data, folder, manifest, table, xtask};
use std::collections::BTreeMap;

/// Seconds; logs hold whole ones.
fn seconds(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no whole number of seconds"))
}

#[test]
fn schedules_of_kth_sp2_keep_to_the_machine() {
    let Some(traces) = data("GRID_TRACES") else { return };
    let out = folder();
    let arguments = ["simulate", "--policy", "fcfs,easy", "--max-jobs", "3000", "--quiet", "--trace"];
    let trace = traces.join("KTH-SP2-1996-2.1-cln.swf.gz");
    xtask().args(arguments).arg(trace).arg("--out").arg(out.path()).assert().code(0);
    let (_, summary) = table(&out.path().join("summary.csv"));
    let processors = 100;
    assert_eq!(manifest(out.path())["machine"], format!("{processors} processors, from the log"));
    for row in summary {
        let (_, jobs) = table(&out.path().join(&row["policy"]).join("jobs.csv"));
        assert_eq!(row["jobs"], jobs.len().to_string());
        assert!(jobs.len() > 2_900 && row["rejected"] == "0");
        // Busy processors change by so many at each instant: a finish frees what a start of the same instant may take.
        let mut changes: BTreeMap<u64, i64> = BTreeMap::new();
        for job in &jobs {
            let (submit, start, finish) = (seconds(&job["submit"]), seconds(&job["start"]), seconds(&job["finish"]));
            assert!(submit <= start && start < finish, "job {} under {}", job["job"], row["policy"]);
            let width: i64 = job["processors"].parse().expect("a number");
            *changes.entry(start).or_default() += width;
            *changes.entry(finish).or_default() -= width;
        }
        let mut busy = 0;
        for (at, change) in changes {
            busy += change;
            assert!((0..=processors).contains(&busy), "{busy} processors busy at {at} s under {}", row["policy"]);
        }
        assert_eq!(busy, 0);
    }
}

/// Memory follows the jobs in the system, not the length of the log: 313 000 records in less than 100 MiB.
#[test]
fn cea_curie_takes_less_than_100_mib() {
    let Some(traces) = data("GRID_TRACES") else { return };
    let out = folder();
    let trace = traces.join("CEA-Curie-2011-2.1-cln.swf.gz");
    xtask()
        .args(["simulate", "--policy", "easy", "--quiet", "--trace"])
        .arg(trace)
        .arg("--out")
        .arg(out.path())
        .assert()
        .code(0);
    let Some(peak) = manifest(out.path())["timings"]["peak_memory_mib"].as_f64() else {
        eprintln!("skipped: this system does not tell how much memory was used");
        return;
    };
    eprintln!("peak memory: {peak:.1} MiB");
    assert!(peak < 100.0, "{peak} MiB");
}
