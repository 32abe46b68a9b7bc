//! Tables that commands write, as columns.

use csv::StringRecord;
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
    let text = std::fs::read(&path).map_err(|error| PyOSError::new_err(format!("{}: {error}", path.display())))?;
    let (heading, columns) = py.detach(|| columns(&text)).map_err(failed)?;
    let table = PyDict::new(py);
    for (name, column) in heading.iter().zip(columns) {
        match column {
            Column::Numbers(numbers) => table.set_item(name, PyArray1::from_vec(py, numbers))?,
            Column::Words(words) => table.set_item(name, PyList::new(py, words)?)?,
        }
    }
    Ok(table)
}

enum Column {
    Numbers(Vec<f64>),
    Words(Vec<String>),
}

/// Heading and columns of a table. The first pass finds out which columns hold numbers alone.
fn columns(text: &[u8]) -> Result<(StringRecord, Vec<Column>), csv::Error> {
    let number = |field: &str| if field.is_empty() { Some(f64::NAN) } else { field.parse().ok() };
    let mut reader = csv::Reader::from_reader(text);
    let heading = reader.headers()?.clone();
    let (mut are_numbers, mut record) = (vec![true; heading.len()], StringRecord::new());
    while reader.read_record(&mut record)? {
        for (is_number, field) in are_numbers.iter_mut().zip(&record) {
            *is_number = *is_number && number(field).is_some();
        }
    }
    let empty = |is_number| if is_number { Column::Numbers(Vec::new()) } else { Column::Words(Vec::new()) };
    let mut columns: Vec<Column> = are_numbers.into_iter().map(empty).collect();
    let mut reader = csv::Reader::from_reader(text);
    while reader.read_record(&mut record)? {
        for (column, field) in columns.iter_mut().zip(&record) {
            match column {
                Column::Numbers(numbers) => numbers.extend(number(field)),
                Column::Words(words) => words.push(field.to_owned()),
            }
        }
    }
    Ok((heading, columns))
}
