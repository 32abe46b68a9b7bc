//! The laboratory: turns a paper into a program with verdicts.
//!
//! A [`paper::Paper`] names its design points, its [exhibits](exhibit::Exhibit) and its [claims](claim::Claim). The
//! laboratory runs the replications that these need, keeps them ([`store`](output::store)), estimates each
//! [quantity](quantity::Quantity) with an interval, judges the claims, and writes figures, data and a report ([`chart`],
//! `page`). It knows no paper by name. Modules that only other crates of the workspace call are hidden here.

pub mod chart;
mod measure;
pub mod paper;
mod report;
mod run;
pub mod scenario;
mod study;

#[doc(hidden)]
pub mod doubt;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod registry;

pub use measure::{claim, metric, quantity, table};
pub use report::{exhibit, page, shown, units};
pub use run::{cli, clock, control, interrupt, parallel, progress, terminal};
pub use sim_core::{answers, readings};
pub use study::{difference, observations, reproduce};
