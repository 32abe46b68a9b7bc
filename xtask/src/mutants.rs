//! `cargo xtask mutants`: the code broken on purpose, one small change at a time, by cargo-mutants; do the tests notice?

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use lab::cli::{Common, Ending, print};
use lab::scenario::workspace;
use lab::terminal::tell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::str::FromStr;

/// What `cargo xtask mutants --help` ends with.
const EXAMPLES: &str = "\
Examples:
  cargo xtask mutants --list                   every change that would be tried
  cargo xtask mutants --shard 0/40             every fortieth of them: about an evening on two cores
  cargo xtask mutants --only sim-core/src/profile        those whose names match: FILE:LINE:COLUMN: CHANGE in FUNCTION
  cargo xtask mutants --only late_percent
  cargo xtask mutants --shard 1/40 --in-place  in a clone that nobody works in: nothing is built from nothing

.cargo/mutants.toml says which files are examined, docs/testing.md under `Accepted survivors` which changes nothing
need notice, and why. A change that is noticed by no test and is not listed there gives exit code 1. Each is tried
with the tests of its own crate, in a copy of the workspace; what cargo-mutants writes is in target/mutants.out/.
Wants cargo-mutants and cargo-nextest: cargo install cargo-mutants cargo-nextest --locked";

/// What the command stands on: who breaks the code, and who runs the tests.
const TOOLS: [&str; 2] = ["mutants", "nextest"];

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Mutants {
    /// The K-th part of N, counted from 0; all if not given.
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Only changes whose name, file and function included, match this regular expression.
    #[arg(long, value_name = "REGEX")]
    only: Option<String>,
    /// Break this very working copy instead of a copy of it, and mend it again after each change: what has been built is not built
    /// anew. Not where somebody edits.
    #[arg(long)]
    in_place: bool,
    /// List the changes and try none.
    #[arg(long)]
    list: bool,
}

/// One part of several.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Shard {
    part: u32,
    of: u32,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((part, of)) if part < of => Ok(Self { part, of }),
            _ => Err(format!("{text} is not a part of several; write 0/40, 1/40, …, 39/40")),
        }
    }
}

/// What came of the changes, each as cargo-mutants names it: `FILE:LINE:COLUMN: replace … in FUNCTION`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    caught: usize,
    unviable: usize,
    /// The tests took for ever: noticed, too.
    timeout: usize,
    missed: Vec<String>,
}

/// Runs cargo-mutants, then says which changes no test has noticed.
pub(crate) fn mutants(options: &Mutants, common: &Common) -> Result<Ending> {
    let cargo = || Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for tool in TOOLS {
        let version = cargo().args([tool, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        ensure!(
            version.is_ok_and(|status| status.success()),
            "cargo-{tool} is not installed; install it by cargo install cargo-{tool} --locked"
        );
    }
    let mut command = cargo();
    command.arg("mutants").current_dir(workspace());
    if let Some(Shard { part, of }) = options.shard {
        // Round robin: a part has something of each file.
        command.args(["--shard", &format!("{part}/{of}"), "--sharding", "round-robin"]);
    }
    if let Some(only) = &options.only {
        command.args(["--re", only]);
    }
    if options.list {
        let status = command.arg("--list").status().context("cannot run cargo mutants")?;
        ensure!(status.success(), "cargo mutants --list failed; its messages are above");
        return Ok(Ending::Done);
    }
    let folder = workspace().join("target/mutants.out");
    command.args(["--output", "target"]);
    if options.in_place {
        command.arg("--in-place");
    }
    // The first test that fails ends the run, which cargo's own harness cannot; so most changes need few tests, and building
    // takes longer than they. Cargo.toml and .config/nextest.toml say what else their profiles are about.
    command.args(["--profile", "mutants", "--test-tool", "nextest"]).env("NEXTEST_PROFILE", "mutants");
    // One function changes at a time: what the compiler keeps of the others is worth most of a build.
    command.env("CARGO_INCREMENTAL", "1");
    // A failure is all that is asked for: not its smallest case, nor a file of it, which would lie in wait for the next change.
    command.env("PROPTEST_MAX_SHRINK_ITERS", "0").env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
    if common.json || common.quiet {
        command.stdout(Stdio::null());
    }
    let status = command.status().context("cannot run cargo mutants")?;
    // 2: some were missed; 3: some took for ever. All else says that there is no result.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        bail!("cargo mutants failed before it was done; its messages are above");
    }
    let found = Found::read(&folder)?;
    let accepted = accepted(&workspace().join("docs/testing.md"))?;
    let (expected, unexpected): (Vec<&String>, Vec<&String>) =
        found.missed.iter().partition(|name| accepted.contains(&unplaced(name)));
    print(&if common.json { as_json(&found, &unexpected) } else { as_text(&found, &expected, &unexpected) });
    if unexpected.is_empty() {
        return Ok(Ending::Done);
    }
    tell("write a test that notices, or say in docs/testing.md, under Accepted survivors, why none need");
    Ok(Ending::Differs)
}

impl Found {
    fn read(folder: &Path) -> Result<Self> {
        let lines = |name: &str| -> Result<Vec<String>> {
            let path = folder.join(name);
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok(text.lines().map(str::to_owned).collect())
        };
        Ok(Self {
            caught: lines("caught.txt")?.len(),
            unviable: lines("unviable.txt")?.len(),
            timeout: lines("timeout.txt")?.len(),
            missed: lines("missed.txt")?,
        })
    }

    /// Those that compile.
    const fn viable(&self) -> usize {
        self.caught + self.timeout + self.missed.len()
    }

    /// Percent of the viable ones that were noticed; all of none.
    #[expect(clippy::cast_precision_loss, reason = "a percentage of some thousands")]
    fn percent(&self) -> f64 {
        100.0 * (self.caught + self.timeout) as f64 / self.viable().max(1) as f64
    }
}

/// A change without its place, which moves with every edit: `FILE: replace … in FUNCTION`.
fn unplaced(name: &str) -> String {
    let mut parts = name.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(_), Some(_), Some(change)) => format!("{file}: {}", change.trim()),
        _ => name.to_owned(),
    }
}

