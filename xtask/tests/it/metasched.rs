//! `simulate --model metasched`: any log on any time-shared clusters.

use crate::program::{FOUR_JOBS, Workdir, assert_same, manifest, names, number, results, table, utf8};

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

/// Returns the command for `log.swf` on clusters; results go to `out`.
fn simulate(clusters: &str, policies: &str) -> String {
    format!("simulate log.swf --model metasched --quiet --policy {policies} --clusters {clusters} --out out")
}

#[test]
fn each_policy_sends_jobs_where_its_rule_says() {
    let dir = Workdir::with("log.swf", THREE_JOBS);
    dir.file("two.toml", CLUSTERS);
    dir.run(&simulate("two.toml", "ffit,rr,tat,ptt+w=0,ptt-occ+w=0"), 0);
    let sites = |policy: &str| -> Vec<String> {
        let (header, mut rows) = table(&dir.path(&format!("out/{policy}/jobs.csv")));
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

    let rows = dir.rows("out/summary.csv");
    for row in &rows {
        assert_eq!((row["jobs"].as_str(), row["rejected"].as_str()), ("2", "1"), "{}", row["policy"]);
        let predicts = !["ffit", "rr"].contains(&row["policy"].as_str());
        assert_eq!(!row["prediction_error_percent"].is_empty(), predicts, "{}", row["policy"]);
    }
    let slowdown = |policy: &str| -> f64 {
        let row = rows.iter().find(|row| row["policy"] == policy).expect("a row");
        number(&row["local_slowdown"])
    };
    // No disturbance; one job of 90 CPU seconds on each node; two of them. One window for all.
    assert!((slowdown("ptt+w=0") - 1.0).abs() < 1e-9);
    assert!(((slowdown("ffit") - 1.0) / (slowdown("tat") - 1.0) - 2.0).abs() < 1e-6);
    let command = manifest(&dir.path("out"))["command_line"].as_str().expect("a command").to_owned();
    assert!(command.contains("--model metasched --clusters"), "{command}");
}

#[test]
fn files_are_those_of_every_simulation_and_threads_change_no_byte() {
    let dir = Workdir::with("log.swf", FOUR_JOBS);
    dir.file("c.toml", CLUSTERS.replace("nodes = 2", "nodes = 8"));
    let [one, two] = [1, 2].map(|threads| {
        dir.run(&format!("{} --jobs {threads}", simulate("c.toml", "tat,ptt+w=0.5")), 0);
        results(&dir.path("out"))
    });
    assert_same(&one, &two);
    let written = names(&dir.path("out"));
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
    let dir = Workdir::with("log.swf", FOUR_JOBS);
    dir.file("site.machines", "0\tone\t4\t2\t1.0\t1048576\n1\ttwo\t2\t8\t1.0\t1048576\n");
    dir.run(&simulate("site.machines", "tat"), 0);
    let rows = dir.rows("out/summary.csv");
    // The job of 16 processors fits on the sixteen of the second cluster.
    assert_eq!((rows[0]["jobs"].as_str(), rows[0]["local_slowdown"].as_str()), ("4", ""));
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place_and_nothing_is_written() {
    let dir = Workdir::with("log.swf", THREE_JOBS);
    dir.file("two.toml", CLUSTERS);
    let policies = ["fcfs", "ptt", "ptt:1.5", "tatt", "tat --procs 8"];
    let mut told = policies.map(|policies| dir.refuses(&simulate("two.toml", policies), &[])).concat();
    for (from, to) in [
        (CLUSTERS, "mpl = 4\n"),
        (CLUSTERS, "cluster = []\n"),
        (CLUSTERS, "[[cluster]"),
        ("nodes = 2", "node = 3"),
        ("nodes = 2", "nodes = 0"),
        ("\"lab\"", "\"office\""),
        ("memory = 100.0", "memory = -1"),
        ("cpu = 0.9", "cpu = 50"),
        ("[jobs]", "[readings]\nmpl_beside_users = 0\n[jobs]"),
    ] {
        dir.file("bad.toml", CLUSTERS.replace(from, to));
        told += &dir.refuses(&simulate("bad.toml", "tat"), &[]);
    }
    told += &dir.refuses(&simulate("none.machines", "tat"), &[]);
    for words in ["--model metasched --policy tat", "--policy fcfs --clusters two.toml", "--policy tat --procs 8"] {
        told += &dir.refuses(&format!("simulate log.swf {words}"), &[]);
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_real_log_runs_on_clusters_with_users() {
    let Some(log) = test_data::trace("KTH-SP2-1996-2.1-cln.swf.gz") else { return };
    let dir = Workdir::with("c.toml", CLUSTERS.replace("nodes = 2", "nodes = 100"));
    let run = simulate("c.toml", "rr,tat,ptt+w=0.5").replace("log.swf", utf8(&log));
    dir.run(&format!("{run} --max-jobs 3000"), 0);
    let rows = dir.rows("out/summary.csv");
    let turnaround = |i: usize| number(&rows[i]["response_mean"]);
    // One record of the three thousand never ran.
    assert!(rows.iter().all(|row| row["jobs"] == "2999" && row["rejected"] == "0"), "{rows:?}");
    assert!(turnaround(1) < turnaround(0), "TAT {} is no better than RR {}", turnaround(1), turnaround(0));
}
