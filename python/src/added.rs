//! Policies and metrics of a call, and their failures.

use crate::command::alone;
use crate::policy::PythonPolicy;
use gap_schedule::Policy;
use metrics::{Better, Metric};
use numpy::PyArray1;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTimeoutError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use replay::simulate::{self, JobRecord, Own};
use sim_core::Span;
use std::panic;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The first exception of a policy or metric of a call. It ends the call by unwinding, and is then raised.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    error: Option<PyErr>,
    is_interrupted: bool,
    /// Longest time of a policy for an answer.
    patience: Option<Duration>,
    /// Threads in which policies are being called, by Python's numbers, with the instants at which the calls began.
    calls: Vec<(u64, Instant)>,
    /// Policies under which jobs still waited at the end, and the numbers of these.
    waiting: Vec<(String, usize)>,
}

/// Payload of the unwinding, which prints no message.
pub(crate) struct Stopped;

impl Failure {
    /// Keeps the exception and unwinds.
    pub(crate) fn stop(&self, error: PyErr) -> ! {
        self.kept().error.get_or_insert(error);
        panic::resume_unwind(Box::new(Stopped))
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        let patience = {
            let mut kept = self.kept();
            kept.calls.retain(|(other, _)| *other != thread);
            kept.patience
        };
        match (answer, patience) {
            (Err(error), Some(patience)) if began.elapsed() > patience => {
                let is_ours = Python::attach(|py| error.is_instance_of::<PyTimeoutError>(py));
                let words = format!("a policy took more than {} s for one answer", patience.as_secs_f64());
                Err(if is_ours { PyTimeoutError::new_err(words) } else { error })
            }
            (answer, _) => answer,
        }
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
        let overdue: Vec<(u64, Instant)> = {
            let kept = self.kept();
            let is_overdue = |began: Instant| kept.patience.is_some_and(|patience| began.elapsed() > patience);
            kept.calls.iter().copied().filter(|(_, began)| is_overdue(*began)).collect()
        };
        raise(py, overdue, &py.get_type::<PyTimeoutError>())
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

/// Function of a metric, and the receiver of its exceptions.
type Value = (Py<PyAny>, Failure);

/// A metric by its name, label and direction. The catalogue requires metrics with static lifetime, so there is one for each name, label and
/// direction, and each call sets its function.
struct Named {
    metric: &'static Metric,
    value: Arc<Mutex<Value>>,
}

static METRICS: Mutex<Vec<Named>> = Mutex::new(Vec::new());

/// Policies and metrics of a call.
pub(crate) struct Added {
    pub(crate) failure: Failure,
    policies: Vec<Arc<Own>>,
    metrics: Vec<(String, String, bool, Py<PyAny>)>,
}

impl Added {
    pub(crate) fn new(
        policies: Vec<(String, Py<PyAny>)>,
        metrics: Vec<(String, String, bool, Py<PyAny>)>,
        patience: Option<Duration>,
    ) -> Self {
        let failure = Failure::default();
        failure.kept().patience = patience;
        let own = |(name, make): (String, Py<PyAny>)| {
            let (failure, title) = (failure.clone(), name.clone());
            let make = move || -> Box<dyn Policy> { Box::new(PythonPolicy::make(&title, &make, &failure)) };
            Arc::new(Own::new(&name, "a policy in Python", make))
        };
        Self { policies: policies.into_iter().map(own).collect(), failure: failure.clone(), metrics }
    }

    /// Returns the policies alone.
    pub(crate) fn policies(&self) -> Vec<Arc<Own>> {
        self.policies.clone()
    }

    /// Runs `run` with policies and metrics. If there are metrics, the caller holds [`alone`].
    pub(crate) fn with<T>(&self, run: impl FnOnce(&simulate::Added) -> T) -> T {
        let metrics = self.metrics.iter().map(|(name, label, is_smaller_better, value)| {
            let better = if *is_smaller_better { Better::Smaller } else { Better::Larger };
            let value = Python::attach(|py| value.clone_ref(py));
            named(name, label, better, (value, self.failure.clone()))
        });
        run(&simulate::Added { policies: self.policies.clone(), metrics: metrics.collect() })
    }

    /// Runs `run` with policies and metrics, holding [`alone`] if there are metrics.
    pub(crate) fn with_alone<T>(&self, run: impl FnOnce(&simulate::Added) -> T) -> T {
        let _alone = (!self.metrics.is_empty()).then(alone);
        self.with(run)
    }
}

fn named(name: &str, label: &str, better: Better, value: Value) -> &'static Metric {
    let mut all = METRICS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |one: &Named| (one.metric.name(), one.metric.label(), one.metric.better()) == (name, label, better);
    if let Some(known) = all.iter().find(|one| is_it(one)) {
        *known.value.lock().unwrap_or_else(PoisonError::into_inner) = value;
        return known.metric;
    }
    let slot = Arc::new(Mutex::new(value));
    let metric = Metric::own(name, label, better, {
        let slot = Arc::clone(&slot);
        move |jobs| {
            let held = slot.lock().unwrap_or_else(PoisonError::into_inner);
            let (value, failure) = &*held;
            let found = Python::attach(|py| value.call1(py, (columns(py, jobs)?,))?.extract(py));
            found.unwrap_or_else(|error| failure.stop(error))
        }
    });
    let metric: &'static Metric = Box::leak(Box::new(metric));
    all.push(Named { metric, value: slot });
    metric
}

/// Returns the records as arrays: times in seconds (`f64`), NaN for an unknown request, users and processors (`i64`), −1 for an unknown
/// user.
fn columns<'py>(py: Python<'py>, jobs: &[JobRecord]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let times: [(&str, fn(&JobRecord) -> f64); 6] = [
        ("submit", |one| one.job.submit.as_secs_f64()),
        ("start", |one| one.start.as_secs_f64()),
        ("finish", |one| one.finish.as_secs_f64()),
        ("wait", |one| one.wait().as_secs_f64()),
        ("run", |one| one.finish.since(one.start).as_secs_f64()),
        ("requested", |one| one.job.request.estimate.map_or(f64::NAN, Span::as_secs_f64)),
    ];
    for (name, value) in times {
        all.set_item(name, PyArray1::from_iter(py, jobs.iter().map(value)))?;
    }
    all.set_item("processors", PyArray1::from_iter(py, jobs.iter().map(|one| i64::from(one.processors))))?;
    all.set_item("user", PyArray1::from_iter(py, jobs.iter().map(|one| one.job.request.user.map_or(-1, i64::from))))?;
    Ok(all)
}
