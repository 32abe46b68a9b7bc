//! `simulate --model metasched`: any log on any time-shared clusters.

use crate::program::{FOUR_JOBS, assert_same, file, folder, manifest, results, table, tree, xtask};
use predicates::str::contains;
use std::collections::BTreeSet;
use std::path::Path;

/// Two clusters of two nodes; a user at each node of the first.
const CLUSTERS: &str = "\
[jobs]
cpu = 0.9
memory = 100.0
[[cluster]]
name = \"office\"
nodes = 2
local_users = true
[[cluster]]
name = \"lab\"
nodes = 2
";

/// The second job can start beside the users or beside the first job; the third is wider than any cluster.
const THREE_JOBS: &str = "\
1  0 -1 100 2 -1 -1 2 100 -1 1 7 1 -1 -1 -1 -1 -1
2 10 -1 100 2 -1 -1 2 100 -1 1 7 1 -1 -1 -1 -1 -1
3 20 -1 100 3 -1 -1 3 100 -1 1 7 1 -1 -1 -1 -1 -1
";

fn simulate(log: &Path, clusters: &Path, policies: &str, out: &Path, more: &[&str]) -> assert_cmd::assert::Assert {
    xtask()
        .args(["simulate", "--model", "metasched", "--quiet", "--policy", policies, "--trace"])
        .arg(log)
        .arg("--clusters")
        .arg(clusters)
        .args(more)
        .arg("--out")
        .arg(out)
        .assert()
}

#[test]
fn each_policy_sends_jobs_where_its_rule_says() {
    let folder = folder();
    let (log, clusters) = (file(&folder, "log.swf", THREE_JOBS), file(&folder, "two.toml", CLUSTERS));
    let out = folder.path().join("out");
    simulate(&log, &clusters, "ffit,rr,tat,ptt+w=0,ptt-occ+w=0", &out, &[]).success();
    let sites = |policy: &str| -> Vec<String> {
        let (header, mut rows) = table(&out.join(policy).join("jobs.csv"));
        rows.retain(|row| row["state"] != "rejected");
        assert_eq!(header[..6], ["job", "submit", "start", "finish", "processors", "site"]);
        let mut rows: Vec<_> = rows.into_iter().map(|mut row| (row.remove("job"), row.remove("site"))).collect();
        rows.sort();
        rows.into_iter().map(|(_, site)| site.expect("a column")).collect()
    };
    // First fit beside the users; in turn; away from them, then beside them rather than beside the other job; always away from them.
    assert_eq!(sites("ffit"), ["office", "office"]);
    assert_eq!(sites("rr"), ["office", "lab"]);
    assert_eq!(sites("tat"), ["lab", "office"]);
    assert_eq!(sites("ptt+w=0"), ["lab", "lab"]);
    // Half the lab's CPU and a tenth of its memory are in use by then, less than what users take of the office.
    assert_eq!(sites("ptt-occ+w=0")[0], "lab");

    let (_, rows) = table(&out.join("summary.csv"));
    for row in &rows {
        assert_eq!((row["jobs"].as_str(), row["rejected"].as_str()), ("2", "1"), "{}", row["policy"]);
        let predicts = !["ffit", "rr"].contains(&row["policy"].as_str());
        assert_eq!(!row["prediction_error_percent"].is_empty(), predicts, "{}", row["policy"]);
    }
    let slowdown = |policy: &str| -> f64 {
        let row = rows.iter().find(|row| row["policy"] == policy).expect("a row");
        row["local_slowdown"].parse().expect("a number")
    };
    // No disturbance; one job of 90 CPU seconds on each node; two of them. One window for all.
    assert!((slowdown("ptt+w=0") - 1.0).abs() < 1e-9);
    assert!(((slowdown("ffit") - 1.0) / (slowdown("tat") - 1.0) - 2.0).abs() < 1e-6);
    let command = manifest(&out)["command_line"].as_str().expect("a command").to_owned();
    assert!(command.contains("--model metasched --clusters"), "{command}");
}

#[test]
fn files_are_those_of_every_simulation_and_threads_change_no_byte() {
    let folder = folder();
    let (log, clusters) =
        (file(&folder, "log.swf", FOUR_JOBS), file(&folder, "c.toml", CLUSTERS.replace("nodes = 2", "nodes = 8")));
    let outs = ["1", "2"].map(|threads| {
        let out = folder.path().join(threads);
        simulate(&log, &clusters, "tat,ptt+w=0.5", &out, &["--jobs", threads]).success();
        out
    });
    assert_same(&results(&outs[0]), &results(&outs[1]));
    let written: BTreeSet<String> = tree(&outs[0]).into_keys().collect();
    for name in [
        "tat/jobs.csv",
        "ptt+w=0.5/jobs.csv",
        "summary.csv",
        "manifest.json",
        "report.html",
        "figures/utilization.svg",
        "figures/gantt-tat.svg",
    ] {
        assert!(written.contains(name), "{name} is not among {written:?}");
    }
}

