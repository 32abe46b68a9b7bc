//! Policies and metrics that a call adds.

use crate::failure::Failure;
use crate::policy::PythonPolicy;
use metrics::{Better, OwnMetric};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use replay::simulate::{self, JobRecord, Own};
use sim_core::Span;
use std::sync::Arc;
use std::time::Duration;

/// Policies and metrics of a call.
pub(crate) fn added(
    policies: Vec<(String, Py<PyAny>)>,
    metrics: Vec<(String, String, bool, Py<PyAny>)>,
    patience: Option<Duration>,
) -> (simulate::Added, Failure) {
    let failure = Failure::within(patience);
    let policy = |(name, make): (String, Py<PyAny>)| {
        let (failure, title) = (failure.clone(), name.clone());
        Arc::new(Own::new(&name, "a policy in Python", move || PythonPolicy::make(&title, &make, &failure)))
    };
    let metric = |(name, label, is_smaller_better, value): (String, String, bool, Py<PyAny>)| {
        let better = if is_smaller_better { Better::Smaller } else { Better::Larger };
        let failure = failure.clone();
        OwnMetric::new(&name, &label, better, move |jobs| {
            let found = Python::attach(|py| value.call1(py, (columns(py, jobs)?,))?.extract(py));
            found.unwrap_or_else(|error| {
                failure.keep(error);
                f64::NAN
            })
        })
    };
    let (policies, metrics) = (policies.into_iter().map(policy).collect(), metrics.into_iter().map(metric).collect());
    (simulate::Added { policies, metrics }, failure)
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
