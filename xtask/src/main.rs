//! The program with the workspace's chores: reproduce papers, simulate logs, bench, check. `cargo xtask --help`.

mod bench;
mod tidy;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};
use gridproof::{EXIT_CODES, Lab};
use lab::cli::{Common, Ending};
use lab::scenario::workspace;
use std::process::ExitCode;

/// Gridproof: grid-scheduling papers as programs to run, check and build on.
#[derive(Debug, Parser)]
#[command(name = "cargo-xtask", bin_name = "cargo xtask", version, about, max_term_width = 80, after_help = EXIT_CODES)]
struct XtaskCli {
    #[command(subcommand)]
    command: XtaskCommand,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum XtaskCommand {
    #[command(flatten)]
    Lab(gridproof::Command),
    /// Run the benchmarks and print their ratios.
    Bench(bench::Bench),
    /// Report size and language of the sources; fail where a count exceeds its ceiling.
    Tidy(tidy::Tidy),
    /// Run .ci/run, which is what CI runs.
    Ci,
}

fn main() -> ExitCode {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies inside the workspace");
    let lab = Lab::standard().called("cargo xtask").in_workspace(root);
    let mut program = lab.explained(XtaskCli::command());
    lab.complete(&program);
    let XtaskCli { command, common } = gridproof::parsed(&mut program);
    let result = gridproof::begin(&common).and_then(|()| match command {
        XtaskCommand::Lab(command) => lab.run(command, &common, &program),
        XtaskCommand::Bench(options) => bench::bench(&options, &common),
        XtaskCommand::Tidy(options) => tidy::tidy(&options, &common),
        XtaskCommand::Ci => {
            let status = std::process::Command::new(workspace().join(".ci/run")).status();
            let passed = status.context("cannot run .ci/run")?.success();
            Ok(if passed { Ending::Done } else { Ending::Differs })
        }
    });
    gridproof::ended(result).into()
}
