//! Gridproof: grid-scheduling papers as programs to run, check and build on. `gridproof --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    gridproof::Lab::standard().main()
}
