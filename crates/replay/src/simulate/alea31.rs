//! `--profile alea31`: a log under the rules of the simulator Alea 3.1, as the paper on Swift Gap ran it.

use super::model::Policy;
use super::policy;
use super::sites::{Site, Sites};
use super::watch::Watch;
use super::{Run, run_out};
use crate::cli::{self, Inside, PassesName};
use alea31::{Cons, Easy, GapFilling, Job, Readings, World};
use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use gap_schedule::{CompressOrder, Machine};
use lab::output::OutDir;
use sim_core::{Purpose, Sim, Streams, Time};
use std::path::Path;
use std::sync::Arc;
use tempfile::NamedTempFile;
use workload::{Alea31Intake, Alea31Job, Deadlines, Estimates, Machines, SwfReader};

/// Whose rules hold.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// Those of the policies, as their authors describe them.
    #[default]
    Clean,
    /// Those of the simulator Alea 3.1, rule for rule: needs --machines.
    Alea31,
}

impl Profile {
    /// As on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Alea31 => "alea31",
        }
    }
}

/// More clusters than a job tells apart.
const TOO_MANY: usize = 128;

/// Refuses what that simulator does not know, or does by rules of its own.
pub(super) fn ensure_possible(options: &cli::Simulate) -> Result<()> {
    ensure!(
        options.model == super::Model::GapSchedule,
        "--profile alea31 goes with --model gap-schedule; leave it out with --model {}",
        options.model.name()
    );
    ensure!(options.machines.is_some(), "--profile alea31 needs --machines FILE: its jobs ask for clusters by name");
    for (is_given, option, because) in [
        (options.estimates != Estimates::User, "--estimates", "jobs are planned by the log's requested times"),
        (
            options.deadlines != Deadlines::None,
            "--deadlines",
            "jobs are due twice their run time after their submission",
        ),
        (options.outages.is_some(), "--outages", "its clusters do not fail"),
        (options.inside != Inside::Cluster, "--inside", "a job fits inside one cluster, and may span nodes"),
        (options.passes != PassesName::PerInstant, "--passes", "its passes follow each other every 8 ms"),
    ] {
        ensure!(!is_given, "{option} does not go with --profile alea31, where {because}; leave it out");
    }
    for policy in &options.policy {
        let Policy::Gap(policy) = *policy else { unreachable!("policies were checked") };
        at_work(policy, options.seed, 1)?;
    }
    Ok(())
}

/// The policy, to which nothing has happened yet, on so many clusters.
fn at_work(policy: policy::Policy, seed: u64, clusters: usize) -> Result<Box<dyn alea31::Policy>> {
    let stream = || Streams::new(seed, 0).stream(Purpose("tabu search"), 0);
    Ok(match policy {
        policy::Policy::Easy => Box::new(Easy::default()),
        policy::Policy::Cons(CompressOrder::Arrival) => Box::new(Cons::default()),
        policy::Policy::BestGap => Box::new(GapFilling::best_gap()),
        policy::Policy::Bgt => Box::new(GapFilling::bgt(stream())),
        policy::Policy::SwiftGap => Box::new(GapFilling::swift_gap(Readings::default().on(clusters), stream())),
        other => bail!(
            "--policy {other} is not one of --profile alea31, which has easy, cons, best-gap, bgt and sg; choose among \
             these, or leave --profile out"
        ),
    })
}

/// The log as the simulator reads it, and its clusters.
fn intake(options: &cli::Simulate, machines: &Path) -> Result<Alea31Intake> {
    Ok(Alea31Intake::new(SwfReader::open(&options.trace)?, &Machines::open(machines)?, options.max_jobs))
}

/// When the simulator is up: as asked for, or else as its clusters have it.
pub(super) fn start_up(options: &cli::Simulate) -> Result<Time> {
    if let Some(startup) = options.startup {
        return Ok(Time::ZERO + startup);
    }
    let path = options.machines.as_deref().expect("the options were checked");
    let machines = Machines::open(path)?;
    Ok(alea31::start_up(machines.clusters().iter().map(|cluster| (cluster.nodes, cluster.cpus_per_node))))
}

/// The clusters, the largest first.
pub(super) fn sites(options: &cli::Simulate) -> Result<Sites> {
    let path = options.machines.as_deref().expect("the options were checked");
    let intake = intake(options, path)?;
    let clusters = intake.clusters();
    ensure!(
        clusters.len() < TOO_MANY,
        "{}: {} clusters; under --profile alea31 there may be {}",
        path.display(),
        clusters.len(),
        TOO_MANY - 1
    );
    if let Some(other) = clusters.iter().find(|one| one.speed.total_cmp(&1.0).is_ne()) {
        bail!(
            "{}: cluster {} has speed {}; --profile alea31 knows no speeds: make it 1, or leave --profile out",
            path.display(),
            other.name,
            other.speed
        );
    }
    let site = |one: &workload::Machine| Site { name: one.name.clone(), machine: Machine::new(one.processors()) };
    Ok(Sites::clusters(clusters.iter().map(site).collect()))
}

/// One policy on the whole log, as [`machines`](super::machines) does it. All jobs are read first: there is no other way to
/// give them to this world.
pub(super) fn replay(
    policy: policy::Policy,
    options: &cli::Simulate,
    sites: &Sites,
    out: &OutDir,
) -> Result<(Run, NamedTempFile)> {
    let path = options.machines.as_deref().expect("the options were checked");
    let mut intake = intake(options, path)?;
    let watch = Watch::new(out.begin()?, sites)?;
    let numbers = watch.numbers();
    let take_in = |job: Result<Alea31Job, _>| {
        let Alea31Job { job, number, user, .. } = job?;
        numbers.borrow_mut().insert(job.id, number);
        // Jobs without a user are one user's.
        Ok(Job { job, user: user.unwrap_or(u32::MAX) })
    };
    let jobs: Arc<[Job]> = intake.by_ref().map(take_in).collect::<Result<_>>().context("--profile alea31")?;
    let processors: Vec<u32> = sites.machines().iter().map(|machine| machine.processors).collect();
    let at_work = at_work(policy, options.seed, processors.len())?;
    let world = World::new(processors, at_work, jobs).with_start_up(start_up(options)?);
    let mut sim = Sim::new(world, watch);
    run_out(&mut sim, &policy.name(), options)?;
    let (_, watch) = sim.into_parts();
    let watched = watch.finish()?;
    let row = watched.summary.row(sites.processors());
    Ok(Run::new(Policy::Gap(policy), row, watched, intake.repairs().clone()))
}
