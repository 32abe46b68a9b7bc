//! Tables that commands write, as columns.

use numpy::PyArray1;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;

/// Reads a CSV file. A column of numbers is an array, an empty field in it not a number; any other column is a list of strings.
///
/// # Errors
///
/// `OSError` if the file cannot be read, `ValueError` if it is no table.
#[pyfunction]
pub(crate) fn read_table(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let failed = |error: csv::Error| {
        let words = format!("{}: {error}", path.display());
        if error.is_io_error() { PyOSError::new_err(words) } else { PyValueError::new_err(words) }
    };
    let mut reader = csv::Reader::from_path(&path).map_err(failed)?;
    let heading = reader.headers().map_err(failed)?.clone();
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); heading.len()];
    for record in reader.records() {
        let record = record.map_err(failed)?;
        columns.iter_mut().zip(&record).for_each(|(column, field)| column.push(field.to_owned()));
    }
    let table = PyDict::new(py);
    for (name, column) in heading.iter().zip(columns) {
        let number = |field: &String| if field.is_empty() { Some(f64::NAN) } else { field.parse().ok() };
        let numbers: Option<Vec<f64>> = column.iter().map(number).collect();
        match numbers {
            Some(numbers) => table.set_item(name, PyArray1::from_vec(py, numbers))?,
            None => table.set_item(name, PyList::new(py, column)?)?,
        }
    }
    Ok(table)
}
