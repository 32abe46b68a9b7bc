//! `--profile alea31`: a log under the rules of the simulator Alea 3.1, as the paper on Swift Gap ran it.

use super::policy::Policy;
use super::rows::SimulatedJob;
use super::sites::{MACHINE_FILE, Sites};
use super::space_shared;
use super::watch::{Outcome, Watch};
use super::world::{Entry, Opened, Wanted, World};
use crate::options::{Inside, words};
use alea31::{Cons, Easy, GapFilling, Readings};
use anyhow::{Context, Result, bail, ensure};
use gap_schedule::Machine;
use sim_core::{Job, Purpose, Streams, Time};
use std::path::Path;
use std::sync::Arc;
use workload::{Alea31Intake, Deadlines, Estimates, LogJob, Machines, SwfReader};

struct Alea31 {
    policies: Vec<Policy>,
    machines: Machines,
    start_up: Time,
}

/// Number of clusters that a job can name.
const MOST: usize = 127;

pub(super) const ENTRY: Entry = Entry {
    model: "gap-schedule",
    profile: "alea31",
    place: "--machines FILE",
    policies: || "easy, cons, best-gap, bgt, sg".to_owned(),
    normal: space_shared::ENTRY.normal,
    open,
};

fn open(wanted: &Wanted<'_>) -> Result<Opened> {
    let (log, options) = (wanted.log, wanted.options);
    let policies = wanted.policies(|text| Policy::of_base(text, wanted.own))?;
    let path = options.on.machines.as_deref();
    let path = path.context("--profile alea31 needs --machines FILE: its jobs request clusters by name")?;
    for (is_given, option, because) in [
        (log.estimates != Estimates::User, "--estimates", "jobs are planned by the log's requested times"),
        (log.deadlines != Deadlines::None, "--deadlines", "jobs are due twice their run time after their submission"),
        (options.on.inside() != Inside::Cluster, "--inside", "a job fits inside one cluster, and may span nodes"),
    ] {
        ensure!(!is_given, "{option} does not go with --profile alea31, where {because}; leave it out");
    }
    policies.iter().try_for_each(|policy| at_work(policy, log.seed(), 1).map(drop))?;
    let machines = Machines::open(path)?;
    let nodes = || machines.clusters().iter().map(|cluster| (cluster.nodes, cluster.cpus_per_node));
    let start_up = options.startup.map_or_else(|| alea31::start_up(nodes()), |startup| Time::ZERO + startup);
    let intake = Alea31Intake::new(SwfReader::open(log.trace())?, &machines, log.max_jobs);
    let sites = sites(&intake.clusters, path)?;
    let startup = words("startup", options.startup.map(|startup| format!("{startup}s")));
    let idles = log.seed.is_some() && !policies.iter().any(Policy::draws);
    let named = policies.iter().map(|policy| policy.named(sites.names.len())).collect();
    Ok(Opened {
        arguments: format!("{} --profile alea31{startup}", options.on.machine_words()),
        without_effect: Vec::from_iter(idles.then_some("--seed")),
        notes: vec![format!(
            "Under the rules of the simulator Alea 3.1: no job starts in the first {start_up} s, each starts 8 ms after \
             the one before at the earliest, and runs up to a second longer than the log says. Jobs are due \
             twice their run time after their submission."
        )],
        start_up: Some(start_up.as_secs_f64()),
        rejects_because: "no cluster is what they ask for, and wide enough".to_owned(),
        ..wanted.opened(sites, named, Alea31 { policies, machines, start_up })
    })
}

impl World for Alea31 {
    /// All jobs are read first, since this world takes them as a whole.
    fn replay(&self, at: &Opened, policy: usize, watch: Watch) -> Result<Outcome> {
        let mut intake = Alea31Intake::new(SwfReader::open(at.log.trace())?, &self.machines, at.log.max_jobs);
        let known = watch.known();
        let take_in = |one: Result<LogJob, _>| {
            let mut one = one?;
            let job = one.job;
            one.job.runtime = alea31::executed_time(&job);
            let simulated = SimulatedJob::new(one, alea31::limit(&job) < job.runtime);
            known.borrow_mut().insert(job.id, Box::new(simulated));
            Ok(job)
        };
        let jobs: Arc<[Job]> = intake.by_ref().map(take_in).collect::<Result<_>>().context("--profile alea31")?;
        let processors: Vec<u32> = at.sites.machines.iter().map(|machine| machine.processors).collect();
        let at_work = at_work(&self.policies[policy], at.log.seed(), processors.len())?;
        let world = alea31::World::new(&processors, at_work, jobs).with_start_up(self.start_up);
        let (_, watch) = at.run(policy, world, watch)?;
        Ok(watch.finish(intake.repairs().clone()))
    }
}

fn at_work(policy: &Policy, seed: u64, clusters: usize) -> Result<Box<dyn alea31::Policy>> {
    let stream = || Streams::new(seed, 0).stream(Purpose("tabu search"), 0);
    Ok(match policy.plain() {
        Some("easy") => Box::new(Easy::default()),
        Some("cons") => Box::new(Cons::default()),
        Some("best-gap") => Box::new(GapFilling::best_gap()),
        Some("bgt") => Box::new(GapFilling::bgt(stream())),
        Some("sg") => Box::new(GapFilling::swift_gap(Readings::default().on(clusters), stream())),
        _ => bail!(
            "--policy {policy} is not one of --profile alea31, which has easy, cons, best-gap, bgt and sg; choose among \
             these, or leave --profile out"
        ),
    })
}

fn sites(clusters: &[workload::Machine], path: &Path) -> Result<Sites> {
    let (file, number) = (path.display(), clusters.len());
    ensure!(number <= MOST, "{file}: {number} clusters; under --profile alea31 there may be {MOST}");
    if let Some(workload::Machine { name, speed, .. }) = clusters.iter().find(|one| one.speed.total_cmp(&1.0).is_ne()) {
        bail!(
            "{file}: cluster {name} has speed {speed}; --profile alea31 has no speeds: make it 1, or leave --profile out"
        );
    }
    let site = |one: &workload::Machine| (one.name.clone(), Machine::new(one.processors()));
    let has_memory = clusters.iter().any(|one| one.memory_per_node > 0);
    Ok(Sites { has_memory, ..Sites::new(clusters.iter().map(site), MACHINE_FILE, Inside::Cluster) })
}
