//! Decisions of slurmctld on whole nodes.
//!
//! The crate contains the three loops of Slurm's controller and their timing, the queue, the main pass, the backfill
//! pass with its table of planned use, the choice of whole nodes, and multifactor priority. [`follow()`] compares its
//! decisions with those of a recorded `slurmctld.log`, pass by pass.
//!
//! `SPEC 5.4` and the like in comments name sections of the specification that `docs/slurm.md` summarizes.

mod cluster;
mod controller;
pub mod error;
mod follow;
mod site;
mod slurmctld;

pub use controller::{By, Why};
pub use error::FollowError;
pub use follow::log::version_of;
pub use follow::{Comparison, Difference, follow};
pub use site::sbatch::read_csv;
pub use site::version::{UnknownVersion, Version};
pub use site::{Site, accounts, conf, workload};
pub use slurmctld::{EndState, Ended, Phases, Report, Slurmctld, Terms, simulate};

#[cfg(test)]
#[path = "../tests/unit/whole.rs"]
mod tests;
