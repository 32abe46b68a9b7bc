//! The command line.

use clap::{Args, Parser, Subcommand};
use lab::cli::Common;
use lab::reproduce::Request;
use std::path::PathBuf;

/// The exit codes of every command.
pub const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 done, but --check found a verdict that differs from the
recorded one; 2 bad usage or bad input; 3 reading or writing failed; 130
interrupted (Ctrl-C, SIGTERM, SIGHUP).";

/// Gridproof: grid-scheduling papers as programs to run, check and build on.
#[derive(Debug, Parser)]
#[command(name = "gridproof", version, about, max_term_width = 80, after_help = EXIT_CODES)]
pub struct Cli {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
    /// Options common to all commands.
    #[command(flatten)]
    pub common: Common,
}

/// The commands of a laboratory.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the papers, their figures, claims and crates.
    List,
    /// Simulate a paper, redraw its figures, judge its claims.
    Reproduce(Reproduce),
    /// Vary the readings of a paper: re-run it under alternative interpretations, and report which verdicts change.
    #[command(name = "sensitivity", visible_alias = "doubt")]
    Doubt(Doubt),
    /// Replay a log under one or more scheduling policies.
    Simulate(Box<replay::simulate::Simulate>),
    /// Compare policies on logs under settings, replicated: paired intervals, ranks, verdicts, from one file.
    Experiment(Box<experiment::Experiment>),
    /// Explain why a job of a log started when it did under a policy.
    Explain(Box<replay::explain::Explain>),
    /// Check a schedule of any program: its feasibility, and its agreement with a policy.
    Check(Box<replay::check::Check>),
    /// Replay a Slurm cluster, or follow a recorded controller: variants of its settings, and every decision.
    Slurm(Box<replay::slurm::Slurm>),
    /// Inspect, check, convert, draw, measure and resample logs.
    #[command(subcommand)]
    Workload(replay::workload::Workload),
    /// Check folders of results against their manifests.
    Verify(Verify),
    /// Print the completion script of a shell: for the name under which the program is called.
    #[command(after_help = "\
Examples:
  cargo xtask completions bash > ~/.local/share/cargo-xtask.bash
      and in ~/.bashrc: source ~/.local/share/cargo-xtask.bash; cargo's own
      completion, if there is one, still completes its other commands
  source <(cargo xtask completions zsh)
      in ~/.zshrc, for the program under its own name
  cargo xtask completions fish > ~/.config/fish/conf.d/cargo-xtask.fish")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Options of `reproduce`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask reproduce multi-site
      the whole paper: figures, data, verdicts and report.html below
      results/multi-site
  cargo xtask reproduce multi-site --quick --check
      a tenth of the work; exit code 1 if a verdict is not the one on record
  cargo xtask reproduce multi-site --decide
      run inconclusive claims again, with up to ten times as many replications
  cargo xtask reproduce multi-site --seeds 10 --check
      under how many of the seeds 1 to 10 each verdict stays, compared with the
      record; seeds.csv
  cargo xtask reproduce multi-site --only fig4,fig5 \\
      --set readings.release=gang-end --out /tmp/r2
      two figures under another reading of the paper
  cargo xtask reproduce multi-site \\
      --run 'approach=1 lambda=10 threshold=0 overhead=0.1 jobs=40000 rep=3'
      one replication again, as named in the column `run` of runs.csv

Finished replications are kept below OUT/cells: an interrupted run continues
where it stopped. All other files in OUT belong to one run: a complete run
replaces an earlier one as a whole, and a folder with other files is refused.")]
pub struct Reproduce {
    /// The paper (see `list`), or `all`.
    #[arg(value_name = "SLUG|all")]
    pub slug: String,
    /// Options of each run.
    #[command(flatten)]
    pub run: Request,
    /// Compare verdicts with those on record; exit code 1 if one differs. The records are in docs/papers.
    #[arg(long)]
    pub check: bool,
    /// Add replications to inconclusive claims, up to ten times as many.
    #[arg(long)]
    pub decide: bool,
    /// Redraw only these figures, and judge only their claims.
    #[arg(long, value_name = "FIG,…", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Judge the claims under seeds 1 to N as well, and report under how many each verdict stays.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "decide")]
    pub seeds: Option<u32>,
    /// Repeat a single replication, and print its metrics.
    #[arg(long = "run", value_name = "RUN", conflicts_with_all = ["check", "decide", "only", "reps", "seeds", "out", "fresh"])]
    pub repeat: Option<String>,
}

/// Options of `sensitivity`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask sensitivity multi-site
      every alternative of each reading, one at a time: a line per claim,
      doubt.csv, a matrix and report.html below results/doubt/multi-site
  cargo xtask sensitivity all --quick --check
      a tenth of the work, every paper; exit code 1 if a line is not the one on
      record in docs/papers
  cargo xtask sensitivity multi-site --reading R2,R13
      two readings; by field as well, as in --reading release,scan_trigger
  cargo xtask sensitivity metaloras --quick --reading R1,R11 --product
      also both readings changed at once

Finished replications are kept below OUT/cells, and those of `reproduce` below
results/SLUG are used: an interrupted run continues where it stopped. doubt.csv:
claim, reading, field, answer, verdict, recorded, flips.")]
pub struct Doubt {
    /// The paper (see `list`), or `all`.
    #[arg(value_name = "SLUG|all")]
    pub slug: String,
    /// Options of each run.
    #[command(flatten)]
    pub run: Request,
    /// Compare the lines with those on record; exit code 1 if one differs. The records are in docs/papers.
    #[arg(long, conflicts_with_all = ["reading", "product", "reps", "seed", "set"])]
    pub check: bool,
    /// Only these readings, by id or by field.
    #[arg(long, value_name = "R3,R4,…", value_delimiter = ',')]
    pub reading: Vec<String>,
    /// Also change two of the readings at a time.
    #[arg(long)]
    pub product: bool,
}

/// Options of `verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask verify results/multi-site
      is every file there, and as the run wrote it? Exit code 0 if so, 1 if one
      is missing or changed, 2 if the folder has no manifest
  cargo xtask verify results/* --json
      the same of several folders, with the names of all files that differ

manifest.json lists every file of a run with its length and SHA-256. Other files
are named, but are no difference: they are yours. Finished replications
(OUT/cells) are checked line by line.")]
pub struct Verify {
    /// Folders of results: those that `reproduce`, `sensitivity`, `simulate` or `workload inspect` wrote.
    #[arg(value_name = "OUT", required = true)]
    pub folders: Vec<PathBuf>,
}
