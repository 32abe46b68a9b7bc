//! `explain`: what is told of ten jobs that can be followed by hand, and that nothing of it contradicts the schedule.

use crate::program::{file, folder, table, xtask};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Ten jobs on a machine of ten processors.
const TEN_JOBS: &str = include_str!("ten-jobs.swf");

/// Eight processors and four of twice the speed.
const TWO_CLUSTERS: &str = "0\talpha\t2\t4\t1.0\t0\n1\tbeta\t1\t4\t2.0\t0\n";

/// A site of ten CPUs and one of four below a site without any, each with a work station.
const TREE: &str = "\
tree = [\"root\", [\"left\", \"right\"]]
local_load = 0.0
[[site]]
name = \"root\"
[[site]]
name = \"left\"
servers = [{ cpus = 4 }]
[[site]]
name = \"right\"
servers = [{ cpus = 10 }]
";

/// Ten nodes, and five of twice the speed with a user at each.
const CLUSTERS: &str = "\
[[cluster]]
name = \"lab\"
nodes = 10
[[cluster]]
name = \"office\"
nodes = 5
speed = 2.0
local_users = true
";

fn utf8(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Runs `explain` and gives the exit code and what was printed.
fn explain(log: &Path, further: &[&str]) -> (i32, String) {
    let run = xtask().args(["explain", "--trace", utf8(log)]).args(further).output().expect("it runs");
    let told = String::from_utf8(run.stdout).expect("UTF-8") + &String::from_utf8_lossy(&run.stderr);
    (run.status.code().expect("a code"), told)
}

/// What is told of the ten jobs, without the folder.
fn of_ten_jobs(further: &[&str]) -> String {
    let folder = folder();
    let log = file(&folder, "ten-jobs.swf", TEN_JOBS);
    let machines = file(&folder, "two.machines", TWO_CLUSTERS);
    let (tree, clusters) = (file(&folder, "tree.toml", TREE), file(&folder, "clusters.toml", CLUSTERS));
    let further = further.iter().map(|word| match *word {
        "TWO" => utf8(&machines),
        "TREE" => utf8(&tree),
        "CLUSTERS" => utf8(&clusters),
        word => word,
    });
    let further: Vec<&str> = further.collect();
    let (code, told) = explain(&log, &further);
    assert_eq!(code, 0, "{told}");
    told.replace(&format!("{}/", utf8(folder.path())), "")
}

#[test]
fn easy_tells_of_a_head_one_backfilled_and_one_barred_by_a_reservation() {
    insta::assert_snapshot!(of_ten_jobs(&["--policy", "easy", "--job", "3,4,7"]));
}

#[test]
fn blocking_and_conservative_policies_tell_their_own_reasons() {
    insta::assert_snapshot!(of_ten_jobs(&["--policy", "fcfs,cons,easy+order=sjf", "--job", "5"]));
}

#[test]
fn on_two_clusters_it_is_told_on_which() {
    insta::assert_snapshot!(of_ten_jobs(&["--policy", "easy", "--job", "5,8", "--machines", "TWO"]));
}

#[test]
fn a_policy_that_tells_no_reasons_is_told_by_what_everybody_sees() {
    insta::assert_snapshot!(of_ten_jobs(&["--policy", "eg-edf", "--job", "5", "--estimates", "exact"]));
}

#[test]
fn in_a_tree_it_is_told_which_messages_moved_the_job() {
    insta::assert_snapshot!(of_ten_jobs(&[
        "--model",
        "hier-grid",
        "--policy",
        "hierarchical",
        "--tree",
        "TREE",
        "--job",
        "4,5",
    ]));
}

#[test]
fn of_a_metascheduler_it_is_told_which_clusters_were_predicted_to_give_what() {
    insta::assert_snapshot!(of_ten_jobs(&[
        "--model",
        "metasched",
        "--policy",
        "tat,ffit",
        "--clusters",
        "CLUSTERS",
        "--job",
        "5",
    ]));
}

/// Somebody who follows a job among peers or on shared clusters changes nothing.
#[test]
fn a_job_that_is_followed_starts_where_simulate_has_it() {
    let folder = folder();
    let log = file(&folder, "ten-jobs.swf", TEN_JOBS);
    let (tree, clusters) = (file(&folder, "tree.toml", TREE), file(&folder, "clusters.toml", CLUSTERS));
    let worlds = [
        ("hier-grid", "--tree", &tree, ["hierarchical", "p2p"]),
        ("metasched", "--clusters", &clusters, ["ptt+w=0.5", "rr"]),
    ];
    for (model, option, place, policies) in worlds {
        for policy in policies {
            let out = folder.path().join(policy);
            let run = ["--model", model, option, utf8(place), "--policy", policy];
            xtask()
                .args(["simulate", "--trace", utf8(&log), "--quiet"])
                .args(run)
                .arg("--out")
                .arg(&out)
                .assert()
                .code(0);
            let rows = rows(&out, policy);
            let (code, told) = explain(&log, &[&run[..], &["--job", "1,2,3,4,5,6,7,8,9,10", "--json"]].concat());
            assert_eq!(code, 0, "{told}");
            let told: Value = serde_json::from_str(&told).expect("JSON");
            for explanation in told["explanations"].as_array().expect("a list") {
                let row = &rows[&number(explanation, "job")];
                let history = explanation["history"].as_array().expect("lines");
                let starts = history.iter().filter(|line| line["event"] == "starts");
                let starts: Vec<f64> = starts.map(|line| seconds(line, "from")).collect();
                assert_eq!(starts.len(), 1, "{explanation}");
                assert!((starts[0] - row.start).abs() < 1e-6, "{policy}: {} and {explanation}", row.start);
            }
        }
    }
}

/// What the page tells of each job in each schedule, line by line: by the schedule's name.
fn told_on_the_page(out: &Path) -> BTreeMap<String, BTreeMap<u64, Vec<String>>> {
    let page = std::fs::read_to_string(out.join("report.html")).expect("a page");
    let (_, rest) = page.split_once("id=\"plots\">").expect("plots");
    let (plots, _) = rest.split_once("</script>").expect("an end");
    let plots: BTreeMap<String, Value> = serde_json::from_str(plots).expect("JSON");
    let told = |bar: &Value| {
        let facts = bar["facts"].as_array().expect("lines").iter();
        let facts = facts.map(|line| line.as_str().expect("a line").to_owned()).collect();
        (bar["job"].as_str().expect("a name").parse().expect("a number"), facts)
    };
    let schedules = plots.into_iter().filter(|(name, _)| name.starts_with("gantt-"));
    schedules.map(|(name, plot)| (name, plot["bars"].as_array().expect("bars").iter().map(told).collect())).collect()
}

/// What stands behind `head` in one of the lines.
fn line_of<'a>(lines: &'a [String], head: &str) -> Option<&'a str> {
    lines.iter().find_map(|line| line.strip_prefix(head))
}

