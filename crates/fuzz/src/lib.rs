//! `cargo xtask fuzz`: feeds damaged files to every reader, in one process.
//!
//! A *target* is a reader with valid samples and a promise. A *case* is a seed and a number. They address a stream, by which `recipe`
//! changes a sample in a few places, so `--seed S --case K` makes the same input again. Files that once caused a finding are in
//! `corpus/TARGET/` and are run first. Policies are tested by the property tests of their crates.

mod guard;
mod logs;
mod recipe;
mod settings;
mod slurm;
mod stored;

use anyhow::{Context, Result, bail};
use clap::Args;
use guard::{Guard, Origin};
use lab::cli::{Common, Ending, print};
use lab::scenario::did_you_mean;
use lab::terminal::tell;
use sim_core::{Purpose, Stream, Streams};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The end of `cargo xtask fuzz --help`.
const EXAMPLES: &str = "\
Examples:
  cargo xtask fuzz                                  a minute over all targets, with a new seed
  cargo xtask fuzz --list                           the targets
  cargo xtask fuzz swf --cases 10000000             one target, ten million cases
  cargo xtask fuzz swf --seed 7 --case 4711         one case again, as a finding names it
  cargo xtask fuzz --seed 1 --cases 5000 --minutes 2    whichever ends first

A finding is a panic (overflow included), a case that takes longer than a second or more than a gigabyte, or an \
input that breaks its target's promise. It names target, seed and case; the input, shortened where possible, is \
written to target/fuzz/, and the exit code is 1. A release build checks overflow only on request: \
CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true cargo run --release -p xtask -- fuzz …";

/// Options of `cargo xtask fuzz`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Fuzz {
    /// Target; all if omitted.
    #[arg(value_name = "TARGET")]
    target: Option<String>,
    /// List the targets.
    #[arg(long)]
    list: bool,
    /// Number of cases of each target.
    #[arg(long, value_name = "N", conflicts_with = "case")]
    cases: Option<u64>,
    /// Time for all targets together; a minute if neither limit is given.
    #[arg(long, value_name = "M", conflicts_with = "case")]
    minutes: Option<f64>,
    /// Seed of all cases; a new one, which is printed, if omitted.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Number of a single case, counted from 0.
    #[arg(long, value_name = "K", requires = "seed", requires = "target")]
    case: Option<u64>,
}

/// A reader under test.
#[derive(Copy, Clone)]
pub(crate) struct Target {
    name: &'static str,
    about: &'static str,
    /// Returns sound inputs, from which all others are made.
    samples: fn() -> Vec<Vec<u8>>,
    /// Makes an input from the samples.
    make: fn(&[Vec<u8>], &mut Stream) -> Vec<u8>,
    /// Feeds an input to the reader. Returns true if it was accepted, or an error if a promise is broken.
    check: fn(&[u8]) -> Result<bool, String>,
}

impl Target {
    /// Returns a target whose inputs are [varied](recipe::varied) samples.
    const fn of(
        name: &'static str,
        about: &'static str,
        samples: fn() -> Vec<Vec<u8>>,
        check: fn(&[u8]) -> Result<bool, String>,
    ) -> Self {
        Self { name, about, samples, make: recipe::varied, check }
    }
}

fn targets() -> Vec<Target> {
    [&logs::TARGETS[..], &settings::TARGETS, &slurm::TARGETS, &stored::TARGETS].concat()
}

/// The result of one target.
struct TargetOutcome {
    name: &'static str,
    corpus: usize,
    cases: u64,
    accepted: u64,
    seconds: f64,
    finding: Option<String>,
}

/// Fuzzes the targets and prints the results. Returns [`Ending::Differs`] if there is a finding.
///
/// # Errors
///
/// If no target has the requested name, or files cannot be read or written.
pub fn fuzz(options: &Fuzz, common: &Common) -> Result<Ending> {
    let targets = chosen(options.target.as_deref())?;
    if options.list {
        print(&list(&targets, common));
        return Ok(Ending::Done);
    }
    let seed = options.seed.unwrap_or_else(new_seed);
    let minutes = options.minutes.or((options.cases.is_none() && options.case.is_none()).then_some(1.0));
    if minutes.is_some_and(|minutes| !(minutes > 0.0 && minutes < 1e5)) {
        bail!("--minutes is not above 0; give the time for all targets together");
    }
    let time = minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes / targets.len() as f64));
    let cases = options.case.map_or(0..options.cases.unwrap_or(u64::MAX), |case| case..case.saturating_add(1));
    let guard = Guard::new();
    let mut outcomes = Vec::new();
    for target in &targets {
        let outcome = run(target, seed, cases.clone(), time, &guard)?;
        if !common.quiet {
            let found = if outcome.finding.is_some() { ", A FINDING" } else { "" };
            tell(&format!("fuzz: {}: {} cases in {:.1} s{found}", outcome.name, outcome.cases, outcome.seconds));
        }
        outcomes.push(outcome);
    }
    print(&if common.json { as_json(seed, &outcomes) } else { as_text(seed, &outcomes) });
    let is_sound = outcomes.iter().all(|outcome| outcome.finding.is_none());
    Ok(if is_sound { Ending::Done } else { Ending::Differs })
}

