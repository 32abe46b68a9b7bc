//! Python's door: each command of the command line as a function in this process, with policies and metrics written in Python.
//!
//! The package `gridproof` turns keywords into options, and what a command writes into arrays and tables; so its defaults, its
//! checks and its numbers are those of the command line.

mod command;
mod environment;
mod log;
mod policy;
mod schedule;

use pyo3::prelude::*;

#[pymodule]
mod _gridproof {
    #[pymodule_export]
    use super::command::{main, run};
    #[pymodule_export]
    use super::environment::{Environment, Environments, paired};
    #[pymodule_export]
    use super::log::read_log;
    #[pymodule_export]
    use super::policy::{Job, Queue, Running, View};
    #[pymodule_export]
    use super::schedule::read_table;
}