/// A job that is pointed at is told of as `explain` tells: how it started, and what had kept it from starting just before.
#[test]
fn the_page_tells_of_each_job_what_explain_tells() {
    let folder = folder();
    let log = file(&folder, "ten-jobs.swf", TEN_JOBS);
    let machines = file(&folder, "two.machines", TWO_CLUSTERS);
    let policies = "fcfs,easy,cons,flex,easy+order=sjf,easy+predict=mean-of-user=2,eg-edf";
    let mut compared = (0, 0);
    for further in [&["--procs", "10"][..], &["--machines", utf8(&machines)], &["--outages", "mtbf:5m,mttr:1m"]] {
        let out = folder.path().join("out");
        let run = ["simulate", "--quiet", "--trace", utf8(&log), "--policy", policies, "--out", utf8(&out)];
        xtask().args(run).args(further).assert().code(0);
        let on_page = told_on_the_page(&out);
        let (code, told) =
            explain(&log, &[&["--policy", policies, "--job", "1,2,3,4,5,6,7,8,9,10", "--json"], further].concat());
        assert_eq!(code, 0, "{told}");
        let told: Value = serde_json::from_str(&told).expect("JSON");
        for explanation in told["explanations"].as_array().expect("a list") {
            let policy = explanation["policy"].as_str().expect("a name");
            let Some(lines) = on_page[&format!("gantt-{policy}")].get(&number(explanation, "job")) else {
                assert_eq!(explanation["history"][0]["event"], "rejected");
                continue;
            };
            let (why, until) = (line_of(lines, "why then: "), line_of(lines, "until then: "));
            let history = explanation["history"].as_array().expect("lines");
            let words = |line: &Value| line["words"].as_str().expect("words").to_owned();
            // Of an interrupted job, the start that led to its end.
            let start = history.iter().rposition(|line| line["event"] == "starts").expect("it started");
            let started = words(&history[start]);
            if policy == "eg-edf" {
                assert_eq!((why, until), (None, None), "plans tell no reasons");
                continue;
            }
            assert!(started.ends_with(&format!(", {}", why.expect("a reason"))), "{started}: {lines:?}");
            match start.checked_sub(1).map(|before| &history[before]).filter(|line| line["event"] == "waits") {
                Some(wait) => {
                    assert!(words(wait).ends_with(&format!("; {}", until.expect("it waited"))), "{wait}: {lines:?}");
                    compared.1 += 1;
                }
                None => assert_eq!(until, None),
            }
            compared.0 += 1;
        }
    }
    assert!(compared.0 > 150 && compared.1 > 60, "{compared:?}");
}

