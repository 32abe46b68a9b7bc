//! Logs under scheduling policies, and logs themselves: the commands `simulate`, `explain`, `check`, `experiment`, `slurm` and `workload`.

pub mod check;
mod difference;
pub mod experiment;
pub mod explain;
mod ignored;
mod label;
mod options;
pub mod simulate;
pub mod slurm;
mod units;
pub mod workload;

pub use options::{Inside, LogOptions, MachineOptions, PassesName, WorldOptions};
