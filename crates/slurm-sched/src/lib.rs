//! Decisions of slurmctld on whole nodes.
//!
//! The crate contains the three loops of Slurm's controller and their timing, the queue, the main pass, the backfill
//! pass with its table of planned use, the choice of whole nodes, and multifactor priority. [`follow()`] compares its
//! decisions with those of a recorded `slurmctld.log`, pass by pass.
//!
//! `SPEC 5.4` and the like in comments name sections of the specification that `docs/slurm.md` summarizes.

pub mod accounts;
pub mod conf;
pub mod error;
mod hostlist;
mod limit_kinds;
mod limits;
mod priority;
pub mod workload;

mod backfill;
mod cluster;
mod controller;
mod follow;
mod log;
mod main_pass;
mod nodes;
mod queue;
mod sbatch;
mod select;
mod site;
mod slurmctld;
mod table;
mod text;
mod version;
mod will_run;

pub use controller::{By, Why};
pub use error::FollowError;
pub use follow::{Comparison, Difference, follow};
pub use log::version_of;
pub use sbatch::read_csv;
pub use site::Site;
pub use slurmctld::{EndState, Ended, Phases, Report, Slurmctld, Terms, simulate};
pub use version::{UnknownVersion, Version};

#[cfg(test)]
#[path = "../tests/unit/whole.rs"]
mod tests;
