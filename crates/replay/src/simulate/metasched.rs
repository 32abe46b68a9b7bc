//! Policies of metasched by name, clusters files (time-shared clusters and their local users), and a log under one policy.

use super::name::{Chosen, Registry};
use super::sites::{Sites, ensure_distinct};
use super::watch::{Log, Outcome, Watch};
use super::world::{Entry, Named, Opened, Wanted, World};
use crate::options::{Inside, words};
use anyhow::{Context, Result, ensure};
use gap_schedule::Machine;
use lab::scenario::toml_text;
use metasched::config::Forecasts;
use metasched::{
    Cluster, Config, Demand, Ffit, Intrusiveness, LocalUsers, MetaLoras, Ptt, Readings, Rr, SelectCluster, Submission,
    Tat, Weights,
};
use serde::Deserialize;
use sim_core::Streams;
use std::collections::BTreeSet;
use std::path::Path;
use workload::Machines;
use workload::file::read_text;

/// Builds a policy, with W.
type Build = fn(&Readings, f64) -> Box<dyn SelectCluster>;

pub(super) const POLICIES: Registry<Build> = Registry {
    policies: &[
        ("ffit", "the first cluster where the job can start now", |readings, _| Box::new(Ffit::new(readings))),
        ("rr", "each cluster in turn", |readings, _| Box::new(Rr::new(readings))),
        ("tat", "the cluster of the smallest predicted turnaround", |readings, _| Box::new(Tat::new(readings))),
        (
            "ptt+w=W",
            "the same, weighed against local users: W = 1 counts turnaround alone, W = 0 users",
            |readings, weight| Box::new(Ptt::new(readings, Weights::Same(weight))),
        ),
        (
            "ptt-occ+w=W",
            "the same, with the CPU and memory in use on its nodes in place of the users",
            |readings, weight| {
                let policy = Ptt::new(readings, Weights::Same(weight));
                Box::new(policy.with_intrusiveness(Intrusiveness::Occupancy))
            },
        ),
    ],
    key: "w",
    expected: "a weight from 0 to 1, as in ptt+w=0.5",
    suits: |weight| (0.0..=1.0).contains(weight),
};

/// Sum of the errors of predictions, in order of completion.
#[derive(Copy, Clone, Default)]
struct PredictionErrors {
    sum: f64,
    count: f64,
}

impl Extend<metasched::Outcome> for PredictionErrors {
    fn extend<I: IntoIterator<Item = metasched::Outcome>>(&mut self, outcomes: I) {
        for error in outcomes.into_iter().filter_map(|outcome| outcome.prediction_error()) {
            self.sum += error;
            self.count += 1.0;
        }
    }
}

/// Time-shared clusters with local users, under a metascheduler that predicts.
struct Metasched {
    policies: Vec<Chosen<Build>>,
    config: Config,
}

pub(super) const ENTRY: Entry = Entry {
    model: "metasched",
    profile: "clean",
    place: "--clusters FILE",
    policies: || POLICIES.names(),
    normal: |text| Some(POLICIES.find(text)?.ok()?.to_string()),
    open,
};

fn open(wanted: &Wanted<'_>) -> Result<Opened> {
    let policies = wanted.policies(|text| POLICIES.find(text))?;
    let path = wanted.options.clusters.as_deref();
    let path = path.context("--model metasched needs --clusters FILE; see --help for what the file holds")?;
    let (config, sites) = read(path)?;
    let named = policies.iter().map(Named::of).collect();
    let note = "Tasks share nodes: a processor here is room for one task, as many on a node as its MPL allows. Local slowdown \
                is averaged over the longest makespan of the policies.";
    let place = words("clusters", Some(path.display()));
    Ok(Opened {
        arguments: format!(" --model metasched{place}{}", words("estimates", Some(wanted.log.estimates))),
        notes: vec![note.to_owned()],
        ..wanted.opened(sites, named, Metasched { policies, config })
    })
}

