//! Faults that tests inject before each step of a commit.

use std::io;

#[cfg(test)]
thread_local! {
    /// Number of steps that still succeed.
    pub(super) static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(usize::MAX) };
}

#[cfg(test)]
pub(super) fn here() -> io::Result<()> {
    let left = STEPS.get();
    STEPS.set(left.saturating_sub(1));
    if left == 0 { Err(io::Error::other("a fault was requested")) } else { Ok(()) }
}

#[cfg(not(test))]
pub(super) const fn here() -> io::Result<()> {
    Ok(())
}