/// Of predictions and of messages, too: by which a job was started, and since which it had waited where it did.
#[test]
fn the_page_tells_of_metaschedulers_and_grids_what_explain_tells() {
    let folder = folder();
    let log = file(&folder, "ten-jobs.swf", TEN_JOBS);
    // Who has a node for himself lets others wait.
    let clusters = file(&folder, "clusters.toml", format!("mpl = 1\n{CLUSTERS}"));
    let tree = file(&folder, "tree.toml", TREE);
    let transcript = folder.path().join("run.jsonl");
    let worlds = [
        (&["--model", "metasched", "--clusters", utf8(&clusters), "--policy", "tat,ffit,rr,ptt+w=0.5"][..], &[][..]),
        (&["--model", "hier-grid", "--tree", utf8(&tree), "--policy", "hierarchical,p2p,hybrid+trees=2"], &[]),
        (&["--model", "hier-grid", "--tree", "2-2", "--policy", "p2p"], &["--transcript", utf8(&transcript)]),
    ];
    let mut compared = (0, 0);
    for (run, beside) in worlds {
        let out = folder.path().join("out");
        xtask()
            .args(["simulate", "--quiet", "--trace", utf8(&log), "--out", utf8(&out)])
            .args(run)
            .args(beside)
            .assert()
            .code(0);
        let on_page = told_on_the_page(&out);
        let (code, told) = explain(&log, &[run, &["--job", "1,2,3,4,5,6,7,8,9,10", "--json"]].concat());
        assert_eq!(code, 0, "{told}");
        let told: Value = serde_json::from_str(&told).expect("JSON");
        for explanation in told["explanations"].as_array().expect("a list") {
            let policy = explanation["policy"].as_str().expect("a name");
            let Some(lines) = on_page[&format!("gantt-{policy}")].get(&number(explanation, "job")) else {
                assert!(explanation.to_string().contains("\"rejected\""), "{explanation}");
                continue;
            };
            let history = explanation["history"].as_array().expect("lines");
            let start = history.iter().position(|line| line["event"] == "starts").expect("it started");
            let last = |is_one: &dyn Fn(&Value) -> bool| history[..start].iter().rev().find(|line| is_one(line));
            let kinds =
                |line: &Value, kinds: &[&str]| kinds.contains(&line["message"]["kind"].as_str().unwrap_or_default());
            let decided = last(&|line| line["event"] == "dispatched" || kinds(line, &["answer"]));
            let moved = ["request", "block", "cancelled", "returned", "confirm", "decline"];
            let kept = last(&|line| line["event"] == "waits" || kinds(line, &moved));
            let at = seconds(&history[start], "from");
            // What happened at another instant is told with it, as `explain` begins its lines.
            let said = |line: &Value| {
                let words = line["words"].as_str().expect("words");
                let from = seconds(line, "from");
                if from.total_cmp(&at).is_eq() { words.to_owned() } else { format!("at {from} s: {words}") }
            };
            assert_eq!(line_of(lines, "why then: ").map(str::to_owned), decided.map(said), "{explanation}");
            assert_eq!(line_of(lines, "until then: ").map(str::to_owned), kept.map(said), "{explanation}");
            assert!(decided.is_some(), "{explanation}");
            compared.0 += 1;
            compared.1 += usize::from(kept.is_some());
        }
    }
    assert!(compared.0 > 70 && compared.1 > 45, "{compared:?}");
}

