//! The command line: its options, standard output and standard error, and exit codes.

use crate::program::{FOUR_JOBS, SMALL, Said, Workdir, number, table};

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
        let text = Workdir::new().run(&format!("{command} --help"), 0).out;
        for option in options.split_whitespace().chain(["--jobs", "--quiet", "--json"]) {
            assert!(text.contains(option), "{command} {option}");
        }
    }
}

#[test]
fn results_go_below_the_current_folder() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    let experiment = "name = \"tiny\"\npolicies = [\"easy\", \"fcfs\"]\nbaseline = \"easy\"\nmetrics = [\"wait_mean\"]\n[[log]]\n\
                      model = \"lublin\"\nprocs = 64\ncount = 50\nload = 0.5\n[replicate]\nmethod = \"seeds\"\ncount = 2\n";
    dir.file("tiny.toml", experiment);
    let doubt = format!("{} --reading R1", SMALL.replace("reproduce", "doubt"));
    for (words, out) in [
        ("simulate --trace four.swf --policy fcfs", "simulate/four"),
        ("experiment tiny.toml", "experiment/tiny"),
        ("workload inspect four.swf", "workload/four"),
        (SMALL, "multi-site"),
        (&doubt, "doubt/multi-site"),
    ] {
        dir.run(&format!("{words} --quiet"), 0);
        assert!(dir.path(&format!("results/{out}/manifest.json")).is_file(), "{words}");
    }
}

#[test]
fn with_json_the_result_is_alone_on_standard_output() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    let simulated = dir.run("simulate four.swf --policy fcfs,easy --out out --json", 0).json();
    assert_eq!(simulated["policies"]["easy"]["jobs"], 3.0);
    assert_eq!(simulated["policies"]["easy"]["rejected"], 1);
    assert_eq!(dir.run("list --json", 0).json()[0]["slug"], "multi-site");
    let claims = dir.run(&format!("{SMALL} --only fig4 --out paper --json"), 0).json();
    assert_eq!(claims[0]["claims"][0]["id"], "P1");
}

#[test]
fn quiet_prints_the_result_and_no_progress() {
    let dir = Workdir::new();
    let run = |quiet: &str| dir.run(&format!("{SMALL} --fresh --only fig4 --out out{quiet}"), 0);
    let Said { out: result, err: progress } = run("");
    assert!(result.contains("P1 ") && progress.contains("100 %"), "{result}{progress}");
    assert!(!result.contains('\x1b') && !progress.contains('\x1b'), "colours off a terminal");
    let Said { out: result, err: progress } = run(" --quiet");
    assert_eq!(progress, "");
    assert!(
        !result.contains("P1 ") && result.starts_with("multi-site: ") && result.contains("report.html"),
        "{result}"
    );
}

/// If every gang has two tasks, none starves: approach 1 completes all gangs instead of the 80 % that the paper prints.
#[test]
fn check_ends_with_1_where_a_verdict_differs_from_the_recorded_one() {
    let dir = Workdir::new();
    let run = |options: &str, code: i32| {
        dir.run(&format!("reproduce multi-site --quick --only fig4 --quiet --out out {options}"), code).err
    };
    assert_eq!(run("--check", 0), "");
    assert_eq!(run("--set workload.gang_sizes=[2]", 0), "");
    let differs = run("--set workload.gang_sizes=[2] --check", 1);
    assert!(differs.contains("multi-site P1: contradicted, but ") && differs.contains("on record"), "{differs}");
}

/// The claims are judged under each of the seeds 1 to N: the seed of the run among them gives its own verdicts.
#[test]
fn seeds_judges_the_claims_under_other_seeds() {
    let dir = Workdir::new();
    let run = "reproduce eg-edf --quick --reps 2 --set run.quick_jobs=200 --seed 2 --seeds 3 --json --quiet --out .";
    let told = dir.run(run, 0).json();
    let claims = dir.rows("claims.csv");
    let (header, rows) = table(&dir.path("seeds.csv"));
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
    let dir = Workdir::new();
    let told = dir.run("reproduce metaloras --quick --only prediction --quiet --json --out .", 0).json();
    assert_eq!(told[0]["not_judged"], serde_json::json!(["C20"]));
    assert!(dir.rows("claims.csv").iter().all(|claim| claim["id"] != "C20"));
    let (header, rows) = table(&dir.path("data/not-judged.csv"));
    assert_eq!(header.join(","), "id,source,statement,why,shown,mean,ci_low,ci_high,reps");
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row["id"] == "C20" && number(&row["mean"]) > 0.0));
}
