//! `cargo xtask fuzz`: feeds damaged files to every reader, in one process.
//!
//! A *target* is a reader with valid samples and a promise. A *case* is a seed and a number. They address a stream, by which `mutate`
//! changes a sample in a few places, so `--seed S --case K` makes the same input again. Files that once caused a finding are in
//! `corpus/TARGET/`, for the tests. Policies are tested by the property tests of their crates.

mod mutate;
mod targets;
mod worker;

use anyhow::{Context, Result, ensure};
use clap::Args;
use lab::cli::{Common, Ending, print};
use lab::scenario::workspace;
use serde::Serialize;
use sim_core::{Purpose, Streams};
use std::ops::Range;
use std::time::{Duration, Instant};
use targets::{TARGETS, Target};
use worker::Worker;

/// The end of `cargo xtask fuzz --help`.
const EXAMPLES: &str = "\
Examples:
  cargo xtask fuzz                                  a minute over all targets, with a new seed
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
    #[arg(value_name = "TARGET", value_parser = TARGETS.map(|target| target.name))]
    target: Option<String>,
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

/// The result of one target.
#[derive(Serialize)]
struct Outcome {
    target: &'static str,
    cases: u64,
    accepted: u64,
    seconds: f64,
    finding: Option<String>,
}

impl Outcome {
    fn in_words(&self) -> String {
        let Self { target, cases, accepted, seconds, finding } = self;
        let percent = 100.0 * *accepted as f64 / (*cases).max(1) as f64;
        let rate = *cases as f64 / seconds.max(1e-9);
        let finding = finding.as_deref().unwrap_or_default();
        format!("{target:<14} {cases:>12} {percent:>8.1} % {rate:>10.0}\n{finding}")
    }
}

/// Fuzzes the targets and prints the results. Returns [`Ending::Differs`] if there is a finding.
///
/// # Errors
///
/// If the time is not positive, or an input cannot be written.
pub fn fuzz(options: &Fuzz, common: &Common) -> Result<Ending> {
    let wanted = |target: &&Target| options.target.as_ref().is_none_or(|name| name == target.name);
    let targets: Vec<&Target> = TARGETS.iter().filter(wanted).collect();
    let seed = options.seed.unwrap_or_else(new_seed);
    let minutes = options.minutes.or((options.cases.is_none() && options.case.is_none()).then_some(1.0));
    let is_time = minutes.is_none_or(|minutes| minutes > 0.0 && minutes < 1e5);
    ensure!(is_time, "--minutes is not above 0; give the time for all targets together");
    let time = minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes / targets.len() as f64));
    let cases = options.case.map_or(0..options.cases.unwrap_or(u64::MAX), |case| case..case.saturating_add(1));
    let mut outcomes = Vec::new();
    if !common.json {
        print(&format!("seed {seed}\ntarget                cases   accepted   a second\n"));
    }
    for target in targets {
        let outcome = run(target, seed, cases.clone(), time)?;
        if !common.json {
            print(&outcome.in_words());
        }
        outcomes.push(outcome);
    }
    if common.json {
        print(&format!("{:#}\n", serde_json::json!({ "seed": seed, "targets": outcomes })));
    }
    let is_sound = outcomes.iter().all(|outcome| outcome.finding.is_none());
    Ok(if is_sound { Ending::Done } else { Ending::Differs })
}

/// Returns the input of a case.
fn input(target: &Target, seed: u64, case: u64) -> Vec<u8> {
    let part = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).expect("masked");
    mutate::varied(target.samples, &mut Streams::new(seed, part(case >> 32)).stream(Purpose(target.name), part(case)))
}

/// Runs cases of a target up to the first finding or a limit.
fn run(target: &Target, seed: u64, cases: Range<u64>, time: Option<Duration>) -> Result<Outcome> {
    let (begin, mut worker) = (now(), Worker::start(target.read));
    let mut outcome = Outcome { target: target.name, cases: 0, accepted: 0, seconds: 0.0, finding: None };
    for case in cases {
        if time.is_some_and(|time| begin.elapsed() > time) || lab::interrupt::requested() {
            break;
        }
        let input = input(target, seed, case);
        outcome.cases += 1;
        match worker.judge(&input) {
            Ok(accepted) => outcome.accepted += u64::from(accepted),
            Err(what) => {
                let input = shorter(input, |input| worker.judge(input).is_err());
                outcome.finding = Some(finding(target.name, seed, case, &input, &what)?);
                break;
            }
        }
    }
    outcome.seconds = begin.elapsed().as_secs_f64();
    Ok(outcome)
}

/// Writes the input of a finding to a file, and describes the finding.
fn finding(target: &str, seed: u64, case: u64, input: &[u8], what: &str) -> Result<String> {
    let folder = workspace().join("target/fuzz");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let file = folder.join(format!("{target}-{seed}-{case}"));
    std::fs::write(&file, input).with_context(|| format!("cannot write {}", file.display()))?;
    let (what, file) = (what.trim_end().replace('\n', "\n  "), file.display());
    Ok(format!(
        "FINDING in {target}, seed {seed}, case {case}\n  {what}\n  input: {file}\n  \
         again: cargo xtask fuzz {target} --seed {seed} --case {case}\n"
    ))
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

#[cfg(test)]
mod tests;
