//! What `explain` can be asked.

use crate::asked::Asked;
use crate::simulate::worlds::{Chosen, Worlds};
use clap::Args;

/// Options of `explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask explain --trace KTH-SP2.swf.gz --policy easy --job 1204
      why job 1204 started when it did under EASY: its place in the queue, who held the processors that it lacked and until when \
      that was expected, which reservation barred it, whom it passed
  cargo xtask explain --trace log.swf --policy easy,cons --job 7,9
      two jobs under two policies
  cargo xtask explain --trace log.swf --policy easy+order=wfp3 --job 7 --all
      every change of its state, however many there are
  cargo xtask explain --trace log.swf --machines site.machines --policy flex --job 7 --json
      the same for programs: times in seconds from the first submission

  cargo xtask explain --model metasched --trace log.swf --clusters clusters.toml --policy ptt+w=0.5 --job 7
      what each cluster predicted for the job when it was first in the input queue, and where it was sent
  cargo xtask explain --model hier-grid --trace log.swf --tree universities --policy hierarchical --job 7
      the messages that moved it

Options are those of `simulate`, and so is the run: the same log, options and seed give the schedule that `simulate` writes. What \
is told comes from the policy's own decisions, pass by pass. fcfs, easy, cons and flex, with all their settings, tell reasons; \
plans (best-gap, bgt, sg, eg-edf), programs (exec) and policies of your own tell none unless they implement \
Policy::schedule_with_reasons. Of those, you are told what everybody can see: the queue, who held the processors, and when the \
job started.

Exit codes: 0 told; 2 bad usage or input, such as a job that the log does not have; 3 reading failed.")]
pub struct Explain {
    /// The log, and how it is read.
    #[command(flatten)]
    pub(crate) asked: Asked,
    /// The world, and its policies.
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Numbers of the jobs, as in the first column of the log, or their names (12345_7), separated by commas.
    #[arg(long = "job", value_name = "N,…", value_delimiter = ',', required = true)]
    pub(crate) wanted: Vec<String>,
    /// Every change, instead of the history in a few lines.
    #[arg(long)]
    pub(crate) all: bool,
    /// What one world alone is asked.
    #[command(flatten)]
    pub(crate) worlds: Worlds,
}
