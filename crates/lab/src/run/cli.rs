//! Common parts of all commands of a laboratory's program: options, endings, output.

pub use crate::run::terminal::print;

use clap::Args;
use std::sync::OnceLock;

static PROGRAM: OnceLock<String> = OnceLock::new();

/// Sets the name of the program for the commands in reports and messages. The first call wins.
pub fn set_program(name: &str) {
    let _ = PROGRAM.set(name.to_owned());
}

/// Returns the name of the program: `cargo xtask`, `gridproof`, or another name.
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

/// Outcome of a command that ran to its end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Done,
    /// The command completed, but a verdict differs from the recorded one, or a check of `ci` failed.
    Differs,
}
