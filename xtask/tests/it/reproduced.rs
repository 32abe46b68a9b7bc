//! The exact output files of `reproduce`, which users read with programs of their own.

use crate::program::{
    FOUR_JOBS, SMALL, Workdir, assert_same, assert_self_contained, manifest, number, results, said, table, tree,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Plots of each figure. Two additional figures have two.
const FIGURES: [(&str, &[&str]); 17] = [
    ("fig2", &["fig2"]),
    ("fig3", &["fig3"]),
    ("fig4", &["fig4"]),
    ("fig5", &["fig5"]),
    ("fig6", &["fig6"]),
    ("fig7", &["fig7"]),
    ("fig7-bounded", &["fig7-bounded"]),
    ("table2", &["table2"]),
    ("fig8", &["fig8"]),
    ("fig9", &["fig9"]),
    ("fig10", &["fig10"]),
    ("fig11", &["fig11"]),
    ("fig12", &["fig12"]),
    ("fig13", &["fig13"]),
    ("fig14", &["fig14"]),
    ("by-size", &["by-size", "by-size-wrt"]),
    ("run-length", &["run-length", "run-length-completed"]),
];

const TIDY: [&str; 8] = ["figure", "series", "x", "metric", "mean", "ci_low", "ci_high", "reps"];

/// Returns a folder with the results of a small run.
fn reproduced(options: &str) -> Workdir {
    let dir = Workdir::new();
    dir.run(&format!("{SMALL} --quiet --out .{options}"), 0);
    dir
}

#[test]
fn reproduce_writes_the_files_of_the_design_and_no_others() {
    let dir = reproduced("");
    let mut expected: BTreeSet<String> =
        ["claims.csv", "data/claim-cells.csv", "manifest.json", "report.html", "runs.csv"].map(str::to_owned).into();
    for (figure, plots) in FIGURES {
        expected.insert(format!("data/{figure}.csv"));
        for plot in plots {
            expected.insert(format!("figures/{plot}.svg"));
            if cfg!(feature = "png") {
                expected.insert(format!("figures/{plot}.png"));
            }
        }
    }
    let written = tree(dir.0.path());
    let (cells, others): (BTreeSet<String>, BTreeSet<String>) =
        written.keys().cloned().partition(|name| name.starts_with("cells/"));
    assert_eq!(others, expected);
    assert_eq!(cells, BTreeSet::from(["cells/replications.jsonl".to_owned()]));
    let stored = String::from_utf8_lossy(&written["cells/replications.jsonl"]).lines().count();
    assert_eq!(stored, dir.rows("runs.csv").len(), "a line for each run");
    for (name, content) in &written {
        assert!(!content.is_empty(), "{name} is empty");
        assert!(!name.ends_with(".png") || content.starts_with(b"\x89PNG"), "{name} is no PNG");
        assert!(!name.ends_with(".svg") || content.starts_with(b"<svg"), "{name} is no SVG");
    }
    assert_tidy(dir.0.path());
    assert_self_contained(dir.0.path());
}

/// Checks a row per point: its mean within its interval.
fn assert_tidy(root: &Path) {
    for (figure, plots) in FIGURES {
        let (header, rows) = table(&root.join(format!("data/{figure}.csv")));
        assert_eq!(header, TIDY, "{figure}");
        assert!(!rows.is_empty(), "{figure}");
        let metrics: BTreeSet<&str> = rows.iter().map(|row| row["metric"].as_str()).collect();
        assert_eq!(metrics.len(), plots.len(), "{figure}: a metric for each plot");
        for row in &rows {
            assert_eq!(row["figure"], figure);
            assert_eq!(row["reps"], "2");
            let (low, mean, high) = (number(&row["ci_low"]), number(&row["mean"]), number(&row["ci_high"]));
            assert!(low <= mean && mean <= high, "{figure}: {low} {mean} {high}");
        }
    }
}

#[test]
fn series_and_positions_are_called_as_the_paper_calls_them() {
    let dir = reproduced(" --only fig2,fig4,fig6,table2,fig12,fig8");
    let points = |figure: &str| -> Vec<(String, String)> {
        let rows = dir.rows(&format!("data/{figure}.csv"));
        rows.iter().map(|row| (row["series"].clone(), row["x"].clone())).collect()
    };
    let over_loads = |names: &[&str]| -> Vec<(String, String)> {
        let loads = ["8.333", "10", "12.5"];
        names.iter().flat_map(|name| loads.map(|load| ((*name).to_owned(), load.to_owned()))).collect()
    };
    for figure in ["fig2", "fig4", "fig6", "table2"] {
        assert_eq!(points(figure), over_loads(&["Approach 1", "Approach 2", "Approach 3"]), "{figure}");
    }
    assert_eq!(points("fig12"), over_loads(&["Approach 2, T=0", "Approach 2, T=0.1", "Approach 2, T=0.15"]));
    assert_eq!(points("fig8"), over_loads(&["Approach 2, overhead=10%", "Approach 2, overhead=5%"]));
}

#[test]
fn claims_are_judged_cell_by_cell() {
    let dir = reproduced(" --only fig2,fig4,fig6,fig14");
    let (header, claims) = table(&dir.path("claims.csv"));
    let expected = "id,source,statement,test,expected,observed,ci_low,ci_high,verdict,recorded";
    assert_eq!(header.join(","), expected);
    let cells = dir.rows("data/claim-cells.csv");
    let mut seen = BTreeSet::new();
    for claim in &claims {
        assert!(seen.insert(&claim["id"]), "{} twice", claim["id"]);
        let verdicts: Vec<&str> =
            cells.iter().filter(|cell| cell["id"] == claim["id"]).map(|cell| cell["verdict"].as_str()).collect();
        let verdict = if verdicts.contains(&"contradicted") {
            "contradicted"
        } else if verdicts.iter().all(|verdict| *verdict == "reproduced") {
            "reproduced"
        } else {
            "inconclusive"
        };
        assert!(!verdicts.is_empty());
        assert_eq!(claim["verdict"], verdict, "{}", claim["id"]);
    }
}

#[test]
fn every_row_of_runs_can_be_run_again_by_its_name() {
    let dir = reproduced(" --only fig8,run-length");
    let (header, rows) = table(&dir.path("runs.csv"));
    assert_eq!(header[..7], ["approach", "lambda", "threshold", "overhead", "jobs", "seed", "replication"]);
    assert_eq!(header.last().map(String::as_str), Some("run"));
    for row in [&rows[0], &rows[rows.len() / 2], &rows[rows.len() - 1]] {
        let again = said(dir.command(&SMALL.replace(" --reps 2", "")).args(["--json", "--run", &row["run"]]), 0);
        let metrics: BTreeMap<String, Option<f64>> = serde_json::from_value(again.json()).expect("metrics");
        assert_eq!(metrics.len(), header.len() - 8);
        for (name, value) in metrics {
            let text = value.map_or_else(String::new, |value| value.to_string());
            assert_eq!(row[&name], text, "{name} of {}", row["run"]);
        }
    }
}

#[test]
#[cfg(unix)]
fn the_command_in_the_manifest_makes_the_same_run() {
    let dir = Workdir::new();
    dir.run(&format!("{SMALL} --quiet --only fig4 --seed 7 --out one"), 0);
    let log = dir.file("a log's name.swf", FOUR_JOBS);
    said(dir.command("simulate --policy easy --estimates factor:1.5 --out simulated --trace").arg(log), 0);
    let two = dir.path("it's two");
    for first in ["one", "simulated"].map(|name| dir.path(name)) {
        let command = manifest(&first)["command_line"].as_str().expect("text").to_owned();
        let program = command.replacen("cargo xtask", "exec \"$0\"", 1) + " --out \"$1\"";
        let status = std::process::Command::new("sh")
            .args(["-c", &program, env!("CARGO_BIN_EXE_xtask")])
            .arg(&two)
            .env("GIT_DIR", "nowhere")
            .output()
            .expect("a shell");
        assert!(status.status.success(), "{program}: {}", String::from_utf8_lossy(&status.stderr));
        assert_same(&results(&first), &results(&two));
        fs::remove_dir_all(&two).expect("it was written");
    }
}

#[test]
fn the_manifest_holds_what_a_run_depends_on() {
    let dir = reproduced(" --only fig4");
    let manifest = manifest(dir.0.path());
    let keys: Vec<&str> = manifest.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected = "paper scenario_hash seed reps options models command_line version git_revision sources_sha256 command files \
        manifest_sha256 timings";
    assert_eq!(keys.join(" "), expected);
    assert_eq!(manifest["paper"], "multi-site");
    assert_eq!(manifest["reps"], 2);
    assert_eq!(manifest["options"]["only"][0], "fig4");
}

#[test]
fn eg_edf_compares_five_policies_over_the_time_between_jobs() {
    let dir = Workdir::new();
    dir.run("reproduce eg-edf --quick --reps 2 --set run.quick_jobs=200 --quiet --out out", 0);
    let rows = dir.rows("out/data/fig1-left.csv");
    let points: Vec<(&str, &str)> = rows.iter().map(|row| (row["series"].as_str(), row["x"].as_str())).collect();
    let expected: Vec<(&str, &str)> = ["FCFS", "EASY", "Flex", "EG-EDF", "Tabu"]
        .into_iter()
        .flat_map(|series| ["1", "2", "3", "4", "5"].map(|x| (series, x)))
        .collect();
    assert_eq!(points, expected);
}
