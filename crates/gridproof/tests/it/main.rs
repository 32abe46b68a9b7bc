//! The program, tested from outside.

mod exec;
mod installed;
mod metric;
mod short_help;
