//! `simulate --model hier-grid`: any log on any tree.

use crate::program::{Workdir, number, utf8};
use std::collections::{BTreeMap, BTreeSet};

/// Three sites below two levels: two servers of 8 CPUs, one of 4.
const TREE: &str = "\
tree = [\"a\", [\"b\", \"c\"]]
local_load = 0.0
[[site]]
name = \"a\"
stations = 2
servers = [{ cpus = 8 }]
[[site]]
name = \"b\"
servers = [{ cpus = 8 }, { cpus = 4 }]
[[site]]
name = \"c\"
";

/// Five jobs; the last is wider than any server.
const LOG: &str = "\
; MaxProcs: 16
1 100 -1 10  4 -1 -1  4 20 -1 1 1 1 -1 -1 -1 -1 -1
2 105 -1 10  8 -1 -1  8 20 -1 1 2 1 -1 -1 -1 -1 -1
3 106 -1 10  2 -1 -1  2 20 -1 1 3 1 -1 -1 -1 -1 -1
4 106 -1 10  8 -1 -1  8 20 -1 1 4 1 -1 -1 -1 -1 -1
5 107 -1 10 16 -1 -1 16 15 -1 1 1 1 -1 -1 -1 -1 -1
";

const POLICIES: &str = "p2p,hierarchical,hybrid+trees=2";

/// Returns the command for `log.swf` on a tree; results go to `out`.
fn simulate(tree: &str, policies: &str) -> String {
    format!("simulate log.swf --model hier-grid --quiet --policy {policies} --tree {tree} --out out")
}

/// Checks that every job runs once, none before its submission, and no server has two jobs at once. Returns the number of jobs.
fn check_schedule(dir: &Workdir, policy: &str) -> usize {
    let mut rows = dir.rows(&format!("out/{policy}/jobs.csv"));
    rows.retain(|row| row["state"] != "rejected");
    let mut seen = BTreeSet::new();
    let mut servers: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for row in &rows {
        let [submit, start, finish] = ["submit", "start", "finish"].map(|column| number(&row[column]));
        assert!(seen.insert(&row["job"]), "job {} twice under {policy}", row["job"]);
        assert!(submit <= start && start <= finish, "{row:?}");
        servers.entry(&row["site"]).or_default().push((start, finish));
    }
    for (server, mut runs) in servers {
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let apart = runs.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        assert!(apart, "{server} runs two jobs at once under {policy}");
    }
    rows.len()
}

#[test]
fn every_job_runs_once_on_a_server_of_its_own_or_is_counted_as_rejected() {
    let dir = Workdir::with("log.swf", LOG);
    dir.file("tree.toml", TREE);
    dir.run(&simulate("tree.toml", POLICIES), 0);
    for policy in POLICIES.split(',') {
        assert_eq!(check_schedule(&dir, policy), 4, "{policy}");
    }
    let rows = dir.rows("out/summary.csv");
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert_eq!((row["jobs"].as_str(), row["rejected"].as_str()), ("4", "1"), "{}", row["policy"]);
        assert!(number(&row["messages_per_job"]) > 3.0, "{}", row["policy"]);
        assert!(number(&row["turnaround_mean"]) > number(&row["response_mean"]), "{}", row["policy"]);
    }
}

#[test]
fn work_is_spread_over_all_cpus_unless_the_tree_file_says_that_run_times_hold() {
    let dir = Workdir::with("log.swf", LOG.lines().take(2).collect::<Vec<_>>().join("\n"));
    let took = |tree: &str| {
        dir.file("tree.toml", tree);
        dir.run(&simulate("tree.toml", "hierarchical"), 0);
        let rows = dir.rows("out/hierarchical/jobs.csv");
        let [start, finish, cpus] = ["start", "finish", "processors"].map(|column| number(&rows[0][column]));
        (finish - start, cpus)
    };
    // Forty CPU seconds, plus some milliseconds of input.
    let (seconds, cpus) = took(TREE);
    assert!((seconds - 40.0 / cpus).abs() < 0.1, "{seconds} s on {cpus} CPUs");
    let site = "[[site]]\nname = \"a\"";
    let (seconds, _) = took(&TREE.replace(site, &format!("[jobs]\ntime = \"runtime\"\n{site}")));
    assert!((seconds - 10.0).abs() < 0.1, "{seconds} s");
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place_and_nothing_is_written() {
    let dir = Workdir::with("log.swf", LOG);
    dir.file("tree.toml", TREE);
    let policies = ["fcfs", "hybrid", "hybrid:1", "hybrid+trees=4", "p2p --procs 8"];
    let mut told = policies.map(|policies| dir.refuses(&simulate("tree.toml", policies), &[])).concat();
    let (tree, below, levels) = ("[\"a\", [\"b\", \"c\"]]", "[\"b\", \"c\"]", ["1"; 65].join("-"));
    for (from, to) in [
        ("stations", "station"),
        ("cpus = 4", "cpus = 0"),
        ("{ cpus = 4 }", "{ cpus = 4, systems = [\"macos\"] }"),
        ("name = \"c\"", "name = \"a\""),
        ("local_load", "backbones = 2\nlocal_load"),
        (TREE, "tree = \"1\"\nsite = []\n"),
        (TREE, "tree = \"1\"\n[[site]]\nname = \"a\"\n"),
        (below, "[\"b\", \"d\"]"),
        (below, "\"b\""),
        (below, "\"b\", \"c\", \"d\""),
        (below, "[], \"b\", \"c\""),
        (tree, "\"2-2\""),
        (tree, "\"4-0\""),
        (tree, "\"4--2\""),
        (tree, "\"a\""),
        (tree, &format!("{levels:?}")),
        (tree, &"[".repeat(60_000)),
    ] {
        dir.file("bad.toml", TREE.replace(from, to));
        told += &dir.refuses(&simulate("bad.toml", "p2p"), &[]);
    }
    told += &dir.refuses("simulate log.swf --model hier-grid --policy p2p", &[]);
    told += &dir.refuses("simulate log.swf --policy fcfs --tree t.toml", &[]);
    insta::assert_snapshot!(told);
}

#[test]
fn a_real_log_runs_on_the_example_file() {
    let Some(log) = test_data::trace("KTH-SP2-1996-2.1-cln.swf.gz") else { return };
    let dir = Workdir::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads/trees/universities.toml");
    dir.run(&format!("{} --max-jobs 500", simulate(example, POLICIES).replace("log.swf", utf8(&log))), 0);
    for row in dir.rows("out/summary.csv") {
        let number = |column: &str| row[column].parse::<usize>().expect("a count");
        assert_eq!(number("jobs") + number("rejected"), 500, "{row:?}");
        assert_eq!(check_schedule(&dir, &row["policy"]), number("jobs"));
    }
}
