//! Experiments: their files, and files that are refused. Units of work are in `experiment/units.rs`.

mod units;

use crate::program::{Said, Workdir, assert_same, manifest, number, results, said, table};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Returns a log of nine weeks of forty users on 64 processors: some are present all the time, some for a week.
fn log_of_users() -> String {
    // Scattered without a random generator: multiples of a prime, modulo another number. The machine is as often full as under users who
    // come independently.
    let mut submits: Vec<u32> = (1..=1_800).map(|job| (3_024 * job + job * 611_953 % 500_000) % 5_443_200).collect();
    submits.sort_unstable();
    let mut log = "; MaxProcs: 64\n".to_owned();
    for (job, submit) in (1_u32..).zip(submits) {
        let (run, width) = (60 + job * 7_919 % 20_011, 1 + job * 104_729 % 29);
        let user = if job % 3 == 0 { job % 20 } else { 100 + job / 200 * 10 + job % 7 };
        let _ = writeln!(log, "{job} {submit} -1 {run} {width} -1 -1 {width} {} -1 1 {user} 1 -1 -1 -1 -1 -1", 2 * run);
    }
    log
}

const SMALL: &str = r#"
name = "small"
policies = ["fcfs", "easy", "cons"]
baseline = "easy"
metrics = ["wait_mean", "bounded_slowdown_mean", "area_weighted_response", "utilization"]
seed = 7
[[log]]
file = "users.swf"
[[log]]
model = "lublin"
procs = 64
count = 400
load = 0.8
[vary]
load = [0.8, 1.1]
estimates = ["user", "exact"]
[replicate]
method = "users"
count = 6
[[claim]]
id = "X1"
says = "Backfilling lowers waits"
test = { metric = "wait_mean", policy = "easy", below = "fcfs", every = ["log", "load"] }
[[claim]]
id = "X2"
says = "It does so on average"
test = { metric = "wait_mean", policy = "fcfs", above = "easy" }
"#;

/// Returns a folder with a log and an experiment on it.
fn prepared(experiment: &str) -> Workdir {
    let dir = Workdir::with("users.swf", log_of_users());
    dir.file("small.toml", experiment);
    dir
}

/// Returns a folder with such an experiment, and its results in `out`.
fn ran(experiment: &str, options: &str) -> Workdir {
    let dir = prepared(experiment);
    dir.run(&format!("experiment small.toml --quiet --out out{options}"), 0);
    dir
}

#[test]
fn an_experiment_writes_its_tables_and_judges_its_claims() {
    let dir = ran(SMALL, "");
    let (header, rows) = table(&dir.path("out/results.csv"));
    assert_eq!(header, ["log", "load", "estimates", "policy", "metric", "mean", "ci_low", "ci_high", "reps"]);
    assert_eq!(rows.len(), 2 * 4 * 3 * 4, "logs, settings, policies, metrics");
    assert!(rows.iter().all(|row| row["reps"] == "6"));
    let (same, differences) = table(&dir.path("out/differences.csv"));
    assert_eq!(same, header);
    assert!(differences.iter().all(|row| row["policy"] != "easy") && differences.len() == 2 * 4 * 2 * 4);
    let ranks = dir.rows("out/ranks.csv");
    let sum = |log: &str| -> f64 {
        let of_waits = ranks.iter().filter(|row| row["log"] == log && row["metric"] == "wait_mean");
        of_waits.map(|row| number(&row["mean"])).sum()
    };
    assert!((sum("all") - 6.0).abs() < 1e-9, "ranks of three policies sum to six");
    assert_eq!(dir.rows("out/runs.csv").len(), 2 * 4 * 3 * 6);
    let (head, claims) = table(&dir.path("out/claims.csv"));
    assert_eq!(head.join(" "), "id source statement test expected observed ci_low ci_high verdict recorded");
    // FCFS is saturated on the model, so neither claim has an interval; on the log it has one, above zero.
    let ends = |row: &BTreeMap<String, String>| (row["ci_low"].clone(), row["ci_high"].clone());
    for claim in &claims {
        assert_eq!((claim["verdict"].as_str(), ends(claim)), ("inconclusive", Default::default()), "{claims:?}");
    }
    let on_the_log = differences.iter().find(|row| row["log"] == "users" && row["policy"] == "fcfs");
    assert!(number(&on_the_log.expect("a difference")["ci_low"]) > 0.0, "{on_the_log:?}");
    for name in ["manifest.json", "best.csv", "figures/main-difference.svg", "figures/differences-wait_mean.svg"] {
        assert!(dir.path(&format!("out/{name}")).is_file(), "{name}");
    }
    let page = dir.text("out/report.html");
    for words in [
        "By mean wait, against easy: ",
        "half of the replications saturated have no intervals",
        "A model begins on an empty machine",
        // 2 logs, 4 settings, 2 policies, 4 metrics.
        "64 comparisons at 95 %: about 4 would be significant",
        // User and exact are the same there.
        "lublin: no requested times",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("users: no requested times"), "the log has them");
    dir.run("verify out", 0);
}

