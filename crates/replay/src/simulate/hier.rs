//! Systems of hier-grid by name, and a log under one of them.

use super::clock::{Control, run_of, run_out};
use super::grid_tree::GridTree;
use super::log::Log;
use super::name::PolicyName;
use super::overheard::Overheard;
use super::sites::Sites;
use super::watch::{Known, RunRequest, Watch};
use super::world::{Entry, Named, Outcome, Wanted, World};
use crate::explain::history::{Explanation, heard};
use crate::options::{LogOptions, words};
use crate::world_name;
use anyhow::{Context, Result, ensure};
use hier_grid::{Config, Grid, System};
use sim_core::{Fact, JobId, Probe, ProcId, Sim, SiteId, Streams, Time};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

#[derive(Copy, Clone, Debug, PartialEq)]
struct TreePolicy(System);

impl TreePolicy {
    /// The system called `text`; `None` if hier-grid has no system with this name.
    fn named(text: &str) -> Option<Result<Self, String>> {
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

    fn ensure_fits(&self, tree: &GridTree) -> Result<()> {
        if let System::Trees(trees) = self.0 {
            let sites = tree.world.sites();
            ensure!(trees <= sites, "--policy {self}: a tree holds at least one site, and there are {sites}");
        }
        Ok(())
    }
}

/// Formats the name, as on the command line and of the folder of its results.
impl fmt::Display for TreePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            System::P2p => f.write_str("p2p"),
            System::Trees(1) => f.write_str("hierarchical"),
            System::Trees(trees) => PolicyName::new("hybrid").with("trees", trees).fmt(f),
        }
    }
}

/// Servers that run one job at a time, among peers or below trees of schedulers.
struct HierGrid {
    log: LogOptions,
    /// Value of the option, as given.
    place: String,
    policies: Vec<TreePolicy>,
    tree: GridTree,
    sites: Sites,
}

/// The systems, with descriptions for the help.
pub(super) const POLICIES: [(&str, &str); 3] = [
    ("p2p", "every server is a peer; requests flood the overlay"),
    ("hierarchical", "one tree of schedulers"),
    ("hybrid+trees=K", "the tree cut into K trees, whose roots are peers"),
];

pub(super) const ENTRY: Entry = Entry {
    name: &world_name::HIER_GRID,
    place: "--tree FILE.toml|4-4-2-5",
    policies: || POLICIES.map(|(name, _)| name).join(", "),
    normal: |text| Some(TreePolicy::named(text)?.ok()?.to_string()),
    open,
};

fn open(wanted: &Wanted<'_>) -> Result<Box<dyn World>> {
    let policies = wanted.policies(TreePolicy::named)?;
    let place = wanted.options.tree.clone();
    let place =
        place.context("--model hier-grid needs --tree FILE.toml, or a short form such as --tree 4-2-5; see --help")?;
    let tree = GridTree::open(&place, wanted.log.seed())?;
    policies.iter().try_for_each(|policy| policy.ensure_fits(&tree))?;
    let sites = tree.sites();
    Ok(Box::new(HierGrid { log: wanted.log.clone(), place, policies, tree, sites }))
}

impl World for HierGrid {
    fn policies(&self) -> Vec<Named> {
        self.policies.iter().map(Named::of).collect()
    }

    fn sites(&self) -> &Sites {
        &self.sites
    }

    fn replay(&self, policy: usize, asked: RunRequest<'_>) -> Result<Outcome> {
        let (policy, control) = (&self.policies[policy], asked.control.clone());
        let Self { log: options, tree, sites, .. } = self;
        let log = Log::open(options, sites)?;
        let watch = Watch::new(asked, sites);
        let config = Config { system: policy.0, ..tree.config.clone() };
        let submissions = log.jobs(watch.known()).map(|job| tree.submission(job));
        let grid = Grid::fed(config, tree.world.clone(), submissions, &Streams::new(options.seed(), 0), ())?;
        let grid = if tree.divides_work() { grid.dividing_work() } else { grid };
        let mut sim = Sim::new(grid, Servers { watch, submitted: BTreeMap::new(), turnaround: 0.0, completed: 0.0 });
        run_out(&mut sim, &run_of(options, policy), &control, || true)?;
        let (grid, servers) = sim.into_parts();
        let counts = grid.counts().clone();
        let repairs = log.finish()?;
        let Servers { watch, turnaround, completed, .. } = servers;
        let mut outcome = Outcome::new(watch.finish(), repairs);
        let per_job = |sum: f64| (completed > 0.0).then(|| sum / completed);
        outcome.count("turnaround_mean", per_job(turnaround));
        outcome.count("messages_per_job", per_job(float(counts.all_messages())));
        outcome.count("moves_per_job", per_job(float(counts.moves())));
        Ok(outcome)
    }

    fn explain(&self, policy: usize, jobs: &[u64]) -> Result<Vec<Explanation>> {
        let Self { log: options, tree, sites, .. } = self;
        let policy = self.policies[policy];
        let (log, heard) = (Log::open(options, sites)?, heard(jobs));
        let submissions = {
            let heard = Rc::clone(&heard);
            log.jobs(Known::default()).map(move |one| {
                heard.borrow_mut().comes(&one);
                tree.submission(one)
            })
        };
        let overheard = Overheard { heard: Rc::clone(&heard), names: sites.names() };
        let config = Config { system: policy.0, ..tree.config.clone() };
        let streams = Streams::new(options.seed(), 0);
        let grid = Grid::fed(config, tree.world.clone(), submissions, &streams, overheard.clone())?;
        let grid = if tree.divides_work() { grid.dividing_work() } else { grid };
        let mut sim = Sim::new(grid, overheard);
        run_out(&mut sim, &run_of(options, policy), &Control::default(), || !heard.borrow().is_done())?;
        drop(sim);
        log.finish()?;
        let explanations = heard.borrow_mut().explanations(&policy.to_string(), "forward");
        Ok(explanations)
    }

    fn arguments(&self) -> String {
        let place = words("tree", Some(&self.place));
        format!(" --model hier-grid{place}{}", words("estimates", Some(self.log.estimates)))
    }

    fn notes(&self) -> Vec<String> {
        let note = "A job has a whole server: its processors are those of the server. It starts when its work station answers the \
                    server's offer, and finishes when the server has run it; turnaround ends when its output is home.";
        vec![note.to_owned()]
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count")]
fn float(count: u64) -> f64 {
    count as f64
}

/// Probe that passes events on to a [`Watch`] whose places are servers: a job occupies one from the answer to the server's offer until the
/// server has run it. Its turnaround ends when its output has arrived.
struct Servers {
    watch: Watch,
    /// Submission of jobs in the grid, with the CPUs of those that have started.
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
