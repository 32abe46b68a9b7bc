//! Test-only: the places of real logs and of other simulators' schedules, and a record of the tests skipped without them.
//!
//! Some tests need data or programs that a clone lacks: logs of real machines, schedules of other simulators, a browser. A test requests
//! its [`Need`] here. If it is missing the test is skipped, reports so on standard error, past the capture of the harness, and adds a line
//! to `target/tests-skipped.tsv`, which `.ci/run` summarises. `GRID_REQUIRE` lists needs that must be met (`traces,oracles`): a test that
//! lacks one of those fails.
//!
//! ```no_run
//! # fn test() {
//! let Some(log) = test_data::trace("KTH-SP2-1996-2.1-cln.swf.gz") else { return };
//! # }
//! ```

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A requirement of a test beyond its clone. `GRID_REQUIRE` has it in small letters.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// Logs of real machines, in the folder `GRID_TRACES`.
    Traces,
    /// Schedules of independent simulators, in the folder `GRID_ORACLES`.
    Oracles,
    /// Recordings of a running slurmctld, in the folder `GRID_SLURM`.
    Slurm,
    /// A browser that prints pages, and a reader of the printed pages.
    Browser,
    /// Python 3, for policies written in it.
    Python,
    /// The shell bash.
    Bash,
    /// strace, which makes system calls fail.
    Strace,
    /// A system that reports a process's peak memory.
    Memory,
}

/// Returns the folder of real logs; `None` skips the test.
///
/// # Panics
///
/// If the need is not met and `GRID_REQUIRE` lists it, as in all functions here.
#[must_use]
pub fn traces() -> Option<PathBuf> {
    folder(Need::Traces, "GRID_TRACES")
}

/// Returns the path of a real log.
#[must_use]
pub fn trace(name: &str) -> Option<PathBuf> {
    within(Need::Traces, &traces()?, name)
}

/// Returns the folder of other simulators' schedules.
#[must_use]
pub fn oracles() -> Option<PathBuf> {
    folder(Need::Oracles, "GRID_ORACLES")
}

/// Returns the path of a file in the folder of other simulators' schedules.
#[must_use]
pub fn oracle(name: &str) -> Option<PathBuf> {
    within(Need::Oracles, &oracles()?, name)
}

/// Returns the path of a file or folder of the recordings of slurmctld, such as `fixtures`.
#[must_use]
pub fn slurm(name: &str) -> Option<PathBuf> {
    within(Need::Slurm, &folder(Need::Slurm, "GRID_SLURM")?, name)
}

/// Returns the first of some programs that answers to `--version`.
#[must_use]
pub fn program(need: Need, names: &[&str]) -> Option<PathBuf> {
    let answers = |name: &&&str| std::process::Command::new(name).arg("--version").output().is_ok();
    let found = names.iter().find(answers).map(PathBuf::from);
    if found.is_none() {
        skip(need, &format!("there is no {}", names.join(" or ")));
    }
    found
}

/// Reports and records that the calling test is skipped.
pub fn skip(need: Need, reason: &str) {
    let required = std::env::var("GRID_REQUIRE").unwrap_or_default();
    let name = format!("{need:?}").to_lowercase();
    let is_required = required.split([',', ' ']).any(|word| word == name);
    assert!(!is_required, "{reason}, but GRID_REQUIRE lists {name}: a test that needs it may not be skipped");
    let program = std::env::current_exe().unwrap_or_default();
    let test = test(&program);
    // Not `eprintln!`: the harness captures its output in tests that pass, and a skipped test passes.
    let _ = writeln!(std::io::stderr(), "skipped {test}: {reason}");
    // target/debug/deps/it-0123456789abcdef
    let Some(target) =
        program.ancestors().nth(3).filter(|_| program.parent().is_some_and(|deps| deps.ends_with("deps")))
    else {
        return;
    };
    let file = target.join("tests-skipped.tsv");
    // One write, so that lines of parallel tests do not mix.
    let line = [&name, reason, &test].map(|cell| cell.replace(['\t', '\n'], " ")).join("\t") + "\n";
    let written = OpenOptions::new().create(true).append(true).open(&file);
    let written = written.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("a skipped test cannot be recorded in {}: {error}", file.display()));
}

/// Names the running test: its crate, its binary without cargo's hash, and the name that the harness gave its thread.
fn test(program: &Path) -> String {
    let crate_name = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let stem = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let binary = stem.rsplit_once('-').map_or(stem.as_str(), |(name, _)| name);
    let thread = std::thread::current();
    format!("{crate_name}/{binary} {}", thread.name().unwrap_or("main"))
}

fn folder(need: Need, variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from);
    match &found {
        None => skip(need, &format!("the variable {variable} is not set")),
        Some(folder) => assert!(folder.is_dir(), "{variable} names {}, which is no folder", folder.display()),
    }
    found
}

fn within(need: Need, folder: &Path, name: &str) -> Option<PathBuf> {
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    skip(need, &format!("{name} is not in {}", folder.display()));
    None
}
