//! Policies on a log, in memory.

use crate::added::added;
use crate::command::{parsed, raised, watched};
use gridproof::{Cli, Command};
use metrics::best::Standing;
use metrics::{Better, Metric};
use numpy::PyArray1;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use replay::simulate::{self as replayed, Label, Row};
use sim_core::Time;
use std::path::PathBuf;
use std::time::Duration;

/// Policies on a log: jobs, metrics and differences.
#[pyclass(frozen)]
pub(crate) struct Simulation(replayed::Simulation, Vec<(String, usize)>);

/// Replays a log under policies; arguments as in [`run`](crate::command::run), those of the command `simulate`. A policy may take
/// `patience` seconds for an answer. `progress` is called with the number of jobs that have left the system.
///
/// # Errors
///
/// Those of [`run`](crate::command::run), and `TimeoutError`.
#[pyfunction]
#[pyo3(signature = (args, policies, metrics, patience = None, progress = None))]
pub(crate) fn simulate(
    py: Python<'_>,
    args: Vec<String>,
    policies: Vec<(String, Py<PyAny>)>,
    metrics: Vec<(String, String, bool, Py<PyAny>)>,
    patience: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Simulation> {
    let Cli { command: Command::Simulate(options), common } = parsed(args)? else {
        return Err(PyValueError::new_err("not the command simulate"));
    };
    let patience = patience.map(Duration::try_from_secs_f64).transpose();
    let patience = patience.map_err(|error| PyValueError::new_err(format!("policy_timeout: {error}")))?;
    let (added, failure) = added(policies, metrics, patience);
    let jobs = || failure.control.progress().0;
    let tick = |py: Python<'_>| progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (jobs(),)).map(drop));
    let simulation = watched(py, || replayed::simulate(&options, &added), &failure, common.threads, tick)?;
    Ok(Simulation(simulation, failure.take_waiting()))
}

#[pymethods]
impl Simulation {
    /// Names of the columns of `jobs.csv`.
    #[classattr]
    #[pyo3(name = "COLUMNS")]
    fn columns() -> Vec<&'static str> {
        Row::HEADER.split(',').collect()
    }

    /// Names of the policies; other methods take positions among them.
    #[getter]
    fn policies(&self) -> Vec<&str> {
        self.0.policies()
    }

    /// Position of the policy that others are compared with.
    #[getter]
    fn baseline(&self) -> usize {
        self.0.baseline()
    }

    /// Options without effect, and repaired or ignored records.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }

    /// Policies in Python that left jobs waiting at the end, and the numbers of these. They are not among the jobs of the run.
    #[getter]
    fn waiting(&self) -> Vec<(String, usize)> {
        self.1.clone()
    }

    /// Metrics of a policy by name; `None` for undefined values.
    fn metrics<'py>(&self, py: Python<'py>, policy: usize) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (metric, value) in self.0.metrics(policy) {
            all.set_item(metric.name(), plain(py, metric, *value)?)?;
        }
        Ok(all)
    }

    /// Direction of a metric that [`Self::metrics`] lists.
    fn smaller_is_better(&self, metric: &str) -> bool {
        let mut metrics = self.0.metrics(0).iter();
        metrics.find(|(one, _)| one.name() == metric).is_none_or(|(one, _)| one.better() == Better::Smaller)
    }

    /// A column of `jobs.csv`, in order of submission: an array of numbers, NaN if missing, or a list.
    fn column<'py>(&self, py: Python<'py>, policy: usize, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let rows = py.detach(|| self.0.jobs(policy));
        let seconds: fn(&Row<'_>) -> Option<Time> = match name {
            "job" => return names(py, rows.map(|row| Some(row.job))),
            "user" => return names(py, rows.map(|row| row.user)),
            "processors" => return Ok(PyArray1::from_iter(py, rows.map(|row| i64::from(row.processors))).into_any()),
            // One object for all equal words.
            "site" => return words(py, rows.map(|row| PyString::intern(py, row.site.unwrap_or_default()))),
            "state" => return words(py, rows.map(|row| PyString::intern(py, row.state))),
            "allocated" => {
                let listed = |row: Row<'_>| row.allocated.map_or_else(String::new, |blocks| blocks.to_string());
                return words(py, rows.map(|row| PyString::new(py, &listed(row))));
            }
            "submit" => |row| Some(row.submit),
            "start" => |row| row.start,
            "finish" => |row| row.finish,
            "requested" => |row| row.requested.map(|span| Time::ZERO + span),
            "run" => |row| Some(Time::ZERO + row.run),
            "deadline" => |row| row.deadline,
            _ => return Err(PyKeyError::new_err(name.to_owned())),
        };
        Ok(PyArray1::from_iter(py, rows.map(|row| seconds(&row).map_or(f64::NAN, as_f64))).into_any())
    }

    /// Rows of `differences.csv`.
    fn differences<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let row = |one: replayed::Difference<'_>| {
            let row = PyDict::new(py);
            row.set_item("metric", one.metric.name())?;
            row.set_item("policy", one.policy)?;
            row.set_item("baseline", one.baseline)?;
            row.set_item("mean", one.interval.mean)?;
            row.set_item("ci_low", one.interval.low)?;
            row.set_item("ci_high", one.interval.high)?;
            row.set_item("blocks", one.interval.blocks)?;
            row.set_item("correlation", one.interval.correlation)?;
            row.set_item("refused", one.interval.refused.map(|why| why.to_string()))?;
            Ok(row)
        };
        py.detach(|| self.0.differences()).into_iter().map(row).collect()
    }

    /// Rows of `best.csv`; `may_be_best` is `None` if unknown.
    fn best<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let row = |one: replayed::Ranked<'_>| {
            let may_be_best = match one.standing {
                Standing::Best | Standing::MayBeBest => Some(true),
                Standing::Worse => Some(false),
                Standing::Unknown => None,
            };
            let row = PyDict::new(py);
            row.set_item("metric", one.metric.name())?;
            row.set_item("policy", one.policy)?;
            row.set_item("mean", one.mean)?;
            row.set_item("may_be_best", may_be_best)?;
            Ok(row)
        };
        py.detach(|| self.0.ranks()).into_iter().map(row).collect()
    }

    /// Figures of the page by id, as SVG.
    fn figures(&self, py: Python<'_>) -> Vec<(String, String)> {
        py.detach(|| self.0.figures())
    }

    /// Writes the jobs of a policy as a table, with all digits of their times.
    fn write_jobs(&self, py: Python<'_>, policy: usize, file: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.write_jobs(policy, &file)).map_err(|error| raised(&error))
    }

    /// Writes the files of the command.
    fn write(&self, py: Python<'_>, out: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.write(&out)).map_err(|error| raised(&error))
    }
}

