//! The machine that a log is replayed on.

use crate::cli;
use anyhow::Result;
use std::fmt;
use workload::swf::Header;
use workload::{Machines, Rule};

/// One pool of processors.
pub(super) struct Machine {
    pub(super) processors: u32,
    /// As in the column `site` of `jobs.csv`.
    pub(super) name: String,
    /// The rule under which the log's own size was taken, if it was.
    pub(super) rule: Option<Rule>,
    source: &'static str,
}

impl Machine {
    /// From `--machines`, `--procs`, or the log.
    pub(super) fn of(options: &cli::Simulate, header: &Header) -> Result<Self> {
        if let Some(path) = &options.machines {
            let machines = Machines::open(path)?;
            let names: Vec<&str> = machines.clusters().iter().map(|cluster| cluster.name.as_str()).collect();
            let (processors, name) = (machines.total_processors(), names.join("+"));
            return Ok(Self { processors, name, rule: None, source: "the machine file" });
        }
        let name = "pool".to_owned();
        if let Some(processors) = options.procs {
            return Ok(Self { processors, name, rule: None, source: "--procs" });
        }
        let (processors, rule) = workload::capacity(header, &options.trace)?;
        Ok(Self { processors, name, rule, source: "the log" })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} processors, from {}", self.processors, self.source)
    }
}
