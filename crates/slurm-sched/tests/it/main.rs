//! Tests against recordings of a running slurmctld, and of the parts by themselves.

mod fair_share;
mod limits;
mod priorities;
mod readers;
mod recordings;
mod simulation;
