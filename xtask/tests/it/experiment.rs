//! Experiments: their files, and files that are refused. Units of work are in `experiment/units.rs`.

mod units;

use crate::program::{assert_same, file, folder, manifest, names, results, table, xtask};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

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
fn prepared(experiment: &str) -> (TempDir, PathBuf) {
    let folder = folder();
    file(&folder, "users.swf", log_of_users());
    let experiment = file(&folder, "small.toml", experiment);
    (folder, experiment)
}

fn run(experiment: &Path, out: &Path, options: &[&str]) {
    xtask().arg("experiment").arg(experiment).args(["--quiet", "--out"]).arg(out).args(options).assert().code(0);
}

#[test]
fn an_experiment_writes_its_tables_and_judges_its_claims() {
    let (folder, experiment) = prepared(SMALL);
    let out = folder.path().join("out");
    run(&experiment, &out, &[]);
    let (header, rows) = table(&out.join("results.csv"));
    assert_eq!(header, ["log", "load", "estimates", "policy", "metric", "mean", "ci_low", "ci_high", "reps"]);
    assert_eq!(rows.len(), 2 * 4 * 3 * 4, "logs, settings, policies, metrics");
    assert!(rows.iter().all(|row| row["reps"] == "6"));
    let (same, differences) = table(&out.join("differences.csv"));
    assert_eq!(same, header);
    assert!(differences.iter().all(|row| row["policy"] != "easy") && differences.len() == 2 * 4 * 2 * 4);
    let (_, ranks) = table(&out.join("ranks.csv"));
    let sum = |log: &str| -> f64 {
        let of_waits = ranks.iter().filter(|row| row["log"] == log && row["metric"] == "wait_mean");
        of_waits.map(|row| row["mean"].parse::<f64>().expect("a rank")).sum()
    };
    assert!((sum("all") - 6.0).abs() < 1e-9, "ranks of three policies sum to six");
    let (_, runs) = table(&out.join("runs.csv"));
    assert_eq!(runs.len(), 2 * 4 * 3 * 6);
    let (head, claims) = table(&out.join("claims.csv"));
    let contract =
        ["id", "source", "statement", "test", "expected", "observed", "ci_low", "ci_high", "verdict", "recorded"];
    assert_eq!(head, contract);
    // FCFS is saturated on the model, so neither claim has an interval; on the log it has one, above zero.
    let ends = |row: &BTreeMap<String, String>| (row["ci_low"].clone(), row["ci_high"].clone());
    for claim in &claims {
        assert_eq!((claim["verdict"].as_str(), ends(claim)), ("inconclusive", Default::default()), "{claims:?}");
    }
    let on_the_log = differences.iter().find(|row| row["log"] == "users" && row["policy"] == "fcfs");
    let low = on_the_log.expect("a difference")["ci_low"].parse::<f64>().expect("an interval");
    assert!(low > 0.0, "{on_the_log:?}");
    let files = names(&out);
    for name in
        ["report.html", "manifest.json", "best.csv", "figures/main-difference.svg", "figures/differences-wait_mean.svg"]
    {
        assert!(files.contains(name), "no {name} among {files:?}");
    }
    let page = fs::read_to_string(out.join("report.html")).expect("the report");
    assert!(page.contains("By mean wait, against easy: "), "the paragraph in words");
    assert!(page.contains("half of the replications saturated have no intervals"), "saturation is reported");
    assert!(page.contains("A model begins on an empty machine"), "a pitfall");
    assert!(
        page.contains("64 comparisons at 95 %: about 4 would be significant"),
        "2 logs, 4 settings, 2 policies, 4 metrics"
    );
    assert!(page.contains("lublin: no requested times"), "user and exact are the same there");
    assert!(!page.contains("users: no requested times"), "the log has them");
    xtask().arg("verify").arg(&out).assert().code(0);
}

