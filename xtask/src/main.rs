//! The laboratory's program with the workspace's chores: reproduce papers, simulate logs, bench, check. `cargo xtask --help`.

mod bench;
mod ci;
mod elsewhere;
mod mutants;
mod skips;

use clap::{CommandFactory, Parser, Subcommand};
use gridproof::{EXIT_CODES, Lab};
use lab::cli::Common;
use std::path::Path;
use std::process::ExitCode;

/// Gridproof: grid-scheduling papers as programs that anyone can run, doubt and build on.
#[derive(Debug, Parser)]
#[command(
    name = "cargo-xtask",
    bin_name = "cargo xtask",
    version,
    about,
    max_term_width = 100,
    after_help = EXIT_CODES
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Lab(gridproof::Command),
    /// Run the benchmarks and print their ratios.
    Bench(bench::Bench),
    /// Measure how many intervals from one log contain the true difference.
    Coverage(replay::coverage::Coverage),
    /// The same commands on another target: are the results the same bytes?
    Elsewhere(elsewhere::Elsewhere),
    /// Feed random files and jobs to every reader and every policy.
    Fuzz(fuzz::Fuzz),
    /// Break the code on purpose, one small change at a time: do the tests notice?
    Mutants(mutants::Mutants),
    /// Which tests were skipped since the list was cleared, and why.
    Skips(skips::Skips),
    /// What CI runs: format, lints, tests, documentation, every paper and every doubt with --quick.
    Ci,
}

fn main() -> ExitCode {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies inside the workspace");
    let lab = Lab::standard().called("cargo xtask").in_workspace(workspace);
    let mut program = lab.explained(Cli::command());
    let Cli { command, common } = gridproof::parsed(&mut program.clone());
    gridproof::ended(gridproof::begin(&common).and_then(|()| match command {
        Command::Lab(command) => lab.run(command, &common, &mut program),
        Command::Bench(options) => bench::bench(&options, &common),
        Command::Coverage(options) => replay::coverage::coverage(&options, &common),
        Command::Elsewhere(options) => elsewhere::elsewhere(&options, &common),
        Command::Fuzz(options) => fuzz::fuzz(&options, &common),
        Command::Mutants(options) => mutants::mutants(&options, &common),
        Command::Skips(options) => skips::skips(&options, &common),
        Command::Ci => ci::ci(lab.papers()),
    }))
}
