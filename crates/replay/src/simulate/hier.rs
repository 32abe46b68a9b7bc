//! Systems of hier-grid by name, and a log under one of them.

use super::grid_tree::GridTree;
use super::name::{Chosen, Registry};
use super::watch::{Log, Outcome, Watch};
use super::world::{Entry, Named, Opened, Wanted, World};
use crate::options::words;
use anyhow::{Context, Result, ensure};
use gap_schedule::Machine;
use hier_grid::{Config, Grid, System};
use lab::units::float;
use sim_core::{Fact, JobLog, JobRecord, Probe, ProcId, SiteId, Streams, Time};

type Build = fn(f64) -> System;

pub(super) const POLICIES: Registry<Build> = Registry {
    policies: &[
        ("p2p", "every server is a peer; requests flood the overlay", |_| System::P2p),
        ("hierarchical", "one tree of schedulers", |_| System::Trees(1)),
        ("hybrid+trees=K", "the tree cut into K trees, whose roots are peers", |trees| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number suits")]
            System::Trees(trees as u32)
        }),
    ],
    key: "trees",
    expected: "a number of trees, at least 2, as in hybrid+trees=4",
    suits: |trees| *trees >= 2.0 && *trees <= f64::from(u32::MAX) && trees.fract() == 0.0,
};

/// Servers that run one job at a time, among peers or below trees of schedulers.
struct HierGrid {
    policies: Vec<Chosen<Build>>,
    tree: GridTree,
}

pub(super) const ENTRY: Entry = Entry {
    model: "hier-grid",
    profile: "clean",
    place: "--tree FILE.toml",
    policies: || POLICIES.names(),
    normal: |text| Some(POLICIES.find(text)?.ok()?.to_string()),
    open,
};

fn open(wanted: &Wanted<'_>) -> Result<Opened> {
    let policies = wanted.policies(|text| POLICIES.find(text))?;
    let place = wanted.options.tree.as_deref();
    let place = place.context("--model hier-grid needs --tree FILE.toml; see --help for what the file holds")?;
    let (tree, places) = GridTree::open(place)?;
    let sites = tree.world.sites();
    for policy in &policies {
        let fits = policy.number <= f64::from(sites);
        ensure!(fits, "--policy {policy}: a tree holds at least one site, and there are {sites}");
    }
    let named = policies.iter().map(Named::of).collect();
    let note = "A job has a whole server: its processors are those of the server. It starts when its work station answers the \
                server's offer, and finishes when the server has run it; turnaround ends when its output is home.";
    let place = words("tree", Some(place.display()));
    Ok(Opened {
        arguments: format!(" --model hier-grid{place}{}", words("estimates", Some(wanted.log.estimates))),
        notes: vec![note.to_owned()],
        ..wanted.opened(places, named, HierGrid { policies, tree })
    })
}

impl World for HierGrid {
    fn replay(&self, at: &Opened, policy: usize, watch: Watch) -> Result<Outcome> {
        let log = Log::open(&at.log, &at.sites)?;
        let (Self { policies, tree }, machines) = (self, &at.sites.machines);
        let submissions = log.jobs(watch.known(), |job| tree.submission(job));
        let Chosen { build, number, .. } = &policies[policy];
        let config = Config { system: build(*number), ..tree.config.clone() };
        let grid = Grid::fed(config, tree.world.clone(), submissions, &Streams::new(at.log.seed(), 0), ())?;
        let grid = if tree.divides_work() { grid.dividing_work() } else { grid };
        // The turnaround of a job ends when its output has arrived.
        let (mut turnaround, mut completed) = (0.0, 0.0);
        let home = JobLog::new(|record: JobRecord| {
            turnaround += record.response().as_secs_f64();
            completed += 1.0;
        });
        let (grid, (Servers { watch, .. }, _)) = at.run(policy, grid, (Servers { watch, machines }, home))?;
        let counts = grid.counts().clone();
        drop(grid);
        let mut outcome = watch.finish(log.finish()?);
        let per_job = |sum: f64| (completed > 0.0).then(|| sum / completed);
        outcome.totals.count("turnaround_mean", per_job(turnaround));
        outcome.totals.count("messages_per_job", per_job(float(counts.all_messages())));
        outcome.totals.count("moves_per_job", per_job(float(counts.moves())));
        Ok(outcome)
    }
}

/// Passes events on to a [`Watch`] whose places are servers: a job occupies one from the answer to its offer until it has run.
struct Servers<'a> {
    watch: Watch,
    machines: &'a [Machine],
}

impl Probe for Servers<'_> {
    fn observe(&mut self, now: Time, fact: &Fact) {
        match *fact {
            Fact::Seized { job, processor: ProcId(server) } => {
                let processors = self.machines[server as usize].processors;
                self.watch.observe(now, &Fact::Started { job, site: SiteId(server), processors });
            }
            Fact::Released { job, .. } => self.watch.observe(now, &Fact::Finished { job }),
            Fact::Started { .. } | Fact::Finished { .. } => {}
            Fact::Submitted(_) | Fact::Rejected { .. } => self.watch.observe(now, fact),
        }
    }
}
