//! `gridproof slurm`: a Slurm cluster, decision by decision.

pub(crate) mod input;
mod page;
mod results;
mod tables;
mod what_if;

pub use input::Inputs;
pub use what_if::WhatIf;

use crate::options::unpacked;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use lab::cli::{Common, Ending, print};
use slurm_sched::{Comparison, Version, follow, version_of};
use std::path::PathBuf;

/// A Slurm cluster: variants of its settings on its jobs, or a recorded controller followed.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = what_if::HELP)]
pub struct Slurm {
    #[command(subcommand)]
    command: Option<SlurmCommand>,
    #[command(flatten)]
    inputs: Option<Inputs>,
    #[command(flatten)]
    what_if: WhatIf,
}

#[derive(Debug, Subcommand)]
enum SlurmCommand {
    /// Compare the decisions of a recorded slurmctld: pass by pass with those of this program.
    Follow(Follow),
}

/// Options of `slurm follow`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask slurm follow slurmctld.log.gz --conf slurm.conf --trace jobs.csv --json
      starts, plans and priorities of the log, how many of them are otherwise here, and the first difference
  cargo xtask slurm follow slurmctld.log --conf slurm.conf --trace jobs.csv --accounts cluster.cfg
      the same under fair share, with the accounts as `sacctmgr dump CLUSTER file=cluster.cfg` writes them

Record the log with SlurmctldDebug=debug, LogTimeFormat=iso8601_ms and DebugFlags=Backfill,Priority. The trace is CSV with the \
columns id,submit,run,limit,args: the job's number in the log, seconds, seconds (600+900 if it is requeued after 600 s), minutes, further options of sbatch; or it is \
what this command prints:
  SLURM_TIME_FORMAT=%s sacct --allusers --allocations --duplicates --parsable2 --starttime 2026-01-01 --endtime 2026-02-01 \\
    --format JobIDRaw,User,Account,QOS,Partition,Submit,Eligible,\\
Start,ElapsedRaw,TimelimitRaw,NNodes,AllocCPUS,State

The log gives the order of events and passes. Each pass is decided here, too, from the state that the log's decisions have led to; \
starts are compared by job and nodes, plans also by start and end, priorities by value. Versions: 22.05 and 24.11; another \
one is refused unless --slurm-version nearest:VERSION is given.

Exit codes: 0 all are equal; 1 one is not; 2 bad usage or input; 3 reading
failed.")]
struct Follow {
    /// The log of slurmctld, plain or gzip.
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The cluster and its jobs.
    #[command(flatten)]
    inputs: Inputs,
}

/// Runs a command on a Slurm cluster.
///
/// # Errors
///
/// Bad options or input, or a file that cannot be read.
pub fn slurm(command: &Slurm, common: &Common) -> Result<Ending> {
    let options = match (&command.command, &command.inputs) {
        (Some(SlurmCommand::Follow(options)), _) => options,
        (None, Some(inputs)) => return what_if::run(inputs, &command.what_if, common),
        (None, None) => bail!("name the files with --conf and --trace, or a recorded log: slurm follow LOG"),
    };
    let found = compare(options)?;
    let text = if common.json { serde_json::to_string_pretty(&found)? + "\n" } else { words(&found, common.quiet) };
    print(&text);
    Ok(if found.is_equal() { Ending::Done } else { Ending::Differs })
}

fn compare(options: &Follow) -> Result<Comparison> {
    let log = || unpacked(&options.log);
    let place = || options.log.display().to_string();
    let version: Version = match &options.inputs.slurm_version {
        Some(version) => version.parse()?,
        None => version_of(log()?)
            .with_context(place)?
            .with_context(|| format!("{}: the log shows no version; give it with --slurm-version", place()))?
            .with_context(|| format!("{}: --slurm-version nearest:VERSION runs the nearest", place()))?,
    };
    let mut site = options.inputs.site(version, &[])?;
    let input::Trace { jobs, left_out, .. } = options.inputs.jobs(&site)?;
    let trace = input::name(&options.inputs.trace);
    site.conf.not_modelled.extend(left_out.iter().map(|what| format!("{trace}: {what}")));
    follow(&site, &jobs, log()?).with_context(place)
}

fn words(found: &Comparison, is_quiet: bool) -> String {
    let Comparison { starts, plans, priorities, wrong_starts, wrong_plans, wrong_priorities, .. } = found;
    let mut text = format!(
        "Slurm {}: {} main passes, {} backfill passes\n{:12}{:>10}{:>10}\n",
        found.version, found.main_passes, found.backfill_passes, "", "compared", "wrong"
    );
    for (name, all, wrong) in
        [("starts", starts, wrong_starts), ("plans", plans, wrong_plans), ("priorities", priorities, wrong_priorities)]
    {
        text += &format!("{name:12}{all:>10}{wrong:>10}\n");
    }
    if let Some(first) = &found.first_difference {
        text += &format!(
            "first difference: line {}, {} pass at {}, job {}\n  ours    {}\n  theirs  {}\n  rule    {}\n",
            first.line, first.pass, first.time, first.job, first.ours, first.theirs, first.rule
        );
    }
    if !is_quiet && !found.not_modelled.is_empty() {
        text += &format!("without effect here: {}\n", found.not_modelled.join(", "));
    }
    text
}
