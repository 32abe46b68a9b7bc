//! The command line of `experiment`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Options of `experiment`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  cargo xtask experiment init > mine.toml
      a first experiment, with comments that say what can be changed
  cargo xtask experiment mine.toml --traces logs --quick
      a tenth of the work: does it run, and what will the report look like?
  cargo xtask experiment mine.toml --traces logs
      the full experiment; results.csv, differences.csv, ranks.csv, claims.csv, figures and report.html below results/experiment/NAME
  cargo xtask experiment mine.toml --precision 0.02
      more replications, until every mean is known to 2 %
  cargo xtask experiment mine.toml --engine slurm --partition batch --time 01:00:00 --dry-run
      the script of a job array, printed; without --dry-run it is submitted
  cargo xtask experiment plan mine.toml; cargo xtask experiment work results/experiment/NAME/cells/plan.jsonl --unit 3
      the parts of it, for an engine of your own; then: cargo xtask experiment collect results/experiment/NAME/cells/plan.jsonl

Policies are those of `simulate` on space-shared machines, exec+PROGRAM among them. docs/experiments.md is the guide. \
Finished units are kept below OUT/cells: an interrupted experiment goes on where it stopped, and one that was killed loses \
the units that were being computed."
)]
pub struct Experiment {
    /// A part of an experiment.
    #[command(subcommand)]
    pub(crate) part: Option<Part>,
    /// The experiment.
    #[arg(value_name = "FILE.toml", required = true)]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: How,
    /// Engine that runs the units: this machine; the cluster that Slurm schedules; or printed commands, for any other tool.
    #[arg(long, value_enum, default_value_t = Engine::Local)]
    pub(crate) engine: Engine,
    /// Print the plan in words (for slurm: the script), and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Largest half-width as a share of its mean, such as 0.02; replications are added, up to ten times as many.
    #[arg(long, value_name = "P", value_parser = share)]
    pub(crate) precision: Option<f64>,
    #[command(flatten)]
    pub(crate) slurm: Slurm,
}

/// Options that change the work besides the file.
#[derive(Clone, Debug, Args)]
pub(crate) struct How {
    /// A tenth of the replications, of the first 2000 jobs of each log, with the first two values of each setting.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seed of random numbers, instead of the file's.
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Folder of the logs; the variable GRID_TRACES may name it too. A log is looked for beside the experiment's file first.
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// Output folder; results/experiment/NAME if not given.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Remove finished units, and compute everything again.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Cut the work into at least N units. If not given, a unit is some minutes of work.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) units: Option<u32>,
}

/// Parts of an experiment.
#[derive(Debug, Subcommand)]
pub(crate) enum Part {
    /// Print a first experiment, with comments on every key.
    Init,
    /// Write the plan: all runs, in units. It does not change once it is written.
    Plan {
        /// The experiment.
        #[arg(value_name = "FILE.toml")]
        file: PathBuf,
        #[command(flatten)]
        how: How,
    },
    /// Compute one unit of a plan into a file beside it; nothing, if that is there and sound.
    Work {
        /// The plan, such as results/experiment/NAME/cells/plan.jsonl.
        #[arg(value_name = "PLAN")]
        plan: PathBuf,
        /// The number of the unit, from 0.
        #[arg(long, value_name = "K")]
        unit: u32,
    },
    /// Put the units of a plan together: tables, figures, report. Fails if one is missing, or if two copies of a run differ.
    Collect {
        /// The plan, such as results/experiment/NAME/cells/plan.jsonl.
        #[arg(value_name = "PLAN")]
        plan: PathBuf,
        /// Output folder; the folder above the plan's if not given.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Engines.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// All cores of this machine.
    Local,
    /// A job array of Slurm.
    Slurm,
    /// Prints commands, for GNU parallel, HyperQueue or HTCondor.
    Script,
}

/// Options of Slurm.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Slurm {
    /// Partition of the job array.
    #[arg(long, value_name = "NAME", help_heading = "Slurm")]
    pub(crate) partition: Option<String>,
    /// Account that pays for it.
    #[arg(long, value_name = "NAME", help_heading = "Slurm")]
    pub(crate) account: Option<String>,
    /// Time limit of a unit, such as 01:00:00.
    #[arg(long, value_name = "LIMIT", help_heading = "Slurm")]
    pub(crate) time: Option<String>,
    /// Memory of a unit, such as 1G.
    #[arg(long, value_name = "SIZE", help_heading = "Slurm")]
    pub(crate) memory: Option<String>,
    /// Units that run at once, at most.
    #[arg(long, value_name = "N", help_heading = "Slurm", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_parallel: Option<u32>,
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|share| *share > 0.0 && *share < 1.0);
    number.ok_or_else(|| "expected a share above 0 and below 1, such as 0.02".to_owned())
}
