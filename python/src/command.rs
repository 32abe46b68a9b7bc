//! Commands of the command line in this process.

use crate::policy::{Failure, PythonPolicy, Stopped};
use clap::{CommandFactory, Parser};
use gridproof::{Better, Cli, JobRecord, Lab, begin, ended, exit_code};
use lab::cli::Ending;
use lab::{interrupt, terminal};
use numpy::{Element, PyArray1};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Commands print, and one at a time can be read.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Interval at which a running command looks for Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(50);

/// Runs a command and returns `(done, text, notes)`: false if a check found a difference (exit code 1), what the command
/// line prints, and its remarks.
///
/// `policies` are `(name, make)`, `metrics` `(name, label, smaller_is_better, value)`; `make` returns a policy, `value` a number
/// from columns.
///
/// # Errors
///
/// `ValueError` for bad usage or input, `OSError` if reading or writing fails, `KeyboardInterrupt`, or the policy's own exception.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    args: Vec<String>,
    policies: Vec<(String, Py<PyAny>)>,
    metrics: Vec<(String, String, bool, Py<PyAny>)>,
) -> PyResult<(bool, String, Vec<String>)> {
    let failure = Failure::default();
    let mut lab = Lab::standard().called("gridproof");
    for (name, make) in policies {
        let failure = failure.clone();
        lab = lab.policy(&name, "a policy in Python", move || Box::new(PythonPolicy::make(&make, &failure)));
    }
    for (name, label, is_smaller_better, value) in metrics {
        let better = if is_smaller_better { Better::Smaller } else { Better::Larger };
        let failure = failure.clone();
        lab = lab.metric(&name, &label, better, move |jobs| {
            let found = Python::attach(|py| value.call1(py, (columns(py, jobs)?,))?.extract(py));
            found.unwrap_or_else(|error| failure.stop(error))
        });
    }
    let cli = Cli::try_parse_from(std::iter::once("gridproof".to_owned()).chain(args))
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let work = || {
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        interrupt::request(false);
        let mut program = Cli::command();
        terminal::captured(|| panic::catch_unwind(AssertUnwindSafe(|| lab.run(cli.command, &cli.common, &mut program))))
    };
    let (outcome, interrupted) = py.detach(|| watched(work, &failure));
    let (result, text, notes) = outcome;
    interrupted?;
    match result {
        Ok(Ok(ending)) => Ok((ending == Ending::Done, text, notes)),
        Ok(Err(error)) => Err(failure.take().unwrap_or_else(|| raised(&error))),
        Err(payload) => Err(failure.take().unwrap_or_else(|| PyRuntimeError::new_err(words(&*payload)))),
    }
}

/// Runs `work` in a thread, while this one looks for signals. Ctrl-C requests the end of the command, and is returned.
fn watched<T: Send>(work: impl FnOnce() -> T + Send, failure: &Failure) -> (T, PyResult<()>) {
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        let worker = scope.spawn(move || {
            let result = work();
            drop(done);
            result
        });
        let mut interrupted = Ok(());
        while is_done.recv_timeout(SIGNALS) == Err(RecvTimeoutError::Timeout) {
            Python::attach(|py| {
                if let Err(error) = py.check_signals() {
                    interrupt::request(true);
                    interrupted = failure.interrupt(py).and(Err(error));
                }
            });
        }
        let result = worker.join().unwrap_or_else(|payload| panic::resume_unwind(payload));
        (result, interrupted)
    })
}

/// The command line as the process itself: prints, and returns the exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, args: Vec<String>) -> u8 {
    let Cli { command, common } = match Cli::try_parse_from(std::iter::once("gridproof".to_owned()).chain(args)) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let result = py.detach(|| {
        let lab = Lab::standard().called("gridproof");
        begin(&common).and_then(|()| lab.run(command, &common, &mut lab.explained(Cli::command())))
    });
    let code = match &result {
        Ok(Ending::Done) => 0,
        Ok(Ending::Differs) => 1,
        Err(error) => exit_code(error),
    };
    ended(result);
    code
}

/// The exception for an error of a command.
fn raised(error: &anyhow::Error) -> PyErr {
    let words = format!("{error:#}");
    match exit_code(error) {
        130 => PyKeyboardInterrupt::new_err(words),
        3 => PyOSError::new_err(words),
        _ => PyValueError::new_err(words),
    }
}

fn words(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
    if payload.is::<Stopped>() { "stopped".to_owned() } else { text.unwrap_or("a bug: panic without words").to_owned() }
}

/// The records as arrays: times in seconds (`f64`), ids and processors (`i64`), −1 for an unknown user.
fn columns<'py>(py: Python<'py>, jobs: &[JobRecord]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("submit", column(py, jobs, |one| one.job.submit.as_secs_f64()))?;
    all.set_item("start", column(py, jobs, |one| one.start.as_secs_f64()))?;
    all.set_item("finish", column(py, jobs, |one| one.finish.as_secs_f64()))?;
    all.set_item("processors", column(py, jobs, |one| i64::from(one.processors)))?;
    all.set_item("user", column(py, jobs, |one| one.job.request.user.map_or(-1, i64::from)))?;
    Ok(all)
}

fn column<'py, T: Element>(py: Python<'py>, jobs: &[JobRecord], value: fn(&JobRecord) -> T) -> Bound<'py, PyArray1<T>> {
    PyArray1::from_iter(py, jobs.iter().map(value))
}
