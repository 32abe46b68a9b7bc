//! Options of `slurm`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Commands on a Slurm cluster.
#[derive(Debug, Subcommand)]
pub enum Slurm {
    /// Compare the decisions of a recorded slurmctld with those of this program, pass by pass.
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
columns id,submit,run,limit,args: the job's number in the log, seconds, seconds, minutes, further options of sbatch; or it is \
what this command prints:
  SLURM_TIME_FORMAT=%s sacct --allusers --allocations --duplicates --parsable2 --starttime 2026-01-01 --endtime 2026-02-01 \\
    --format JobIDRaw,User,Account,QOS,Partition,Submit,Eligible,Start,ElapsedRaw,TimelimitRaw,NNodes,AllocCPUS,State

The log gives the order of events and passes. Each pass is decided here, too, from the state that the log's decisions have led to; \
starts are compared by job and nodes, plans also by start and end, priorities by value. Versions: 22.05 and 24.11; another \
one is refused unless --slurm-version nearest:VERSION is given.

Exit codes: 0 all are equal; 1 one is not; 2 bad usage or input; 3 reading failed.")]
pub struct Follow {
    /// The log of slurmctld, plain or gzip.
    #[arg(value_name = "LOG")]
    pub log: PathBuf,
    /// slurm.conf of the time of the log.
    #[arg(long, value_name = "FILE")]
    pub conf: PathBuf,
    /// The jobs: CSV id,submit,run,limit,args, or the output of sacct.
    #[arg(long, value_name = "FILE")]
    pub trace: PathBuf,
    /// Accounts, shares and QOS, as `sacctmgr dump` writes them.
    #[arg(long, value_name = "FILE")]
    pub accounts: Option<PathBuf>,
    /// Version of Slurm: 22.05, 24.11 or nearest:VERSION. Read from the log if not given.
    #[arg(long, value_name = "VERSION")]
    pub slurm_version: Option<String>,
    /// Replaces a setting of slurm.conf; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}
