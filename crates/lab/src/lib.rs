//! The laboratory: turns a paper into a program with verdicts.
//!
//! A [`paper::Paper`] names its design points, its [exhibits](exhibit::Exhibit) and its [claims](claim::Claim). The
//! laboratory runs the replications that these need, keeps them ([`store`]), estimates each
//! [quantity](quantity::Quantity) with an interval, judges the claims, and writes figures, data and a report ([`chart`],
//! `page`). It knows no paper by name: a [`registry::Entry`] may come from another program.

pub mod chart;
pub mod claim;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod clock;
pub mod control;
#[doc(hidden)]
pub mod difference;
#[doc(hidden)]
pub mod doubt;
pub mod exhibit;
#[doc(hidden)]
pub mod interrupt;
pub mod logs;
pub mod metric;
pub mod observations;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod page;
pub mod paper;
pub mod parallel;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod provenance;
pub mod quantity;
#[doc(hidden)]
pub mod registry;
#[doc(hidden)]
pub mod reproduce;
pub mod scenario;
pub mod shown;
#[doc(hidden)]
pub mod store;
pub mod table;
#[doc(hidden)]
pub mod terminal;
#[doc(hidden)]
pub mod toml_text;
#[doc(hidden)]
pub mod units;

pub use sim_core::{answers, readings};

mod study;