#[test]
fn a_machine_file_will_do_and_has_no_local_users() {
    let folder = folder();
    let log = file(&folder, "log.swf", FOUR_JOBS);
    let machines = file(&folder, "site.machines", "0\tone\t4\t2\t1.0\t1048576\n1\ttwo\t2\t8\t1.0\t1048576\n");
    let out = folder.path().join("out");
    simulate(&log, &machines, "tat", &out, &[]).success();
    let (_, rows) = table(&out.join("summary.csv"));
    // The job of 16 processors fits on the sixteen of the second cluster.
    assert_eq!((rows[0]["jobs"].as_str(), rows[0]["local_slowdown"].as_str()), ("4", ""));
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place_and_nothing_is_written() {
    let folder = folder();
    let (log, clusters) = (file(&folder, "log.swf", THREE_JOBS), file(&folder, "two.toml", CLUSTERS));
    let out = folder.path().join("out");
    let refused = |clusters: &Path, policies: &str, more: &[&str], words: &[&str]| {
        let mut run = simulate(&log, clusters, policies, &out, more).code(2);
        for word in words {
            run = run.stderr(contains(*word));
        }
        assert!(!out.exists(), "{words:?}");
    };
    refused(&clusters, "fcfs", &[], &["--policy fcfs", "--model gap-schedule"]);
    refused(&clusters, "ptt", &[], &["ptt: needs", "a weight from 0 to 1"]);
    refused(&clusters, "ptt:1.5", &[], &["\"ptt:1.5\"", "a weight from 0 to 1"]);
    refused(&clusters, "tatt", &[], &["\"tatt\"", "ffit, rr, tat, ptt+w=W, ptt-occ+w=W"]);
    refused(&clusters, "tat", &["--procs", "8"], &["--clusters", "--procs"]);
    let bad = |content: &str| file(&folder, "bad.toml", content);
    refused(&bad("mpl = 4\n"), "tat", &[], &["bad.toml", "missing field `cluster`"]);
    refused(&bad("[[cluster]]\nname = \"a\"\nnode = 3\n"), "tat", &[], &["bad.toml", "line 3", "unknown field `node`"]);
    refused(&bad("[[cluster]]\nname = \"a\"\nnodes = 0\n"), "tat", &[], &["bad.toml", "cluster 1 has no nodes"]);
    refused(&bad("[[cluster]"), "tat", &[], &["bad.toml", "line 1"]);
    refused(&folder.path().join("none.machines"), "tat", &[], &["none.machines"]);

    let without = xtask().args(["simulate", "--model", "metasched", "--policy", "tat", "--trace"]).arg(&log).assert();
    without.code(2).stderr(contains("--clusters FILE"));
    let other =
        xtask().args(["simulate", "--policy", "fcfs", "--clusters"]).arg(&clusters).arg("--trace").arg(&log).assert();
    other.code(2).stderr(contains("--model metasched"));
    let other = xtask().args(["simulate", "--policy", "tat", "--procs", "8", "--trace"]).arg(&log).assert();
    other.code(2).stderr(contains("--policy tat is one of --model metasched"));
}

#[test]
fn a_real_log_runs_on_clusters_with_users() {
    let Some(log) = test_data::trace("KTH-SP2-1996-2.1-cln.swf.gz") else { return };
    let folder = folder();
    let clusters = file(&folder, "c.toml", CLUSTERS.replace("nodes = 2", "nodes = 100"));
    let out = folder.path().join("out");
    simulate(&log, &clusters, "rr,tat,ptt+w=0.5", &out, &["--max-jobs", "3000"]).success();
    let (_, rows) = table(&out.join("summary.csv"));
    let turnaround = |i: usize| rows[i]["response_mean"].parse::<f64>().expect("a number");
    // One record of the three thousand never ran.
    assert!(rows.iter().all(|row| row["jobs"] == "2999" && row["rejected"] == "0"), "{rows:?}");
    assert!(turnaround(1) < turnaround(0), "TAT {} is no better than RR {}", turnaround(1), turnaround(0));
}
