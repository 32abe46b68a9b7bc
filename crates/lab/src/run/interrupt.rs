//! Ctrl-C, and the signals of a batch system or a closing terminal (SIGTERM, SIGHUP): running replications are finished and kept.

use crate::run::control::Control;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

#[cfg(unix)]
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// Error: the user pressed Ctrl-C, or the system requested the end of the program.
#[derive(Debug, thiserror::Error)]
pub enum Interrupted {
    /// Interrupted between replications.
    #[error("interrupted; finished work is kept, and the same command continues from there")]
    Resumable,
    /// Interrupted within a single run.
    #[error("interrupted; nothing was written, and the same command begins again")]
    Lost,
}

/// Listens for Ctrl-C, SIGTERM and SIGHUP. A second one ends the program at once.
pub fn listen() {
    for signal in SIGNALS {
        // Under nohup the terminal may close. (A shell also starts background jobs with SIGINT ignored, but a SIGINT sent to a process by
        // its number is intended.)
        #[cfg(unix)]
        if signal == signal_hook::consts::SIGHUP && is_ignored(signal) {
            continue;
        }
        // If registering fails, the signal ends the program at once, which loses nothing either. The order matters: the first signal finds
        // the flag down, the second finds it up.
        let _ = flag::register_conditional_shutdown(signal, 130, Arc::clone(&INTERRUPTED));
        let _ = flag::register(signal, Arc::clone(&INTERRUPTED));
    }
}

/// Returns true if this process was started with the signal ignored and the system reports it (Linux).
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Fails with `error` if the end of the program, or of this thread's command, was requested.
pub fn check(error: Interrupted) -> anyhow::Result<()> {
    if requested() { Err(error.into()) } else { Ok(()) }
}

/// Returns true if the end of the program, or of this thread's command, was requested.
pub fn requested() -> bool {
    Control::is_stopped() || INTERRUPTED.load(Ordering::SeqCst)
}
