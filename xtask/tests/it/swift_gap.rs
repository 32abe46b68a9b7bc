//! The paper that needs a log: results with it and without it, and the statement of which was used.

use crate::program::{file, folder, manifest, table, xtask};
use assert_cmd::Command;
use predicates::str::contains;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Arguments for two replications of a few hundred jobs.
const SMALL: [&str; 11] = [
    "reproduce",
    "swift-gap",
    "--quiet",
    "--quick",
    "--reps",
    "2",
    "--set",
    "run.quick_records=[200, 400]",
    "--set",
    "workload.records=[200, 400]",
    "--out",
];

/// Returns the program without a variable for the folder of logs.
fn without_logs() -> Command {
    let mut command = xtask();
    command.env_remove("GRID_TRACES");
    command
}

fn small(out: &Path) -> Command {
    let mut command = without_logs();
    command.args(SMALL).arg(out);
    command
}

/// Three jobs in the form of a log of MetaCentrum.
const THREE_JOBS: &str = "\
1 1357000000 0 100 80 -1 -1 80 200 -1 1 7 1 -1 1 1 -1 -1 {1} q_1d 1:ppn=80:cl_zewura
2 1357000010 0 100 12 -1 -1 12 200 -1 1 7 1 -1 1 1 -1 -1 {1} q_1d 1:ppn=12
3 1357000020 0 100 24 -1 -1 24 200 -1 1 8 1 -1 1 1 -1 -1 {1} q_1d 2:ppn=12:cl_zegox
";

fn ids(root: &Path) -> BTreeSet<String> {
    table(&root.join("claims.csv")).1.into_iter().map(|mut claim| claim.remove("id").expect("an id")).collect()
}

/// Returns the first lead line of a report.
fn first_note(root: &Path) -> String {
    let page = fs::read_to_string(root.join("report.html")).expect("a report");
    let (_, rest) = page.split_once("class=\"note\"").expect("a note");
    rest.split("</").next().expect("the note ends").to_owned()
}

#[test]
fn without_the_log_a_stand_in_runs_and_the_report_says_so_first() {
    let out = folder();
    small(out.path()).assert().code(0);
    let note = first_note(out.path());
    for words in [
        "A stand-in",
        "aleasimulator/alea",
        "Alea/data-set/wagap-2013.swf",
        "bf5c1cc69915f2d5d26c579f69e206513ceff9bd60e6c4b112182da0c6183ed7",
        "--traces DIR",
    ] {
        assert!(note.replace("&#x2f;", "/").contains(words), "{words}: {note}");
    }
    assert!(ids(out.path()).iter().all(|id| !id.starts_with('A')), "values are not judged");
    assert!(ids(out.path()).contains("B5"));
    assert!(manifest(out.path()).get("data").is_none());
    let (_, runs) = table(&out.path().join("runs.csv"));
    let workloads: BTreeSet<&str> = runs.iter().map(|run| run["workload"].as_str()).collect();
    assert_eq!(workloads, ["wagap-like", "zewura-like"].into());
}

#[test]
fn series_are_called_as_the_paper_calls_them_and_stand_ins_as_what_they_are() {
    let out = folder();
    small(out.path()).args(["--only", "fig1,fig4,fig7"]).assert().code(0);
    let (_, rows) = table(&out.path().join("data/fig4.csv"));
    let of = |metric: &str| -> Vec<(&str, &str)> {
        let rows = rows.iter().filter(|row| row["metric"] == metric);
        rows.map(|row| (row["series"].as_str(), row["x"].as_str())).collect()
    };
    let expected: Vec<(&str, &str)> = ["SG", "BGT", "CONS", "EASY", "SG, nearest"]
        .into_iter()
        .flat_map(|policy| [(policy, "200"), (policy, "400")])
        .collect();
    for metric in ["slowdown_zewura_stand_in", "slowdown_wagap_stand_in"] {
        assert_eq!(of(metric), expected, "{metric}");
    }
    assert_eq!(rows.len(), 20);
    for name in ["fig4-left", "fig4-right", "fig7-left", "fig7-right"] {
        assert!(out.path().join("figures").join(format!("{name}.svg")).is_file(), "{name}");
    }
    let (header, _) = table(&out.path().join("data/fig1.csv"));
    assert_eq!(header, ["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"]);
}

#[test]
fn a_folder_without_the_log_is_refused_if_it_was_named() {
    let (out, empty) = (folder(), folder());
    let run = small(out.path()).arg("--traces").arg(empty.path()).assert().code(2);
    run.stderr(contains("wagap-2013.swf.gz")).stderr(contains("aleasimulator/alea"));
    small(out.path()).env("GRID_TRACES", empty.path()).assert().code(0);
    assert!(first_note(out.path()).contains("A stand-in"));
}

