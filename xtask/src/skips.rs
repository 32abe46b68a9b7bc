//! `cargo xtask skips`: which tests were skipped, and why.

use anyhow::{Context, Result};
use clap::Args;
use lab::cli::{Common, Ending, print};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use test_data::Skipped;

/// What `cargo xtask skips --help` ends with.
const EXAMPLES: &str = "\
Examples:
  cargo xtask skips --clear        before a run of the tests: forget who was skipped until now
  cargo test --workspace           each skipped test says so on standard error, and is noted
  cargo xtask skips                how many, and why
  cargo xtask skips --list         each by its name

Tests want GRID_TRACES, a folder of logs of the Parallel Workloads Archive, GRID_ORACLES, a folder of
schedules that other simulators made, and programs: chromium and pdftotext, python3, bash, strace. Where the
variable GRID_REQUIRE lists traces, oracles, browser, python, bash, strace or peak-memory, a test that would be
skipped for want of it fails instead.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Skips {
    /// Name every test.
    #[arg(long)]
    list: bool,
    /// Forget who was skipped until now.
    #[arg(long, conflicts_with = "list")]
    clear: bool,
}

/// Prints what the tests have noted since the list was cleared.
pub(crate) fn skips(options: &Skips, common: &Common) -> Result<Ending> {
    if options.clear {
        clear()?;
        return Ok(Ending::Done);
    }
    let skipped = noted()?;
    print(&if common.json { as_json(&skipped) } else { summary(&skipped, options.list) });
    Ok(Ending::Done)
}

fn file() -> Result<PathBuf> {
    test_data::file()
        .context("this program does not lie where cargo builds it, so the list of skipped tests is not found")
}

/// Forgets who was skipped.
pub(crate) fn clear() -> Result<()> {
    let file = file()?;
    match std::fs::remove_file(&file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", file.display()))
        }
        _ => Ok(()),
    }
}

/// The tests that were skipped since the list was cleared.
pub(crate) fn noted() -> Result<Vec<Skipped>> {
    let file = file()?;
    test_data::read(&file).with_context(|| format!("cannot read {}", file.display()))
}

/// One line with the number of tests, one for each reason, and on request one for each test.
pub(crate) fn summary(skipped: &[Skipped], list: bool) -> String {
    let mut reasons: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for test in skipped {
        reasons.entry((&test.need, &test.reason)).or_default().insert(&test.test);
    }
    // A test that lacks two things is one test.
    let tests: BTreeSet<&str> = skipped.iter().map(|skipped| skipped.test.as_str()).collect();
    let mut text = match tests.len() {
        0 => "no test was skipped\n".to_owned(),
        1 => "1 test was skipped:\n".to_owned(),
        many => format!("{many} tests were skipped:\n"),
    };
    for ((need, reason), tests) in reasons {
        let _ = writeln!(text, "{:>5}  for want of {need}: {reason}", tests.len());
        for test in tests.iter().filter(|_| list) {
            let _ = writeln!(text, "       {test}");
        }
    }
    text
}

fn as_json(skipped: &[Skipped]) -> String {
    let test =
        |skipped: &Skipped| serde_json::json!({ "need": skipped.need, "reason": skipped.reason, "test": skipped.test });
    format!("{:#}\n", serde_json::json!({ "skipped": skipped.iter().map(test).collect::<Vec<_>>() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(need: &str, reason: &str, test: &str) -> Skipped {
        Skipped { need: need.to_owned(), reason: reason.to_owned(), test: test.to_owned() }
    }

    #[test]
    fn tests_are_counted_by_reason_and_once_in_all() {
        let some = [
            skipped("oracles", "no oracles", "a/it one"),
            skipped("traces", "no logs", "a/it one"),
            skipped("traces", "no logs", "b/it two"),
        ];
        assert_eq!(
            summary(&some, true),
            "2 tests were skipped:\n    1  for want of oracles: no oracles\n       a/it one\n    2  for want of traces: no logs\n       \
             a/it one\n       b/it two\n"
        );
        assert_eq!(summary(&some[..1], false), "1 test was skipped:\n    1  for want of oracles: no oracles\n");
        assert_eq!(summary(&[], true), "no test was skipped\n");
    }
}
