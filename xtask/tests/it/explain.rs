//! `explain`: its history of ten jobs that can be followed by hand, and its agreement with the schedule.

use crate::program::{self, Said, TEN_JOBS, Workdir, generate};
use serde_json::Value;
use std::collections::BTreeMap;

/// Eight processors and four of twice the speed.
const TWO_CLUSTERS: &str = "0\talpha\t2\t4\t1.0\t0\n1\tbeta\t1\t4\t2.0\t0\n";

#[test]
fn reasons_are_reported_in_words_and_in_json() {
    let dir = Workdir::with("ten-jobs.swf", TEN_JOBS);
    dir.file("two.machines", TWO_CLUSTERS);
    generate(&dir, 250, 5);
    // The log begins a minute before midnight.
    dir.file("dated.swf", format!("; UnixStartTime: 951782340\n{TEN_JOBS}"));
    for (name, words) in [
        (
            "easy_reports_a_head_a_backfilled_job_and_one_barred_by_a_reservation",
            "ten-jobs.swf --policy easy --job 3,4,7",
        ),
        (
            "blocking_and_conservative_policies_tell_their_own_reasons",
            "ten-jobs.swf --policy fcfs,cons,easy+order=sjf --job 5",
        ),
        ("on_two_clusters_reasons_name_the_cluster", "ten-jobs.swf --policy easy --job 5,8 --machines two.machines"),
        (
            "a_policy_without_reasons_is_explained_by_the_schedule",
            "ten-jobs.swf --policy eg-edf --job 5 --estimates exact",
        ),
        ("json_has_the_same_reasons", "ten-jobs.swf --policy easy --job 7 --json"),
        ("a_log_that_knows_when_it_began_has_dates", "dated.swf --policy easy --job 3"),
        ("a_longer_history_is_brief_and_a_long_one_cut", "lublin.swf --policy fcfs --job 98,104"),
        ("all_has_every_change", "lublin.swf --policy fcfs --job 104 --all"),
    ] {
        let Said { out, err } = dir.run(&format!("explain {words}"), 0);
        insta::assert_snapshot!(name, out + &err);
    }
}

#[test]
fn errors_name_the_fix() {
    let dir = Workdir::with("ten-jobs.swf", TEN_JOBS.replace("230 -1 100 10", "230 -1 -1 10"));
    dir.file("two.machines", TWO_CLUSTERS.replace("2.0", "1.0"));
    let site = |name: &str| format!("[[site]]\nname = \"{name}\"\nservers = [{{ cpus = 4 }}]\n");
    dir.file("tree.toml", "tree = [\"root\", [\"left\"]]\n".to_owned() + &site("root") + &site("left"));
    dir.file("clusters.toml", "[[cluster]]\nname = \"lab\"\nnodes = 10\n");
    const WRONG: &str = "easy --job 11; easy --job 8; easy --job 7 --max-jobs 5; eazy --job 7; easy; \
        easy --job 7 --profile alea31 --machines two.machines; rr --job 7 --model metasched --clusters clusters.toml; \
        p2p --job 7 --model hier-grid --tree tree.toml";
    let told = |words| dir.refuses(&format!("explain ten-jobs.swf --policy {words}"), &[]);
    insta::assert_snapshot!(WRONG.split("; ").map(told).collect::<String>());
    // A job wider than the machine is rejected, and the rejection is reported.
    let told = dir.run("explain ten-jobs.swf --policy easy --job 1 --procs 5", 0).out;
    assert!(told.contains("at 0 s: is rejected: no machine has 6 processors"), "{told}");
}

/// Row of `jobs.csv`, times in seconds.
struct Row {
    submit: f64,
    start: f64,
    finish: f64,
    processors: u64,
}

fn rows(table: &[BTreeMap<String, String>]) -> BTreeMap<u64, Row> {
    let row = |row: &BTreeMap<String, String>| {
        let [job, processors] = ["job", "processors"].map(|column| row[column].parse().expect("a number"));
        let [submit, start, finish] = ["submit", "start", "finish"].map(|column| program::number(&row[column]));
        (job, Row { submit, start, finish, processors })
    };
    table.iter().map(row).collect()
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

/// Returns the processors in use at that instant, and those of jobs that start then: these may have started before or after the policy
/// considered another job.
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
fn no_explanation_contradicts_the_schedule() {
    let dir = Workdir::new();
    generate(&dir, 250, 5);
    let policies =
        ["fcfs", "easy", "easy+reserve=3", "easy+order=wfp3+backfill=saf", "cons", "flex", "easy+predict=tsafrir"];
    let all = policies.join(",");
    dir.run(&format!("simulate lublin.swf --policy {all} --quiet --out out"), 0);
    let numbers: Vec<String> = (1..=250).map(|number: u64| number.to_string()).collect();
    let told = dir.run(&format!("explain lublin.swf --policy {all} --job {} --json", numbers.join(",")), 0).json();
    let told = told["explanations"].as_array().expect("a list");
    assert_eq!(told.len(), policies.len() * 250);
    let (mut lines, mut barred) = (0, 0);
    for of_policy in told.chunks(250) {
        let policy = of_policy[0]["policy"].as_str().expect("a name");
        let rows = rows(&dir.rows(&format!("out/{policy}/jobs.csv")));
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