/// Another log is accepted if its hash is given. The hash in the report is that of the log that was read.
#[test]
fn another_log_is_refused_unless_it_is_meant() {
    let (out, traces) = (folder(), folder());
    file(&traces, "wagap-2013.swf", THREE_JOBS);
    let refused = small(out.path()).arg("--traces").arg(traces.path()).assert().code(2);
    let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    let (_, hash) = text.split_once("log.sha256=").expect("the fix");
    let hash: String = hash.chars().take_while(char::is_ascii_hexdigit).collect();
    assert_eq!(hash.len(), 64, "{text}");

    let meant = format!("log.sha256={hash}");
    small(out.path()).arg("--traces").arg(traces.path()).args(["--set", &meant]).assert().code(0);
    assert_eq!(manifest(out.path())["data"]["wagap-2013.swf"], hash);
    let (_, runs) = table(&out.path().join("runs.csv"));
    let ran: BTreeSet<(&str, &str, &str)> = runs
        .iter()
        .filter(|run| run["workload"] == "wagap")
        .map(|run| (run["profile"].as_str(), run["executed_time"].as_str(), run["jobs"].as_str()))
        .collect();
    // 100 s take 101 in that simulator under every policy: all three run at once. The second starts 8 ms after the first on the same
    // cluster, and is found finished with it.
    assert_eq!(ran, [("alea31", "100.99733333333333", "3"), ("clean", "100", "3")].into());

    // Policies without random draws run once on a log, their values are exact, and none of them is inconclusive.
    let replications = |workload: &str, policy: &str| {
        let of = |run: &&BTreeMap<String, String>| {
            run["workload"] == workload && run["policy"] == policy && run["profile"] == "alea31" && run["n"] == "400"
        };
        runs.iter().filter(of).count()
    };
    let policies = ["EASY", "CONS", "SG, nearest", "SG", "BGT"];
    assert_eq!(policies.map(|policy| replications("wagap", policy)), [1, 1, 1, 2, 2]);
    assert_eq!(policies.map(|policy| replications("zewura-like", policy)), [2; 5], "a workload is drawn for each");
    let (_, rows) = table(&out.path().join("data/fig6.csv"));
    for row in rows.iter().filter(|row| row["metric"] == "wait_wagap" && row["x"] == "400") {
        let is_exact = ["EASY", "CONS", "SG, nearest"].contains(&row["series"].as_str());
        let (reps, ends) = if is_exact { ("1", true) } else { ("2", false) };
        assert_eq!(
            (row["reps"].as_str(), row["ci_low"].is_empty() && row["ci_high"].is_empty()),
            (reps, ends),
            "{row:?}"
        );
    }
}

#[test]
fn a_faulty_log_is_reported_with_its_line() {
    let (out, traces) = (folder(), folder());
    let log = THREE_JOBS.replace("1357000010", "early");
    file(&traces, "wagap-2013.swf", &log);
    let hash = {
        let refused = small(out.path()).arg("--traces").arg(traces.path()).assert().code(2);
        let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        text.split("log.sha256=").nth(1).expect("the fix")[..64].to_owned()
    };
    let set = format!("log.sha256={hash}");
    let run = small(out.path()).arg("--traces").arg(traces.path()).args(["--set", &set]).assert().code(2);
    run.stderr(contains("wagap-2013.swf:2")).stderr(contains("early"));
}

/// A check of the printed tables has its row, in words of its own, and is not among the claims.
#[test]
fn what_simulates_nothing_is_no_claim_that_was_reproduced() {
    let out = folder();
    let run = small(out.path()).args(["--only", "fig4"]).assert().code(0);
    assert!(!String::from_utf8_lossy(&run.get_output().stdout).contains("check of printed numbers"));

    let out = folder();
    let args = ["--quiet", "--reps", "2", "--set", "run.drawn_replications=1", "--set", "workload.records=[200]"];
    without_logs().args(["reproduce", "swift-gap"]).args(args).arg("--out").arg(out.path()).assert().code(0);
    let (_, claims) = table(&out.path().join("claims.csv"));
    let check = claims.iter().find(|claim| claim["id"] == "D2").expect("its row is there");
    assert_eq!(check["verdict"], "consistent");
    assert!(check["expected"].starts_with("exact: "), "{check:?}");
    assert!(check["ci_low"].is_empty());
    let page = fs::read_to_string(out.path().join("report.html")).expect("a report");
    let (claims, checks) = page.split_once("id=\"checks-table\"").expect("checks stand apart");
    assert!(checks.contains("id=\"claim-D2\"") && !claims.contains("id=\"claim-D2\""));
}

/// With the log, the columns EASY and CONS of table 3 are included.
#[test]
fn quick_verdicts_are_those_on_record() {
    for traces in [None].into_iter().chain(test_data::traces().map(Some)) {
        let out = folder();
        let mut command = without_logs();
        command.args(["reproduce", "swift-gap", "--quick", "--check", "--quiet", "--out"]).arg(out.path());
        command.args(traces.iter().flat_map(|traces| [std::ffi::OsStr::new("--traces"), traces.as_os_str()]));
        command.assert().code(0);
        let judged = ids(out.path());
        let columns = ["A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8"];
        assert!(columns.iter().all(|id| judged.contains(*id) == traces.is_some()), "{judged:?}");
    }
}
