//! `cargo xtask fuzz`: random files and jobs against every reader and every policy, in one process.
//!
//! A *target* makes inputs and says what must hold of each; an input is bytes, be it a log or a scene of jobs and machines
//! written down, so that every finding is a file. A *case* is a seed and a number: its input is made from the stream that
//! they address, so `--seed S --case K` makes it again. Files that once were trouble lie in `corpus/TARGET/` of this crate and go
//! first.

mod accounting;
mod checked;
mod dice;
mod finding;
mod guard;
mod logs;
mod policies;
mod resampled;
mod scratch;
mod settings;
mod stored;
mod tables;
mod text;

use anyhow::{Context, Result, bail};
use clap::Args;
use dice::Dice;
use finding::Finding;
use guard::Guard;
use lab::cli::{Common, Ending, print};
use lab::scenario::did_you_mean;
use lab::terminal::tell;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What `cargo xtask fuzz --help` ends with.
const EXAMPLES: &str = "\
Examples:
  cargo xtask fuzz                                  a minute over all targets, with a new seed
  cargo xtask fuzz --list                           what there is
  cargo xtask fuzz swf --cases 10000000             one target, so many cases
  cargo xtask fuzz swf --seed 7 --case 4711         one case again, as a finding names it
  cargo xtask fuzz --seed 1 --cases 5000 --minutes 2    whatever comes first

A finding is a panic (overflow included), a case that takes longer than a second or more than a gigabyte, or an
input on which a promise of its target is broken. It names target, seed and case; the input, made shorter where it
can be, is written to target/fuzz/. Exit code 1 says that there is one. In a release build overflow is not checked
unless it is asked for: CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true cargo run --release -p xtask -- fuzz …";

/// Options of `cargo xtask fuzz`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Fuzz {
    /// Only this target; all if not given.
    #[arg(value_name = "TARGET")]
    target: Option<String>,
    /// List the targets.
    #[arg(long)]
    list: bool,
    /// So many cases of each target.
    #[arg(long, value_name = "N", conflicts_with = "case")]
    cases: Option<u64>,
    /// So long in all, whatever there are of cases; a minute if neither is given.
    #[arg(long, value_name = "M", conflicts_with = "case")]
    minutes: Option<f64>,
    /// The seed of all cases; a new one, which is printed, if not given.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// This case alone, counted from 0.
    #[arg(long, value_name = "K", requires = "seed", requires = "target")]
    case: Option<u64>,
}

/// What is fed to a part of the program, and what must hold then.
pub(crate) struct Target {
    name: &'static str,
    about: &'static str,
    /// Of a file with an input: `swf`.
    extension: &'static str,
    /// Makes an input.
    make: fn(&mut Dice<'_>) -> Vec<u8>,
    check: Check,
}

/// Feeds an input: whether it was accepted, or which promise is broken.
type Check = fn(&[u8]) -> Result<bool, String>;

/// All of them.
fn targets() -> Vec<Target> {
    let mut targets = logs::targets();
    targets.extend(tables::targets());
    targets.extend(accounting::targets());
    targets.extend(settings::targets());
    targets.extend(stored::targets());
    targets.extend(policies::targets());
    targets.extend(checked::targets());
    targets.extend(resampled::targets());
    targets
}

/// What came of one target.
struct Outcome {
    name: &'static str,
    corpus: usize,
    cases: u64,
    accepted: u64,
    seconds: f64,
    slowest: Duration,
    finding: Option<Finding>,
}

/// When to stop with a target.
#[derive(Copy, Clone)]
struct Bounds {
    first: u64,
    /// One beyond the last case.
    end: u64,
    time: Option<Duration>,
}

/// Fuzzes, and prints what came of it: [`Ending::Differs`] if there is a finding.
///
/// # Errors
///
/// If no target has the name that is asked for, or files cannot be read or written.
pub fn fuzz(options: &Fuzz, common: &Common) -> Result<Ending> {
    let targets = chosen(options)?;
    if options.list {
        print(&list(&targets, common));
        return Ok(Ending::Done);
    }
    let seed = options.seed.unwrap_or_else(new_seed);
    let minutes = options.minutes.or((options.cases.is_none() && options.case.is_none()).then_some(1.0));
    if minutes.is_some_and(|minutes| !(minutes > 0.0 && minutes < 1e5)) {
        bail!("--minutes is not above 0; how long may it take?");
    }
    let time = minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes / targets.len() as f64));
    let bounds = match options.case {
        Some(case) => Bounds { first: case, end: case.saturating_add(1), time },
        None => Bounds { first: 0, end: options.cases.unwrap_or(u64::MAX), time },
    };
    let guard = Guard::new();
    let mut outcomes = Vec::new();
    for target in &targets {
        let outcome = run(target, seed, bounds, &guard)?;
        if !common.quiet {
            let found = if outcome.finding.is_some() { ", A FINDING" } else { "" };
            tell(&format!("fuzz: {}: {} cases in {:.1} s{found}", outcome.name, outcome.cases, outcome.seconds));
        }
        outcomes.push(outcome);
    }
    scratch::clear();
    print(&if common.json { as_json(seed, &outcomes) } else { as_text(seed, &outcomes) });
    let is_sound = outcomes.iter().all(|outcome| outcome.finding.is_none());
    Ok(if is_sound { Ending::Done } else { Ending::Differs })
}

