//! The places that hold jobs.

use crate::options::{Inside, LogOptions, MachineOptions};
use anyhow::{Result, anyhow, bail, ensure};
use gap_schedule::Machine;
use lab::units::{count, float};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use workload::swf::Header;
use workload::{InputError, Machines, Repairs, Rule};

/// The places of a simulation. A job runs inside one of them.
#[derive(Clone)]
pub struct Sites {
    /// Names, as in the column `site` of `jobs.csv`.
    pub(crate) names: Vec<String>,
    pub(crate) machines: Vec<Machine>,
    /// Rule by which the processors were taken from the log, if they were.
    pub(crate) rule: Option<Rule>,
    pub(super) source: &'static str,
    pub(super) inside: Inside,
    /// True if a machine file has memory, which no world uses.
    pub(super) has_memory: bool,
    /// Processors of the widest job, if a processor of a place is room for one of several tasks on a node.
    pub(super) shared: Option<u32>,
}

pub(crate) const MACHINE_FILE: &str = "the machine file";

/// Largest number of machines, more than any site has: each takes memory in every policy.
const MOST_MACHINES: u64 = 100_000;

impl Sites {
    /// Places from `--machines`, `--procs`, or the log.
    pub(crate) fn of(log: &LogOptions, on: &MachineOptions, header: &Header) -> Result<Self> {
        if let Some(path) = &on.machines {
            return Self::from_file(path, on.inside());
        }
        if let Some(processors) = on.procs {
            return Ok(Self::pool(processors, "--procs"));
        }
        let (processors, rule) = workload::capacity(header, log.trace()).map_err(unknown_size)?;
        Ok(Self { rule, ..Self::pool(processors, "the log") })
    }

    pub(super) fn new(
        sites: impl IntoIterator<Item = (String, Machine)>,
        source: &'static str,
        inside: Inside,
    ) -> Self {
        let (names, machines) = sites.into_iter().unzip();
        Self { names, machines, rule: None, source, inside, has_memory: false, shared: None }
    }

    /// One machine, whose size `source` gives.
    pub fn pool(processors: u32, source: &'static str) -> Self {
        Self::new([("pool".to_owned(), Machine::new(processors))], source, Inside::Pool)
    }

    /// The clusters of a machine file, or their machines, or all of it as one pool.
    pub fn from_file(path: &Path, inside: Inside) -> Result<Self> {
        let (file, name) = (Machines::open(path)?, path.display());
        let clusters = file.clusters();
        let place = |name, processors, speed| (name, Machine { processors, speed });
        let places = match inside {
            Inside::Cluster => {
                clusters.iter().map(|one| place(one.name.clone(), one.processors(), one.speed)).collect()
            }
            Inside::Machine => {
                let machines: u64 = clusters.iter().map(|one| u64::from(one.nodes)).sum();
                ensure!(
                    machines <= MOST_MACHINES,
                    "{name}: has {machines} machines, and at most {MOST_MACHINES} are supported; use --inside cluster"
                );
                let nodes = clusters.iter().flat_map(|one| (0..one.nodes).map(move |node| (one, node)));
                nodes.map(|(one, node)| place(format!("{}-{node}", one.name), one.cpus_per_node, one.speed)).collect()
            }
            Inside::Pool => {
                let (first, speed) = (&clusters[0].name, clusters[0].speed);
                if let Some(other) = clusters.iter().find(|one| one.speed.total_cmp(&speed).is_ne()) {
                    let other = format!("cluster {} has speed {}", other.name, other.speed);
                    bail!(
                        "{name}: {other}, and {first} has {speed}: processors of different speed form no pool; use --inside \
                         cluster or --inside machine"
                    );
                }
                let names: Vec<&str> = clusters.iter().map(|one| one.name.as_str()).collect();
                vec![place(names.join("+"), file.total_processors(), speed)]
            }
        };
        Ok(Self { has_memory: file.tells_memory(), ..Self::new(places, MACHINE_FILE, inside) })
    }

