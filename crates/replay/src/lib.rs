//! Logs under scheduling policies, and logs themselves: the commands `simulate`, `explain`, `check`, `slurm` and `workload`.

pub mod check;
pub mod explain;
mod label;
mod options;
mod reasons;
pub mod simulate;
pub mod slurm;
pub mod workload;

pub use options::{Inside, LogOptions, MachineOptions, PassesName, WorldOptions};
#[doc(hidden)]
pub use options::{name_of, stem};
