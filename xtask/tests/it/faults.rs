//! System calls fail at every possible point: each write, each rename, each flush, each folder created; and a signal arrives at each of
//! them. The points are enumerated, and each is tested.
//!
//! strace makes the n-th call of a kind fail, or sends a signal there, for n = 1, 2, … until there are no more. The folder then has the
//! complete results of the earlier run or of the new one, or the next run repairs it. Afterwards the same program writes its usual results.

use crate::program::{FOUR_JOBS, Workdir, assert_same, results};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use test_data::Need;

/// Calls of one kind, and the fault injected into one of them.
struct Fault {
    /// Options of the run. Pages and pictures are written like all other files and take most of its time: one fault of each kind of call
    /// has them.
    options: &'static str,
    calls: &'static str,
    /// Fault in strace's notation.
    what: &'static str,
    /// Permitted exit codes: failures that matter are reported, others are not.
    codes: &'static [i32],
    /// Least number of such calls.
    points: usize,
}

/// Exit codes after a failed call (0 if it was optional, 3 if reading or writing failed) and after a signal.
const REPORTED: &[i32] = &[0, 3];
const INTERRUPTED: &[i32] = &[0, 130];

impl Fault {
    /// Returns the command that simulates `log.swf`.
    fn simulate(&self, policy: &str, out: &str) -> String {
        format!("simulate log.swf --quiet --jobs 1 --policy {policy} --out {out}{}", self.options)
    }
}

/// Runs FCFS with the fault at its `point`-th call. Returns the exit code, true if there was such a call, and the output.
fn run_with(fault: &Fault, point: usize, dir: &Workdir) -> (Option<i32>, bool, String) {
    let run = Command::new("strace")
        .args(["-f", "-qq", "-e", &format!("trace={}", fault.calls), "-o", "strace.txt"])
        .args(["-e", &format!("inject={}:{}:when={point}", fault.calls, fault.what)])
        .arg(env!("CARGO_BIN_EXE_xtask"))
        .args(fault.simulate("fcfs", "out").split(' '))
        .current_dir(&dir.0)
        .stdin(Stdio::null())
        .output()
        .expect("strace runs");
    let told = dir.text("strace.txt");
    let is_there = ["(INJECTED)", "--- SIG", "+++ killed"].iter().any(|sign| told.contains(sign));
    (run.status.code(), is_there, String::from_utf8_lossy(&run.stderr).into_owned())
}

/// Returns true if strace may trace a process here.
fn can_inject() -> bool {
    if test_data::program(Need::Strace, &["strace"]).is_none() {
        return false;
    }
    let run = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    let may = run.is_ok_and(|run| run.status.success());
    if !may {
        test_data::skip(Need::Strace, "strace may not look into processes here");
    }
    may
}

/// Injects one fault at each of its points.
fn inject(fault: &Fault) {
    if !can_inject() {
        return;
    }
    let dir = Workdir::with("log.swf", FOUR_JOBS);
    let [easy, fcfs] = ["easy", "fcfs"].map(|policy| {
        dir.run(&fault.simulate(policy, policy), 0);
        results(&dir.path(policy))
    });
    let out = dir.path("out");
    for point in 1.. {
        copy(&dir.path("easy"), &out);
        let (code, is_there, told) = run_with(fault, point, &dir);
        let at = format!("{} at {}, number {point}: {told}", fault.what, fault.calls);
        assert!(!told.contains("panicked"), "{at}");
        if !is_there {
            assert_eq!(code, Some(0), "nothing happened, {at}");
            assert!(point > fault.points, "only {} points: {at}", point - 1);
            break;
        }
        match code {
            Some(code) => assert!(fault.codes.contains(&code), "code {code}, {at}"),
            None => assert!(fault.what.contains("SIGKILL"), "{at}"),
        }
        if code == Some(3) {
            assert!(told.contains("cannot"), "it is not said what failed: {at}");
        }
        // Complete results of one run; without a manifest they are being moved into place, which the next run completes.
        if out.join("manifest.json").exists() {
            let found = results_below(&out);
            assert!(found == easy || found == fcfs, "a mixture, {at}");
            assert!(code != Some(0) || found == fcfs || !fault.what.contains("error"), "done, and not there: {at}");
        }
        dir.run(&fault.simulate("fcfs", "out"), 0);
        assert_same(&fcfs, &results(&out));
        dir.run("verify --quiet out", 0);
        fs::remove_dir_all(&out).expect("it can be removed");
    }
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("it can be made");
    for entry in fs::read_dir(from).expect("a folder") {
        let (from, name) = entry.map(|entry| (entry.path(), entry.file_name())).expect("an entry");
        let to = to.join(name);
        if from.is_dir() { copy(&from, &to) } else { fs::copy(&from, &to).map(drop).expect("it can be copied") }
    }
}

