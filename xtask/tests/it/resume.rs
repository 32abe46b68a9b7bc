//! After any interruption, the next start reuses the finished replications, and ends with the same bytes.

use crate::program::{assert_same, file, folder, manifest, results, tree, xtask, xtask_process};
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// Number of replications of nine cells: long enough to be interrupted, a second or two on one thread.
const REPLICATIONS: usize = 40;
const RUN: [&str; 10] = [
    "reproduce",
    "multi-site",
    "--quick",
    "--only",
    "fig4",
    "--reps",
    "40",
    "--set",
    "run.quick_jobs=4000",
    "--jobs=1",
];

fn finish(out: &Path) {
    xtask().args(RUN).arg("--quiet").arg("--out").arg(out).assert().code(0);
}

/// Counts the finished replications: complete lines of the store, during a run or after it.
fn cells(out: &Path) -> usize {
    let text = fs::read(out.join("cells/replications.jsonl")).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count()
}

fn effort(out: &Path) -> (u64, u64) {
    let timings = &manifest(out)["timings"];
    let count = |name: &str| timings[name].as_u64().expect("a number");
    (count("replications_computed"), count("replications_reused"))
}

/// Starts a run, waits until some replications are finished, and stops it.
fn stopped_midway(out: &Path, stop: impl FnOnce(&mut Child)) -> (ExitStatus, String) {
    let mut child = xtask_process().args(RUN).arg("--out").arg(out).spawn().expect("the program starts");
    while cells(out) < 3 {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it could be stopped");
        std::thread::sleep(Duration::from_millis(2));
    }
    stop(&mut child);
    let output = child.wait_with_output().expect("it ends");
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Sends the signal of Ctrl-C.
#[cfg(unix)]
fn interrupt(child: &Child) {
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
}

/// Checks that the next start resumes from there, and that its output equals that of an uninterrupted run.
fn assert_resumes(out: &Path) {
    let total = 9 * REPLICATIONS;
    let kept = cells(out);
    assert!(kept < total, "all {total} were finished");
    assert!(!out.join("report.html").exists());
    finish(out);
    assert_eq!(effort(out), ((total - kept) as u64, kept as u64));

    let undisturbed = folder();
    finish(undisturbed.path());
    assert_eq!(effort(undisturbed.path()), (total as u64, 0));
    assert_same(&results(undisturbed.path()), &results(out));
}

#[test]
fn after_kill_9_the_next_start_goes_on() {
    let folder = folder();
    stopped_midway(folder.path(), |child| child.kill().expect("it is still there"));
    assert_resumes(folder.path());
}

#[test]
#[cfg(unix)]
fn after_ctrl_c_the_next_start_goes_on() {
    let folder = folder();
    let (status, message) = stopped_midway(folder.path(), |child| interrupt(child));
    assert_eq!(status.code(), Some(130), "{message}");
    assert!(message.contains("interrupted; finished work is kept"), "{message}");
    assert_resumes(folder.path());
}

#[test]
fn only_damaged_replications_are_reported_set_aside_and_computed_again() {
    let folder = folder();
    let out = folder.path();
    finish(out);
    let path = out.join("cells/replications.jsonl");
    let (before, store) = (results(out), fs::read_to_string(&path).expect("finished replications"));
    let mut lines: Vec<String> = store.lines().map(str::to_owned).collect();
    lines[0].truncate(40);
    lines[1].clear();
    lines[2] = "\0".repeat(lines[2].len());
    lines[3] = "{\"metrics\":{}}".to_owned();
    let digit = lines[4].rfind(|letter: char| letter.is_ascii_digit()).expect("a hash has digits");
    lines[4].replace_range(digit..=digit, "x");
    lines.remove(5);
    let damaged = lines.join("\n") + "\n";
    fs::write(&path, &damaged).expect("it can be damaged");
    // --quiet does not silence it.
    let run = xtask().args(RUN).arg("--quiet").arg("--out").arg(out).assert().code(0);
    run.stderr(contains("5 lines are damaged, 1 to 5").and(contains("replications.jsonl")));
    assert_eq!(effort(out), (6, (9 * REPLICATIONS - 6) as u64));
    assert_eq!(manifest(out)["timings"]["replications_damaged"], 5);
    assert_eq!(fs::read_to_string(out.join("cells/damaged/replications-1.jsonl")).expect("set aside"), damaged);
    assert_same(&before, &results(out));
    assert_eq!(fs::read_to_string(&path).expect("finished replications"), store);
}

#[test]
fn fresh_forgets_what_is_finished_and_touches_nothing_else() {
    let folder = folder();
    let out = folder.path();
    finish(out);
    fs::write(out.join("cells/notes.txt"), "mine").expect("it can be written");
    xtask().args(RUN).args(["--fresh", "--quiet", "--out"]).arg(out).assert().code(0);
    assert_eq!(effort(out), ((9 * REPLICATIONS) as u64, 0));
    assert_eq!(fs::read_to_string(out.join("cells/notes.txt")).expect("it is there"), "mine");
}

/// A simulation is a single run: if stopped midway, it leaves no file that resembles a result.
#[test]
#[cfg(unix)]
fn a_simulation_that_is_interrupted_leaves_no_file() {
    let folder = folder();
    let job = |number| format!("{number} {number}00 -1 90 4 -1 -1 4 99 -1 1 7 1 -1 -1 -1 -1 -1\n");
    let log = file(&folder, "long.swf", (1..400_000).map(job).collect::<String>());
    let out = folder.path().join("out");
    let mut command = xtask_process();
    command.args(["simulate", "--policy", "fcfs,easy", "--procs", "8", "--trace"]).arg(log).arg("--out").arg(&out);
    let mut child = command.spawn().expect("the program starts");
    while tree(&out).is_empty() {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it could be stopped");
        std::thread::sleep(Duration::from_millis(1));
    }
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("interrupted; nothing was written"), "{message}");
    assert!(tree(&out).is_empty(), "{:?}", tree(&out).keys());
}
