//! What `check` can be asked.

use crate::asked::Asked;
use crate::run_options::RunOptions;
use clap::Args;
use std::path::PathBuf;

/// Options of `check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask check --trace KTH-SP2.swf.gz --schedule results/simulate/KTH-SP2/easy/jobs.csv
      can a machine have run this? Nobody twice, nobody before its submission, nobody wider or longer than asked, everybody there
  cargo xtask check --trace log.swf --schedule theirs.csv --procs 256 --policy easy
      and is it what EASY does? The first start that EASY would not have made, and how many such there are
  cargo xtask check --trace log.swf --schedule theirs.swf --machines site.machines --json
  cargo xtask check --trace log.swf --schedule jobs.csv --outages mtbf:30d,mttr:4h --seed 7 --policy easy
      a schedule on machines that fail: nobody ran on one that was down, and EASY decided

The schedule, of any program: CSV with a heading, of which the columns job (or job_id) and start are needed, and submit, finish \
(or end), processors (or procs, cpus), site, allocated (0-3,7) and state (rejected: never started) are used if they are \
there; times in seconds, from the first submission or as in the log. Or SWF, where a start is submit + wait. Plain or gzip.

Run times are those of the log, cut at the limit under --estimates user. Records without a run time, or of zero, are no jobs, \
and are not looked at. A job wider than every place must not start.

With --outages: nobody runs while the place is down, and whoever was hit has started anew. The starts that a failure ended are \
in no schedule: where the policy would have made one, and there was room for it, it is taken as made.

With --policy: what happens at one instant is releases, then arrivals, then one scheduling pass (or as --passes says); a policy looks at jobs that \
arrived at one instant in the order of the log. At each instant the policy is asked about the state that the schedule has led \
to. Where it would start others than the schedule does, that is a difference, and it goes on from the schedule: one \
that remembers (cons, easy+reserve=K) is built again from the jobs that run and wait. A job that is late is counted once. Of plans \
(eg-edf, best-gap, bgt, sg) and of policies of your own, unless their answer follows from the view alone (Policy::is_pure), the \
first difference alone is reported.

Exit codes: 0 it is; 1 it is not, and why; 2 bad usage or input; 3 reading failed.")]
pub struct Check {
    /// The log, and how `simulate` read it.
    #[command(flatten)]
    pub(crate) asked: Asked,
    /// The schedule: CSV or SWF, plain or gzip.
    #[arg(long, value_name = "FILE.csv|FILE.swf")]
    pub(crate) schedule: PathBuf,
    /// The policy that made it, as `simulate` takes it; without, it is only asked whether a machine can have run it.
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// The options of `simulate` under which it was made.
    #[command(flatten)]
    pub(crate) run: RunOptions,
}
