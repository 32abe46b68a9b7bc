//! Logs under scheduling policies, and logs themselves: the commands `simulate`, `explain`, `check`, `experiment`, `slurm` and `workload`.

mod asked;
pub mod check;
pub mod coverage;
pub mod experiment;
pub mod explain;
mod explanation;
mod given;
mod ignored;
mod label;
mod run_options;
pub mod simulate;
pub mod slurm;
mod units;
pub mod workload;
