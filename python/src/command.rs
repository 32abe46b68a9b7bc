//! Commands of the command line in this process.

use crate::added::added;
use crate::failure::Failure;
use clap::{CommandFactory, Parser};
use gridproof::{Cli, Command, Lab, begin, ended, exit_code};
use lab::cli::Ending;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use std::panic;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Interval at which a running command checks for Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(50);

/// Runs a command and returns `(done, text, notes)`: false if a check found a difference (exit code 1), the result, as JSON from
/// `check` and `explain`, and the remarks.
///
/// `policies` are `(name, make)`, `metrics` `(name, label, smaller_is_better, value)`; `make` returns a policy, `value` a number
/// from columns. `progress` is called with the completed and total units of work of the present stage.
///
/// # Errors
///
/// `ValueError` for bad usage or input, `OSError` if reading or writing fails, `KeyboardInterrupt`, or the policy's own exception.
#[pyfunction]
#[pyo3(signature = (args, policies, metrics, progress = None))]
pub(crate) fn run(
    py: Python<'_>,
    args: Vec<String>,
    policies: Vec<(String, Py<PyAny>)>,
    metrics: Vec<(String, String, bool, Py<PyAny>)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(bool, String, Vec<String>)> {
    let Cli { command, common } = parsed(args)?;
    let (added, failure) = added(policies, metrics, None);
    let control = &failure.control;
    let work = || match command {
        Command::Check(options) => {
            let found = replay::check::check(&options, &added.policies)?;
            let text = with_words(found.as_json(), found.in_words(false));
            Ok((found.is_clean(), text, found.notes))
        }
        Command::Explain(options) => {
            let found = replay::explain::explain(&options, &added.policies)?;
            let text = with_words(found.as_json(), found.in_words());
            Ok((true, text, [found.without_effect, found.notes].concat()))
        }
        command => {
            let ending = match command {
                Command::Experiment(options) => experiment::experiment(&options, &added, &common),
                command => Lab::standard().run(command, &common, &Cli::command()),
            };
            let (text, notes) = control.output();
            Ok((ending? == Ending::Done, text, notes))
        }
    };
    let tick =
        |py: Python<'_>| progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, control.progress()).map(drop));
    watched(py, work, &failure, common.threads, tick)
}

/// Returns a result as JSON, with its words as `text`.
fn with_words(mut result: serde_json::Value, words: String) -> String {
    result["text"] = words.into();
    result.to_string()
}

/// Parses a command line.
pub(crate) fn parsed(args: Vec<String>) -> PyResult<Cli> {
    let line = std::iter::once("gridproof".to_owned()).chain(args);
    Cli::try_parse_from(line).map_err(|error| {
        let mut words = error.to_string();
        if error.use_stderr() {
            // Usage and the hint about `--` are for a shell.
            let end =
                ["\n\n  tip: to pass", "\n\nUsage:", "\n\nFor more"].iter().filter_map(|part| words.find(part)).min();
            words.truncate(end.unwrap_or(words.len()));
        }
        PyValueError::new_err(words.strip_prefix("error: ").unwrap_or(&words).to_owned())
    })
}

/// Runs `work` in a thread without the GIL, while this one checks for signals and for policies that take too long. Ctrl-C ends the work,
/// and is returned. `threads` are all cores if not given. `tick` is called in between.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
    failure: &Failure,
    threads: Option<u16>,
    tick: impl Fn(Python<'_>) -> PyResult<()> + Sync,
) -> PyResult<T> {
    let (ran, interrupted) = py.detach(|| {
        thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            let worker = scope.spawn(move || {
                let _done = done;
                let run = || failure.control.run(work);
                match threads {
                    Some(threads) => ThreadPoolBuilder::new().num_threads(threads.into()).build()?.install(run),
                    None => run(),
                }
            });
            let mut interrupted = Ok(());
            while is_done.recv_timeout(SIGNALS) == Err(RecvTimeoutError::Timeout) {
                Python::attach(|py| {
                    let looked = py.check_signals().and_then(|()| tick(py));
                    if let Err(error) = looked {
                        failure.control.stop();
                        interrupted = failure.interrupt(py).and(Err(error));
                    }
                    failure.end_overdue(py)
                })
                .unwrap_or_else(|error| interrupted = Err(error));
            }
            (worker.join(), interrupted)
        })
    });
    interrupted?;
    if let Some(error) = failure.take() {
        return Err(error);
    }
    match ran {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(raised(&error)),
        Err(panic) => panic::resume_unwind(panic),
    }
}

/// Runs the command line as the process itself: prints, and returns the exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, args: Vec<String>) -> u8 {
    let Cli { command, common } = match Cli::try_parse_from(std::iter::once("gridproof".to_owned()).chain(args)) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    ended(py.detach(|| {
        let lab = Lab::standard();
        begin(&common).and_then(|()| lab.run(command, &common, &lab.explained(Cli::command())))
    }))
}

/// Returns the exception for an error of a command.
pub(crate) fn raised(error: &anyhow::Error) -> PyErr {
    let words = format!("{error:#}");
    match exit_code(error) {
        130 => PyKeyboardInterrupt::new_err(words),
        3 => PyOSError::new_err(words),
        _ => PyValueError::new_err(words),
    }
}
