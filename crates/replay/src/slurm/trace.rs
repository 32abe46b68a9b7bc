//! Input of a run: the jobs of a trace, rigid jobs on whole nodes, the zero of the clock and the phases of the controller's loops.

use anyhow::{Context, Result};
use rand::RngExt;
use sim_core::{Purpose, Request, Span, Streams};
use slurm_sched::conf::Conf;
use slurm_sched::workload::{self, SubmittedJob};
use slurm_sched::{Phases, Site, Terms};

#[derive(Debug)]
pub(super) struct Trace {
    /// Ordered by submission, which counts from the zero of the trace.
    pub(super) jobs: Vec<SubmittedJob>,
    /// Runs in the trace itself, if it has them.
    pub(super) log: Vec<LoggedRun>,
    /// Zero of the trace in seconds since 1970, if it is known.
    pub(super) zero: Option<i64>,
    /// Records that are left out or repaired, as `12 jobs that never started`.
    pub(super) left_out: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LoggedRun {
    pub(super) job: u32,
    /// Submission (or the requeue that ended the run before), start and end, in seconds from the zero of the trace.
    pub(super) times: [i64; 3],
}

pub(super) fn seconds(span: Span) -> i64 {
    i64::try_from(span.as_nanos() / 1_000_000_000).unwrap_or(i64::MAX)
}

/// Nodes of the default partition, to which the jobs of a log go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeNodes {
    pub(crate) count: usize,
    /// Processors of the smallest node, on which the number of nodes of a job depends.
    pub(crate) cpus: u32,
    /// Processors of all nodes that are up.
    pub(crate) processors: u32,
}

impl WholeNodes {
    pub(crate) fn of(conf: &Conf) -> Result<Self> {
        let partition = conf.default_partition().map(|at| &conf.partitions[at]);
        let partition = partition.context("slurm.conf: no partition has Default=YES, which the jobs go to; add it")?;
        let nodes = || partition.nodes.iter().map(|node| &conf.nodes[*node]);
        let cpus = nodes().map(|node| node.cpus).min().unwrap_or(1).max(1);
        let processors = nodes().filter(|node| node.up).map(|node| node.cpus).sum();
        Ok(Self { count: partition.nodes.len(), cpus, processors })
    }

    /// Returns the job that takes as many nodes as its processors fill, with a limit in whole minutes, its times left out; `None`
    /// if it is wider than the partition.
    pub(crate) fn job(&self, id: u32, request: &Request, limit: Option<Span>) -> Option<SubmittedJob> {
        let nodes = request.processors.div_ceil(self.cpus);
        let user = request.user.map(|user| format!("u{user}"));
        let request = workload::Request { user, nodes: Some(nodes), exclusive: true, ..Default::default() };
        let limit = limit.map(|limit| (seconds(limit) + 59) / 60 * 60).filter(|limit| *limit > 0);
        (nodes as usize <= self.count).then_some(SubmittedJob { id, limit, request, ..SubmittedJob::default() })
    }
}

/// Seconds from the start of the controller to the zero of the trace, and that zero if the trace does not define it.
const LEAD: i64 = 200;
pub(crate) const ZERO: i64 = 1_700_000_200;

/// Terms of one replication. Phases are shares of each loop's period: the same shares for every variant.
pub(crate) fn terms(site: &Site, zero: Option<i64>, seed: u64, phase: u32) -> Terms {
    let mut stream = Streams::new(seed, phase).stream(Purpose("phases of slurmctld"), 0);
    let (scheduling, priority) = (&site.conf.scheduling, &site.conf.priority);
    let mut within = |period: i64| {
        let share: f64 = stream.random();
        #[expect(clippy::cast_possible_truncation, reason = "a share of a period below 2^53 seconds")]
        let seconds = (share * period as f64) as i64;
        seconds
    };
    let phases = Phases {
        full: within(scheduling.sched_interval),
        backfill: within(scheduling.bf_interval),
        decay: within(priority.calc_period),
        limits: within(30),
        backfill_first: within(2) == 1,
    };
    let zero = zero.unwrap_or(ZERO);
    Terms { start: zero - LEAD, zero, phases }
}
