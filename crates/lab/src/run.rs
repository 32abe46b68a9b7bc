//! A command at work: common options, threads, progress, output for people, and its end by a signal or by the program that calls it.

#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod clock;
pub mod control;
#[doc(hidden)]
pub mod interrupt;
pub mod parallel;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod terminal;