/// Pictures tell it without scripts; where a policy tells no reasons, the page says so.
#[test]
fn a_static_schedule_tells_the_same_where_it_is_pointed_at() {
    let folder = folder();
    let (log, out) = (file(&folder, "ten-jobs.swf", TEN_JOBS), folder.path().join("out"));
    let run =
        ["simulate", "--quiet", "--trace", utf8(&log), "--policy", "easy,eg-edf", "--estimates", "exact", "--out"];
    xtask().args(run).arg(&out).assert().code(0);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).expect("it was written");
    let lines = &told_on_the_page(&out)["gantt-easy"][&7];
    let title = format!("<title>Job 7\n{}</title>", lines.join("\n"));
    assert!(title.contains("\nwhy then: "), "{title}");
    assert!(read("figures/gantt-easy.svg").contains(&title), "{title}");
    let page = read("report.html");
    assert!(page.contains(&title));
    assert!(page.contains("eg-edf does not tell why a job starts when it does"));
    assert!(!page.contains("easy does not tell why"));
}

#[test]
fn programs_are_told_the_same_in_json() {
    insta::assert_snapshot!(of_ten_jobs(&["--policy", "easy", "--job", "7", "--json"]));
}

#[test]
fn what_cannot_be_explained_is_told_with_the_fix() {
    let folder = folder();
    let log = file(&folder, "ten-jobs.swf", TEN_JOBS.replace("230 -1 100 10", "230 -1 -1 10"));
    let refused = |further: &[&str]| {
        let (code, told) = explain(&log, further);
        assert_eq!(code, 2, "{told}");
        told
    };
    let told = refused(&["--policy", "easy", "--job", "11"]);
    assert!(told.contains("there is no job 11; its jobs have the numbers from 1 to 10, in the first column"), "{told}");
    let told = refused(&["--policy", "easy", "--job", "8"]);
    assert!(told.contains("record 8 is no job: it has no submit time, no run time above zero"), "{told}");
    let told = refused(&["--policy", "easy", "--job", "7", "--max-jobs", "5"]);
    assert!(told.contains("there is no job 7 among its first 5 records (--max-jobs)"), "{told}");
    let told = refused(&["--policy", "eazy", "--job", "7"]);
    assert!(told.contains("did you mean \"easy\"?"), "{told}");
    assert!(refused(&["--policy", "easy"]).contains("--job"));
    let machines = file(&folder, "two.machines", TWO_CLUSTERS.replace("2.0", "1.0"));
    let told = refused(&["--policy", "easy", "--profile", "alea31", "--machines", utf8(&machines), "--job", "7"]);
    assert!(told.contains("--profile alea31 tells no reasons; leave it out"), "{told}");
    // A job that nobody could hold is rejected, and that is told.
    let (code, told) = explain(&log, &["--policy", "easy", "--job", "1", "--procs", "5"]);
    assert_eq!(code, 0);
    assert!(told.contains("at 0 s: is rejected: no place has 6 processors"), "{told}");
}

/// A workload on which many wait.
fn generated(folder: &tempfile::TempDir) -> PathBuf {
    let log = folder.path().join("lublin.swf");
    let arguments = ["workload", "generate", "lublin", "--procs", "64", "--count", "250", "--seed", "5", "--quiet"];
    xtask().args(arguments).args(["--estimates", "tsafrir", "--out"]).arg(&log).assert().code(0);
    log
}

/// A job as `jobs.csv` has it, times in seconds.
struct Row {
    submit: f64,
    start: f64,
    finish: f64,
    processors: u64,
}

fn rows(out: &Path, policy: &str) -> BTreeMap<u64, Row> {
    let (_, rows) = table(&out.join(policy).join("jobs.csv"));
    let row = |row: BTreeMap<String, String>| {
        let number = |column: &str| row[column].parse::<f64>().expect("a number");
        let processors = row["processors"].parse().expect("a number");
        let (submit, start, finish) = (number("submit"), number("start"), number("finish"));
        (row["job"].parse().expect("a number"), Row { submit, start, finish, processors })
    };
    rows.into_iter().map(row).collect()
}

fn number(of: &Value, key: &str) -> u64 {
    of[key].as_u64().unwrap_or_else(|| panic!("{key} of {of}"))
}

fn seconds(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("{key} of {of}"))
}

#[track_caller]
fn assert_equal(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-6, "{one} and {other}");
}

/// Processors in use at that instant, and those of jobs that start then: they may have done so before the policy came to
/// another, or after.
fn busy_and_starting(rows: &BTreeMap<u64, Row>, at: f64) -> (u64, u64) {
    let sum = |is_one: &dyn Fn(&Row) -> bool| rows.values().filter(|row| is_one(row)).map(|row| row.processors).sum();
    (sum(&|row| row.start < at && row.finish > at), sum(&|row| row.start.total_cmp(&at).is_eq()))
}

