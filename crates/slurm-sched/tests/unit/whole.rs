//! Tests of the crate against recordings of a running slurmctld, and of its parts.

mod fair_share;
mod limits;
mod priorities;
mod readers;
mod recordings;
mod simulation;

use crate::workload::SubmittedJob;

/// Reads jobs of a workload.
fn read_csv(text: &str) -> Vec<SubmittedJob> {
    crate::read_csv("jobs.csv", text).unwrap_or_else(|faults| panic!("{faults}"))
}
