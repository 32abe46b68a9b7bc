//! The program as .ci/run runs it. Building it with the tests spares a second build of the simulators.

use std::process::Command;

/// Runs one path, and returns the work that it has done.
fn work(path: &str) -> u64 {
    let output = Command::new(env!("CARGO_BIN_EXE_hot-paths")).arg(path).output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or_else(|_| panic!("{path}: {errors}"))
}

#[test]
fn each_path_on_record_does_the_same_work_each_time() {
    let counts = include_str!("../counts.tsv").lines().filter_map(|line| line.split_once('\t'));
    let paths: Vec<&str> = counts.map(|(path, _)| path).collect();
    assert_eq!(paths.len(), 15);
    for path in paths {
        let found = work(path);
        assert!(found > 0, "{path}");
        assert_eq!(work(path), found, "{path}");
    }
}
