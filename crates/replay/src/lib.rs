//! Logs under scheduling policies, and logs themselves: the commands `simulate`, `explain`, `check`, `experiment` and `workload`.

pub mod check;
pub mod cli;
pub mod experiment;
pub mod explain;
pub mod simulate;
pub mod workload;
