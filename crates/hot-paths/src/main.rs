//! Counts the instructions of a dozen hot paths, and fails where one takes more than 3 % more than is on record.
//!
//! `cargo run -p hot-paths` counts and compares, `cargo run -p hot-paths -- --record` writes `counts.tsv` anew: in a commit of its
//! own that says why. Time depends on what else the computer does; instructions do not. They are counted by valgrind's callgrind, in
//! this very program, which runs itself once for each path: only what happens inside [`measured`] counts, so neither the
//! making of inputs nor the start of a program does. It is the build of the tests (the profile `dev`, in which the simulators' crates are
//! optimised), so CI builds nothing twice.
//!
//! Where there is no valgrind, or the counts on record are of another kind of processor, it says so and passes.

mod inputs;
mod paths;
mod record;

use anyhow::{Context, Result, bail};
use clap::Parser;
use paths::PATHS;
use record::Counts;
use std::path::Path;
use std::process::{Command, ExitCode};

/// How many instructions the hot paths take, against the counts on record.
#[derive(Debug, Parser)]
#[command(
    name = "hot-paths",
    after_help = "Examples:\n  cargo run -p hot-paths                   count all, compare with crates/hot-paths/counts.tsv\n  \
                  cargo run -p hot-paths -- --only easy    one path\n  \
                  cargo run -p hot-paths -- --record       write the counts anew, in a commit that says why\n\n\
                  Exit codes: 0 done, 1 a path takes more than 3 % more than is on record, 2 bad usage, 3 reading or writing failed"
)]
struct Options {
    /// Write the counts on record anew.
    #[arg(long, conflicts_with = "only")]
    record: bool,
    /// Only this path.
    #[arg(long, value_name = "PATH")]
    only: Option<String>,
    /// Run one path and count nothing: what valgrind is given.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["record", "only"])]
    run: Option<String>,
}

/// The names of all functions that count begin with its own.
#[inline(never)]
fn measured(work: Box<dyn FnOnce() -> u64>) -> u64 {
    std::hint::black_box(work())
}

fn main() -> ExitCode {
    let options = Options::parse();
    let named = |name: &str| PATHS.iter().find(|path| path.name == name);
    let wrong = options.run.iter().chain(&options.only).find(|name| named(name).is_none());
    if let Some(name) = wrong {
        let names: Vec<&str> = PATHS.iter().map(|path| path.name).collect();
        eprintln!("error: there is no path {name}; the paths are {}", names.join(", "));
        return ExitCode::from(2);
    }
    if let Some(path) = options.run.as_deref().and_then(named) {
        println!("{}", measured((path.work)()));
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

/// Whether no path has become slower.
fn gate(options: &Options) -> Result<bool> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.tsv");
    if let Some(reason) = cannot_count() {
        println!("instructions: not counted, since {reason}");
        return Ok(true);
    }
    let on_record = if options.record { Counts::default() } else { Counts::read(&file)? };
    let mut found = Counts::default();
    let mut holds = true;
    println!("{:>16}  {:>16}  {:>7}  path", "instructions", "on record", "");
    for path in PATHS.iter().filter(|path| options.only.as_ref().is_none_or(|only| only == path.name)) {
        let count = count(path.name)?;
        found.insert(path.name, count);
        if options.record {
            println!("{count:>16}  {:>16}  {:>7}  {}", "", "", path.name);
            continue;
        }
        let comparison = on_record.compare(path.name, count);
        holds &= comparison.holds();
        println!("{count:>16}  {comparison}  {}", path.name);
    }
    if options.record {
        found.write(&file)?;
        println!("written to {}: commit it, and say why", file.display());
    } else if !holds {
        println!(
            "slower than on record: make it as fast as it was, or run `cargo run -p hot-paths -- --record` and say in the commit \
             why it must be slower"
        );
    } else if found.iter().any(|(name, count)| on_record.compare(name, count).is_faster()) {
        println!("faster than on record: `cargo run -p hot-paths -- --record` keeps it so");
    }
    Ok(holds)
}

/// Why nothing can be counted here, if nothing can.
fn cannot_count() -> Option<String> {
    if !cfg!(target_arch = "x86_64") || !cfg!(target_os = "linux") {
        return Some("the counts on record are of x86-64 under Linux".to_owned());
    }
    if !cfg!(debug_assertions) {
        return Some("the counts on record are of the profile dev, and this is another".to_owned());
    }
    let answers = Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    (!answers).then(|| "valgrind is not installed (`apt-get install valgrind`)".to_owned())
}

/// The instructions that one path takes.
fn count(name: &str) -> Result<u64> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=hot_paths::measured*"])
        .arg(program)
        .args(["--run", name])
        // The C library copies memory by what the processor offers: here, by what all offer.
        .env(
            "GLIBC_TUNABLES",
            "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-AVX512F,-AVX512VL,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM",
        )
        .output()
        .context("cannot run valgrind")?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("valgrind ended with {} on the path {name}:\n{told}", output.status);
    }
    let line = told.lines().find_map(|line| line.split_once("Collected :"));
    let count: Option<u64> = line.and_then(|(_, count)| count.trim().parse().ok());
    match count {
        Some(count) if count > 0 => Ok(count),
        _ => bail!("valgrind has not counted anything on the path {name}:\n{told}"),
    }
}
