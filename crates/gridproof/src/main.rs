//! Gridproof: grid-scheduling papers as programs that anyone can run, doubt and build on. `gridproof --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    gridproof::Lab::standard().main()
}
