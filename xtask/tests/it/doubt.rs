//! `doubt`: verdicts that change under a reading.

use crate::program::{SMALL, Said, Workdir, assert_same, manifest, names, results, table, workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Runs `doubt` of multi-site, on runs of 2 000 jobs.
fn doubt(dir: &Workdir, options: &str) -> Said {
    dir.run(&format!("{} --quiet --out out {options}", SMALL.replace("reproduce", "doubt")), 0)
}

#[test]
fn the_lines_of_metaloras_are_those_on_record() {
    Workdir::new().run("doubt metaloras --quick --check --quiet --out out", 0);
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
    let papers = Workdir::new().run("list --json", 0).json();
    for paper in papers.as_array().expect("a list") {
        let slug = paper["slug"].as_str().expect("a name");
        let page = fs::read_to_string(workspace().join(format!("docs/papers/{slug}.md"))).expect("a page");
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
    let dir = Workdir::new();
    doubt(&dir, "--reading R13,release --product");
    let (header, rows) = table(&dir.path("out/doubt.csv"));
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
    let dir = Workdir::new();
    doubt(&dir, "--reading R2");
    let rows = dir.rows("out/doubt.csv");
    dir.run(&format!("{SMALL} --quiet --set readings.release=gang-end --out run"), 0);
    let claims = dir.rows("run/claims.csv");
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
    let dirs = [1, 2].map(|threads| {
        let dir = Workdir::new();
        doubt(&dir, &format!("--reading R2 --jobs {threads}"));
        dir
    });
    let [before, other] = [0, 1].map(|at| results(&dirs[at].path("out")));
    assert_same(&before, &other);
    let [one, two] = [0, 1].map(|at| dirs[at].text("out/cells/replications.jsonl"));
    assert_eq!(one, two);
    doubt(&dirs[0], "--reading R2");
    assert_same(&before, &results(&dirs[0].path("out")));
}

#[test]
fn a_run_writes_the_table_the_matrix_and_a_page_that_verify_finds_in_order() {
    let dir = Workdir::new();
    let told = doubt(&dir, "--reading R2 --json").json();
    assert_eq!((&told[0]["paper"], &told[0]["answers"]), (&"multi-site".into(), &1.into()));
    let mut written = names(&dir.path("out"));
    written.retain(|name| !name.ends_with(".png") && !name.starts_with("cells/"));
    assert_eq!(
        written.into_iter().collect::<Vec<_>>(),
        ["doubt.csv", "figures/doubt.svg", "manifest.json", "report.html"]
    );
    let page = dir.text("out/report.html");
    for claim in told[0]["claims"].as_array().expect("a list") {
        assert!(page.contains(claim["sentence"].as_str().expect("words")), "{claim}");
    }
    let command = manifest(&dir.path("out"))["command_line"].as_str().expect("a command").to_owned();
    assert!(command.contains("doubt multi-site --reading R2 --quick --reps 2"), "{command}");
    dir.run("verify out", 0);
}

#[test]
fn a_reading_that_there_is_not_is_refused_with_those_that_there_are() {
    let refused = |options: &str, words: &[&str]| {
        let run = format!("{} --quiet --out out {options}", SMALL.replace("reproduce", "doubt"));
        Workdir::new().refuses(&run, words);
    };
    refused("--reading R99", &["--reading R99: no such reading", "R1, R2, R3"]);
    refused("--reading relase", &["did you mean \"release\"?"]);
    refused("--reading R2 --product", &["pairs need two readings"]);
    refused("--check", &["cannot be used with"]);
}
