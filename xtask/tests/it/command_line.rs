//! The command line: its options, standard output and standard error, and exit codes.

use crate::program::{FOUR_JOBS, SMALL, file, folder, number, table, utf8, xtask};
use predicates::str::contains;

#[test]
fn the_command_line_has_every_option_of_the_design() {
    for (command, options) in [
        ("list", ""),
        ("reproduce", "Examples: --quick --check --decide --only --reps --seed --set --out --fresh"),
        ("doubt", "Examples: --quick --reading --product --check --out"),
        ("simulate", "Examples: --trace --policy --machines --procs --estimates --max-jobs --out per-event"),
        ("bench", ""),
        ("ci", ""),
    ] {
        let run = xtask().args([command, "--help"]).assert().code(0);
        let text = String::from_utf8(run.get_output().stdout.clone()).expect("UTF-8");
        for option in options.split_whitespace().chain(["--jobs", "--quiet", "--json"]) {
            assert!(text.contains(option), "{command} {option}");
        }
    }
}

#[test]
fn results_go_below_the_current_folder() {
    let folder = folder();
    file(&folder, "four.swf", FOUR_JOBS);
    let experiment = "name = \"tiny\"\npolicies = [\"easy\", \"fcfs\"]\nbaseline = \"easy\"\nmetrics = [\"wait_mean\"]\n[[log]]\n\
                      model = \"lublin\"\nprocs = 64\ncount = 50\nload = 0.5\n[replicate]\nmethod = \"seeds\"\ncount = 2\n";
    file(&folder, "tiny.toml", experiment);
    let small = SMALL[1..].join(" ");
    for (words, out) in [
        ("simulate --trace four.swf --policy fcfs".to_owned(), "simulate/four"),
        ("experiment tiny.toml".to_owned(), "experiment/tiny"),
        ("workload inspect four.swf".to_owned(), "workload/four"),
        (format!("reproduce {small}"), "multi-site"),
        (format!("doubt {small} --reading R1"), "doubt/multi-site"),
    ] {
        xtask().args(words.split(' ')).arg("--quiet").current_dir(folder.path()).assert().code(0);
        assert!(folder.path().join("results").join(out).join("manifest.json").is_file(), "{words}");
    }
}

#[test]
fn with_json_the_result_is_alone_on_standard_output() {
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    let json = |arguments: &[&str]| -> serde_json::Value {
        let run = xtask().args(arguments).arg("--json").assert().code(0);
        serde_json::from_slice(&run.get_output().stdout).expect("nothing but JSON")
    };
    let (log, path) = (utf8(&log), utf8(&out));
    let simulated = json(&["simulate", "--policy", "fcfs,easy", "--trace", log, "--out", path]);
    assert_eq!(simulated["policies"]["easy"]["jobs"], 3.0);
    assert_eq!(simulated["policies"]["easy"]["rejected"], 1);
    let listed = json(&["list"]);
    assert_eq!(listed[0]["slug"], "multi-site");
    let paper = folder.path().join("paper");
    let claims = json(&[&SMALL[..], &["--only", "fig4", "--out", utf8(&paper)]].concat());
    assert_eq!(claims[0]["claims"][0]["id"], "P1");
}

#[test]
fn quiet_prints_the_result_and_no_progress() {
    let folder = folder();
    let out = folder.path().join("out");
    let run = |quiet: &[&str]| {
        let run =
            xtask().args(SMALL).args(["--fresh", "--only", "fig4"]).args(quiet).arg("--out").arg(&out).assert().code(0);
        let output = run.get_output().clone();
        (String::from_utf8(output.stdout).expect("UTF-8"), String::from_utf8(output.stderr).expect("UTF-8"))
    };
    let (result, progress) = run(&[]);
    assert!(result.contains("P1 ") && progress.contains("100 %"), "{result}{progress}");
    assert!(!result.contains('\x1b') && !progress.contains('\x1b'), "colours off a terminal");
    let (result, progress) = run(&["--quiet"]);
    assert_eq!(progress, "");
    assert!(
        !result.contains("P1 ") && result.starts_with("multi-site: ") && result.contains("report.html"),
        "{result}"
    );
}