fn chosen(options: &Fuzz) -> Result<Vec<Target>> {
    let mut targets = targets();
    let Some(wanted) = &options.target else { return Ok(targets) };
    let names: Vec<&str> = targets.iter().map(|target| target.name).collect();
    if !names.contains(&wanted.as_str()) {
        let hint = did_you_mean(wanted, names.iter().copied());
        bail!("no target is called {wanted:?}{hint}; there are {}", names.join(", "));
    }
    targets.retain(|target| target.name == wanted);
    Ok(targets)
}

/// The files that go before the cases, in order.
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

/// Runs the corpus of a target, then its cases, until something is found or the bounds are reached.
fn run(target: &Target, seed: u64, bounds: Bounds, guard: &Guard) -> Result<Outcome> {
    let begin = now();
    let mut outcome = Outcome {
        name: target.name,
        corpus: 0,
        cases: 0,
        accepted: 0,
        seconds: 0.0,
        slowest: Duration::ZERO,
        finding: None,
    };
    for file in corpus(target)? {
        let input = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        outcome.corpus += 1;
        let origin = finding::Origin::Corpus(file);
        if let Err(what) = guard.watched(target, &origin, &input, &mut outcome.slowest) {
            outcome.finding = Some(Finding::new(target, origin, &input, what)?);
            return Ok(outcome);
        }
    }
    let mut entropy = Vec::new();
    for case in bounds.first..bounds.end {
        // The clock is read now and then: it takes as long as a small case.
        if case % 16 == 0 && bounds.time.is_some_and(|time| begin.elapsed() > time) {
            break;
        }
        dice::fill(&mut entropy, target.name, seed, case);
        let input = (target.make)(&mut Dice::new(&entropy));
        let origin = finding::Origin::Case { seed, case };
        match guard.watched(target, &origin, &input, &mut outcome.slowest) {
            Ok(accepted) => outcome.accepted += u64::from(accepted),
            Err(what) => {
                let input = finding::shorter(input, |input| guard.judged(target, input).is_err());
                let what = guard.judged(target, &input).err().unwrap_or(what);
                outcome.finding = Some(Finding::new(target, origin, &input, what)?);
            }
        }
        outcome.cases += 1;
        if outcome.finding.is_some() || lab::interrupt::requested() {
            break;
        }
    }
    outcome.seconds = begin.elapsed().as_secs_f64();
    Ok(outcome)
}

#[expect(clippy::disallowed_methods, reason = "how long a case takes is what is measured")]
fn now() -> Instant {
    Instant::now()
}

/// A seed that differs from run to run: who finds something is told it.
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
    targets.iter().fold(String::new(), |mut text, target| {
        let _ = writeln!(text, "{:<12}  {}", target.name, target.about);
        text
    })
}

fn as_text(seed: u64, outcomes: &[Outcome]) -> String {
    let mut text = format!(
        "seed {seed}\n{:<12} {:>7} {:>12} {:>9} {:>10} {:>9}\n",
        "target", "corpus", "cases", "accepted", "a second", "slowest"
    );
    for one in outcomes {
        let _ = writeln!(
            text,
            "{:<12} {:>7} {:>12} {:>7.1} % {:>10.0} {:>6.0} ms",
            one.name,
            one.corpus,
            one.cases,
            100.0 * one.accepted as f64 / one.cases.max(1) as f64,
            one.cases as f64 / one.seconds.max(1e-9),
            1e3 * one.slowest.as_secs_f64(),
        );
    }
    for finding in outcomes.iter().filter_map(|outcome| outcome.finding.as_ref()) {
        let _ = write!(text, "\n{finding}");
    }
    text
}

fn as_json(seed: u64, outcomes: &[Outcome]) -> String {
    let one = |one: &Outcome| {
        serde_json::json!({
            "target": one.name, "corpus": one.corpus, "cases": one.cases, "accepted": one.accepted,
            "seconds": one.seconds, "slowest_seconds": one.slowest.as_secs_f64(),
            "finding": one.finding.as_ref().map(ToString::to_string),
        })
    };
    format!("{:#}\n", serde_json::json!({ "seed": seed, "targets": outcomes.iter().map(one).collect::<Vec<_>>() }))
}

#[cfg(test)]
mod tests;
