//! After any interruption, the next start reuses the finished replications, and ends with the same bytes.

use crate::program::{
    Workdir, assert_same, folder, manifest, results, said, signal, stopped, tree, xtask, xtask_process,
};
use std::fs;
use std::path::Path;
use std::process::Child;

/// Number of replications of nine cells: long enough to be interrupted, a second or two on one thread.
const REPLICATIONS: usize = 40;
const RUN: &str = "reproduce multi-site --quick --only fig4 --reps 40 --set run.quick_jobs=4000 --jobs=1";

fn finish(out: &Path) {
    said(xtask().args(RUN.split(' ')).arg("--quiet").arg("--out").arg(out), 0);
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

/// Starts a run, and stops it when some replications are finished.
fn stopped_midway(out: &Path, stop: impl FnOnce(&mut Child)) -> (Option<i32>, String) {
    stopped(xtask_process().args(RUN.split(' ')).arg("--out").arg(out), || cells(out) >= 3, stop)
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
    let (code, message) = stopped_midway(folder.path(), |child| signal(child, "INT"));
    assert_eq!(code, Some(130), "{message}");
    assert!(message.contains("interrupted; finished work is kept"), "{message}");
    assert_resumes(folder.path());
}

#[test]
fn only_damaged_replications_are_reported_set_aside_and_computed_again() {
    let dir = Workdir::new();
    let out = dir.0.path();
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
    let told = dir.run(&format!("{RUN} --quiet --out ."), 0).err;
    assert!(told.contains("5 lines are damaged, 1 to 5") && told.contains("replications.jsonl"), "{told}");
    assert_eq!(effort(out), (6, (9 * REPLICATIONS - 6) as u64));
    assert_eq!(manifest(out)["timings"]["replications_damaged"], 5);
    assert_eq!(dir.text("cells/damaged/replications-1.jsonl"), damaged);
    assert_same(&before, &results(out));
    assert_eq!(dir.text("cells/replications.jsonl"), store);
}

#[test]
fn fresh_forgets_what_is_finished_and_touches_nothing_else() {
    let dir = Workdir::new();
    finish(dir.0.path());
    dir.file("cells/notes.txt", "mine");
    dir.run(&format!("{RUN} --fresh --quiet --out ."), 0);
    assert_eq!(effort(dir.0.path()), ((9 * REPLICATIONS) as u64, 0));
    assert_eq!(dir.text("cells/notes.txt"), "mine");
}

/// A simulation is a single run: if stopped midway, it leaves no file that resembles a result.
#[test]
#[cfg(unix)]
fn a_simulation_that_is_interrupted_leaves_no_file() {
    let job = |number| format!("{number} {number}00 -1 90 4 -1 -1 4 99 -1 1 7 1 -1 -1 -1 -1 -1\n");
    let dir = Workdir::with("long.swf", (1..400_000).map(job).collect::<String>());
    let (mut command, out) = (xtask_process(), dir.path("out"));
    let words = "simulate long.swf --policy fcfs,easy --procs 8 --out out";
    command.current_dir(&dir.0).args(words.split(' '));
    let (code, message) = stopped(&mut command, || !tree(&out).is_empty(), |child| signal(child, "INT"));
    assert_eq!(code, Some(130), "{message}");
    assert!(message.contains("interrupted; nothing was written"), "{message}");
    assert!(tree(&out).is_empty(), "{:?}", tree(&out).keys());
}
