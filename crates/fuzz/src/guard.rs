//! Limits on a case: it must not panic, take more than a second or a gigabyte, or break its target's promise.

use super::{Target, now};
use anyhow::{Context, Result};
use lab::scenario::workspace;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Limit of the processor time of a case.
const LONGEST: Duration = Duration::from_secs(1);

/// Wall time after which a case is abandoned.
const PATIENCE: Duration = Duration::from_secs(20);

/// Limit of the memory of a case, in KiB.
const LARGEST: u64 = 1 << 20;

thread_local! {
    /// The last panic of a case: its place and message; `None` while this thread runs no case.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Source of an input.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A file of the corpus.
    Corpus(PathBuf),
    /// A case, by seed and number.
    Case(u64, u64),
}

/// Describes a finding, after writing its input to a file if it has none.
pub(crate) fn finding(target: &str, origin: &Origin, input: &[u8], what: &str) -> Result<String> {
    let (place, again, file) = match origin {
        Origin::Corpus(file) => ("in a file of the corpus".to_owned(), "--cases 0".to_owned(), file.clone()),
        Origin::Case(seed, case) => {
            let folder = workspace().join("target/fuzz");
            std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
            let file = folder.join(format!("{target}-{seed}-{case}"));
            std::fs::write(&file, input).with_context(|| format!("cannot write {}", file.display()))?;
            (format!("seed {seed}, case {case}"), format!("--seed {seed} --case {case}"), file)
        }
    };
    let what = what.trim_end().replace('\n', "\n  ");
    let file = file.display();
    Ok(format!("FINDING in {target}, {place}\n  {what}\n  input: {file}\n  again: cargo xtask fuzz {target} {again}\n"))
}

/// Runs cases within their limits.
pub(crate) struct Guard {
    current: Arc<Mutex<Option<Current>>>,
}

/// The running case, for the monitoring thread.
struct Current {
    began: Instant,
    target: &'static str,
    origin: Origin,
    input: Vec<u8>,
}

impl Guard {
    /// Catches panics from now on, and starts a thread that ends the program if a case does not end.
    pub(crate) fn new() -> Self {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_case = PANIC.try_with(|said| said.borrow_mut().as_mut().map(|said| *said = panic.to_string()));
            if !is_case.is_ok_and(|said| said.is_some()) {
                before(panic);
            }
        }));
        let current = Arc::new(Mutex::new(None));
        let watched = Arc::clone(&current);
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(200));
                end_if_out_of_bounds(&watched);
            }
        });
        Self { current }
    }

    /// Runs a case. Returns true if its input was accepted, or an error that describes the finding.
    pub(crate) fn watched(&self, target: &Target, origin: &Origin, input: &[u8]) -> Result<bool, String> {
        let current = |value| *self.current.lock().unwrap_or_else(PoisonError::into_inner) = value;
        let began = now();
        current(Some(Current { began, target: target.name, origin: origin.clone(), input: input.to_vec() }));
        let found = judged(target, input);
        current(None);
        // A gigabyte is not filled in a millisecond, and reading the peak is slow.
        if began.elapsed() > Duration::from_millis(5)
            && let Some(peak) = status("VmHWM:").filter(|peak| *peak > LARGEST)
        {
            return Err(format!("it took {} MiB of memory", peak >> 10));
        }
        found
    }
}

/// Runs a case without checking memory, and without monitoring.
pub(crate) fn judged(target: &Target, input: &[u8]) -> Result<bool, String> {
    let began = now();
    let found = caught(target, input)?;
    if began.elapsed() > LONGEST {
        // The machine may have been busy: run it again, by the processor's clock.
        let before = processor_time();
        caught(target, input)?;
        let took = processor_time().zip(before).map_or(LONGEST, |(after, before)| after.saturating_sub(before));
        if took >= LONGEST {
            return Err(format!("it took {:.1} s", took.as_secs_f64()));
        }
    }
    Ok(found)
}

fn caught(target: &Target, input: &[u8]) -> Result<bool, String> {
    PANIC.set(Some(String::new()));
    let found = catch_unwind(AssertUnwindSafe(|| (target.check)(input)));
    let said = PANIC.take().unwrap_or_default();
    found.unwrap_or(Err(said))
}

/// Ends the program at a case that does not end or that fills the memory: its thread cannot be stopped.
fn end_if_out_of_bounds(current: &Mutex<Option<Current>>) {
    let current = current.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(case) = current.as_ref() else { return };
    let what = match status("VmRSS:").filter(|memory| *memory > LARGEST) {
        Some(memory) => format!("it takes {} MiB of memory, and goes on", memory >> 10),
        None if case.began.elapsed() > PATIENCE => format!("it has not ended after {} s", PATIENCE.as_secs()),
        None => return,
    };
    let found = finding(case.target, &case.origin, &case.input, &what);
    lab::terminal::tell(&found.unwrap_or_else(|error| format!("{error:#}")));
    std::process::exit(1);
}

/// Reads a line of Linux's status of this process, in KiB; `None` on other systems, where memory is not limited.
fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the processor time of this thread, on Linux.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
