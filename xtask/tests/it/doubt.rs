//! `doubt`: verdicts that change under a reading.

use crate::program::{SMALL, assert_same, folder, manifest, names, results, table, xtask};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Returns the arguments of `doubt` of multi-site, on runs of 2 000 jobs.
fn small() -> impl Iterator<Item = &'static str> {
    ["doubt"].into_iter().chain(SMALL[1..].iter().copied()).chain(["--quiet"])
}

fn doubt(out: &Path, arguments: &[&str]) -> String {
    let run = xtask().args(small()).args(arguments).arg("--out").arg(out).assert().code(0);
    String::from_utf8(run.get_output().stdout.clone()).expect("UTF-8")
}

#[test]
fn the_lines_of_metaloras_are_those_on_record() {
    let out = folder();
    xtask().args(["doubt", "metaloras", "--quick", "--check", "--quiet", "--out"]).arg(out.path()).assert().code(0);
}

/// Returns the entry under `--quick` in the table of verdicts.
fn verdict_of_a_quick_run<'a>(page: &'a str, id: &str) -> &'a str {
    let cells = |row: &'a str| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>();
    let mut rows =
        page.split_once("## Verdicts").expect("a table of verdicts").1.lines().filter(|line| line.starts_with('|'));
    let column =
        cells(rows.next().expect("a header")).iter().position(|name| *name == "`--quick`").expect("its column");
    let row = rows.map(cells).find(|row| row[0] == id).unwrap_or_else(|| panic!("{id} has no verdict on record"));
    row[column]
}

#[test]
fn every_claim_of_every_paper_has_a_line_on_record() {
    let run = xtask().args(["list", "--json"]).assert().code(0);
    let papers: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies inside the workspace");
    for paper in papers.as_array().expect("a list") {
        let slug = paper["slug"].as_str().expect("a name");
        let page = fs::read_to_string(root.join(format!("docs/papers/{slug}.md"))).expect("a page");
        let section = page.split_once("\n## Doubt\n").unwrap_or_else(|| panic!("{slug} has no section Doubt")).1;
        let section = section.split("\n## ").next().expect("it has a beginning");
        for claim in paper["claims"].as_array().expect("a list") {
            let id = claim.as_str().expect("a name");
            // A claim that is not judged in a quick run has a dash in this column.
            let is_judged = verdict_of_a_quick_run(&page, id) != "–";
            assert_eq!(section.contains(&format!("\n| {id} | ")), is_judged, "{slug}: what is on record of {id}?");
        }
    }
}

/// A row for each claim and each answer, including the scenario's own: the contract of `doubt.csv`.
#[test]
fn doubt_csv_has_every_answer_to_every_claim_and_marks_what_flips() {
    let out = folder();
    doubt(out.path(), &["--reading", "R13,release", "--product"]);
    let (header, rows) = table(&out.path().join("doubt.csv"));
    assert_eq!(header.join(","), "claim,reading,field,answer,verdict,recorded,flips");
    let answers: Vec<(&str, &str, &str)> = rows
        .iter()
        .filter(|row| row["claim"] == "P1")
        .map(|row| (row["reading"].as_str(), row["field"].as_str(), row["answer"].as_str()))
        .collect();
    let expected = [
        ("R2", "release", "task-end"),
        ("R2", "release", "gang-end"),
        ("R13", "scan_trigger", "exit-leaves-empty-queue"),
        ("R13", "scan_trigger", "any-release"),
        ("R13", "scan_trigger", "queue-becomes-empty"),
        ("R2+R13", "release+scan_trigger", "gang-end+any-release"),
        ("R2+R13", "release+scan_trigger", "gang-end+queue-becomes-empty"),
    ];
    assert_eq!(answers, expected);
    let claims: BTreeSet<&str> = rows.iter().map(|row| row["claim"].as_str()).collect();
    assert_eq!(rows.len(), claims.len() * expected.len());
    // Compared with the verdict under the scenario's own answers.
    let own: BTreeMap<&str, &str> = rows
        .iter()
        .filter(|row| row["answer"] == "task-end")
        .map(|row| (row["claim"].as_str(), row["verdict"].as_str()))
        .collect();
    for row in &rows {
        let flips = row["verdict"] != own[row["claim"].as_str()];
        assert_eq!(row["flips"], if flips { "yes" } else { "no" }, "{row:?}");
    }
    assert!(rows.iter().any(|row| row["flips"] == "yes"), "with 2000 jobs some verdict hangs on the release");
}

