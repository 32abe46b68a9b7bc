//! Submitted jobs: the options of sbatch, and the run time that only the world knows.

use crate::site::conf::{Conf, Partition};

/// Submission of a job. Times are whole seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubmittedJob {
    /// JobId, or the number of a task of an array (see [`array_of`]), which gets its JobId when it leaves the array.
    pub id: u32,
    /// Line of the file, counted from 1.
    pub line: usize,
    /// Time of submission, from the zero of the workload.
    pub submit: i64,
    /// Run times of earlier runs, each of which ends with a requeue.
    pub earlier_runs: Vec<i64>,
    /// Run time of the last run, unless it is stopped at its limit.
    pub run: i64,
    /// Requested time limit; `None` leaves it to the partition.
    pub limit: Option<i64>,
    /// Options of sbatch.
    pub request: Request,
}

/// Greatest index of a task, and the bits that hold it.
const LAST_TASK: u32 = 1023;
const TASK_BITS: u32 = 10;

/// Marks the number of a task; Slurm's own numbers are smaller.
const TASK: u32 = 1 << 31;

/// Returns the number of a task of an array, or `None` if the array's JobId or the index is too large (2 097 151, 1 023).
pub(crate) fn task(array: u32, index: u32) -> Option<u32> {
    ((1..TASK >> TASK_BITS).contains(&array) && index <= LAST_TASK).then_some(TASK | array << TASK_BITS | index)
}

/// Returns the JobId of the array and the index of a task; the JobId and 0 of any other job.
pub fn array_of(job: u32) -> (u32, u32) {
    if job < TASK { (job, 0) } else { ((job ^ TASK) >> TASK_BITS, job & LAST_TASK) }
}

/// Returns the numbers that tasks of an array may have.
pub(crate) fn tasks(array: u32) -> std::ops::RangeInclusive<u32> {
    task(array, 0).map_or(TASK..=TASK, |first| first..=first | LAST_TASK)
}

impl SubmittedJob {
    /// Returns the CPUs that its tasks need on this number of nodes.
    pub(crate) fn cpus(&self, nodes: u32) -> u64 {
        let Request { tasks, tasks_per_node, cpus_per_task, .. } = self.request;
        let tasks = tasks.map_or_else(|| u64::from(nodes) * u64::from(tasks_per_node.unwrap_or(1)), u64::from);
        tasks.saturating_mul(u64::from(cpus_per_task.unwrap_or(1)))
    }

    /// Returns the number of whole nodes that the job takes in `partition`, or why it needs parts of nodes, and how to change it.
    pub(crate) fn whole_nodes(&self, conf: &Conf, partition: &Partition) -> Result<u32, String> {
        let request = &self.request;
        let cpus = || partition.nodes.iter().map(|&node| conf.nodes[node].cpus);
        let (Some(least), Some(most)) = (cpus().min(), cpus().max()) else {
            return Err(format!("partition {} has no nodes", partition.name));
        };
        let asked = request.nodes.unwrap_or(1).max(1);
        let needed = self.cpus(asked);
        let by_cpus = u32::try_from(needed.div_ceil(u64::from(least.max(1)))).unwrap_or(u32::MAX);
        let by_tasks = match (request.tasks, request.tasks_per_node) {
            (Some(tasks), Some(per_node)) => tasks.div_ceil(per_node.max(1)),
            _ => 1,
        };
        let nodes = asked.max(by_cpus).max(by_tasks);
        if request.nodes.is_some_and(|given| nodes > given) {
            return Err(format!("{needed} CPUs do not fit on {asked} nodes of {least}; raise -N or lower -n and -c"));
        }
        let name = &partition.name;
        if least != most && by_cpus > asked {
            return Err(format!("partition {name} has nodes of {least} to {most} CPUs; give the nodes with -N"));
        }
        let whole = request.exclusive || partition.exclusive || conf.select_linear;
        if !whole && (least != most || needed != u64::from(nodes) * u64::from(least)) {
            const WHY: &str = "share nodes with other jobs, which is not modelled; add --exclusive";
            return Err(format!("{needed} CPUs on {nodes} nodes of {most} {WHY}"));
        }
        let mut memory = partition.nodes.iter().map(|&node| conf.nodes[node].memory);
        match request.memory {
            Some(Memory::PerNode(asked)) if conf.memory_counts && memory.any(|real| asked > real) => {
                Err(format!("{asked} MiB are more than RealMemory of a node of partition {name}; lower --mem"))
            }
            _ => Ok(nodes),
        }
    }
}

/// Options given to sbatch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// `--user`, `--uid`; see [`Request::user`].
    pub user: Option<String>,
    /// `-A`; without it the user's default account.
    pub account: Option<String>,
    /// `--qos`; without it that of the association.
    pub qos: Option<String>,
    /// `-J`, which `singleton` refers to.
    pub name: String,
    /// `-p`, in the order given; empty for the default partition.
    pub partitions: Vec<String>,
    /// `-a`: indices of the tasks.
    pub array: Vec<u32>,
    /// `-a …%N`: greatest number of tasks that run at a time.
    pub most_tasks: Option<u32>,
    /// `-N`.
    pub nodes: Option<u32>,
    /// `-n`.
    pub tasks: Option<u32>,
    /// `--ntasks-per-node`.
    pub tasks_per_node: Option<u32>,
    /// `-c`.
    pub cpus_per_task: Option<u32>,
    /// `--exclusive`.
    pub exclusive: bool,
    /// `--mem`, `--mem-per-cpu`.
    pub memory: Option<Memory>,
    /// `--time-min`, in seconds.
    pub time_min: Option<i64>,
    /// `--nice`.
    pub nice: i64,
    /// `--priority`: fixed, never computed.
    pub priority: Option<u32>,
    /// `-H`.
    pub hold: bool,
    /// `--begin`.
    pub begin: Option<Begin>,
    /// `-d`: all groups must be met; within a group one alternative suffices.
    pub dependencies: Vec<Vec<Dependency>>,
    /// `-w`: nodes that the job must have.
    pub required: Vec<String>,
    /// `-x`: nodes that it must not have.
    pub excluded: Vec<String>,
}

impl Request {
    /// Returns the user; `root`, which submits the workloads of the oracle, if none is given.
    pub fn user(&self) -> &str {
        self.user.as_deref().unwrap_or("root")
    }
}

/// Requested memory, in MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Per node; 0 means all of it.
    PerNode(u64),
    /// Per CPU.
    PerCpu(u64),
}

/// Time before which a job is not eligible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Seconds after submission.
    After(i64),
    /// Seconds since 1970, read as UTC.
    At(i64),
}

/// Condition on other jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Condition.
    pub kind: DependencyKind,
    /// Other job; `None` for `singleton`.
    pub job: Option<u32>,
}

/// Kind of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyKind {
    /// `after`: the other started (or was cancelled) at least this many seconds ago.
    After(i64),
    /// `afterany`: the other ended.
    AfterAny,
    /// `afterok`: the other ended with success.
    AfterOk,
    /// `aftercorr`: the task of the same index ended with success.
    AfterCorr,
    /// `afternotok`: the other failed.
    AfterNotOk,
    /// `singleton`: no earlier job of this name and user is pending or running.
    Singleton,
}