/// "By at least a quarter": the mean of the rest after three quarters of the other value are subtracted.
#[test]
fn a_claim_can_ask_for_a_margin() {
    let margin = "policy = \"easy\", below = \"fcfs\", by = \"25%\", every = [\"log\", \"load\", \"estimates\"] }";
    let dir = ran(&SMALL.replace("policy = \"fcfs\", above = \"easy\" }", margin), "");
    let claims = dir.rows("out/claims.csv");
    let (test, place) = claims[1]["test"].split_once("; decided by ").expect("the cell that decides");
    assert_eq!(test, "wait_mean of easy − 0.75 × fcfs");
    let runs = dir.rows("out/runs.csv");
    let here = |row: &&BTreeMap<String, String>| {
        place == format!("{}, load {}, estimates {}", row["log"], row["load"], row["estimates"])
    };
    let waits = |policy: &str| -> Vec<f64> {
        let of = runs.iter().filter(here).filter(|row| row["policy"] == policy);
        of.map(|row| number(&row["wait_mean"])).collect()
    };
    let (easy, fcfs) = (waits("easy"), waits("fcfs"));
    assert_eq!((easy.len(), fcfs.len()), (6, 6), "{place}");
    let mean = easy.iter().zip(&fcfs).map(|(easy, fcfs)| easy - 0.75 * fcfs).sum::<f64>() / 6.0;
    let observed = number(&claims[1]["observed"]);
    assert!((observed - mean).abs() < 1e-9 * mean.abs(), "{observed}, {mean}");
}

#[test]
fn a_replication_that_changes_nothing_is_what_simulate_computes() {
    // The estimates of the second call are predictions, made and corrected as jobs run.
    is_what_simulate_computes("user", "factor:1.5");
    is_what_simulate_computes("mean-of-user:2", "column:4");
}

