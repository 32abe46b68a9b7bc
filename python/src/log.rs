//! Records of a log, as columns and as jobs of environments.

use gap_schedule::episode::EpisodeJob;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim_core::{Span, Time};
use std::path::{Path, PathBuf};
use workload::{InputError, Intake, Options, SwfReader, SwfRecord};

/// A column: its name, and the field of a record, −1 if unknown.
type Column = (&'static str, fn(&SwfRecord) -> f64);

const COLUMNS: [Column; 8] = [
    ("job", |record| record.number as f64),
    ("submit", |record| seconds(record.submit)),
    ("wait", |record| seconds(record.wait)),
    ("run", |record| seconds(record.runtime)),
    ("processors", |record| number(record.allocated_processors)),
    ("requested_processors", |record| number(record.requested_processors)),
    ("requested", |record| seconds(record.requested_time)),
    ("user", |record| number(record.user)),
];

fn seconds(span: Option<Span>) -> f64 {
    span.map_or(-1.0, Span::as_secs_f64)
}

fn number(value: Option<u32>) -> f64 {
    value.map_or(-1.0, f64::from)
}

/// Reads a log in the Standard Workload Format: its columns, and `MaxProcs` and `MaxNodes` of its header.
///
/// # Errors
///
/// `OSError` if the file cannot be read, `ValueError` with file, line and field if it is damaged.
#[pyfunction]
pub(crate) fn read_log(py: Python<'_>, path: PathBuf) -> PyResult<(Bound<'_, PyDict>, Option<u32>, Option<u32>)> {
    let (columns, procs, nodes) = py
        .detach(|| {
            let mut reader = SwfReader::open(&path)?;
            let mut columns: Vec<Vec<f64>> = vec![Vec::new(); COLUMNS.len()];
            for record in reader.by_ref() {
                let record = record?;
                columns.iter_mut().zip(COLUMNS).for_each(|(column, (_, field))| column.push(field(&record)));
            }
            Ok((columns, reader.header().max_procs, reader.header().max_nodes))
        })
        .map_err(|error| failed(&path, &error))?;
    let table = PyDict::new(py);
    for ((name, _), column) in COLUMNS.iter().zip(columns) {
        table.set_item(name, PyArray1::from_vec(py, column))?;
    }
    Ok((table, procs, nodes))
}

/// Returns the jobs of a log for environments: rows `submit, run, requested, processors, user` of whole seconds and numbers, −1 for
/// unknown. They follow the rules of `simulate`, without jobs wider than every machine of `procs`, or those of RLScheduler on `nodes`.
///
/// # Errors
///
/// Those of [`read_log`].
#[pyfunction]
#[pyo3(signature = (path, procs, rlscheduler_nodes = None))]
pub(crate) fn episode_jobs(
    py: Python<'_>,
    path: PathBuf,
    procs: u32,
    rlscheduler_nodes: Option<u32>,
) -> PyResult<Bound<'_, PyArray2<i64>>> {
    let jobs = py.detach(|| match rlscheduler_nodes {
        Some(nodes) => papers::rlscheduler_jobs(SwfReader::open(&path)?, procs / nodes.clamp(1, procs.max(1))),
        None => simulated(&path, procs),
    });
    let row = |job: &EpisodeJob| [job.submit, job.run, job.request, job.processors.into(), job.user].to_vec();
    let rows: Vec<Vec<i64>> = jobs.map_err(|error| failed(&path, &error))?.iter().map(row).collect();
    if rows.is_empty() {
        return Err(PyValueError::new_err(format!("{}: no job ran", path.display())));
    }
    Ok(PyArray2::from_vec2(py, &rows)?)
}

fn simulated(path: &Path, procs: u32) -> Result<Vec<EpisodeJob>, InputError> {
    let mut intake = Intake::new(SwfReader::open(path)?, Options { capacity: Some(procs), ..Options::default() });
    let whole = |span: Span| i64::try_from(span.as_nanos() / 1_000_000_000).unwrap_or(i64::MAX);
    let mut jobs = Vec::new();
    for one in intake.by_ref() {
        let one = one?;
        let (submit, request) = (one.job.submit.since(Time::ZERO), one.job.request);
        if request.processors <= procs {
            jobs.push(EpisodeJob {
                submit: whole(submit),
                run: whole(one.job.runtime),
                request: one.record.requested_time.map_or(-1, whole),
                processors: request.processors,
                user: request.user.map_or(-1, i64::from),
            });
        }
    }
    // Rules may depend on the time in the log's own clock.
    let origin = intake.origin().map_or(0, whole);
    jobs.iter_mut().for_each(|job| job.submit += origin);
    Ok(jobs)
}

fn failed(path: &Path, error: &InputError) -> PyErr {
    let words = error.to_string();
    if path.is_file() { PyValueError::new_err(words) } else { PyOSError::new_err(words) }
}
