//! Options of `simulate`.

use super::name::Registry;
use super::policy::Policy;
use super::world::Run;
use super::{hier, metasched};
use crate::options::{LogOptions, WorldOptions, name_of, stem, words};
use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use gap_schedule::Order;
use std::collections::BTreeSet;
use std::path::PathBuf;
use workload::Deadlines;

/// Text after the options, in lines of 80 columns; words in capitals stand for the registries.
const HELP: &str = "\
Examples:
  cargo xtask simulate KTH-SP2-1996-2.1-cln.swf.gz --policy fcfs,easy
      both policies on the log's own machine; report.html and CSV below
      results/simulate
  cargo xtask simulate KTH-SP2.swf.gz CTC-SP2.swf.gz --policy fcfs,easy
      two logs, each with results of its own, and the best policy of each
  cargo xtask simulate log.swf --policy easy,EASY++,cons+order=saf --procs 512
  cargo xtask simulate log.swf --policy fcfs,easy --tables jobs,summary --no-report
      two tables, and no page
  cargo xtask simulate log.swf --policy easy,eg-edf --machines site.machines \\
      --inside machine
      several clusters or machines, each job inside one of them
  cargo xtask simulate --model metasched log.swf --clusters clusters.toml \\
      --policy ffit,rr,tat,ptt+w=0.5
      time-shared clusters with local users, under a metascheduler that predicts
  cargo xtask simulate --profile alea31 wagap-2013.swf \\
      --machines wagap-2013.swf.machines --policy easy,cons,bgt
      a log of MetaCentrum as the simulator Alea 3.1 ran it for Swift Gap
  cargo xtask simulate --model hier-grid log.swf --tree tree.toml \\
      --policy p2p,hierarchical,hybrid+trees=2
      servers among peers, below one tree of schedulers, and below two

Policies of space-shared machines (docs/policies.md has sources and costs):
POLICIES
Orders of a queue. Ties are broken by arrival. r is the expected run time in
seconds (requested or predicted), n the number of processors, s the submission
in seconds from the first one of the log, w the wait so far in seconds:
ORDERS
A name is BASE+KEY=VALUE+…; the folder of its results has the same name.

