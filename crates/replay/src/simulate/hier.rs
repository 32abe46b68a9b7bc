//! Systems of hier-grid by name, and a log under one of them.

use super::grid_tree::GridTree;
use super::log::Log;
use super::name::PolicyName;
use super::sites::Sites;
use super::transcript::Ear;
use super::watch::Watch;
use super::{Run, run_out};
use crate::cli;
use anyhow::{Result, ensure};
use hier_grid::{Config, Grid, MessageObserver, System};
use lab::output::OutDir;
use sim_core::{Fact, JobId, Probe, ProcId, Sim, SiteId, Streams, Time};
use std::collections::BTreeMap;
use tempfile::NamedTempFile;

/// A system of hier-grid.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Policy(System);

impl Policy {
    /// The names of all, for messages.
    pub(super) const NAMES: &'static str = "p2p, hierarchical, hybrid+trees=K";

    /// As on the command line, and as the folder of its results is called.
    pub(super) fn name(self) -> String {
        match self.0 {
            System::P2p => "p2p".to_owned(),
            System::Trees(1) => "hierarchical".to_owned(),
            System::Trees(trees) => PolicyName::new("hybrid").with("trees", trees).to_string(),
        }
    }

    /// The system called `text`; `None` if hier-grid has none of this name.
    pub(super) fn named(text: &str) -> Option<Result<Self, String>> {
        let base = PolicyName::base_of(text);
        matches!(base, "p2p" | "hierarchical" | "hybrid").then(|| {
            let mut name = PolicyName::parse(text)?;
            let system = match base {
                "p2p" => System::P2p,
                "hierarchical" => System::Trees(1),
                _ => {
                    let trees = |text: &str| text.parse().ok().filter(|trees| *trees > 1);
                    let trees = name.take("trees", "a number of trees, at least 2, as in hybrid+trees=4", trees)?;
                    System::Trees(trees.ok_or("hybrid: needs a number of trees, at least 2, as in hybrid+trees=4")?)
                }
            };
            name.finish().map(|()| Self(system))
        })
    }

    /// Refuses more trees than there are sites.
    pub(super) fn ensure_fits(self, tree: &GridTree) -> Result<()> {
        if let System::Trees(trees) = self.0 {
            let sites = tree.world.sites();
            ensure!(trees <= sites, "--policy {}: a tree holds at least one site, and there are {sites}", self.name());
        }
        Ok(())
    }
}

/// One system on the whole log, as [`machines`](super::machines) does it.
pub(super) fn replay(
    policy: Policy,
    options: &cli::Simulate,
    tree: &GridTree,
    sites: &Sites,
    out: &OutDir,
) -> Result<(Run, NamedTempFile)> {
    let begun = if options.transcript.is_some() || options.replay.is_some() {
        let ear = Ear::begin(options.transcript.as_deref(), options.replay.as_deref())?;
        let ((run, jobs), ear) = run(policy, options, tree, sites, out, ear)?;
        (Run { told: Some(ear.finish()?), ..run }, jobs)
    } else {
        run(policy, options, tree, sites, out, ())?.0
    };
    Ok(begun)
}

fn run<W: MessageObserver>(
    policy: Policy,
    options: &cli::Simulate,
    tree: &GridTree,
    sites: &Sites,
    out: &OutDir,
    observer: W,
) -> Result<((Run, NamedTempFile), W)> {
    let log = Log::open(options, sites)?;
    let watch = Watch::new(out.begin()?, sites)?;
    let config = Config { system: policy.0, ..tree.config.clone() };
    let submissions = log.jobs(watch.numbers()).map(|job| tree.submission(job));
    let grid = Grid::fed(config, tree.world.clone(), submissions, &Streams::new(options.seed, 0), observer)?;
    let grid = if tree.divides_work() { grid.dividing_work() } else { grid };
    let mut sim = Sim::new(grid, Servers { watch, submitted: BTreeMap::new(), turnaround: 0.0, completed: 0.0 });
    run_out(&mut sim, &policy.name(), options)?;
    let (grid, servers) = sim.into_parts();
    let counts = grid.counts().clone();
    let observer = grid.into_observer();
    let repairs = log.finish()?;
    let Servers { watch, turnaround, completed, .. } = servers;
    let watched = watch.finish()?;
    let mut row = watched.summary.row(sites.processors());
    let per_job = |sum: f64| (completed > 0.0).then(|| sum / completed);
    row.push(("turnaround_mean", per_job(turnaround)));
    row.push(("messages_per_job", per_job(float(counts.all_messages()))));
    row.push(("moves_per_job", per_job(float(counts.moves()))));
    Ok((Run::new(super::Policy::Hier(policy), row, watched, repairs), observer))
}

#[expect(clippy::cast_precision_loss, reason = "a count")]
fn float(count: u64) -> f64 {
    count as f64
}

/// Listens on behalf of a [`Watch`] whose places are servers: a job is there from the answer to the server's offer until
/// the server has run it. When its output is home is what a turnaround ends with.
struct Servers {
    watch: Watch,
    /// Of jobs in the grid, with the CPUs of those that have started.
    submitted: BTreeMap<JobId, (Time, u32)>,
    turnaround: f64,
    completed: f64,
}

impl Probe for Servers {
    fn observe(&mut self, now: Time, fact: &Fact) {
        match *fact {
            Fact::Submitted(job) => {
                self.submitted.insert(job.id, (now, 0));
                self.watch.observe(now, fact);
            }
            Fact::Started { job, processors, .. } => {
                self.submitted.get_mut(&job).expect("it was submitted").1 = processors;
            }
            Fact::Seized { job, processor: ProcId(server) } => {
                let (_, processors) = self.submitted[&job];
                self.watch.observe(now, &Fact::Started { job, site: SiteId(server), processors });
            }
            Fact::Released { job, .. } => self.watch.observe(now, &Fact::Finished { job }),
            Fact::Finished { job } => {
                let (submit, _) = self.submitted.remove(&job).expect("it was submitted");
                self.turnaround += now.since(submit).as_secs_f64();
                self.completed += 1.0;
            }
            Fact::Rejected { job, .. } => {
                self.submitted.remove(&job);
                self.watch.observe(now, fact);
            }
            Fact::Interrupted { .. } => self.watch.observe(now, fact),
        }
    }
}