impl World for Metasched {
    fn replay(&self, at: &Opened, policy: usize, watch: Watch) -> Result<Outcome> {
        let log = Log::open(&at.log, &at.sites)?;
        let arrivals = log.jobs(watch.known(), |one| Submission { job: one.job, demand: None });
        let (Chosen { build, number, .. }, config) = (&self.policies[policy], self.config.clone());
        let at_work = build(&config.readings, *number);
        let model =
            MetaLoras::new(config, at_work, arrivals, PredictionErrors::default(), &Streams::new(at.log.seed(), 0))?;
        let (world, watch) = at.run(policy, model, watch)?;
        let PredictionErrors { sum, count } = *world.outcomes();
        let makespan = world.makespan();
        let disturbance = world.disturbance().map(|(seconds, nodes)| {
            // By way of the slowdown over the policy's own makespan, as results on record were rounded.
            let node_time = u128::from(nodes) * u128::from(makespan.as_nanos());
            ((1.0 + seconds / (node_time as f64 / 1e9)) - 1.0) * makespan.as_secs_f64()
        });
        let disturbed = Some((makespan.as_secs_f64(), disturbance));
        drop(world); // it borrows the log
        let mut outcome = watch.finish(log.finish()?);
        outcome.totals.count("prediction_error_percent", (count > 0.0).then(|| 100.0 * sum / count));
        outcome.disturbed = disturbed;
        Ok(outcome)
    }

    /// Adds the slowdown of local users over the longest makespan of the policies, one window for all.
    fn compare(&self, outcomes: &mut [Outcome]) {
        let window =
            outcomes.iter().filter_map(|outcome| outcome.disturbed).map(|(makespan, _)| makespan).fold(0.0, f64::max);
        for outcome in outcomes {
            let disturbance = outcome.disturbed.and_then(|(_, disturbance)| disturbance).filter(|_| window > 0.0);
            outcome.totals.count("local_slowdown", disturbance.map(|disturbance| 1.0 + disturbance / window));
        }
    }
}

