//! Options of a submission that the controller uses.

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
    /// `-t`, in seconds; overrides the workload's column.
    pub limit: Option<i64>,
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
    #[must_use]
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
