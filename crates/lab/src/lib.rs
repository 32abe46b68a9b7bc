//! The laboratory: turns a paper into a program with verdicts.
//!
//! A [`paper::Paper`] names its design points, its [exhibits](exhibit::Exhibit) and its [claims](claim::Claim). The
//! laboratory runs the replications that these need, keeps them ([`store`]), estimates each
//! [quantity](quantity::Quantity) with an interval, judges the claims, and writes figures, data and a report ([`chart`],
//! `page`). It knows no paper by name. Modules that only other crates of the workspace call are hidden here.

pub mod chart;
pub mod claim;
pub mod control;
pub mod exhibit;
pub mod logs;
pub mod metric;
pub mod observations;
pub mod paper;
pub mod parallel;
pub mod quantity;
pub mod scenario;
pub mod shown;
mod study;
pub mod table;

#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod clock;
#[doc(hidden)]
pub mod difference;
#[doc(hidden)]
pub mod doubt;
#[doc(hidden)]
pub mod interrupt;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod page;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod provenance;
#[doc(hidden)]
pub mod registry;
#[doc(hidden)]
pub mod reproduce;
#[doc(hidden)]
pub mod store;
#[doc(hidden)]
pub mod terminal;
#[doc(hidden)]
pub mod toml_text;
#[doc(hidden)]
pub mod units;

pub use sim_core::{answers, readings};