/// The rows of a long log are written during the replay, and the writer of tables has errors of its own.
#[test]
fn a_disk_may_be_full_while_jobs_are_written() {
    if !can_inject() {
        return;
    }
    let mut log = "; MaxProcs: 8\n".to_owned();
    for job in 1..=4_000 {
        log += &format!("{job} {job} -1 5 4 -1 -1 4 20 -1 1 7 1 -1 -1 -1 -1 -1\n");
    }
    let dir = Workdir::with("log.swf", log);
    let fault = Fault { options: "", calls: "write", what: "error=ENOSPC", codes: &[3], points: 0 };
    assert_eq!(run_with(&fault, usize::from(u16::MAX), &dir).0, Some(0), "no write is that late");
    // strace counts the writes of each thread separately; those of rows are as large as the buffer.
    let traced = dir.text("strace.txt");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut points: Vec<usize> = Vec::new();
    for line in traced.lines().filter(|line| line.contains(" write(")) {
        let count = counts.entry(line.split(' ').next().unwrap_or_default()).or_default();
        *count += 1;
        let written = line.rsplit(' ').next().and_then(|bytes| bytes.parse::<usize>().ok());
        points.extend(written.filter(|bytes| (60_000..70_000).contains(bytes)).map(|_| *count));
    }
    assert!(points.len() >= 4, "{points:?}");
    fs::remove_dir_all(dir.path("out")).expect("it can be removed");
    for point in points {
        let (code, is_there, told) = run_with(&fault, point, &dir);
        assert!(is_there && told.contains("cannot write"), "write {point}: {told}");
        assert_eq!(code, Some(3), "write {point}: {told}");
        assert!(!dir.path("out").exists(), "write {point}");
    }
}

/// Returns [`results`] without the remains of a killed process: these are hidden, and the next process removes them.
fn results_below(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = results(out);
    files.retain(|name, _| !name.starts_with(".gridproof-"));
    files
}

macro_rules! faults {
    ($($name:ident: $options:ident, $calls:literal, $what:literal, $codes:ident, $points:literal;)*) => {
        $(#[test]
        fn $name() {
            inject(&Fault { options: $options, calls: $calls, what: $what, codes: $codes, points: $points });
        })*
    };
}

const ALL: &str = "";
const TABLES: &str = " --no-report";

// strace counts the calls of each name separately: a kind with two names has two faults.
faults! {
    a_disk_may_be_full_at_each_write: ALL, "write", "error=ENOSPC", REPORTED, 12;
    a_disk_may_fail_at_each_write: TABLES, "write", "error=EIO", REPORTED, 9;
    a_file_may_not_get_its_name: TABLES, "renameat", "error=EACCES", REPORTED, 5;
    a_file_may_not_be_put_in_its_place: TABLES, "rename", "error=EACCES", REPORTED, 5;
    a_flush_may_fail_each_time: TABLES, "fsync,fdatasync", "error=EIO", REPORTED, 9;
    a_folder_may_not_be_made_each_time: TABLES, "mkdir,mkdirat", "error=ENOSPC", REPORTED, 4;
    a_file_may_not_be_removed_each_time: TABLES, "unlink", "error=EACCES", REPORTED, 1;
    what_is_left_may_not_be_cleared_away: TABLES, "unlinkat", "error=EACCES", REPORTED, 1;
    sigterm_may_come_at_each_write: TABLES, "write", "signal=SIGTERM", INTERRUPTED, 9;
    sighup_may_come_at_each_rename: TABLES, "rename", "signal=SIGHUP", INTERRUPTED, 5;
    sigpipe_may_come_at_each_write: TABLES, "write", "signal=SIGPIPE", INTERRUPTED, 9;
    kill_9_may_come_at_each_write: TABLES, "write", "signal=SIGKILL", REPORTED, 9;
    kill_9_may_come_before_each_name: TABLES, "renameat", "signal=SIGKILL", REPORTED, 5;
    kill_9_may_come_between_two_places: ALL, "rename", "signal=SIGKILL", REPORTED, 10;
}
