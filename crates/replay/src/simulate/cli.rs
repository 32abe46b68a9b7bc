//! What `simulate` can be asked.

use super::world::Run;
use super::worlds::{Chosen, Worlds};
use crate::asked::Asked;
use clap::{Args, ValueEnum};
use gap_schedule::Order;
use lab::provenance::quoted;
use std::path::PathBuf;
use workload::Deadlines;

/// Text behind the options; the orders of a queue are listed in the place of `ORDERS`.
const HELP: &str = "\
Examples:
  cargo xtask simulate --trace KTH-SP2-1996-2.1-cln.swf.gz --policy fcfs,easy
      both policies on the log's own machine; report.html and CSV below results/simulate
  cargo xtask simulate --trace log.swf --policy easy,easy+backfill=spf,easy+order=wfp3+threshold=2d,cons+order=saf
      the queue, and those who pass it, in other orders
  cargo xtask simulate --trace log.swf --policy easy --procs 512 --estimates exact --max-jobs 10000
  cargo xtask simulate --trace log.swf --policy fcfs,easy --tables jobs,summary --no-report
      two tables, and no page
  cargo xtask simulate --trace log.swf --policy easy,eg-edf --machines site.machines --inside machine
      several clusters or machines, each job inside one of them
  cargo xtask simulate --model metasched --trace log.swf --clusters clusters.toml --policy ffit,rr,tat,ptt+w=0.5
      time-shared clusters with local users, under a metascheduler that predicts
  cargo xtask simulate --profile alea31 --trace wagap-2013.swf --machines wagap-2013.swf.machines --policy easy,cons,bgt
      a log of MetaCentrum as the simulator Alea 3.1 ran it for the paper on Swift Gap

  cargo xtask simulate --model hier-grid --trace log.swf --tree universities --policy p2p,hierarchical,hybrid+trees=2
      servers among peers, below one tree of schedulers, and below two

Policies, by what they are (docs/policies.md has them in a table, with sources and costs):
 Queues without backfilling
  fcfs           first come first served; a job that does not fit blocks those behind it
    +order=ORDER     the queue in another order: see below
    +threshold=SPAN  jobs that have waited that long (2d, 12h, 30m, or seconds) go first, by
                     arrival: the guard against starvation
 Queues with backfilling
  easy           EASY backfilling: others may start if they do not delay the first one
    +order=ORDER     the queue in another order: whose turn, or reservation, comes first
    +backfill=ORDER  who of the others may start first; in the order of the queue if not given.
                     easy+backfill=spf is EASY-SJBF
    +reserve=K       with K reservations, K = 0, 1, 2, …, all; each is given anew, in the order of
                     the queue, whenever something was not expected, and may then be later than
                     before (so may those of all, which is not cons)
    +threshold=SPAN  as above, in both orders
  cons           conservative backfilling: others may start if they delay nobody who waits. When a
                 job ends early, those who wait, in order of arrival, move to the earliest start
                 there now is, or keep theirs (Feitelson & Weil 1998, Mu'alem & Feitelson 2001;
                 the simulator pyss)
    +order=ORDER     they move in another order
    +threshold=SPAN  as above
    +compress=reserved  they move in order of reserved starts, as plans that are lists do it (Alea)
 fcfs, easy and cons by predicted run times; the limit stays what was requested, and no prediction kills a job
    +predict=WHO     what is expected of a job in place of what was requested: tsafrir (the mean
                     of its user's last two jobs to end, at most the request), mean-of-user=K (of
                     the last K), double-requested, requested, clairvoyant
    +correct=HOW     and what of one that outlives that: requested (if not given), doubling,
                     tsafrir (1, 5, 15, 30 min, … more), none.
                     easy+predict=tsafrir+correct=tsafrir+backfill=spf is EASY++
  flex           Flexible backfilling: EASY over a queue sorted by age, deadline and length
    +reserve=K       with K reservations
 Plans
  best-gap       each job in the best of its earliest gaps, by fairness, wait, response and slowdown
  bgt            the same, and a Tabu search moves jobs every 300 s
  sg             Swift Gap: the same, but what counts is when jobs complete; the search moves them
                 between clusters (on one cluster neither search can improve anything: bgt and sg
                 are then cons+compress=reserved, as the run says)
  eg-edf         each job in its earliest gap, else by its deadline
  eg-edf-tabu    the same, and late jobs are moved into earlier gaps by Tabu search
 Your own
  exec+PROGRAM   a program of your own, in any language, that reads and writes lines of JSON:
                 exec+./mine.py, or 'exec+python3 mine.py' with arguments behind spaces;
                 docs/protocol.md has the lines and an EASY in Python

