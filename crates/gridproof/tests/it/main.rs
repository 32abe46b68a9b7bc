//! The program, tested from outside.

mod exec;
mod help;
mod installed;
mod metric;
