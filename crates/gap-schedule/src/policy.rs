//! The policies, one per file.

mod backfill;
mod conservative;
mod easy;
mod easy_rule;
mod fcfs;
mod flexible;
mod flexible_deep;
mod gap_filling;
mod gap_filling_readings;
mod gap_filling_score;
mod grid_easy;
mod grid_easy_scan;
mod grid_fcfs;
mod outlook;
mod readings;
mod reservations;
mod rooms;
mod scan;

pub use backfill::{Backfill, Depth};
pub use conservative::Conservative;
pub use easy::EasyBackfill;
pub use fcfs::Fcfs;
pub use flexible::{FlexibleBackfill, FlexibleConfig, Minext};
pub use flexible_deep::DeepFlexibleBackfill;
pub use gap_filling::GapFilling;
pub use gap_filling_readings::{Completion, Moves, Weight};
pub use grid_easy::GridEasy;
pub use grid_easy_scan::GridEasyScan;
pub use grid_fcfs::GridFcfs;
pub use readings::{BackfillReadings, BackfillRule, CompressOrder, Placement};
