//! Worker thread for cases, and their limits: a case must not panic, or take more than a second or a gigabyte.

use super::now;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Feeds an input to a reader. Returns true if it was accepted, or an error if a promise is broken.
pub(crate) type Read = fn(&[u8]) -> Result<bool, String>;

/// Limit of the processor time of a case.
const LONGEST: Duration = Duration::from_secs(1);

/// Wall time after which a case is abandoned.
const PATIENCE: Duration = Duration::from_secs(20);

/// Limit of the memory of a case, in KiB.
const LARGEST: u64 = 1 << 20;

const NAME: &str = "fuzz";

thread_local! {
    /// Place and message of the last panic of this worker.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Thread that runs the cases of one target.
pub(crate) struct Worker {
    inputs: Sender<Vec<u8>>,
    /// Verdict and processor time of each case.
    verdicts: Receiver<(Result<bool, String>, Duration)>,
    /// Peak memory of the program at the start, in KiB.
    memory: u64,
    /// True if a case has not ended: its thread cannot be stopped, and no other case runs.
    is_stuck: bool,
}

impl Worker {
    pub(crate) fn start(read: Read) -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| match std::thread::current().name() {
                Some(NAME) => PANIC.set(panic.to_string()),
                _ => before(panic),
            }));
        });
        let (inputs, cases) = channel::<Vec<u8>>();
        let (done, verdicts) = channel();
        let work = move || {
            for input in cases {
                let (began, before) = (now(), processor_time());
                let verdict = catch_unwind(AssertUnwindSafe(|| read(&input))).unwrap_or_else(|_| Err(PANIC.take()));
                let took =
                    processor_time().zip(before).map_or_else(|| began.elapsed(), |(after, before)| after - before);
                if done.send((verdict, took)).is_err() {
                    break;
                }
            }
        };
        // The stack of a main thread.
        let thread = std::thread::Builder::new().name(NAME.to_owned()).stack_size(8 << 20);
        thread.spawn(work).expect("a thread");
        Self { inputs, verdicts, memory: peak().unwrap_or(0), is_stuck: false }
    }

    /// Runs a case. Returns true if its input was accepted, or an error that describes the finding.
    pub(crate) fn judge(&mut self, input: &[u8]) -> Result<bool, String> {
        if self.is_stuck {
            return Ok(false);
        }
        let began = now();
        self.inputs.send(input.to_vec()).expect("the worker has not ended");
        loop {
            let verdict = self.verdicts.recv_timeout(Duration::from_millis(200));
            // A gigabyte is not filled in a millisecond, and reading the peak is slow.
            let memory = if began.elapsed() > Duration::from_millis(5) { peak() } else { None };
            self.is_stuck = verdict.is_err();
            if let Some(memory) = memory.filter(|memory| *memory > self.memory + LARGEST) {
                return Err(format!("it took {} MiB of memory", (memory - self.memory) >> 10));
            }
            match verdict {
                Ok((_, took)) if took >= LONGEST => return Err(format!("it took {:.1} s", took.as_secs_f64())),
                Ok((verdict, _)) => return verdict,
                Err(_) if began.elapsed() > PATIENCE => {
                    return Err(format!("it has not ended after {} s", PATIENCE.as_secs()));
                }
                Err(_) => {}
            }
        }
    }
}

/// Peak memory of this process in KiB, on Linux; `None` on other systems, where memory is not limited.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Processor time of this thread, on Linux.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
