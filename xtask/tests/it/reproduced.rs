//! The exact output files of `reproduce`, which users read with programs of their own.

use crate::program::{
    FOUR_JOBS, SMALL, assert_same, assert_self_contained, file, folder, manifest, number, results, table, tree, utf8,
    write, xtask,
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

fn reproduce(out: &Path, arguments: &[&str]) {
    xtask().args(SMALL).args(arguments).arg("--quiet").arg("--out").arg(out).assert().code(0);
}

#[test]
fn reproduce_writes_the_files_of_the_design_and_no_others() {
    let folder = folder();
    reproduce(folder.path(), &[]);
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
    let written = tree(folder.path());
    let (cells, others): (BTreeSet<String>, BTreeSet<String>) =
        written.keys().cloned().partition(|name| name.starts_with("cells/"));
    assert_eq!(others, expected);
    assert_eq!(cells, BTreeSet::from(["cells/replications.jsonl".to_owned()]));
    let stored = String::from_utf8_lossy(&written["cells/replications.jsonl"]).lines().count();
    assert_eq!(stored, table(&folder.path().join("runs.csv")).1.len(), "a line for each run");
    for (name, content) in &written {
        assert!(!content.is_empty(), "{name} is empty");
        assert!(!name.ends_with(".png") || content.starts_with(b"\x89PNG"), "{name} is no PNG");
        assert!(!name.ends_with(".svg") || content.starts_with(b"<svg"), "{name} is no SVG");
    }
    assert_tidy(folder.path());
    assert_self_contained(folder.path());
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
    let folder = folder();
    reproduce(folder.path(), &["--only", "fig2,fig4,fig6,table2,fig12,fig8"]);
    let points = |figure: &str| -> Vec<(String, String)> {
        let (_, rows) = table(&folder.path().join(format!("data/{figure}.csv")));
        rows.into_iter()
            .map(|mut row| (row.remove("series").expect("it is there"), row.remove("x").expect("it is there")))
            .collect()
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
    let folder = folder();
    reproduce(folder.path(), &["--only", "fig2,fig4,fig6,fig14"]);
    let (header, claims) = table(&folder.path().join("claims.csv"));
    let expected = "id,source,statement,test,expected,observed,ci_low,ci_high,verdict,recorded";
    assert_eq!(header.join(","), expected);
    let (_, cells) = table(&folder.path().join("data/claim-cells.csv"));
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
    let folder = folder();
    reproduce(folder.path(), &["--only", "fig8,run-length"]);
    let (header, rows) = table(&folder.path().join("runs.csv"));
    assert_eq!(header[..7], ["approach", "lambda", "threshold", "overhead", "jobs", "seed", "replication"]);
    assert_eq!(header.last().map(String::as_str), Some("run"));
    for row in [&rows[0], &rows[rows.len() / 2], &rows[rows.len() - 1]] {
        let run = xtask().args(&SMALL[..3]).args(&SMALL[5..]).args(["--json", "--run", &row["run"]]).assert().code(0);
        let metrics: BTreeMap<String, Option<f64>> = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
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
    let folder = folder();
    let (one, two) = (folder.path().join("one"), folder.path().join("it's two"));
    reproduce(&one, &["--only", "fig4", "--seed", "7"]);
    let log = file(&folder, "a log's name.swf", FOUR_JOBS);
    let simulated = folder.path().join("simulated");
    write(&["simulate", "--policy", "easy", "--estimates", "factor:1.5", "--trace", utf8(&log)], &simulated);
    for first in [one, simulated] {
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
    let folder = folder();
    reproduce(folder.path(), &["--only", "fig4"]);
    let manifest = manifest(folder.path());
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
    let out = folder();
    let arguments =
        ["reproduce", "eg-edf", "--quick", "--reps", "2", "--set", "run.quick_jobs=200", "--quiet", "--out"];
    xtask().args(arguments).arg(out.path()).assert().success();
    let (_, rows) = table(&out.path().join("data/fig1-left.csv"));
    let points: Vec<(&str, &str)> = rows.iter().map(|row| (row["series"].as_str(), row["x"].as_str())).collect();
    let expected: Vec<(&str, &str)> = ["FCFS", "EASY", "Flex", "EG-EDF", "Tabu"]
        .into_iter()
        .flat_map(|series| ["1", "2", "3", "4", "5"].map(|x| (series, x)))
        .collect();
    assert_eq!(points, expected);
}
