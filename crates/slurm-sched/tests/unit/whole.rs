//! Tests of the crate against recordings of a running slurmctld, and of its parts.

mod fair_share;
mod limits;
mod priorities;
mod readers;
mod recordings;
mod simulation;

use crate::site::accounts::Accounts;
use crate::site::conf::Conf;
use crate::site::workload::SubmittedJob;
use crate::{Site, Version};

/// Reads jobs of a workload.
fn read_csv(text: &str) -> Vec<SubmittedJob> {
    crate::read_csv("jobs.csv", text).unwrap_or_else(|faults| panic!("{faults}"))
}

/// Returns the site of a slurm.conf and a dump of accounts.
fn site(conf: &str, accounts: Option<&str>, version: Version) -> Site {
    let conf = Conf::read("slurm.conf", conf, version, &[]).unwrap_or_else(|faults| panic!("{faults}"));
    let accounts = accounts.map_or(Ok(Accounts::default()), |text| Accounts::read("cluster.cfg", text));
    Site { conf, accounts: accounts.unwrap_or_else(|faults| panic!("{faults}")), version }
}
