//! Logs under scheduling policies, and logs themselves: the commands `simulate` and `workload`.

pub mod cli;
pub mod experiment;
pub mod simulate;
pub mod workload;
