//! Records of a log, as columns.

use numpy::PyArray1;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim_core::Span;
use std::path::PathBuf;
use workload::{SwfReader, SwfRecord};

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
    let failed = |error: workload::InputError| {
        let words = error.to_string();
        if path.is_file() { PyValueError::new_err(words) } else { PyOSError::new_err(words) }
    };
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
        .map_err(failed)?;
    let table = PyDict::new(py);
    for ((name, _), column) in COLUMNS.iter().zip(columns) {
        table.set_item(name, PyArray1::from_vec(py, column))?;
    }
    Ok((table, procs, nodes))
}
