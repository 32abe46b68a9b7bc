//! Formats of files: logs and machine files, with the rules under which a reader repairs a record.

pub mod convert;
pub mod file;
pub(crate) mod lines;
pub(crate) mod machines;
pub mod repair;
pub mod sacct;
pub mod swf;
