//! Runs one hot path, whose instructions `.ci/instructions` counts.
//!
//! Time depends on the load of the computer; instructions do not. Only the function [`measured`] counts, without the start of the
//! program and the preparation of inputs.

mod inputs;
mod paths;

use paths::{PATHS, Work};
use std::process::ExitCode;

/// Runs `work`. Only the instructions of this function, and of the functions that it calls, are counted.
#[inline(never)]
fn measured(work: Work) -> u64 {
    std::hint::black_box(work())
}

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let Some((_, work)) = PATHS.iter().find(|(path, _)| *path == wanted) else {
        eprintln!("usage: hot-paths PATH, one of {}", PATHS.map(|(path, _)| path).join(", "));
        return ExitCode::from(2);
    };
    println!("{}", measured(work()));
    ExitCode::SUCCESS
}