Policies of --model metasched:
METASCHED
Policies of --model hier-grid (systems):
HIER_GRID
Trees of --model hier-grid: a file in TOML (keys with a value here are optional;
workloads/trees/universities.toml is an example):
  tree = [\"a\", [\"b\", \"c\"]]   # needed; nested lists of sites in their order, or
                         # \"4-2-5\", the children of each level
  backbones = 1          # sites are spread evenly over backbones and nets
  nets = 1               # in each backbone
  systems = []           # operating systems; a job has number user modulo their
                         # count
  local_load = 0.1       # share of every server that its owners keep busy
  [network]              # all keys as in workloads/hierarchical.toml
  [algorithms]           # likewise
  [readings]             # likewise, except peer_wait_ends
  [jobs]                 # what a log does not contain
  time = \"work\"          # run time × processors, spread over all CPUs; or
                         # \"runtime\"
  input = 100.0          # bytes for each CPU second (run time × processors)
  output = 500.0
  [[site]]               # one for each; name is needed
  name = \"a\"
  stations = 1           # work stations; a job comes from number user modulo
                         # their count
  servers = [{ cpus = 64, count = 2, systems = [\"linux\"] }]   # cpus is needed
A server runs one job at a time on all of its CPUs. It needs at least as many as
the job requests in the log; a job that no server of its operating system can
hold is rejected.

Clusters of --model metasched: a file in TOML (keys with a value here are
optional), or a machine file, whose processors are nodes without local users:
  mpl = 4                # parallel tasks on a node, at most
  task_overhead = 0.05   # relative slowdown of each for every further one
  overrun = 0.02         # expected rest of a job that outlives its estimate
  [local_users]          # share of a node that one of them takes
  cpu = 0.15
  memory = 0.35
  [jobs]                 # demand of a task of the log on its node: CPUs, MiB
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

Profile alea31: easy, cons, best-gap, bgt and sg by the rules of the simulator
Alea 3.1, which meet the tables of the paper on Swift Gap (sg follows its text).
Jobs start 8 ms after one another, run up to a second longer, request clusters
in column 21 of the log (without it, any nodes), are cut at the requested time,
and are due twice their run time after submission. It needs --machines, and
excludes --estimates, --deadlines, --outages, --inside and --passes.

Estimates:
  user              the log's requested time, enforced as a limit
  exact             the run time
  factor:F          F times the run time; no limit is enforced
  request-factor:F  F times the requested time, which itself remains the limit:
                    request-factor:2 is the doubled estimates of the literature
  f-model:F         drawn between the run time and F + 1 times the run time
  mean-of-user:K    the request is the limit, and the mean of the user's last K
                    jobs to end is expected, at most the request; the request
                    itself once that has passed: as predict=mean-of-user=K. Not
                    with --model metasched and hier-grid

Logs in the Standard Workload Format, plain or gzip. Missing and wrong values of
a log are repaired under named rules, and the report counts each.";

fn entries<B: Copy>(registry: &Registry<B>) -> String {
    registry.forms().map(|(form, about)| super::policy::entry(form, about)).collect()
}

/// One line for each order of a queue, with its source.
fn orders() -> String {
    let line = |order: Order| {
        let source = Some(order.source()).filter(|source| *source != "textbooks");
        let source = source.map_or_else(String::new, |source| format!("; {source}"));
        super::policy::entry(order.name(), &format!("{}{source}", order.definition()))
    };
    Order::ALL.map(line).concat()
}

/// Options of `simulate`; `Default` is the command line without any of them.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = HELP
    .replace("POLICIES", &Policy::help())
    .replace("ORDERS", &orders())
    .replace("METASCHED", &entries(&metasched::POLICIES))
    .replace("HIER_GRID", &entries(&hier::POLICIES)))]
pub struct Simulate {
    /// The log and its reading options.
    #[command(flatten)]
    pub log: LogOptions,
    /// Further logs, each replayed like the first, with results of its own.
    #[arg(value_name = "MORE")]
    pub further: Vec<PathBuf>,
    /// The world and its policies.
    #[command(flatten)]
    pub world: WorldOptions,
    /// Policy that the others are compared with: one of those named by --policy. The default is easy if it is among them, else
    /// the first.
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Write the jobs in another format, too; several are separated by commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub format: Vec<Format>,
    /// Write these tables alone, separated by commas; all of them if not given. The manifest is always there.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    pub tables: Vec<Table>,
    /// Write no page, and no figures with their data.
    #[arg(long)]
    pub no_report: bool,
    /// Output folder; results/simulate/LOG below the current folder if not given. With several logs, each has its own folder LOG there.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Tables that a run can write.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Table {
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
    /// columns.md, the meaning of the columns of the others.
    Columns,
}

impl Simulate {
    /// Returns these options for each log alone. Fails if two logs would have results in one folder.
    pub(super) fn each_log(&self) -> Result<Vec<Self>> {
        if self.further.is_empty() {
            return Ok(vec![self.clone()]);
        }
        let mut names = BTreeSet::new();
        let one = |log: &PathBuf| {
            let name = stem(log);
            ensure!(
                names.insert(name.clone()),
                "{}: two logs are called {name}, and their results would share a folder; rename one",
                log.display()
            );
            let out = self.out.as_ref().map(|out| out.join(name));
            let log = LogOptions { log: Some(log.clone()), ..self.log.clone() };
            Ok(Self { log, further: Vec::new(), out, ..self.clone() })
        };
        self.log.log.iter().chain(&self.further).map(one).collect()
    }

    pub(super) fn writes(&self, table: Table) -> bool {
        self.tables.is_empty() || self.tables.contains(&table)
    }

    /// Wanted files of the jobs of a policy: `jobs.csv`, `schedule.swf`, `evalys.csv`.
    pub(super) fn of_jobs(&self) -> [bool; 3] {
        [self.writes(Table::Jobs), self.writes(Table::Schedule), self.format.contains(&Format::Evalys)]
    }

    /// The command that gives the same results; `arguments` are those of the world.
    pub(super) fn command_line(&self, arguments: &str, runs: &[Run], baseline: usize) -> String {
        let LogOptions { deadlines, max_jobs, .. } = &self.log;
        // An alias, since it is also what the page shows.
        let typed =
            |run: &Run| if run.full_name().is_some() { run.policy.label.clone() } else { run.policy.given.clone() };
        let policies = runs.iter().map(typed).collect::<Vec<_>>().join(",");
        let list = |values: Vec<String>| Some(values.join(",")).filter(|list| !list.is_empty());
        format!("{} simulate", lab::cli::program())
            + &words("trace", Some(self.log.trace().display()))
            + &words("policy", Some(policies))
            + arguments
            + &words("baseline", Some(typed(&runs[baseline])).filter(|_| runs.len() > 1))
            + &words("deadlines", Some(deadlines).filter(|deadlines| **deadlines != Deadlines::None))
            + &words("seed", self.log.seed.filter(|seed| *seed != 0))
            + &words("max-jobs", *max_jobs)
            + &words("format", list(self.format.iter().map(name_of).collect()))
            + &words("tables", list(self.tables.iter().map(name_of).collect()))
            + if self.no_report { " --no-report" } else { "" }
    }
}

/// Formats that other programs read.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// POLICY/evalys.csv, as JobSet.from_csv of evalys 4 reads it (and Batsim writes it).
    Evalys,
}
