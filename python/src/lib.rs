//! Python interface: the functions under the command line, with policies and metrics written in Python.
//!
//! The parser of the command line converts keywords to options, so defaults, checks and numbers are those of the command line.

mod added;
mod command;
mod environment;
mod failure;
mod log;
mod policy;
mod simulation;

use pyo3::prelude::*;

#[pymodule]
mod _gridproof {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::command::{main, run};
    #[pymodule_export]
    use super::environment::{Environment, Environments, paired};
    #[pymodule_export]
    use super::log::{episode_jobs, read_log};
    #[pymodule_export]
    use super::policy::{Job, Queue, Running, View};
    #[pymodule_export]
    use super::simulation::{Simulation, simulate};

    /// Sets the program name and the provenance in reports.
    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        lab::cli::set_program("gridproof");
        lab::output::provenance::built_from(gridproof::GIT_REVISION, gridproof::SOURCES);
        Ok(())
    }
}