/// Checks one line of a history against the schedule.
fn check_line(line: &Value, job: u64, rows: &BTreeMap<u64, Row>) {
    let (at, own) = (seconds(line, "from"), &rows[&job]);
    let waits_at = |other: u64| rows[&other].submit <= at && rows[&other].start >= at;
    let list = |of: &Value, key: &str| of[key].as_array().cloned().unwrap_or_default();
    match line["event"].as_str().expect("an event") {
        "waits" => {
            assert!(own.submit <= at && at < own.start && seconds(line, "until") <= own.start, "{line}");
            let (busy, starting) = busy_and_starting(rows, at);
            let free = number(line, "free");
            assert!(free + busy <= 64 && 64 <= free + busy + starting, "{line}: {busy} and {starting}");
            let holders = list(line, "held_by");
            for holder in &holders {
                let theirs = &rows[&number(holder, "job")];
                assert!(theirs.start <= at && theirs.finish > at, "{line}");
                assert_eq!(theirs.processors, number(holder, "processors"));
            }
            let given_back: u64 = holders.iter().map(|holder| number(holder, "processors")).sum();
            assert!(free + given_back >= own.processors, "{line}");
            match line["reason"]["kind"].as_str() {
                Some("no-room") => assert!(free < own.processors, "{line}"),
                Some("barred") => {
                    assert!(free >= own.processors && number(&line["reason"], "left") < own.processors, "{line}");
                    assert!(seconds(&line["reason"], "at") > at, "{line}");
                    let by = list(&line["reason"], "by");
                    assert!(!by.is_empty());
                    for by in by {
                        let other = number(&by, "job");
                        assert!(waits_at(other) && rows[&other].start > at && other != job, "{line}");
                        assert_eq!(rows[&other].processors, number(&by, "processors"));
                    }
                }
                Some("behind") => assert!(rows[&number(&line["reason"], "head")].start > at, "{line}"),
                Some("kept") => assert!(free >= own.processors, "{line}"),
                _ => panic!("no reason is told: {line}"),
            }
        }
        "starts" => {
            assert_equal(at, own.start);
            for other in list(line, "passed").iter().chain(&list(line, "overtaken")) {
                let other = other.as_u64().expect("a job");
                assert!(waits_at(other) && rows[&other].start > at, "{line}");
            }
            let (busy, starting) = busy_and_starting(rows, at);
            let free = number(line, "free");
            assert!(free >= own.processors && free + busy <= 64 && 64 <= free + busy + starting, "{line}");
            assert!(line["right"] != "backfilled" || !list(line, "passed").is_empty(), "{line}");
        }
        "ends" => assert_equal(at, own.finish),
        other => panic!("{other}: {line}"),
    }
}

#[test]
fn nothing_that_is_told_contradicts_the_schedule() {
    let folder = folder();
    let (log, out) = (generated(&folder), folder.path().join("out"));
    let policies =
        ["fcfs", "easy", "easy+reserve=3", "easy+order=wfp3+backfill=saf", "cons", "flex", "easy+predict=tsafrir"];
    let all = policies.join(",");
    let run = ["--trace", utf8(&log), "--policy", &all, "--quiet"];
    xtask().arg("simulate").args(run).arg("--out").arg(&out).assert().code(0);
    let numbers: Vec<String> = (1..=250).map(|number: u64| number.to_string()).collect();
    let (code, told) = explain(&log, &["--policy", &all, "--job", &numbers.join(","), "--json"]);
    assert_eq!(code, 0, "{told}");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let told = told["explanations"].as_array().expect("a list");
    assert_eq!(told.len(), policies.len() * 250);
    let (mut lines, mut barred) = (0, 0);
    for of_policy in told.chunks(250) {
        let policy = of_policy[0]["policy"].as_str().expect("a name");
        let rows = rows(&out, policy);
        for explanation in of_policy {
            let job = number(explanation, "job");
            assert_eq!(
                (explanation["policy"].as_str(), &explanation["tells_reasons"]),
                (Some(policy), &Value::Bool(true))
            );
            assert_equal(seconds(explanation, "start"), rows[&job].start);
            assert_equal(seconds(explanation, "wait"), rows[&job].start - rows[&job].submit);
            for line in explanation["history"].as_array().expect("lines") {
                check_line(line, job, &rows);
                lines += 1;
                barred += usize::from(line["reason"]["kind"] == "barred");
            }
        }
    }
    assert!(lines > 5_000 && barred > 100, "only {lines} lines, {barred} of them about reservations");
}