/// Converts a value to a flag, a count or a number.
fn plain<'py>(py: Python<'py>, metric: &Metric, value: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        None => py.None().into_bound(py),
        Some(value) if metric.is_flag() => (value > 0.5).into_pyobject(py)?.to_owned().into_any(),
        Some(value) if metric.counts_jobs() => (value as u64).into_pyobject(py)?.into_any(),
        Some(value) => value.into_pyobject(py)?.into_any(),
    })
}

fn words<'py>(
    py: Python<'py>,
    words: impl ExactSizeIterator<Item = Bound<'py, PyString>>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyList::new(py, words)?.into_any())
}

/// Returns the numbers of the log, or a list of names and numbers if the log has names.
fn names<'py>(py: Python<'py>, all: impl Iterator<Item = Option<Label>>) -> PyResult<Bound<'py, PyAny>> {
    let all: Vec<Option<Label>> = all.collect();
    if all.iter().flatten().any(|one| matches!(one, Label::Name(_))) {
        let words = all.iter().map(|one| one.as_ref().map(Label::to_string));
        return Ok(PyList::new(py, words)?.into_any());
    }
    let number = |one| if let Some(Label::Number(number)) = one { Some(number) } else { None };
    let numbers: Vec<Option<u64>> = all.into_iter().map(number).collect();
    if numbers.iter().all(Option::is_some) {
        return Ok(PyArray1::from_iter(py, numbers.iter().flatten().map(|number| *number as i64)).into_any());
    }
    let float = |one: &Option<u64>| one.map_or(f64::NAN, |number| number as f64);
    Ok(PyArray1::from_iter(py, numbers.iter().map(float)).into_any())
}

/// Returns the number nearest to the digits of `jobs.csv`, by way of those digits: a quotient of nanoseconds over years would be
/// rounded twice.
fn as_f64(time: Time) -> f64 {
    match time.as_nanos() % 1_000_000_000 {
        0 => (time.as_nanos() / 1_000_000_000) as f64,
        _ => time.to_string().parse().expect("a time is written as a number"),
    }
}
