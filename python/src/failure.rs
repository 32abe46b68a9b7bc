//! The exception that ends a call, and the ends of policies that take too long.

use lab::control::Control;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTimeoutError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The first exception of a policy or metric of a call, which it ends.
#[derive(Clone, Default)]
pub(crate) struct Failure {
    kept: Arc<Mutex<Kept>>,
    /// Longest time of a policy for an answer.
    patience: Option<Duration>,
    /// Control of the call.
    pub(crate) control: Control,
}

#[derive(Default)]
struct Kept {
    error: Option<PyErr>,
    is_interrupted: bool,
    /// Threads in which policies are being called, by Python's numbers, with the instants at which the calls began.
    calls: Vec<(u64, Instant)>,
    /// Policies under which jobs still waited at the end, and the numbers of these.
    waiting: Vec<(String, usize)>,
}

impl Failure {
    /// Returns the failures of a call whose policies have this long for an answer.
    pub(crate) fn within(patience: Option<Duration>) -> Self {
        Self { patience, ..Self::default() }
    }

    /// Keeps the exception, and ends the call.
    pub(crate) fn keep(&self, error: PyErr) {
        self.kept().error.get_or_insert(error);
        self.control.stop();
    }

    /// Records the jobs that a policy never started.
    pub(crate) fn add_waiting(&self, policy: &str, jobs: usize) {
        self.kept().waiting.push((policy.to_owned(), jobs));
    }

    /// Returns and removes the records of [`Self::add_waiting`].
    pub(crate) fn take_waiting(&self) -> Vec<(String, usize)> {
        std::mem::take(&mut self.kept().waiting)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a policy, which may be interrupted meanwhile.
    pub(crate) fn call<T>(&self, thread: u64, call: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        #[expect(
            clippy::disallowed_methods,
            reason = "a limit in wall-clock time, which ends the run and changes no result"
        )]
        let began = Instant::now();
        {
            let mut kept = self.kept();
            if kept.is_interrupted {
                return Err(PyKeyboardInterrupt::new_err(()));
            }
            kept.calls.push((thread, began));
        }
        let answer = call();
        // Not held while waiting for the GIL.
        self.kept().calls.retain(|(other, _)| *other != thread);
        let overdue = self.patience.filter(|patience| began.elapsed() > *patience);
        answer.map_err(|error| match overdue {
            Some(patience) if Python::attach(|py| error.is_instance_of::<PyTimeoutError>(py)) => {
                let seconds = patience.as_secs_f64();
                PyTimeoutError::new_err(format!("a policy took more than {seconds} s for one answer"))
            }
            _ => error,
        })
    }

    /// Raises `KeyboardInterrupt` in the policies that are being called, which also ends a policy that does not return.
    pub(crate) fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        let calls = {
            let mut kept = self.kept();
            kept.is_interrupted = true;
            kept.calls.clone()
        };
        raise(py, calls, &py.get_type::<PyKeyboardInterrupt>())
    }

    /// Raises `TimeoutError` in the policies that have taken too long.
    pub(crate) fn end_overdue(&self, py: Python<'_>) -> PyResult<()> {
        let Some(patience) = self.patience else { return Ok(()) };
        let mut calls = self.kept().calls.clone();
        calls.retain(|(_, began)| began.elapsed() > patience);
        raise(py, calls, &py.get_type::<PyTimeoutError>())
    }

    /// Returns and removes the exception.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.kept().error.take()
    }
}

/// Raises an exception in the Python code that threads are running.
fn raise(py: Python<'_>, calls: Vec<(u64, Instant)>, exception: &Bound<'_, PyType>) -> PyResult<()> {
    if calls.is_empty() {
        return Ok(());
    }
    let ctypes = py.import("ctypes")?;
    let raise = ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?;
    let (long, exception) = (ctypes.getattr("c_ulong")?, ctypes.getattr("py_object")?.call1((exception,))?);
    calls.iter().try_for_each(|(thread, _)| raise.call1((long.call1((*thread,))?, &exception)).map(drop))
}
