//! The paper that needs a log: results with it and without it, and the statement of which was used.

use crate::program::{Workdir, folder, manifest, said, table};
use assert_cmd::Command;
use std::collections::{BTreeMap, BTreeSet};

/// Two replications of a few hundred jobs, without a variable for the folder of logs; results go to `out`.
fn small(dir: &Workdir, options: &str) -> Command {
    let sizes = "--set run.quick_records=[200,400] --set workload.records=[200,400]";
    let mut command = dir.command(&format!("reproduce swift-gap --quiet --quick --reps 2 {sizes} --out out{options}"));
    command.env_remove("GRID_TRACES");
    command
}

/// Three jobs in the form of a log of MetaCentrum.
const THREE_JOBS: &str = "\
1 1357000000 0 100 80 -1 -1 80 200 -1 1 7 1 -1 1 1 -1 -1 {1} q_1d 1:ppn=80:cl_zewura
2 1357000010 0 100 12 -1 -1 12 200 -1 1 7 1 -1 1 1 -1 -1 {1} q_1d 1:ppn=12
3 1357000020 0 100 24 -1 -1 24 200 -1 1 8 1 -1 1 1 -1 -1 {1} q_1d 2:ppn=12:cl_zegox
";

fn ids(dir: &Workdir) -> BTreeSet<String> {
    dir.rows("out/claims.csv").into_iter().map(|mut claim| claim.remove("id").expect("an id")).collect()
}

/// Returns the first lead line of a report.
fn first_note(dir: &Workdir) -> String {
    let page = dir.text("out/report.html");
    let (_, rest) = page.split_once("class=\"note\"").expect("a note");
    rest.split("</").next().expect("the note ends").to_owned()
}

#[test]
fn without_the_log_a_stand_in_runs_and_the_report_says_so_first() {
    let dir = Workdir::new();
    said(&mut small(&dir, ""), 0);
    let note = first_note(&dir);
    for words in [
        "A stand-in",
        "aleasimulator/alea",
        "Alea/data-set/wagap-2013.swf",
        "bf5c1cc69915f2d5d26c579f69e206513ceff9bd60e6c4b112182da0c6183ed7",
        "--traces DIR",
    ] {
        assert!(note.replace("&#x2f;", "/").contains(words), "{words}: {note}");
    }
    let judged = ids(&dir);
    assert!(judged.contains("B5") && judged.iter().all(|id| !id.starts_with('A')), "values are not judged");
    assert!(manifest(&dir.path("out")).get("data").is_none());
    let runs = dir.rows("out/runs.csv");
    let workloads: BTreeSet<&str> = runs.iter().map(|run| run["workload"].as_str()).collect();
    assert_eq!(workloads, ["wagap-like", "zewura-like"].into());
}

#[test]
fn series_are_called_as_the_paper_calls_them_and_stand_ins_as_what_they_are() {
    let dir = Workdir::new();
    said(&mut small(&dir, " --only fig1,fig4,fig7"), 0);
    let rows = dir.rows("out/data/fig4.csv");
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
        assert!(dir.path(&format!("out/figures/{name}.svg")).is_file(), "{name}");
    }
    let (header, _) = table(&dir.path("out/data/fig1.csv"));
    assert_eq!(header, ["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"]);
}

#[test]
fn a_folder_without_the_log_is_refused_if_it_was_named() {
    let (dir, empty) = (Workdir::new(), folder());
    let told = said(small(&dir, " --traces").arg(empty.path()), 2).err;
    assert!(told.contains("wagap-2013.swf.gz") && told.contains("aleasimulator/alea"), "{told}");
    said(small(&dir, "").env("GRID_TRACES", empty.path()), 0);
    assert!(first_note(&dir).contains("A stand-in"));
}

/// Returns the hash that the message for an unknown log asks for.
fn requested_hash(dir: &Workdir) -> String {
    let message = said(&mut small(dir, " --traces ."), 2).err;
    let (_, hash) = message.split_once("log.sha256=").expect("the fix");
    let hash: String = hash.chars().take_while(char::is_ascii_hexdigit).collect();
    assert_eq!(hash.len(), 64, "{message}");
    hash
}

/// Another log is accepted if its hash is given. The hash in the report is that of the log that was read.
#[test]
fn another_log_is_refused_unless_it_is_meant() {
    let dir = Workdir::with("wagap-2013.swf", THREE_JOBS);
    let hash = requested_hash(&dir);
    said(&mut small(&dir, &format!(" --traces . --set log.sha256={hash}")), 0);
    assert_eq!(manifest(&dir.path("out"))["data"]["wagap-2013.swf"], hash);
    let runs = dir.rows("out/runs.csv");
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
    for row in dir.rows("out/data/fig6.csv").iter().filter(|row| row["metric"] == "wait_wagap" && row["x"] == "400") {
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
    let dir = Workdir::with("wagap-2013.swf", THREE_JOBS.replace("1357000010", "early"));
    let told = said(&mut small(&dir, &format!(" --traces . --set log.sha256={}", requested_hash(&dir))), 2).err;
    assert!(told.contains("wagap-2013.swf:2") && told.contains("early"), "{told}");
}

/// A check of the printed tables has its row, in words of its own, and is not among the claims.
#[test]
fn what_simulates_nothing_is_no_claim_that_was_reproduced() {
    let dir = Workdir::new();
    assert!(!said(&mut small(&dir, " --only fig4"), 0).out.contains("check of printed numbers"));

    let run = "reproduce swift-gap --quiet --reps 2 --set run.drawn_replications=1 --set workload.records=[200]";
    said(dir.command(&format!("{run} --out full")).env_remove("GRID_TRACES"), 0);
    let claims = dir.rows("full/claims.csv");
    let check = claims.iter().find(|claim| claim["id"] == "D2").expect("its row is there");
    assert_eq!(check["verdict"], "consistent");
    assert!(check["expected"].starts_with("exact: "), "{check:?}");
    assert!(check["ci_low"].is_empty());
    let page = dir.text("full/report.html");
    let (claims, checks) = page.split_once("id=\"checks-table\"").expect("checks stand apart");
    assert!(checks.contains("id=\"claim-D2\"") && !claims.contains("id=\"claim-D2\""));
}

/// With the log, the columns EASY and CONS of table 3 are included.
#[test]
fn quick_verdicts_are_those_on_record() {
    for traces in [None].into_iter().chain(test_data::traces().map(Some)) {
        let dir = Workdir::new();
        let given = traces.as_ref().map_or_else(String::new, |traces| format!(" --traces {}", traces.display()));
        let run = format!("reproduce swift-gap --quick --check --quiet --out out{given}");
        said(dir.command(&run).env_remove("GRID_TRACES"), 0);
        let judged = ids(&dir);
        let columns = ["A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8"];
        assert!(columns.iter().all(|id| judged.contains(*id) == traces.is_some()), "{judged:?}");
    }
}