fn chosen(name: Option<&str>) -> Result<Vec<Target>> {
    let mut targets = targets();
    let Some(name) = name else { return Ok(targets) };
    let names: Vec<&str> = targets.iter().map(|target| target.name).collect();
    if !names.contains(&name) {
        let hint = did_you_mean(name, names.iter().copied());
        bail!("no target is called {name:?}{hint}; the targets are {}", names.join(", "));
    }
    targets.retain(|target| target.name == name);
    Ok(targets)
}

/// Returns the files of the corpus, in order.
fn corpus(target: &Target) -> Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("cannot read {}", folder.display()))?,
    };
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.sort_unstable();
    Ok(files)
}

/// Returns the input of a case.
fn input(target: &Target, samples: &[Vec<u8>], seed: u64, case: u64) -> Vec<u8> {
    let part = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).expect("masked");
    let mut draws = Streams::new(seed, part(case >> 32)).stream(Purpose(target.name), part(case));
    (target.make)(samples, &mut draws)
}

/// Runs the corpus of a target, then its cases, up to the first finding or a limit.
fn run(
    target: &Target,
    seed: u64,
    cases: std::ops::Range<u64>,
    time: Option<Duration>,
    guard: &Guard,
) -> Result<TargetOutcome> {
    let (name, begin) = (target.name, now());
    let mut outcome = TargetOutcome { name, corpus: 0, cases: 0, accepted: 0, seconds: 0.0, finding: None };
    for file in corpus(target)? {
        let input = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        outcome.corpus += 1;
        let origin = Origin::Corpus(file);
        if let Err(what) = guard.watched(target, &origin, &input) {
            outcome.finding = Some(guard::finding(name, &origin, &input, &what)?);
            return Ok(outcome);
        }
    }
    let samples = (target.samples)();
    for case in cases {
        // The clock is read only for every sixteenth case: it takes as long as a small case.
        if case % 16 == 0 && time.is_some_and(|time| begin.elapsed() > time) || lab::interrupt::requested() {
            break;
        }
        let input = input(target, &samples, seed, case);
        let origin = Origin::Case(seed, case);
        outcome.cases += 1;
        match guard.watched(target, &origin, &input) {
            Ok(accepted) => outcome.accepted += u64::from(accepted),
            Err(what) => {
                let input = shorter(input, |input| guard::judged(target, input).is_err());
                let what = guard::judged(target, &input).err().unwrap_or(what);
                outcome.finding = Some(guard::finding(name, &origin, &input, &what)?);
                break;
            }
        }
    }
    outcome.seconds = begin.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Removes pieces of `input`, large ones first, as long as `fails` is true for the rest.
fn shorter(mut input: Vec<u8>, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    // Enough for a file of some kilobytes, and a limit for a slow case.
    let mut tries = 2_000_u32;
    let mut piece = input.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < input.len() && tries > 0 {
            let mut less = input.clone();
            less.drain(at..(at + piece).min(input.len()));
            tries -= 1;
            if fails(&less) { input = less } else { at += piece }
        }
        piece /= 2;
    }
    input
}

#[expect(clippy::disallowed_methods, reason = "how long a case takes is what is measured")]
fn now() -> Instant {
    Instant::now()
}

/// Returns a seed that differs from run to run.
#[expect(clippy::disallowed_methods, reason = "cases should differ from run to run, and the seed is printed")]
fn new_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    since.as_secs() << 10 | u64::from(since.subsec_millis())
}

fn list(targets: &[Target], common: &Common) -> String {
    if common.json {
        let target = |target: &Target| serde_json::json!({ "name": target.name, "about": target.about });
        return format!("{:#}\n", serde_json::json!(targets.iter().map(target).collect::<Vec<_>>()));
    }
    targets.iter().map(|target| format!("{:<14}  {}\n", target.name, target.about)).collect()
}

fn as_text(seed: u64, outcomes: &[TargetOutcome]) -> String {
    let mut text = format!("seed {seed}\ntarget          corpus        cases   accepted   a second\n");
    for TargetOutcome { name, corpus, cases, accepted, seconds, .. } in outcomes {
        let percent = 100.0 * *accepted as f64 / (*cases).max(1) as f64;
        let rate = *cases as f64 / seconds.max(1e-9);
        let _ = writeln!(text, "{name:<14} {corpus:>7} {cases:>12} {percent:>8.1} % {rate:>10.0}");
    }
    for finding in outcomes.iter().filter_map(|outcome| outcome.finding.as_ref()) {
        let _ = write!(text, "\n{finding}");
    }
    text
}

fn as_json(seed: u64, outcomes: &[TargetOutcome]) -> String {
    let one = |one: &TargetOutcome| {
        serde_json::json!({
            "target": one.name, "corpus": one.corpus, "cases": one.cases, "accepted": one.accepted,
            "seconds": one.seconds, "finding": one.finding,
        })
    };
    format!("{:#}\n", serde_json::json!({ "seed": seed, "targets": outcomes.iter().map(one).collect::<Vec<_>>() }))
}

#[cfg(test)]
mod tests;