    /// First processor of each place and its name, with processors numbered through the places.
    pub(crate) fn first_processors(&self) -> impl Iterator<Item = (u32, &str)> {
        self.names.iter().zip(&self.machines).scan(0, |next, (name, machine)| {
            let first = *next;
            *next = u32::saturating_add(*next, machine.processors);
            Some((first, name.as_str()))
        })
    }

    /// Processors of all places. The sum saturates for places of tasks; only pictures depend on it.
    pub fn processors(&self) -> u32 {
        self.machines.iter().map(|machine| machine.processors).fold(0, u32::saturating_add)
    }

    /// Notes on requests of the log and columns of the machine file that no world uses, one for each kind.
    pub fn ignored(&self, Repairs { unread, .. }: &Repairs) -> Vec<String> {
        let of_jobs = |count: u64, rest: &str| (count > 0).then(|| format!("{} {rest}", share(count, unread.jobs)));
        let memory = match (unread.memory, self.has_memory) {
            (0, true) => Some("the machine file gives memory per node, which this world ignores".to_owned()),
            (jobs, false) => of_jobs(jobs, "request memory (field 10), which this world ignores"),
            (jobs, true) => {
                let both = "and the machine file gives memory per node; this world ignores both";
                of_jobs(jobs, &format!("request memory (field 10), {both}"))
            }
        };
        let dependencies = "name a preceding job (field 17), which this world ignores: each job is submitted at the time in the log, \
                            whenever others end";
        let nodes = "request nodes (column 21), which this world ignores: it counts processors alone (--profile alea31 reads \
                     them)";
        let (dependencies, nodes) = (of_jobs(unread.preceding_job, dependencies), of_jobs(unread.nodes, nodes));
        let count = unread.partitions.len();
        let partitions = (count > 1).then(|| {
            format!("jobs name {count} partitions (field 16), which this world ignores: a job may start on any place that is wide enough")
        });
        [memory, dependencies, nodes, partitions].into_iter().flatten().collect()
    }

    pub(crate) fn slowest(&self) -> f64 {
        self.machines.iter().map(|machine| machine.speed).fold(f64::INFINITY, f64::min)
    }

    /// Processors of the widest place: no job can be wider.
    pub(crate) fn widest(&self) -> u32 {
        let widest = || self.machines.iter().map(|machine| machine.processors).max();
        self.shared.or_else(widest).unwrap_or(0)
    }
}

pub(super) fn ensure_distinct<'a>(kind: &str, names: impl IntoIterator<Item = &'a String>) -> Result<()> {
    let mut known = BTreeSet::new();
    for name in names {
        ensure!(known.insert(name), "{kind} {name:?} is named twice; jobs.csv could not distinguish them");
    }
    Ok(())
}

/// `99 % of jobs`, never rounded to none or all.
fn share(count: u64, all: u64) -> String {
    if count == all {
        return "all jobs".to_owned();
    }
    match 100.0 * float(count) / float(all) {
        percent if percent < 1.0 => "less than 1 % of jobs".to_owned(),
        percent if percent > 99.0 && percent < 100.0 => format!("{:.1} % of jobs", (10.0 * percent).floor() / 10.0),
        percent => format!("{percent:.0} % of jobs"),
    }
}

/// The error about a log without a size, in the words of the command line.
fn unknown_size(error: InputError) -> anyhow::Error {
    let InputError::NoCapacity { path, nodes, widest } = error else { return error.into() };
    let nodes = nodes.map_or_else(String::new, |nodes| format!(", only that it has {nodes} nodes"));
    let widest = widest.map_or_else(String::new, |widest| format!(" (the widest job requests {widest})"));
    let path = path.display();
    anyhow!(
        "{path}: the log does not say how many processors its machine has{nodes}: give --procs N or --machines FILE{widest}"
    )
}

impl fmt::Display for Sites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let room = if self.shared.is_some() { "places for tasks" } else { "processors" };
        write!(f, "{} {room}", count(u64::from(self.processors())))?;
        if self.names.len() > 1 {
            let kind = if self.inside == Inside::Machine { "machines" } else { "clusters" };
            write!(f, " in {} {kind}", self.names.len())?;
        }
        write!(f, ", from {}", self.source)
    }
}
