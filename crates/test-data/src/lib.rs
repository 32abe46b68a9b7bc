//! For tests: where real logs and other simulators' schedules lie, and a count of the tests that go without.
//!
//! Some tests want what a clone does not bring: logs of real machines, schedules that other simulators made, a browser. A test
//! asks here for its [`Need`]. If that is not there the test is skipped, but never silently: it is said on standard error, past
//! the capture of the test harness, and noted in a file beside the build (`target/tests-skipped.tsv`), which
//! `cargo xtask skips` sums up. The variable `GRID_REQUIRE` lists needs that must be met (`traces,oracles`): there, a test that
//! would be skipped fails. `.ci/run` sets it to what it knows to be present.
//!
//! ```no_run
//! # fn test() {
//! let Some(log) = test_data::trace("KTH-SP2-1996-2.1-cln.swf.gz") else { return };
//! # }
//! ```
//!
//! The crate depends on nothing, so that every crate's tests can stand on it, and on it as a dev-dependency alone.

mod skips;

pub use skips::{Skipped, file, read};

use std::fmt;
use std::path::PathBuf;

/// What a test may want beside the clone it stands in.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Need {
    /// Logs of real machines, in the folder that `GRID_TRACES` names.
    Traces,
    /// Schedules that independent simulators made, in the folder that `GRID_ORACLES` names.
    Oracles,
    /// Recordings of a running slurmctld, in the folder that `GRID_SLURM` names.
    Slurm,
    /// A browser that prints pages, and a reader of what it prints.
    Browser,
    /// Python 3, for policies written in it.
    Python,
    /// The shell bash.
    Bash,
    /// strace, which lets system calls fail.
    Strace,
    /// A system that tells how much memory a process took at most.
    PeakMemory,
}

impl Need {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Traces,
        Self::Oracles,
        Self::Slurm,
        Self::Browser,
        Self::Python,
        Self::Bash,
        Self::Strace,
        Self::PeakMemory,
    ];

    /// As `GRID_REQUIRE` names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Oracles => "oracles",
            Self::Slurm => "slurm",
            Self::Browser => "browser",
            Self::Python => "python",
            Self::Bash => "bash",
            Self::Strace => "strace",
            Self::PeakMemory => "peak-memory",
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The folder of real logs, or `None`, and the test is skipped.
///
/// # Panics
///
/// If there is none and `GRID_REQUIRE` lists `traces`.
#[must_use]
pub fn traces() -> Option<PathBuf> {
    folder(Need::Traces, "GRID_TRACES")
}

/// A file in the folder of real logs, or `None`, and the test is skipped.
///
/// # Panics
///
/// If it is not there and `GRID_REQUIRE` lists `traces`.
#[must_use]
pub fn trace(name: &str) -> Option<PathBuf> {
    within(Need::Traces, traces()?, name)
}

/// The folder of other simulators' schedules, or `None`, and the test is skipped.
///
/// # Panics
///
/// If there is none and `GRID_REQUIRE` lists `oracles`.
#[must_use]
pub fn oracles() -> Option<PathBuf> {
    folder(Need::Oracles, "GRID_ORACLES")
}

/// A file in the folder of other simulators' schedules, or `None`, and the test is skipped.
///
/// # Panics
///
/// If it is not there and `GRID_REQUIRE` lists `oracles`.
#[must_use]
pub fn oracle(name: &str) -> Option<PathBuf> {
    within(Need::Oracles, oracles()?, name)
}

/// A file or folder of the recordings of slurmctld, such as `fixtures`, or `None`, and the test is skipped.
///
/// # Panics
///
/// If it is not there and `GRID_REQUIRE` lists `slurm`.
#[must_use]
pub fn slurm(name: &str) -> Option<PathBuf> {
    within(Need::Slurm, folder(Need::Slurm, "GRID_SLURM")?, name)
}

/// The first of some programs that answers to `--version`, or `None`, and the test is skipped.
///
/// # Panics
///
/// If none does and `GRID_REQUIRE` lists the need.
#[must_use]
pub fn program(need: Need, names: &[&str]) -> Option<PathBuf> {
    let answers = |name: &&&str| std::process::Command::new(name).arg("--version").output().is_ok();
    let found = names.iter().find(answers).map(PathBuf::from);
    if found.is_none() {
        skip(need, &format!("there is no {}", names.join(" or ")));
    }
    found
}

/// Tells that the test which calls this is skipped, and notes it.
///
/// # Panics
///
/// If `GRID_REQUIRE` lists the need: then the test fails.
pub fn skip(need: Need, reason: &str) {
    let required = std::env::var("GRID_REQUIRE").unwrap_or_default();
    skips::skip(need, reason, &required, file().as_deref());
}

fn folder(need: Need, variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from);
    match &found {
        None => skip(need, &format!("the variable {variable} is not set")),
        Some(folder) if !folder.is_dir() => panic!("{variable} names {}, which is no folder", folder.display()),
        Some(_) => {}
    }
    found
}

fn within(need: Need, folder: PathBuf, name: &str) -> Option<PathBuf> {
    let path = folder.join(name);
    let found = path.exists().then_some(path);
    if found.is_none() {
        skip(need, &format!("{name} is not in {}", folder.display()));
    }
    found
}