fn is_what_simulate_computes(estimates: &str, deadlines: &str) {
    let text = SMALL.replace("[vary]\nload = [0.8, 1.1]\nestimates = [\"user\", \"exact\"]\n", "");
    let model = text.find("[[log]]\nmodel").expect("the model");
    let end = text.find("[replicate]").expect("the method");
    let text = format!("{}{}", &text[..model], &text[end..]);
    let text = text.replace("method = \"users\"\ncount = 6", "method = \"shake\"\nshift = \"0s\"\ncount = 2");
    let text = text.replace("every = [\"log\", \"load\"]", "every = [\"log\"]");
    let told = format!("file = \"users.swf\"\nestimates = \"{estimates}\"\ndeadlines = \"{deadlines}\"");
    let text = text.replacen("file = \"users.swf\"", &told, 1);
    let text = text.replacen("\"fcfs\", \"easy\"", "\"eg-edf\", \"fcfs\", \"easy\"", 1);
    let text = text.replacen("\"utilization\"]", "\"utilization\", \"tardiness_mean\", \"late_percent\"]", 1);
    assert!(text.contains(&told) && text.contains("late_percent") && text.contains("eg-edf"), "{text}");
    let dir = ran(&text, "");
    let simulate = "simulate users.swf --policy eg-edf,fcfs,easy,cons --quiet --out simulated";
    dir.run(&format!("{simulate} --estimates {estimates} --deadlines {deadlines}"), 0);
    let (summary, rows) = (dir.rows("simulated/summary.csv"), dir.rows("out/results.csv"));
    assert_eq!(rows.len(), 4 * 6, "policies, metrics");
    for row in rows.iter().filter(|row| row["metric"] != "area_weighted_response") {
        let there = summary.iter().find(|there| there["policy"] == row["policy"]).expect("the policy");
        let [ours, theirs] = [&row["mean"], &there[&row["metric"]]].map(|text| number(text));
        assert!((ours - theirs).abs() <= 1e-9 * theirs.abs(), "{row:?}: {theirs}");
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let [one, two, eight] = [1, 2, 8].map(|jobs| results(&ran(SMALL, &format!(" --jobs {jobs}")).path("out")));
    assert_same(&one, &two);
    assert_same(&one, &eight);
}

#[test]
fn more_replications_are_added_until_means_are_precise() {
    let text = SMALL.replace("\"area_weighted_response\", \"utilization\"", "\"utilization\"");
    let text = text.replace("count = 6", "count = 3").replace("load = [0.8, 1.1]\n", "load = [0.8]\n");
    let dir = ran(&text.replace("[[log]]\nfile = \"users.swf\"\n", ""), " --precision 0.3");
    let command = manifest(&dir.path("out"))["command_line"].as_str().expect("a text").to_owned();
    assert!(command.contains("experiment small.toml --precision 0.3"), "{command}");
    let rows = dir.rows("out/results.csv");
    let replications: BTreeSet<&str> = rows.iter().map(|row| row["reps"].as_str()).collect();
    assert_eq!(replications.len(), 1, "every cell has as many");
    let count: u32 = rows[0]["reps"].parse().expect("a number");
    assert!(count > 3 && count <= 30, "{count} replications");
    let width = |row: &BTreeMap<String, String>| {
        let [low, mean, high] = ["ci_low", "mean", "ci_high"].map(|column| number(&row[column]));
        (high - low) / 2.0 / mean
    };
    let widest = rows.iter().map(width).fold(0.0, f64::max);
    assert!(widest <= 0.3 || count == 30, "half a width of {widest} after {count}");
}

#[test]
fn a_warm_up_is_left_out() {
    let text = SMALL.replace("method = \"users\"\ncount = 6", "method = \"shake\"\ncount = 3\nwarm_up = \"28d\"");
    let runs = ran(&text, "").rows("out/runs.csv");
    assert!(runs.iter().all(|row| number(&row["left_out_percent"]) > 0.0), "{runs:?}");
}

#[test]
fn the_first_experiment_that_is_printed_runs() {
    let dir = Workdir::new();
    dir.file("first.toml", dir.run("experiment init", 0).out);
    dir.run("experiment first.toml --quiet --quick --out out", 0);
    assert!(dir.path("out/report.html").exists());
}

/// Invalid files, and the message for each.
#[test]
fn errors_name_file_line_key_and_fix() {
    let wrong: [(&str, &str, &str); 20] = [
        ("an unknown key", "seed = 7", "sed = 7"),
        ("an unknown policy", "\"cons\"]", "\"conz\"]"),
        ("a baseline that is no policy", "baseline = \"easy\"", "baseline = \"easi\""),
        ("an unknown metric", "\"wait_mean\", \"bounded", "\"wait_meen\", \"bounded"),
        ("an unknown method", "method = \"users\"", "method = \"user\""),
        ("no count", "count = 6\n", ""),
        ("a key of another method", "count = 6\n", "count = 6\nshift = \"60s\"\n"),
        ("seeds of a log", "method = \"users\"", "method = \"seeds\""),
        ("no such log", "file = \"users.swf\"", "file = \"nobody.swf\""),
        ("an unknown model", "model = \"lublin\"", "model = \"lubin\""),
        ("a value that makes no sense", "estimates = [\"user\", \"exact\"]", "estimates = [\"user\", \"exect\"]"),
        ("something that cannot be varied", "load = [0.8, 1.1]", "lode = [0.8, 1.1]"),
        ("a claim about nobody", "below = \"fcfs\"", "below = \"sjf\""),
        ("tardiness where nothing is due", "\"utilization\"]", "\"tardiness_mean\"]"),
        ("a column of a model", "load = 0.8\n", "load = 0.8\ndeadlines = \"column:19\"\n"),
        ("a margin that is none", "above = \"easy\"", "above = \"easy\", by = \"10\""),
        ("a precision that is none", "count = 6\n", "count = 6\nprecision = nan\n"),
        ("a bound that is none", "above = \"easy\"", "above = nan"),
        ("a margin on a number", "above = \"easy\"", "above = 5.0, by = \"10%\""),
        ("a claim about what is not varied", "every = [\"log\", \"load\"]", "every = [\"log\", \"users\"]"),
    ];
    let mut told = String::new();
    for (name, good, bad) in wrong {
        assert!(SMALL.contains(good), "{name}");
        told += &format!("{name}:\n{}", message(&prepared(&SMALL.replacen(good, bad, 1))));
    }
    let no_machine = prepared(SMALL);
    no_machine.file("users.swf", log_of_users().replace("; MaxProcs: 64\n", ""));
    told += &format!("a log without a machine:\n{}", message(&no_machine));
    insta::assert_snapshot!(told);
}

/// Returns the message for an invalid experiment.
fn message(dir: &Workdir) -> String {
    let Said { out, err } = said(dir.command("experiment small.toml --out out").env_remove("GRID_TRACES"), 2);
    assert!(out.is_empty() && !dir.path("out").exists(), "something was written");
    // The list of policies does not matter here.
    match err.split_once("; there are fcfs") {
        Some((head, _)) => format!("{head}; there are …\n"),
        None => err,
    }
}

#[test]
fn weeks_are_drawn_by_default_and_the_log_itself_stands_beside_its_replications() {
    let dir = prepared(&SMALL.replace("method = \"users\"\n", ""));
    let told = dir.run("experiment small.toml --out out", 0).out;
    assert!(told.contains("users, load 0.8, estimates user: mean wait of easy is "), "{told}");
    assert_eq!(manifest(&dir.path("out"))["method"], "blocks");
    let (header, rows) = table(&dir.path("out/log.csv"));
    assert_eq!(header[3..], ["policy", "metric", "in_log", "min", "p5", "median", "p95", "max", "reps"]);
    assert_eq!(rows.len(), 4 * 4, "settings and metrics of the log; a model is none");
    assert_eq!(dir.rows("out/runs.csv").len(), 2 * 4 * 3 * 6, "the log itself is no replication");
    for row in rows {
        let range = ["min", "p5", "median", "p95", "max"].map(|column| number(&row[column]));
        assert!(row["log"] == "users" && row["policy"] == "easy" && range.is_sorted(), "{row:?}");
    }
    let page = dir.text("out/report.html");
    assert!(page.contains("The log itself") && page.contains("draws outside the bounds refused"));
}

#[test]
fn a_resampled_log_is_a_log_and_reports_its_similarity() {
    // Group, executable, queue and partition.
    let log = log_of_users().replace(" 1 -1 -1 -1 -1 -1\n", " 5 6 7 8 -1 -1\n");
    let dir = Workdir::with("users.swf", format!("; UnixStartTime: 843480031\n; Queue: 7 long\n{log}"));
    let resample = |options: &str| dir.run(&format!("workload resample users.swf --out {options}"), 0).out;
    let told = resample("one.swf --seed 3 --weeks 18");
    assert!(told.contains("relative to the log: jobs") && told.contains("hours of the day"), "{told}");
    let text = dir.text("one.swf");
    assert!(text.contains("; MaxProcs: 64\n") && text.contains("seed 3\n"), "{}", &text[..200]);
    assert!(text.contains("; UnixStartTime: 843480031\n; Queue: 7 long\n"), "{}", &text[..400]);
    let jobs: Vec<Vec<&str>> = { text.lines().filter(|line| !line.starts_with(';')) }
        .map(|line| line.split_ascii_whitespace().collect())
        .collect();
    assert!((3_000..4_300).contains(&jobs.len()), "{} jobs in twice as many weeks as 1800 took", jobs.len());
    let numbers = dir.text("one.jobs.csv");
    let log = log_of_users();
    for (at, (job, line)) in jobs.iter().zip(numbers.lines().skip(1)).enumerate() {
        assert_eq!((job[0], &job[12..16]), (&*(at + 1).to_string(), &["5", "6", "7", "8"][..]));
        let (number, original) = line.split_once(',').expect("two columns");
        let was = log.lines().nth(original.parse().expect("a number")).expect("a job behind the header");
        let was: Vec<&str> = was.split_ascii_whitespace().collect();
        assert_eq!((number, original), (job[0], was[0]));
        assert_eq!((job[3], job[4], job[8], job[11]), (was[3], was[4], was[8], was[11]), "job {original} as {number}");
    }
    resample("two.swf --seed 3 --weeks 18 --quiet");
    assert!(dir.text("two.swf") == text, "the same seed gives the same bytes");
    let told = resample("more.swf --users 1.5 --weeks 9");
    assert!(told.contains("1.5 times as many") && told.contains("bounds of this log: backlog 0.667 to 1.5"), "{told}");
    resample("shaken.swf --shake 60s");
    dir.run("simulate shaken.swf --policy easy --quiet --out out", 0);
    let words = "--shake \"often\": is no span; write 60s, 5m or 1h";
    dir.refuses("workload resample users.swf --out no.swf --shake often", &[words]);
}
