//! What every command of a laboratory's program has in common: options, how it ends, how it prints.

pub use crate::terminal::print;

use clap::Args;
use std::sync::OnceLock;

static PROGRAM: OnceLock<String> = OnceLock::new();

/// Says how the program is called, for the commands that it writes into reports and messages. The first to say so is right.
pub fn set_program(name: &str) {
    let _ = PROGRAM.set(name.to_owned());
}

/// How the program is called: `cargo xtask`, `gridproof`, or another name.
pub fn program() -> &'static str {
    PROGRAM.get().map_or("gridproof", String::as_str)
}

/// Options that every command takes.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// Threads to use; all cores if not given. Results do not depend on it.
    #[arg(long, visible_alias = "jobs", global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Print no progress, only the result.
    #[arg(long, global = true)]
    pub quiet: bool,
    /// The result as JSON on standard output, and nothing else there.
    #[arg(long, global = true)]
    pub json: bool,
}

/// How a command that ran to its end may end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It has done what it was asked for.
    Done,
    /// Done, but a verdict differs from the recorded one, or a check of `ci` failed.
    Differs,
}