/// If every gang has two tasks, none starves: approach 1 completes all gangs instead of the 80 % that the paper prints.
#[test]
fn check_ends_with_1_where_a_verdict_differs_from_the_recorded_one() {
    let folder = folder();
    let run = |arguments: &[&str]| {
        let setting = ["reproduce", "multi-site", "--quick", "--only", "fig4", "--quiet"];
        xtask().args(setting).args(arguments).arg("--out").arg(folder.path()).assert()
    };
    run(&["--check"]).code(0).stderr("");
    let other = ["--set", "workload.gang_sizes=[2]"];
    run(&other).code(0).stderr("");
    let differs = run(&[&other[..], &["--check"]].concat()).code(1);
    differs.stderr(contains("multi-site P1: contradicted, but ")).stderr(contains("on record"));
}

/// The claims are judged under each of the seeds 1 to N: the seed of the run among them gives its own verdicts.
#[test]
fn seeds_judges_the_claims_under_other_seeds() {
    let folder = folder();
    let out = utf8(folder.path());
    let setting = ["reproduce", "eg-edf", "--quick", "--reps", "2", "--set", "run.quick_jobs=200", "--seed", "2"];
    let run = xtask().args(setting).args(["--seeds", "3", "--json", "--quiet", "--out", out]).assert().success();
    let told: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    let (_, claims) = table(&folder.path().join("claims.csv"));
    let (header, rows) = table(&folder.path().join("seeds.csv"));
    assert_eq!(header.join(","), "id,seed,verdict,stays,expected,observed,ci_low,ci_high");
    for (claim, told) in claims.iter().zip(told[0]["claims"].as_array().expect("claims")) {
        let of: Vec<_> = rows.iter().filter(|row| row["id"] == claim["id"]).collect();
        assert_eq!(of.iter().map(|row| row["seed"].as_str()).collect::<Vec<_>>(), ["1", "2", "3"], "{}", claim["id"]);
        assert_eq!(of[1]["verdict"], claim["verdict"], "{}: the seed of the run itself", claim["id"]);
        assert_eq!(of[1]["observed"], claim["observed"], "{}: the seed of the run itself", claim["id"]);
        let stays = of.iter().filter(|row| row["verdict"] == claim["verdict"]).count();
        assert_eq!(of.iter().filter(|row| row["stays"] == "yes").count(), stays, "{}", claim["id"]);
        assert_eq!(told["stays"], format!("{stays} of 3"), "{}", claim["id"]);
    }
    assert!(rows.iter().any(|row| row["stays"] == "no"), "with 200 jobs some verdict hangs on the seed");
    assert!(
        claims.iter().any(|claim| rows
            .iter()
            .any(|row| { row["id"] == claim["id"] && row["seed"] != "2" && row["observed"] != claim["observed"] })),
        "other seeds give other numbers"
    );
}

/// A statement about earlier work has no verdict, and keeps its id and its number.
#[test]
fn sentences_that_are_not_judged_are_shown_apart() {
    let folder = folder();
    let run = ["reproduce", "metaloras", "--quick", "--only", "prediction", "--quiet", "--json", "--out"];
    let run = xtask().args(run).arg(folder.path()).assert().success();
    let told: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    assert_eq!(told[0]["not_judged"], serde_json::json!(["C20"]));
    let (_, claims) = table(&folder.path().join("claims.csv"));
    assert!(claims.iter().all(|claim| claim["id"] != "C20"));
    let (header, rows) = table(&folder.path().join("data/not-judged.csv"));
    assert_eq!(header.join(","), "id,source,statement,why,shown,mean,ci_low,ci_high,reps");
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row["id"] == "C20" && number(&row["mean"]) > 0.0));
}
