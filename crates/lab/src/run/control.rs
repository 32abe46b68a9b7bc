//! Control of a command by the program that calls it.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Handle by which a program follows and stops the commands that it [runs](Self::run); clones share one state.
///
/// Output, progress and end of such a command belong to its control. Those of other commands belong to the process: they print, and
/// signals that the process [listens](crate::run::interrupt::listen) for stop them.
///
/// ```
/// use lab::{control::Control, interrupt, terminal};
///
/// let control = Control::default();
/// control.stop();
/// let is_stopped = control.run(|| {
///     terminal::print("not on the terminal");
///     interrupt::requested()
/// });
/// assert!(is_stopped && !interrupt::requested());
/// assert_eq!(control.output().0, "not on the terminal");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_stopped: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    output: Mutex<(String, Vec<String>)>,
}

thread_local! {
    static CURRENT: RefCell<Option<Control>> = const { RefCell::new(None) };
}

/// Restores the control of the thread, also after a panic.
struct Outer(Option<Control>);

impl Drop for Outer {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

impl Control {
    /// Runs commands on this thread. Threads of [`in_parallel`](crate::run::parallel::in_parallel) belong to the same control.
    pub fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        Self::within(Some(self.clone()), run)
    }

    pub(crate) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    pub(crate) fn within<T>(control: Option<Self>, run: impl FnOnce() -> T) -> T {
        let _outer = Outer(CURRENT.replace(control));
        run()
    }

    /// Calls `f` with the state of this thread's control; returns `None` if it has none.
    fn with<T>(f: impl FnOnce(&State) -> T) -> Option<T> {
        CURRENT.with_borrow(|control| control.as_ref().map(|control| f(&control.0)))
    }

    /// Ends the commands, which then return an [`Interrupted`](crate::run::interrupt::Interrupted).
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Returns true if the program that calls this thread's command has [stopped](Self::stop) it.
    pub fn is_stopped() -> bool {
        Self::with(|state| state.is_stopped.load(Ordering::Relaxed)).unwrap_or(false)
    }

    /// Completed and total units of work of the present stage; the jobs that have left the system, and 0, of a simulation.
    pub fn progress(&self) -> (u64, u64) {
        (self.0.done.load(Ordering::Relaxed), self.0.total.load(Ordering::Relaxed))
    }

    pub(crate) fn record_progress(done: u64, total: u64) {
        Self::with(|state| {
            state.done.store(done, Ordering::Relaxed);
            state.total.store(total, Ordering::Relaxed);
        });
    }

    /// Counts a simulated job that leaves its system.
    pub fn count_job() {
        Self::with(|state| state.done.fetch_add(1, Ordering::Relaxed));
    }

    /// Text for standard output, and lines for standard error, since the last call.
    pub fn output(&self) -> (String, Vec<String>) {
        std::mem::take(&mut self.0.output.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `f` with text and lines; returns false if the process prints.
    pub(crate) fn kept(f: impl FnOnce(&mut (String, Vec<String>))) -> bool {
        Self::with(|state| f(&mut state.output.lock().unwrap_or_else(PoisonError::into_inner))).is_some()
    }
}
