//! Counts the instructions of fifteen hot paths, and fails if one exceeds its count in `counts.tsv` by more than 3 %.
//!
//! Time depends on the load of the computer; instructions do not. The program runs itself under valgrind's callgrind once for each
//! path. Only the function [`measured`] counts, without the start of the program and the preparation of inputs. The counts are those of
//! the build of the tests in CI: profile `dev`, in which the simulators are optimised, without incremental compilation. Without
//! valgrind, on another kind of processor or in another build, the program prints the reason and passes.

mod inputs;
mod paths;

use anyhow::{Context, Result};
use clap::Parser;
use paths::{PATHS, Work};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Counts the instructions of hot paths, and compares them with the counts on record.
#[derive(Debug, Parser)]
#[command(
    name = "hot-paths",
    after_help = "Examples, after `export CARGO_INCREMENTAL=0`:\n  cargo run -p hot-paths                   count all, compare with crates/hot-paths/counts.tsv\n  \
                  cargo run -p hot-paths -- --only easy    one path\n  \
                  cargo run -p hot-paths -- --record       write counts.tsv, in a commit that gives the reason\n\n\
                  Exit codes: 0 done, 1 a path takes more than 3 % more than is on record, 2 bad usage, 3 reading or writing failed"
)]
struct HotPathsOptions {
    /// Write the counts on record.
    #[arg(long, conflicts_with = "only")]
    record: bool,
    /// Count only this path.
    #[arg(long, value_name = "PATH", value_parser = PATHS.map(|(name, _)| name))]
    only: Option<String>,
    /// Run one path and count nothing: for valgrind.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["record", "only"], value_parser = PATHS.map(|(name, _)| name))]
    run: Option<String>,
}

/// Runs `work`. Only the instructions of this function, and of the functions that it calls, are counted.
#[inline(never)]
fn measured(work: Work) -> u64 {
    std::hint::black_box(work())
}

fn main() -> ExitCode {
    let options = HotPathsOptions::parse();
    if let Some(name) = &options.run {
        let (_, work) = PATHS.iter().find(|(path, _)| path == name).expect("clap knows the names");
        println!("{}", measured(work()));
        return ExitCode::SUCCESS;
    }
    match gate(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(3)
        }
    }
}

/// Counts, and records or compares. Returns true if no path has become slower.
fn gate(options: &HotPathsOptions) -> Result<bool> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.tsv");
    if let Some(reason) = cannot_count() {
        println!("instructions: not counted, since {reason}");
        return Ok(true);
    }
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let on_record = parse(&text).with_context(|| file.display().to_string())?;
    let mut found = BTreeMap::new();
    let (mut holds, mut faster) = (true, false);
    println!("{:>16}  {:>16}  {:>8}  path", "instructions", "on record", "");
    for (name, _) in PATHS.iter().filter(|(name, _)| options.only.as_ref().is_none_or(|only| only == name)) {
        let count = count(name)?;
        let known = on_record.get(*name).copied().unwrap_or(0);
        let more = percent(count, known);
        println!("{count:>16}  {known:>16}  {more:>+6.1} %  {name}");
        holds &= more <= TOLERANCE;
        faster |= more < -TOLERANCE;
        found.insert(*name, count);
    }
    if options.record {
        let lines: String = found.iter().map(|(name, count)| format!("{name}\t{count}\n")).collect();
        std::fs::write(&file, format!("{HEADER}\n{lines}"))
            .with_context(|| format!("cannot write {}", file.display()))?;
        println!("written to {}: commit it, and say why", file.display());
        return Ok(true);
    }
    let record = "`cargo run -p hot-paths -- --record`";
    if !holds {
        println!("slower than on record: mend it, or run {record} and say in the commit why");
    } else if faster {
        println!("faster than on record: {record} keeps it so");
    }
    Ok(holds)
}

/// Largest difference in percent that passes: allocation differs a little between versions of the C library.
const TOLERANCE: f64 = 3.0;

const HEADER: &str = "# Instructions, by `cargo run -p hot-paths -- --record`: see docs/testing.md.";

/// Returns the difference of `count` to `known` in percent of `known`; infinite for a path without a recorded count.
fn percent(count: u64, known: u64) -> f64 {
    if known == 0 { f64::INFINITY } else { 100.0 * (count as f64 - known as f64) / known as f64 }
}

/// Parses counts by path, from lines `path<TAB>instructions`.
fn parse(text: &str) -> Result<BTreeMap<String, u64>> {
    let count = |line: &str| -> Result<(String, u64)> {
        let (name, count) =
            line.split_once('\t').with_context(|| format!("expected a path, a tab and a count: {line:?}"))?;
        Ok((name.to_owned(), count.parse().with_context(|| format!("not a count: {count:?}"))?))
    };
    text.lines().filter(|line| !line.starts_with('#')).map(count).collect()
}

/// Returns the reason why instructions cannot be counted here, if there is one.
fn cannot_count() -> Option<String> {
    if !cfg!(target_arch = "x86_64") || !cfg!(target_os = "linux") {
        return Some("the counts on record are of x86-64 under Linux".to_owned());
    }
    if !cfg!(debug_assertions) {
        return Some("the counts on record are of the profile dev, and this is another".to_owned());
    }
    // Incremental builds have more codegen units, which inline less.
    if option_env!("CARGO_INCREMENTAL") != Some("0") {
        return Some("the counts on record are of a build under CARGO_INCREMENTAL=0".to_owned());
    }
    let answers = Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    (!answers).then(|| "valgrind is not installed (`apt-get install valgrind`)".to_owned())
}

fn count(name: &str) -> Result<u64> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=hot_paths::measured*"])
        .arg(program)
        .args(["--run", name])
        // The C library copies memory by the features of the processor: here, only by those that all have.
        .env(
            "GLIBC_TUNABLES",
            "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-AVX512F,-AVX512VL,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM",
        )
        .output()
        .context("cannot run valgrind")?;
    let printed = String::from_utf8_lossy(&output.stderr);
    let line = printed.lines().find_map(|line| line.split_once("Collected :")).filter(|_| output.status.success());
    let count = line.and_then(|(_, count)| count.trim().parse().ok()).filter(|count| *count > 0);
    count.with_context(|| format!("valgrind has not counted the path {name}:\n{printed}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_percent_more_hold_a_bit_more_does_not_and_a_new_path_does_not() {
        assert!(percent(1_030, 1_000) <= TOLERANCE && percent(1_031, 1_000) > TOLERANCE);
        assert!(percent(969, 1_000) < -TOLERANCE && percent(1, 0) > TOLERANCE);
        assert!(parse("easy 12\n").expect_err("no tab").to_string().contains("easy 12"));
    }
}
