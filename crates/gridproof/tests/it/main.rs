//! The program from outside.

mod exec;
mod installed;
mod metric;
mod short_help;