/// A clusters file as it is written; what it leaves out is as in the paper. Memory is in MiB, CPU a fraction of a node's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClustersFile {
    /// Largest number of parallel tasks on a node.
    mpl: Option<u32>,
    task_overhead: Option<f64>,
    overrun: Option<f64>,
    #[serde(default)]
    local_users: NodeShare,
    /// Demand of each task of the log on its node, which logs do not contain.
    #[serde(default)]
    jobs: NodeShare,
    #[serde(default)]
    readings: Readings,
    cluster: Vec<ClusterTable>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeShare {
    cpu: Option<f64>,
    memory: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClusterTable {
    name: String,
    nodes: u32,
    speed: Option<f64>,
    memory: Option<f64>,
    #[serde(default)]
    local_users: bool,
}

/// Reads `path`: a clusters file in TOML if it has that extension, otherwise a machine file, each processor of which is a node.
fn read(path: &Path) -> Result<(Config, Sites)> {
    let is_toml = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    let read = if is_toml { parse(&read_text(path)?) } else { from_machines(&Machines::open(path)?) };
    read.with_context(|| path.display().to_string())
}

/// Reads a clusters file. Returns the configuration, and its clusters as places.
pub fn parse(text: &str) -> Result<(Config, Sites)> {
    let file: ClustersFile = toml_text::read(text)?;
    let ClustersFile { mpl, task_overhead, overrun, local_users, jobs, readings, cluster } = file;
    let (usual, cpu) = (of_a_log(), jobs.cpu.unwrap_or(1.0));
    ensure!((1e-6..=1.0).contains(&cpu), "jobs.cpu is {cpu}; give a fraction of a CPU, at most 1");
    ensure_distinct("cluster", cluster.iter().map(|one| &one.name))?;
    let occupied = (0..).zip(&cluster).filter(|(_, one)| one.local_users).map(|(position, _)| position).collect();
    let of_file = |one: &ClusterTable| {
        let memory = kibibytes(one.memory.unwrap_or(1024.0));
        let memory = memory.with_context(|| format!("the memory of cluster {:?}", one.name))?;
        Ok(Cluster { nodes: one.nodes, speed: one.speed.unwrap_or(1.0), memory })
    };
    let config = Config {
        clusters: cluster.iter().map(of_file).collect::<Result<_>>()?,
        local: LocalUsers {
            cpu: local_users.cpu.unwrap_or(usual.local.cpu),
            memory: local_users.memory.unwrap_or(usual.local.memory),
            ..usual.local
        },
        occupied: Some(occupied),
        mpl: mpl.unwrap_or(usual.mpl),
        task_overhead: task_overhead.unwrap_or(usual.task_overhead),
        overrun: overrun.unwrap_or(usual.overrun),
        default_demand: Demand::new(cpu, kibibytes(jobs.memory.unwrap_or(0.0)).context("jobs.memory")?),
        readings,
        ..usual
    };
    checked(config, cluster.into_iter().map(|one| one.name))
}

fn from_machines(file: &Machines) -> Result<(Config, Sites)> {
    let cluster = |one: &workload::Machine| Cluster {
        nodes: one.processors(),
        speed: one.speed,
        memory: one.memory_per_node / u64::from(one.cpus_per_node),
    };
    let config = Config { clusters: file.clusters().iter().map(cluster).collect(), ..of_a_log() };
    checked(config, file.clusters().iter().map(|one| one.name.clone()))
}

/// A valid configuration, and its clusters as places of the report: a processor is room for one of several tasks on a node.
fn checked(config: Config, names: impl Iterator<Item = String>) -> Result<(Config, Sites)> {
    config.validate()?;
    let Config { clusters, occupied, mpl, readings, .. } = &config;
    let occupied: BTreeSet<u32> = occupied.iter().flatten().copied().collect();
    let machine = |(position, cluster): (u32, &Cluster)| {
        let tasks = if occupied.contains(&position) { (*mpl).min(readings.mpl_beside_users) } else { *mpl };
        Machine { processors: cluster.nodes.saturating_mul(tasks), speed: cluster.speed }
    };
    let sites = Sites::new(names.zip((0..).zip(clusters).map(machine)), "the clusters file", Inside::Cluster);
    let sites = Sites { shared: clusters.iter().map(|cluster| cluster.nodes).max(), ..sites };
    Ok((config, sites))
}

/// The defaults for a log: no local users, and tasks that need a whole CPU and no memory.
fn of_a_log() -> Config {
    // FFIT and RR then make no predictions.
    let forecasts = Forecasts::AsThePolicyAsks;
    Config { forecasts, occupied: Some(Vec::new()), ..Config::of_the_paper(0) }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range checked just before")]
fn kibibytes(mebibytes: f64) -> Result<u64> {
    ensure!((0.0..=1e9).contains(&mebibytes), "{mebibytes} is out of range; memory is in MiB, from 0 to 1e9");
    Ok((mebibytes * 1024.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "mpl = 3\n[local_users]\ncpu = 0.2\n[jobs]\ncpu = 0.5\nmemory = 100\n[readings]\nmpl_beside_users = 1\n\
        [[cluster]]\nname = \"a\"\nnodes = 4\n[[cluster]]\nname = \"b\"\nnodes = 2\nspeed = 2.0\nlocal_users = true\n";

    #[test]
    fn what_a_file_leaves_out_is_as_in_the_paper() {
        let (config, sites) = parse(TWO).expect("a good file");
        assert_eq!(config.clusters[1], Cluster { nodes: 2, speed: 2.0, memory: 1 << 20 });
        assert_eq!((config.mpl, config.occupied.as_deref(), config.readings.mpl_beside_users), (3, Some(&[1][..]), 1));
        assert_eq!(config.default_demand, Demand::new(0.5, 100 << 10));
        assert!((config.local.memory - 0.35).abs() < 1e-12 && (config.local.cpu - 0.2).abs() < 1e-12);
        // Places are tasks, and no job is wider than the nodes.
        assert_eq!(sites.machines.iter().map(|machine| machine.processors).collect::<Vec<_>>(), [12, 2]);
        assert_eq!(sites.widest(), 4);
    }
}