/// "By at least a quarter": the mean of the rest after three quarters of the other value are subtracted.
#[test]
fn a_claim_can_ask_for_a_margin() {
    let (folder, experiment) = prepared(&SMALL.replace(
        "policy = \"fcfs\", above = \"easy\" }",
        "policy = \"easy\", below = \"fcfs\", by = \"25%\", every = [\"log\", \"load\", \"estimates\"] }",
    ));
    let out = folder.path().join("out");
    run(&experiment, &out, &[]);
    let (_, claims) = table(&out.join("claims.csv"));
    let (test, place) = claims[1]["test"].split_once("; decided by ").expect("the cell that decides");
    assert_eq!(test, "wait_mean of easy − 0.75 × fcfs");
    let (_, runs) = table(&out.join("runs.csv"));
    let here = |row: &&BTreeMap<String, String>| {
        place == format!("{}, load {}, estimates {}", row["log"], row["load"], row["estimates"])
    };
    let waits = |policy: &str| -> Vec<f64> {
        let of = runs.iter().filter(here).filter(|row| row["policy"] == policy);
        of.map(|row| row["wait_mean"].parse().expect("a number")).collect()
    };
    let (easy, fcfs) = (waits("easy"), waits("fcfs"));
    assert_eq!((easy.len(), fcfs.len()), (6, 6), "{place}");
    let mean = easy.iter().zip(&fcfs).map(|(easy, fcfs)| easy - 0.75 * fcfs).sum::<f64>() / 6.0;
    let observed: f64 = claims[1]["observed"].parse().expect("a number");
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
    let (folder, experiment) = prepared(&text);
    let out = folder.path().join("out");
    run(&experiment, &out, &[]);
    let simulated = folder.path().join("simulated");
    let log = folder.path().join("users.swf");
    let policies = ["simulate", "--policy", "eg-edf,fcfs,easy,cons", "--quiet", "--trace"];
    let told = ["--estimates", estimates, "--deadlines", deadlines];
    xtask().args(policies).arg(&log).args(told).arg("--out").arg(&simulated).assert().code(0);
    let (_, summary) = table(&simulated.join("summary.csv"));
    let (_, rows) = table(&out.join("results.csv"));
    assert_eq!(rows.len(), 4 * 6, "policies, metrics");
    for row in rows.iter().filter(|row| row["metric"] != "area_weighted_response") {
        let there = summary.iter().find(|there| there["policy"] == row["policy"]).expect("the policy");
        let [ours, theirs] = [&row["mean"], &there[&row["metric"]]].map(|text| text.parse::<f64>().expect("a number"));
        assert!((ours - theirs).abs() <= 1e-9 * theirs.abs(), "{row:?}: {theirs}");
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let (folder, experiment) = prepared(SMALL);
    let run = |threads: &str| {
        let out = folder.path().join(threads);
        run(&experiment, &out, &["--jobs", threads]);
        results(&out)
    };
    let one = run("1");
    assert_same(&one, &run("2"));
    assert_same(&one, &run("8"));
}

#[test]
fn more_replications_are_added_until_means_are_precise() {
    let text = SMALL.replace("\"area_weighted_response\", \"utilization\"", "\"utilization\"");
    let text = text.replace("count = 6", "count = 3").replace("load = [0.8, 1.1]\n", "load = [0.8]\n");
    let (folder, experiment) = prepared(&text.replace("[[log]]\nfile = \"users.swf\"\n", ""));
    let out = folder.path().join("out");
    run(&experiment, &out, &["--precision", "0.3"]);
    let (_, rows) = table(&out.join("results.csv"));
    let number = |row: &BTreeMap<String, String>, name: &str| row[name].parse::<f64>().expect("a number");
    let replications: BTreeSet<&str> = rows.iter().map(|row| row["reps"].as_str()).collect();
    assert_eq!(replications.len(), 1, "every cell has as many");
    let count: u32 = rows[0]["reps"].parse().expect("a number");
    assert!(count > 3 && count <= 30, "{count} replications");
    let widest = rows.iter().map(|row| (number(row, "ci_high") - number(row, "ci_low")) / 2.0 / number(row, "mean"));
    let widest = widest.fold(0.0, f64::max);
    assert!(widest <= 0.3 || count == 30, "half a width of {widest} after {count}");
}

#[test]
fn a_warm_up_is_left_out() {
    let text = SMALL.replace("method = \"users\"\ncount = 6", "method = \"shake\"\ncount = 3\nwarm_up = \"28d\"");
    let (folder, experiment) = prepared(&text);
    let out = folder.path().join("out");
    run(&experiment, &out, &[]);
    let (_, runs) = table(&out.join("runs.csv"));
    let is_left_out =
        |row: &BTreeMap<String, String>| row["left_out_percent"].parse::<f64>().is_ok_and(|share| share > 0.0);
    assert!(runs.iter().all(is_left_out), "{runs:?}");
}

#[test]
fn the_first_experiment_that_is_printed_runs() {
    let printed = xtask().args(["experiment", "init"]).assert().code(0).get_output().stdout.clone();
    let folder = folder();
    let experiment = file(&folder, "first.toml", printed);
    run(&experiment, &folder.path().join("out"), &["--quick"]);
    assert!(folder.path().join("out/report.html").exists());
}

/// Invalid files, and the message for each.
#[test]
fn errors_name_file_line_key_and_fix() {
    let wrong: [(&str, &str, &str); 18] = [
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
        ("a margin on a number", "above = \"easy\"", "above = 5.0, by = \"10%\""),
        ("a claim about what is not varied", "every = [\"log\", \"load\"]", "every = [\"log\", \"users\"]"),
    ];
    let mut told = String::new();
    for (name, good, bad) in wrong {
        assert!(SMALL.contains(good), "{name}");
        told += &format!("{name}:\n{}", refused(&SMALL.replacen(good, bad, 1)));
    }
    let no_machine = folder();
    file(&no_machine, "users.swf", log_of_users().replace("; MaxProcs: 64\n", ""));
    let experiment = file(&no_machine, "small.toml", SMALL);
    told += &format!("a log without a machine:\n{}", message(&experiment, no_machine.path()));
    insta::assert_snapshot!(told);
}

fn refused(text: &str) -> String {
    let (folder, experiment) = prepared(text);
    message(&experiment, folder.path())
}

/// Returns the message for an invalid experiment, without its folder.
fn message(experiment: &Path, folder: &Path) -> String {
    let out = folder.join("out");
    let run = xtask().arg("experiment").arg(experiment).arg("--out").arg(&out).env_remove("GRID_TRACES").assert();
    let run = run.code(2).stdout("");
    assert!(!out.exists(), "something was written");
    let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    let text = text.replace(&format!("{}/", folder.display()), "");
    // The list of policies does not matter here.
    match text.split_once("; there are fcfs") {
        Some((head, _)) => format!("{head}; there are …\n"),
        None => text,
    }
}

#[test]
fn weeks_are_drawn_by_default_and_the_log_itself_stands_beside_its_replications() {
    let (folder, experiment) = prepared(&SMALL.replace("method = \"users\"\n", ""));
    let out = folder.path().join("out");
    let run = xtask().arg("experiment").arg(&experiment).arg("--out").arg(&out).assert().code(0);
    let told = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    assert!(told.contains("users, load 0.8, estimates user: mean wait of easy is "), "{told}");
    assert_eq!(manifest(&out)["method"], "blocks");
    let (header, rows) = table(&out.join("log.csv"));
    assert_eq!(header[3..], ["policy", "metric", "in_log", "min", "p5", "median", "p95", "max", "reps"]);
    assert_eq!(rows.len(), 4 * 4, "settings and metrics of the log; a model is none");
    let (_, runs) = table(&out.join("runs.csv"));
    assert_eq!(runs.len(), 2 * 4 * 3 * 6, "the log itself is no replication");
    for row in rows {
        let value = |column: &str| row[column].parse::<f64>().expect("a number");
        let range = ["min", "p5", "median", "p95", "max"].map(value);
        assert!(row["log"] == "users" && row["policy"] == "easy" && range.is_sorted(), "{row:?}");
    }
    let page = fs::read_to_string(out.join("report.html")).expect("the page");
    assert!(page.contains("The log itself") && page.contains("draws outside the bounds refused"));
}

#[test]
fn a_resampled_log_is_a_log_and_reports_its_similarity() {
    let folder = folder();
    // Group, executable, queue and partition.
    let log = log_of_users().replace(" 1 -1 -1 -1 -1 -1\n", " 5 6 7 8 -1 -1\n");
    let log = file(&folder, "users.swf", format!("; UnixStartTime: 843480031\n; Queue: 7 long\n{log}"));
    let resample = |out: &str, options: &[&str]| {
        let out = folder.path().join(out);
        let run = xtask().args(["workload", "resample"]).arg(&log).arg("--out").arg(&out).args(options).assert();
        (out, run)
    };
    let (one, run) = resample("one.swf", &["--seed", "3", "--weeks", "18"]);
    let told = String::from_utf8_lossy(&run.code(0).get_output().stdout).into_owned();
    assert!(told.contains("relative to the log: jobs") && told.contains("hours of the day"), "{told}");
    let text = fs::read_to_string(&one).expect("the log");
    assert!(text.contains("; MaxProcs: 64\n") && text.contains("seed 3\n"), "{}", &text[..200]);
    assert!(text.contains("; UnixStartTime: 843480031\n; Queue: 7 long\n"), "{}", &text[..400]);
    let jobs: Vec<Vec<&str>> = { text.lines().filter(|line| !line.starts_with(';')) }
        .map(|line| line.split_ascii_whitespace().collect())
        .collect();
    assert!((3_000..4_300).contains(&jobs.len()), "{} jobs in twice as many weeks as 1800 took", jobs.len());
    let numbers = fs::read_to_string(folder.path().join("one.jobs.csv")).expect("the numbers");
    let log = log_of_users();
    for (at, (job, line)) in jobs.iter().zip(numbers.lines().skip(1)).enumerate() {
        assert_eq!((job[0], &job[12..16]), (&*(at + 1).to_string(), &["5", "6", "7", "8"][..]));
        let (number, original) = line.split_once(',').expect("two columns");
        let was = log.lines().nth(original.parse().expect("a number")).expect("a job behind the header");
        let was: Vec<&str> = was.split_ascii_whitespace().collect();
        assert_eq!((number, original), (job[0], was[0]));
        assert_eq!((job[3], job[4], job[8], job[11]), (was[3], was[4], was[8], was[11]), "job {original} as {number}");
    }
    let (two, run) = resample("two.swf", &["--seed", "3", "--weeks", "18", "--quiet"]);
    run.code(0);
    assert!(fs::read(two).expect("the log") == text.as_bytes(), "the same seed gives the same bytes");
    let (_, run) = resample("users.swf", &["--users", "1.5", "--weeks", "9"]);
    let told = String::from_utf8_lossy(&run.code(0).get_output().stdout).into_owned();
    assert!(told.contains("1.5 times as many") && told.contains("bounds of this log: backlog 0.667 to 1.5"), "{told}");
    let (shaken, run) = resample("shaken.swf", &["--shake", "60s"]);
    run.code(0);
    let simulate = ["simulate", "--policy", "easy", "--quiet", "--trace"];
    xtask().args(simulate).arg(&shaken).arg("--out").arg(folder.path().join("out")).assert().code(0);
    let (_, run) = resample("no.swf", &["--shake", "often"]);
    let told = String::from_utf8_lossy(&run.code(2).get_output().stderr).into_owned();
    assert!(told.contains("--shake \"often\": is no span; write 60s, 5m or 1h"), "{told}");
}
