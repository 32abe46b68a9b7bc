//! The policies, one per file.

mod easy;
mod fcfs;

pub use easy::EasyBackfill;
pub use fcfs::Fcfs;
