//! Ctrl-C: finish what is being simulated, keep it, start nothing new.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The user pressed Ctrl-C.
#[derive(Debug, thiserror::Error)]
pub enum Interrupted {
    /// In the middle of many replications.
    #[error("interrupted; what is finished is kept, and the same command goes on from there")]
    Resumable,
    /// In the middle of a single run.
    #[error("interrupted; nothing was written, and the same command begins again")]
    Lost,
}

/// Listens for Ctrl-C. A second one ends the program at once.
pub fn listen() {
    // Failing to install the handler only means that Ctrl-C ends the program at once, which loses nothing either.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// Whether Ctrl-C has been pressed.
pub fn requested() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}
