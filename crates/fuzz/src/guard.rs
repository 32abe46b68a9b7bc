//! What no case may do, whatever its target: panic, take longer than a second or more than a gigabyte.

use super::finding::{Finding, Origin};
use super::{Target, now};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// No case may take longer, by the processor's clock.
const LONGEST: Duration = Duration::from_secs(1);

/// A case that takes longer than this is not waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// No case may need more memory, in KiB.
const LARGEST: u64 = 1 << 20;

thread_local! {
    /// Where the last panic of a case was, and what it said; `None` while this thread runs no case.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs cases, and sees to it that each keeps the limits.
pub(crate) struct Guard {
    current: Arc<Mutex<Option<Current>>>,
}

/// What is running now, for the thread that watches.
struct Current {
    began: Instant,
    target: &'static str,
    extension: &'static str,
    origin: Origin,
    input: Vec<u8>,
}

impl Guard {
    /// Panics are caught and kept from now on, and a thread looks after cases that do not end.
    pub(crate) fn new() -> Self {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_case = PANIC.try_with(|said| {
                let mut said = said.borrow_mut();
                said.as_mut().map(|said| *said = panic.to_string()).is_some()
            });
            if !is_case.unwrap_or(false) {
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

    /// Runs a case: whether its input was accepted, or what is wrong with it.
    pub(crate) fn watched(
        &self,
        target: &Target,
        origin: &Origin,
        input: &[u8],
        slowest: &mut Duration,
    ) -> Result<bool, String> {
        let current = |value| *self.current.lock().unwrap_or_else(PoisonError::into_inner) = value;
        let began = now();
        let (name, extension) = (target.name, target.extension);
        current(Some(Current { began, target: name, extension, origin: origin.clone(), input: input.to_vec() }));
        let found = self.judged(target, input);
        current(None);
        let elapsed = began.elapsed();
        *slowest = elapsed.max(*slowest);
        // A gigabyte is not filled in a millisecond, and asking how much it is takes a while.
        if elapsed > Duration::from_millis(5)
            && let Some(peak) = status("VmHWM:").filter(|peak| *peak > LARGEST)
        {
            return Err(format!("it took {} MiB of memory", peak >> 10));
        }
        found
    }

    /// The same, without a look at memory, and not watched.
    pub(crate) fn judged(&self, target: &Target, input: &[u8]) -> Result<bool, String> {
        let began = now();
        let found = caught(target, input)?;
        if began.elapsed() > LONGEST {
            // The machine may have been busy with something else: once more, by the processor's clock.
            let before = processor_time();
            caught(target, input)?;
            let took = processor_time().zip(before).map_or(LONGEST, |(after, before)| after.saturating_sub(before));
            if took >= LONGEST {
                return Err(format!("it took {:.1} s", took.as_secs_f64()));
            }
        }
        Ok(found)
    }
}

fn caught(target: &Target, input: &[u8]) -> Result<bool, String> {
    PANIC.set(Some(String::new()));
    let found = catch_unwind(AssertUnwindSafe(|| (target.check)(input)));
    let said = PANIC.take().unwrap_or_default();
    found.unwrap_or(Err(said))
}

/// A case that does not end, or fills the memory, ends the program: there is nobody to return to.
fn end_if_out_of_bounds(current: &Mutex<Option<Current>>) {
    let current = current.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(case) = current.as_ref() else { return };
    let memory = status("VmRSS:").filter(|memory| *memory > LARGEST);
    let what = match memory {
        Some(memory) => format!("it takes {} MiB of memory, and goes on", memory >> 10),
        None if case.began.elapsed() > PATIENCE => format!("it has not ended after {} s", PATIENCE.as_secs()),
        None => return,
    };
    let told = match Finding::of(case.target, case.extension, case.origin.clone(), &case.input, what) {
        Ok(finding) => finding.to_string(),
        Err(error) => format!("{error:#}"),
    };
    lab::terminal::tell(&told);
    std::process::exit(1);
}

/// A line of what Linux tells of this process, in KiB; elsewhere nothing is known, and memory is not judged.
fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// How long this thread has run, where the system tells.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
