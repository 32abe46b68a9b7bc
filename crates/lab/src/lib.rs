//! The laboratory: turns a paper into a program with verdicts.
//!
//! A [`paper::Paper`] names its design points, its [exhibits](exhibit::Exhibit) and its [claims](claim::Claim). The
//! laboratory runs the replications that these need, keeps them ([`store`]), estimates each
//! [quantity](quantity::Quantity) with an interval, judges the claims, and writes figures, data and a report ([`chart`],
//! [`page`]). It knows no paper by name: a [`registry::Entry`] may come from another program.

pub mod chart;
pub mod claim;
pub mod cli;
pub mod clock;
pub mod control;
pub mod doubt;
pub mod exhibit;
pub mod interrupt;
pub mod logs;
pub mod metric;
pub mod observations;
pub mod output;
pub mod page;
pub mod paper;
pub mod parallel;
pub mod progress;
pub mod provenance;
pub mod quantity;
pub mod registry;
pub mod reproduce;
pub mod scenario;
pub mod shown;
pub mod store;
pub mod table;
pub mod terminal;
pub mod toml_text;
pub mod verdict;

pub use sim_core::{answers, readings};

mod record;
mod study;
mod write;