/// The verdicts under an answer are those of a run with that answer.
#[test]
fn an_answer_is_tried_as_set_would_set_it() {
    let folder = folder();
    let (doubts, run) = (folder.path().join("doubt"), folder.path().join("run"));
    doubt(&doubts, &["--reading", "R2"]);
    let (_, rows) = table(&doubts.join("doubt.csv"));
    let reproduce = ["reproduce", "--set", "readings.release=gang-end"];
    xtask().args(reproduce).args(small().skip(1)).arg("--out").arg(&run).assert().code(0);
    let (_, claims) = table(&run.join("claims.csv"));
    let found: BTreeMap<&str, &str> = rows
        .iter()
        .filter(|row| row["answer"] == "gang-end")
        .map(|row| (row["claim"].as_str(), row["verdict"].as_str()))
        .collect();
    assert_eq!(found.len(), claims.len());
    for claim in &claims {
        assert_eq!(found[claim["id"].as_str()], claim["verdict"], "{}", claim["id"]);
    }
}

#[test]
fn threads_change_no_byte_and_a_second_run_computes_nothing() {
    let folders = [folder(), folder()];
    for (folder, threads) in folders.iter().zip(["1", "2"]) {
        doubt(folder.path(), &["--reading", "R2", "--jobs", threads]);
    }
    assert_same(&results(folders[0].path()), &results(folders[1].path()));
    let stored = |out: &Path| fs::read(out.join("cells/replications.jsonl")).expect("replications");
    assert_eq!(stored(folders[0].path()), stored(folders[1].path()));
    let before = results(folders[0].path());
    doubt(folders[0].path(), &["--reading", "R2"]);
    assert_same(&before, &results(folders[0].path()));
}

#[test]
fn a_run_writes_the_table_the_matrix_and_a_page_that_verify_finds_in_order() {
    let out = folder();
    let told = doubt(out.path(), &["--reading", "R2", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told).expect("nothing but JSON");
    assert_eq!((&told[0]["paper"], &told[0]["answers"]), (&"multi-site".into(), &1.into()));
    let mut written = names(out.path());
    written.retain(|name| !name.ends_with(".png") && !name.starts_with("cells/"));
    assert_eq!(
        written.into_iter().collect::<Vec<_>>(),
        ["doubt.csv", "figures/doubt.svg", "manifest.json", "report.html"]
    );
    let page = fs::read_to_string(out.path().join("report.html")).expect("a page");
    for claim in told[0]["claims"].as_array().expect("a list") {
        assert!(page.contains(claim["sentence"].as_str().expect("words")), "{claim}");
    }
    let command = manifest(out.path())["command_line"].as_str().expect("a command").to_owned();
    assert!(command.contains("doubt multi-site --reading R2 --quick --reps 2"), "{command}");
    xtask().arg("verify").arg(out.path()).assert().code(0);
}

#[test]
fn a_reading_that_there_is_not_is_refused_with_those_that_there_are() {
    let out = folder();
    let run = |arguments: &[&str]| xtask().args(small()).args(arguments).arg("--out").arg(out.path()).assert().code(2);
    run(&["--reading", "R99"]).stderr(contains("--reading R99: no such reading").and(contains("R1, R2, R3")));
    run(&["--reading", "relase"]).stderr(contains("did you mean \"release\"?"));
    run(&["--reading", "R2", "--product"]).stderr(contains("pairs need two readings"));
    run(&["--check"]).stderr(contains("cannot be used with"));
    assert!(names(out.path()).is_empty());
}
