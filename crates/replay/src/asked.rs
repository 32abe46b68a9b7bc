//! What every command that replays a log is asked: which log, on which clusters, and what is told of its jobs.

use crate::given::Given;
use clap::{Args, ValueEnum};
use lab::provenance::quoted;
use std::path::PathBuf;
use workload::{Deadlines, Estimates};

/// The log, and how it is read: what every command that replays one is asked.
#[derive(Clone, Debug, Args)]
pub(crate) struct Asked {
    /// The log, in the Standard Workload Format, plain or gzip.
    #[arg(long, value_name = "FILE.swf[.gz]")]
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) machine_file: Given<MachineFile>,
    /// What policies are told about run times; see the list below.
    #[arg(long, value_name = "exact|user|factor:F|request-factor:F|f-model:F|mean-of-user:K", default_value = "user")]
    pub(crate) estimates: Estimates,
    /// When jobs are due: `factor:F` (F times the user's estimate after submission), `column:N` (column N of the log, in
    /// seconds after submission), or `none`.
    #[arg(long, value_name = "none|factor:F|column:N", default_value = "none")]
    pub(crate) deadlines: Deadlines,
    /// Seed of what is drawn: estimates of the f-model, outages, the search of bgt and sg.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Only the first N records of the log.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_jobs: Option<u64>,
}

impl Asked {
    /// `--machines` and `--inside` as on the command line, with a blank before each; empty if there is no machine file.
    pub(crate) fn machine_file_as_asked(&self) -> String {
        let MachineFile { machines, inside } = &self.machine_file.options;
        machines.as_ref().map_or_else(String::new, |machines| {
            format!(" --machines {} --inside {}", quoted(&machines.to_string_lossy()), inside.name())
        })
    }
}

/// The clusters as a list.
#[derive(Clone, Debug, Args)]
#[group(skip)]
pub(crate) struct MachineFile {
    /// The clusters: a tab-separated file `id name nodes cpus_per_node speed memory`, one line for each.
    #[arg(long, value_name = "FILE", conflicts_with = "procs")]
    pub(crate) machines: Option<PathBuf>,
    /// Inside what place of the machine file a job must fit.
    #[arg(long, value_enum, default_value_t = Inside::Cluster, requires = "machines")]
    pub(crate) inside: Inside,
}

/// What a job must keep to.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Inside {
    /// Inside one cluster, a line of the machine file; it may span machines.
    Cluster,
    /// Inside one machine.
    Machine,
    /// All processors of the file form one pool.
    Pool,
}

impl Inside {
    /// As on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Machine => "machine",
            Self::Pool => "pool",
        }
    }
}
