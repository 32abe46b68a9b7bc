//! `simulate --model hier-grid`: any log on any tree.

use crate::program::{file, folder, table, utf8, xtask};
use predicates::str::contains;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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

fn simulate(log: &Path, grid: &str, policies: &str, out: &Path, more: &[&str]) -> assert_cmd::assert::Assert {
    xtask()
        .args(["simulate", "--model", "hier-grid", "--quiet", "--policy", policies, "--tree", grid, "--trace"])
        .arg(log)
        .args(more)
        .arg("--out")
        .arg(out)
        .assert()
}

/// Checks that every job runs once, none before its submission, and no server has two jobs at once. Returns the number of jobs.
fn check_schedule(path: &Path) -> usize {
    let (_, mut rows) = table(path);
    rows.retain(|row| row["state"] != "rejected");
    let mut seen = BTreeSet::new();
    let mut servers: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for row in &rows {
        let [submit, start, finish] =
            ["submit", "start", "finish"].map(|column| row[column].parse::<f64>().expect("seconds"));
        assert!(seen.insert(&row["job"]), "job {} twice in {}", row["job"], path.display());
        assert!(submit <= start && start <= finish, "{row:?}");
        servers.entry(&row["site"]).or_default().push((start, finish));
    }
    for (server, mut runs) in servers {
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let apart = runs.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        assert!(apart, "{server} runs two jobs at once in {}", path.display());
    }
    rows.len()
}

#[test]
fn every_job_runs_once_on_a_server_of_its_own_or_is_counted_as_rejected() {
    let folder = folder();
    let (log, grid) = (file(&folder, "log.swf", LOG), file(&folder, "tree.toml", TREE));
    let out = folder.path().join("out");
    simulate(&log, utf8(&grid), POLICIES, &out, &[]).success();
    for policy in POLICIES.split(',') {
        assert_eq!(check_schedule(&out.join(policy).join("jobs.csv")), 4, "{policy}");
    }
    let (_, rows) = table(&out.join("summary.csv"));
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert_eq!((row["jobs"].as_str(), row["rejected"].as_str()), ("4", "1"), "{}", row["policy"]);
        assert!(row["messages_per_job"].parse::<f64>().expect("a number") > 3.0, "{}", row["policy"]);
        let number = |column: &str| row[column].parse::<f64>().expect("a number");
        assert!(number("turnaround_mean") > number("response_mean"), "{}", row["policy"]);
    }
}

#[test]
fn work_is_spread_over_all_cpus_unless_the_tree_file_says_that_run_times_hold() {
    let folder = folder();
    let log = file(&folder, "log.swf", LOG.lines().take(2).collect::<Vec<_>>().join("\n"));
    let took = |name: &str, tree: &str| {
        let (grid, out) = (file(&folder, name, tree), folder.path().join(format!("{name}.out")));
        simulate(&log, utf8(&grid), "hierarchical", &out, &[]).success();
        let (_, rows) = table(&out.join("hierarchical/jobs.csv"));
        let [start, finish, cpus] =
            ["start", "finish", "processors"].map(|it| rows[0][it].parse::<f64>().expect("a number"));
        (finish - start, cpus)
    };
    // Forty CPU seconds, plus some milliseconds of input.
    let (seconds, cpus) = took("work.toml", TREE);
    assert!((seconds - 40.0 / cpus).abs() < 0.1, "{seconds} s on {cpus} CPUs");
    let (seconds, _) = took(
        "runtime.toml",
        &TREE.replace("[[site]]\nname = \"a\"", "[jobs]\ntime = \"runtime\"\n[[site]]\nname = \"a\""),
    );
    assert!((seconds - 10.0).abs() < 0.1, "{seconds} s");
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place_and_nothing_is_written() {
    let folder = folder();
    let (log, grid) = (file(&folder, "log.swf", LOG), file(&folder, "tree.toml", TREE));
    let out = folder.path().join("out");
    let refused = |grid: &str, policies: &str, more: &[&str], words: &[&str]| {
        let mut run = simulate(&log, grid, policies, &out, more).code(2);
        for word in words {
            run = run.stderr(contains(*word));
        }
        assert!(!out.exists(), "{words:?}");
    };
    let good = utf8(&grid);
    refused(good, "fcfs", &[], &["--policy fcfs", "--model gap-schedule", "--model hier-grid"]);
    refused(good, "hybrid", &[], &["hybrid: needs", "at least 2"]);
    refused(good, "hybrid:1", &[], &["\"hybrid:1\"", "at least 2"]);
    refused(good, "hybrid+trees=4", &[], &["--policy hybrid+trees=4", "there are 3"]);
    refused(good, "p2p", &["--procs", "8"], &["--tree", "--procs"]);
    let bad = file(&folder, "bad.toml", TREE.replace("stations", "station"));
    refused(utf8(&bad), "p2p", &[], &["bad.toml", "line 5", "unknown field `station`"]);
    let bad = file(&folder, "bad.toml", TREE.replace("\"c\"]]", "\"d\"]]"));
    refused(utf8(&bad), "p2p", &[], &["bad.toml", "\"d\"", "in the order of [[site]]"]);

    let without = xtask().args(["simulate", "--model", "hier-grid", "--policy", "p2p", "--trace"]).arg(&log).assert();
    without.code(2).stderr(contains("--tree FILE.toml"));
    let other = xtask().args(["simulate", "--policy", "fcfs", "--tree", "t.toml", "--trace"]).arg(&log).assert();
    other.code(2).stderr(contains("--model hier-grid"));
}

#[test]
fn a_real_log_runs_on_the_example_file() {
    let Some(log) = test_data::trace("KTH-SP2-1996-2.1-cln.swf.gz") else { return };
    let folder = folder();
    let example = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("inside the workspace")
        .join("workloads/trees/universities.toml");
    let out = folder.path().join("out");
    simulate(&log, utf8(&example), POLICIES, &out, &["--max-jobs", "500"]).success();
    let (_, rows) = table(&out.join("summary.csv"));
    for row in rows {
        let number = |column: &str| row[column].parse::<usize>().expect("a count");
        assert_eq!(number("jobs") + number("rejected"), 500, "{row:?}");
        assert_eq!(check_schedule(&out.join(&row["policy"]).join("jobs.csv")), number("jobs"));
    }
}