Orders of a queue. Ties go by arrival. r is the expected run time in seconds (what was requested, or predicted in its place), \
n the processors, s the submission in seconds from the first one of the log, w the wait so far in seconds:
ORDERS

A name is BASE+KEY=VALUE+…, and the folder of its results is called the same; easy:8, ptt:0.5 and hybrid:2, as they were \
once written, still work.

Policies of --model metasched:
  ffit           the first cluster where the job can start now
  rr             each cluster in turn
  tat            the cluster of the smallest predicted turnaround
  ptt+w=W        the same, weighed against local users: W = 1 counts turnaround alone, W = 0 users
  ptt-occ+w=W    the same, with the CPU and memory in use on its nodes in place of the users

Policies of --model hier-grid (systems):
  p2p             every server is a peer; requests flood the overlay
  hierarchical    one tree of schedulers
  hybrid+trees=K  the tree cut into K trees, whose roots are peers

Trees of --model hier-grid: numbers such as 4-4-2-5 (the children of each level; servers as in the paper, drawn by --seed), or \
a file in TOML (what has a value here may be left out); universities is one that is built in (workloads/trees):
  tree = [\"a\", [\"b\", \"c\"]]   # needed; nested lists of sites in their order, or \"4-2-5\"
  backbones = 1          # sites are spread evenly over backbones and nets
  nets = 1               # in each backbone
  systems = []           # operating systems; a job has number user modulo their count
  local_load = 0.1       # share of every server that its owners keep busy
  [network]              # all keys as in workloads/hierarchical.toml
  [algorithms]           # likewise
  [readings]             # likewise, but for peer_wait_ends
  [jobs]                 # what a log does not tell
  time = \"work\"          # run time × processors, spread over all CPUs; or \"runtime\"
  input = 100.0          # bytes for each CPU second (run time × processors)
  output = 500.0
  [[site]]               # one for each; name is needed
  name = \"a\"
  stations = 1           # work stations; a job comes from number user modulo their count
  servers = [{ cpus = 64, count = 2, systems = [\"linux\"] }]   # cpus is needed
A server runs one job at a time on all of its CPUs. It needs at least as many as the job asked for in the log; a job that no \
server of its operating system can hold is rejected.

Clusters of --model metasched: a file in TOML (what has a value here may be left out), or a machine file, whose processors \
are then nodes without local users:
  mpl = 4                # parallel tasks on a node, at most
  task_overhead = 0.05   # how much longer each takes for every further one
  overrun = 0.02         # what is believed to be left of a job that outlives its estimate
  [local_users]          # what one of them takes of a node
  cpu = 0.15
  memory = 0.35
  [jobs]                 # what a task of the log asks of its node, in CPUs and MiB
  cpu = 1.0
  memory = 0.0
  [readings]             # as in workloads/metaloras.toml
  mpl_beside_users = 2
  [[cluster]]            # one for each; name and nodes are needed
  name = \"lab\"
  nodes = 5
  speed = 1.0
  memory = 1024.0        # of a node, in MiB
  local_users = true     # at every node; false if left out

Profile alea31: easy, cons, best-gap, bgt and sg by the rules of the simulator Alea 3.1, which meet the tables of the paper on \
Swift Gap (sg is what its text says). Jobs start 8 ms after one another, run up to a second longer, ask for clusters in \
column 21 of the log (if there is none, any nodes will do), are cut at the requested time and due twice their run time after submission. It needs --machines; what \
it has rules of its own for (--estimates, --deadlines, --outages, --inside, --passes) does not go with it.

Estimates:
  user            the log's requested time, enforced as a limit
  exact           the run time
  factor:F        F times the run time; no limit is enforced
  request-factor:F
                  F times the requested time, which itself remains the limit: request-factor:2 is what the literature calls \
                  doubled estimates
  f-model:F       drawn between the run time and F + 1 times the run time
  mean-of-user:K  what is requested, still the limit; but expected is the mean of the user's last
                  K jobs to end, at most the request, and the request itself once that has passed:
                  as predict=mean-of-user=K (see above). With --model metasched and hier-grid:
                  that mean by the log's own ends, uncorrected

Logs in the Standard Workload Format, plain or gzip. What a log leaves out or gets wrong is repaired under named rules, \
and the report counts each.";

/// A line for each order of a queue, with its source.
fn orders() -> String {
    let line = |order: Order| {
        let source = Some(order.source()).filter(|source| *source != "textbooks");
        let source = source.map_or_else(String::new, |source| format!("; {source}"));
        format!("  {:7} {}{source}\n", order.name(), order.definition())
    };
    Order::ALL.map(line).concat()
}

/// Options of `simulate`.
#[derive(Debug, Args)]
#[command(after_help = HELP.replace("ORDERS\n", &orders()))]
pub struct Simulate {
    /// The log, and how it is read.
    #[command(flatten)]
    pub(crate) asked: Asked,
    /// The world, and its policies.
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Policy that the others are compared with: one of those named by --policy. The default is easy if it is among them, else
    /// the first.
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Write the jobs in another format, too; several are separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) format: Vec<Format>,
    /// Write these tables alone, separated by commas; all of them if not given. The manifest is always there.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub(crate) tables: Vec<Table>,
    /// Write no page, and no figures with their data.
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Where to write; results/simulate/LOG below the current folder if not given.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// What one world alone is asked.
    #[command(flatten)]
    pub(crate) worlds: Worlds,
}

/// Tables that a run can write.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Table {
    /// POLICY/jobs.csv, a row for each job.
    Jobs,
    /// POLICY/schedule.swf, the same in the Standard Workload Format.
    Schedule,
    /// summary.csv, a row for each policy.
    Summary,
    /// differences.csv, all pairs of policies.
    Differences,
    /// best.csv, the policies that may be the best.
    Best,
    /// columns.md, what the columns of the others are.
    Columns,
}

impl Simulate {
    /// Whether a table is to be written.
    pub(super) fn writes(&self, table: Table) -> bool {
        self.tables.is_empty() || self.tables.contains(&table)
    }

    /// The command that gives the same results; `arguments` are those of the world.
    pub(super) fn command_line(&self, arguments: &str, runs: &[Run], baseline: usize) -> String {
        let Asked { trace, deadlines, seed, max_jobs, .. } = &self.asked;
        let policies = runs.iter().map(|run| run.given.as_str()).collect::<Vec<_>>().join(",");
        let (program, trace) = (lab::cli::program(), trace.to_string_lossy());
        let mut command =
            format!("{program} simulate --trace {} --policy {}{arguments}", quoted(&trace), quoted(&policies));
        if runs.len() > 1 {
            command += &format!(" --baseline {}", quoted(&runs[baseline].given));
        }
        if *deadlines != Deadlines::None {
            command += &format!(" --deadlines {deadlines}");
        }
        if *seed != 0 {
            command += &format!(" --seed {seed}");
        }
        if let Some(max_jobs) = max_jobs {
            command += &format!(" --max-jobs {max_jobs}");
        }
        command
            + &listed("--format", &self.format)
            + &listed("--tables", &self.tables)
            + if self.no_report { " --no-report" } else { "" }
    }
}

/// An option with its values as on the command line, with a blank before it; empty if there are none.
fn listed(option: &str, values: &[impl ValueEnum]) -> String {
    let names = values.iter().filter_map(|value| Some(value.to_possible_value()?.get_name().to_owned()));
    if values.is_empty() { String::new() } else { format!(" {option} {}", names.collect::<Vec<_>>().join(",")) }
}

/// Formats that other programs read.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// POLICY/evalys.csv, as JobSet.from_csv of evalys 4 reads it (and Batsim writes it).
    Evalys,
    /// POLICY/jobs.parquet: jobs.csv as columns, for logs of millions of jobs. It wants a program that is built with it:
    /// cargo run --release -p xtask --features parquet -- simulate …
    Parquet,
}
