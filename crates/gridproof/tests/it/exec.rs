//! A policy in Rust that is an external program.

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};

/// Path of an example as cargo builds it: beside the program.
fn example() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_gridproof")).with_file_name("examples").join("fcfs_program");
    assert!(path.exists(), "{} is missing; cargo build -p gridproof --examples", path.display());
    path
}

#[test]
fn first_come_first_served_as_a_program_gives_the_schedule_of_ours() {
    let folder = tempfile::tempdir().expect("a folder");
    let gridproof = |words: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridproof"));
        command.args(words.split(' ')).args(more).current_dir(folder.path()).assert().code(0);
    };
    gridproof("workload generate lublin --procs 64 --count 1500 --seed 1 --quiet --out log.swf", &[]);
    let policy = format!("fcfs,exec+{} --count passes", example().display());
    gridproof("simulate --trace log.swf --out out --quiet --policy", &[&policy]);
    let jobs = |policy: &str| fs::read_to_string(folder.path().join("out").join(policy).join("jobs.csv"));
    let [ours, theirs] = ["fcfs", "exec+fcfs_program_--count_passes"].map(|policy| jobs(policy).expect("a schedule"));
    assert!(ours == theirs, "the schedules differ");
    assert_eq!(ours.lines().count(), 1_501);
    let passes = fs::read_to_string(folder.path().join("passes")).expect("it was told to count");
    let passes: u32 = passes.trim().parse().expect("a number");
    assert!(
        (1_000..3_001).contains(&passes),
        "{passes} passes for 1500 submissions and as many ends, of which some meet"
    );
}
