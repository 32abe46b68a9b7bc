//! Policies that are programs of their own: what they decide is done, and their errors are reported.

use crate::program::{FOUR_JOBS, file, folder, utf8, write, xtask};
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use test_data::Need;

/// Whether a Python is here to run policies.
fn has_python() -> bool {
    test_data::program(Need::Python, &["python3"]).is_some()
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/policies/easy.py")
}

/// The rows of `POLICY/jobs.csv`.
fn jobs(out: &Path, policy: &str) -> String {
    fs::read_to_string(out.join(policy).join("jobs.csv")).expect("the schedule is there")
}

/// Runs the four jobs under a policy whose answer to every pass is the given Python expression over `message`.
fn answering(expression: &str, options: &[&str]) -> (TempDir, assert_cmd::assert::Assert) {
    let folder = folder();
    let trace = file(&folder, "four.swf", FOUR_JOBS);
    let program = file(
        &folder,
        "policy.py",
        format!(
            "import json, sys, time\n\
             for line in sys.stdin:\n    message = json.loads(line)\n    \
             if message['type'] == 'end': break\n    \
             if message['type'] == 'hello': print('{{\"type\":\"ready\",\"protocol\":1}}', flush=True)\n    \
             else: print({expression}, flush=True)\n"
        ),
    );
    let policy = format!("exec+python3 {}", program.display());
    let simulate = ["simulate", "--trace", utf8(&trace), "--policy", &policy, "--out"];
    let run = xtask().args(simulate).arg(folder.path().join("out")).args(options).assert();
    (folder, run)
}

/// A wrong answer ends the run with the exchange, exit code 2 and nothing half-written.
fn check_wrong(expression: &str, options: &[&str], expected: &[&str]) {
    if !has_python() {
        return;
    }
    let (folder, run) = answering(expression, options);
    let output = run.code(2).get_output().clone();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    for part in expected {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
    assert!(text.contains("sent: {\"type\":\"pass\""), "the exchange is missing: {text}");
    let left: Vec<_> = walk(&folder.path().join("out"));
    assert!(!left.iter().any(|path| path.ends_with("jobs.csv") || path.ends_with("summary.csv")), "{left:?}");
}

fn walk(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries.flat_map(|entry| if entry.path().is_dir() { walk(&entry.path()) } else { vec![entry.path()] }).collect()
}

#[test]
fn an_easy_in_python_gives_the_schedule_of_ours() {
    if !has_python() {
        return;
    }
    let folder = folder();
    // Jobs with ties, wrong estimates and the width of the machine, made by a rule that can be followed by hand.
    let mut log = String::from("; MaxProcs: 64\n");
    let mut state = 12345_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut submit = 0;
    for job in 1..=500 {
        submit += draw(40) * draw(3);
        let (run, width) = (draw(600), 1 << draw(7));
        let requested = run + draw(2) * draw(900) + 1;
        log += &format!("{job} {submit} -1 {run} {width} -1 -1 {width} {requested} -1 1 1 1 -1 -1 -1 -1 -1\n");
    }
    let trace = file(&folder, "log.swf", log);
    compare_with_easy(&trace, &folder, &[]);
}

#[test]
fn an_easy_in_python_gives_the_schedule_of_ours_on_kth() {
    let Some(log) = test_data::trace("KTH-SP2-1996-2.1-cln.swf.gz") else { return };
    if has_python() {
        let folder = folder();
        compare_with_easy(&log, &folder, &["--max-jobs", "2000"]);
    }
}

fn compare_with_easy(trace: &Path, folder: &TempDir, options: &[&str]) {
    let out = folder.path().join("out");
    let policies = format!("easy,exec+python3 {}", example().display());
    write(&[&["simulate", "--quiet", "--trace", utf8(trace), "--policy", &policies], options].concat(), &out);
    assert_eq!(jobs(&out, "easy"), jobs(&out, "exec+python3_easy.py"));
}

#[test]
fn the_schedule_of_a_program_that_was_edited_since_is_reported() {
    if !has_python() {
        return;
    }
    let folder = folder();
    file(&folder, "four.swf", FOUR_JOBS);
    let text = fs::read_to_string(example()).expect("the example");
    file(&folder, "p.py", &text);
    let inside = |words: &[&str]| {
        let mut command = xtask();
        command.args(words).current_dir(folder.path());
        command.assert()
    };
    inside(&["simulate", "--trace", "four.swf", "--policy", "exec+python3 p.py", "--out", "out"]).code(0);
    let check = ["check", "--trace", "four.swf", "--schedule", "out/exec+python3_p.py/jobs.csv"];
    inside(&check).code(0);
    inside(&["verify", "out"]).code(0);
    file(&folder, "p.py", text + "# Edited.\n");
    let words = "computed by another version of p.py (SHA-256 ";
    inside(&check).code(1).stdout(contains("program-differs").and(contains(words)).and(contains("\nfeasible")));
    inside(&["verify", "out"]).code(1).stdout(contains(words));
    let manifest = crate::program::manifest(&folder.path().join("out"));
    let files = manifest["programs"]["exec+python3_p.py"].as_object().expect("its files");
    assert!(files.len() == 2 && files.keys().any(|file| file.ends_with("/python3")), "{files:?}");
}

#[test]
fn an_unknown_job_is_not_started() {
    check_wrong("json.dumps({'start': [99]})", &[], &["no job 99 waits", "received: {\"start\": [99]}"]);
}

#[test]
fn a_job_that_does_not_fit_is_not_started() {
    check_wrong(
        "json.dumps({'start': [j['job'] for j in message['submitted']]})",
        &[],
        &["job 2 needs 8 processors; free by machine are [4]"],
    );
}

#[test]
fn an_answer_that_is_no_json_is_shown() {
    check_wrong("'nonsense'", &[], &["expected a line such as", "received: nonsense"]);
}

#[test]
fn silence_is_borne_until_the_timeout() {
    // Long enough for an interpreter to start on a busy machine, and to say that it is ready.
    check_wrong("time.sleep(600)", &["--policy-timeout", "8"], &["no answer within 8 s", "--policy-timeout"]);
}

#[test]
fn a_program_that_ends_early_is_reported() {
    check_wrong("sys.exit(3)", &[], &["the program ended (exit status: 3) before the log did"]);
}

#[test]
fn an_instant_that_is_past_is_refused() {
    check_wrong("json.dumps({'start': [], 'wake': message['now']})", &[], &["wake: 0 is no instant after now"]);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let folder = folder();
    let trace = file(&folder, "four.swf", FOUR_JOBS);
    let out = folder.path().join("out");
    let simulate = ["simulate", "--policy", "exec+./absent.py", "--trace", utf8(&trace), "--out", utf8(&out)];
    xtask().args(simulate).assert().code(2).stderr(contains("./absent.py cannot be started"));
}

#[test]
fn a_policy_that_waits_for_the_clock_is_woken() {
    if !has_python() {
        return;
    }
    // Nothing starts before the tenth second; from then on whatever fits, one pass after another.
    let expression = "json.dumps({'start': [1], 'wake': None} if message['now'] == 10 \
                      else {'start': [], 'wake': 10} if message['now'] < 10 else {'start': [2] if message['free'] == [8] else []})";
    // Jobs 1 and 2 only: the third and fourth would need more of a policy.
    let (folder, run) = answering(expression, &["--max-jobs", "2"]);
    run.success();
    let rows = jobs(&folder.path().join("out"), "exec+python3_policy.py");
    assert!(rows.contains("\n1,0,10,20,4"), "{rows}");
    assert!(rows.contains("\n2,5,20,30,8"), "{rows}");
}
