//! Who was skipped, and why: told, noted in a file, and read back.

use crate::Need;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A test that was skipped.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Skipped {
    /// What it wanted, as `GRID_REQUIRE` names it.
    pub need: String,
    /// Why it did not get it.
    pub reason: String,
    /// Its binary and its name.
    pub test: String,
}

/// The file in which skipped tests are noted, beside the build's own folders: `target/tests-skipped.tsv`.
///
/// `None` where the running program does not lie in a folder as cargo builds them.
#[must_use]
pub fn file() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let profile = if folder.ends_with("deps") { folder.parent()? } else { folder };
    Some(profile.parent()?.join("tests-skipped.tsv"))
}

/// The tests that a file notes, each once, in order. No file is no skipped test.
///
/// # Errors
///
/// If the file is there and cannot be read, or a line of it was not written here.
pub fn read(file: &Path) -> std::io::Result<Vec<Skipped>> {
    let text = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        other => other?,
    };
    let line = |line: &str| {
        let mut cells = line.split('\t').map(str::to_owned);
        let skipped = Skipped { need: cells.next()?, reason: cells.next()?, test: cells.next()? };
        cells.next().is_none().then_some(skipped)
    };
    let damaged = || std::io::Error::other(format!("{}: not a list of skipped tests; remove it", file.display()));
    let mut skipped: Vec<Skipped> = text.lines().map(line).collect::<Option<_>>().ok_or_else(damaged)?;
    skipped.sort();
    skipped.dedup();
    Ok(skipped)
}

pub(crate) fn skip(need: Need, reason: &str, required: &str, file: Option<&Path>) {
    let is_required = required.split([',', ' ']).any(|word| word == need.name());
    assert!(!is_required, "{reason}, but GRID_REQUIRE lists {need}: a test that needs it may not be skipped");
    let test = test();
    // Not `eprintln!`: the harness swallows that of a test that passes, and this one passes.
    let _ = writeln!(std::io::stderr(), "skipped {test}: {reason}");
    if let Some(file) = file {
        // One write, so that lines of tests that run at once do not mix.
        let line = [need.name(), reason, &test].map(|cell| cell.replace(['\t', '\n'], " ")).join("\t") + "\n";
        let noted = OpenOptions::new().create(true).append(true).open(file);
        let noted = noted.and_then(|mut file| file.write_all(line.as_bytes()));
        noted.unwrap_or_else(|error| panic!("a skipped test cannot be noted in {}: {error}", file.display()));
    }
}

/// The running test: its binary without cargo's hash, and the name that the harness gave its thread.
fn test() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    // target/debug/deps/it-0123456789abcdef, or the crate's name in place of `it`: the folder tells which crate.
    let crate_name = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let stem = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let binary = stem.rsplit_once('-').map_or(stem.as_str(), |(name, _)| name);
    let thread = std::thread::current();
    format!("{crate_name}/{binary} {}", thread.name().unwrap_or("main"))
}