/// What docs/testing.md lists, in the same words: the code spans that begin the lines of its list, below the file's own.
fn accepted(path: &Path) -> Result<BTreeSet<String>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(accepted_in(&text))
}

fn accepted_in(text: &str) -> BTreeSet<String> {
    let section = text.split("### Accepted survivors").nth(1).unwrap_or_default();
    let rows = section.lines().skip(1).take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with("| `"));
    let mut all = BTreeSet::new();
    for row in rows {
        let mut cells = row.trim_matches('|').split(" | ").map(str::trim);
        let (Some(file), Some(changes)) = (cells.next(), cells.next()) else { continue };
        let file = file.trim_matches('`');
        // Bars in a table are written \|.
        all.extend(
            changes.split("`").skip(1).step_by(2).map(|change| format!("{file}: {}", change.replace("\\|", "|"))),
        );
    }
    all
}

fn as_text(found: &Found, expected: &[&String], unexpected: &[&String]) -> String {
    let mut text = format!(
        "{:.1} % of {} viable changes were noticed: {} by a test, {} by the clock; {} more do not compile\n",
        found.percent(),
        found.viable(),
        found.caught,
        found.timeout,
        found.unviable
    );
    if !expected.is_empty() {
        let _ = writeln!(text, "{} missed ones are accepted in docs/testing.md", expected.len());
    }
    for name in unexpected {
        let _ = writeln!(text, "missed: {name}");
    }
    text
}

fn as_json(found: &Found, unexpected: &[&String]) -> String {
    let value = serde_json::json!({
        "caught": found.caught, "timeout": found.timeout, "unviable": found.unviable, "missed": found.missed,
        "unexpected": unexpected, "percent": found.percent(),
    });
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_a_part_of_several() {
        assert_eq!("0/40".parse(), Ok(Shard { part: 0, of: 40 }));
        for wrong in ["40/40", "1", "/2", "-1/3", "a/b"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_listed_is_accepted_wherever_it_stands_in_the_file() {
        let text = "## Mutants\n| `not/here.rs` | `replace x` | – |\n### Accepted survivors\n\n| file | change | why |\n|---|---|---|\n\
            | `a/b.rs` | `replace > with >= in f`, `replace \\|\\| with && in g` | a tie |\n| `c.rs` | `replace h with ()` | speed |\n\n\
            ## Next\n| `d.rs` | `replace i with ()` | – |\n";
        let all = accepted_in(text);
        let expected = ["a/b.rs: replace > with >= in f", "a/b.rs: replace || with && in g", "c.rs: replace h with ()"];
        assert_eq!(all.iter().map(String::as_str).collect::<Vec<_>>(), expected);
        assert!(all.contains(&unplaced("a/b.rs:12:34: replace > with >= in f")));
        assert!(!all.contains(&unplaced("a/c.rs:12:34: replace > with >= in f")));
    }

    #[test]
    fn a_type_with_colons_is_no_place() {
        assert_eq!(
            unplaced("a.rs:1:2: replace A::b -> C::D with D::new()"),
            "a.rs: replace A::b -> C::D with D::new()"
        );
    }

    #[test]
    fn changes_that_do_not_compile_count_for_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, lines) in [("caught", 90), ("timeout", 6), ("unviable", 50), ("missed", 4)] {
            std::fs::write(folder.path().join(format!("{name}.txt")), "a.rs:1:1: replace\n".repeat(lines))
                .expect("written");
        }
        let found = Found::read(folder.path()).expect("four lists");
        assert_eq!((found.viable(), found.missed.len()), (100, 4));
        let told = as_text(&found, &[], &[&found.missed[0]]);
        assert!(told.starts_with("96.0 % of 100 viable changes were noticed: 90 by a test, 6 by the clock"), "{told}");
        assert!(told.ends_with("missed: a.rs:1:1: replace\n"), "{told}");
    }
}
