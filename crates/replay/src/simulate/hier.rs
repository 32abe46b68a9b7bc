//! Systems of hier-grid by name, tree files (sites with servers, a network, and the grid tree over them), and a log under one system.

use super::name::{Chosen, Registry};
use super::sites::{Sites, ensure_distinct};
use super::watch::{Log, Outcome, Watch};
use super::world::{Entry, Named, Opened, Wanted, World};
use crate::options::{Inside, words};
use anyhow::{Context, Result, bail, ensure};
use gap_schedule::Machine;
use hier_grid::config::{NetworkConfig, PeerWaitEnds};
use hier_grid::{Algorithms, Config, Grid, Places, Readings, Shape, StationId, Submission, System, World as GridWorld};
use lab::scenario::toml_text;
use lab::units::float;
use serde::Deserialize;
use sim_core::{Fact, JobLog, JobRecord, Probe, ProcId, SiteId, Streams, Time};
use workload::LogJob;
use workload::file::read_text;

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
    let (tree, places) = parse(&read_text(place)?).with_context(|| place.display().to_string())?;
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
        let grid = if tree.time == TimeRule::Work { grid.dividing_work() } else { grid };
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

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeFile {
    tree: Tree,
    /// Number in the whole world; sites are spread over them evenly, in their order.
    backbones: Option<u32>,
    /// Number in each backbone.
    nets: Option<u32>,
    /// Names of operating systems; if omitted, there is one, which all servers and jobs have.
    #[serde(default)]
    systems: Vec<String>,
    /// Share of every server that its owners keep busy.
    local_load: Option<f64>,
    #[serde(default = "NetworkConfig::of_the_paper")]
    network: NetworkConfig,
    #[serde(default)]
    jobs: JobRules,
    #[serde(default)]
    algorithms: Algorithms,
    #[serde(default)]
    readings: Readings,
    site: Vec<SiteTable>,
}

/// `"4-2-5"`, or nested lists of the names of sites.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Tree {
    /// The children of each level, or the name of a site in a list.
    Text(String),
    Over(Vec<Tree>),
}

/// Properties of jobs that a log does not have.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct JobRules {
    time: TimeRule,
    /// Bytes for each CPU second of work; by default those of the paper, and five times as much output.
    input: Option<f64>,
    output: Option<f64>,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TimeRule {
    /// A job's work, run time × processors, spread over all CPUs of the server.
    #[default]
    Work,
    Runtime,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SiteTable {
    name: String,
    stations: Option<u32>,
    #[serde(default)]
    servers: Vec<ServerTable>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerTable {
    cpus: u32,
    /// Names; if omitted, all systems.
    systems: Option<Vec<String>>,
    count: Option<u32>,
}

/// A tree file as it is read.
pub struct GridTree {
    config: Config,
    world: GridWorld,
    time: TimeRule,
    input: f64,
    output: f64,
}

/// Reads a tree file. Returns the tree, and its servers as places.
pub fn parse(text: &str) -> Result<(GridTree, Sites)> {
    let file: TreeFile = toml_text::read(text)?;
    let TreeFile { tree, backbones, nets, systems, local_load, network, jobs, algorithms, readings, site } = file;
    let (backbones, nets) = (backbones.unwrap_or(1), nets.unwrap_or(1));
    ensure!(!site.is_empty(), "needs at least one [[site]]");
    ensure_distinct("site", site.iter().map(|one| &one.name))?;
    let sites = u32::try_from(site.len()).context("too many sites")?;
    let places = u64::from(backbones) * u64::from(nets);
    ensure!(
        places > 0 && u64::from(sites).is_multiple_of(places),
        "{sites} sites cannot be spread evenly over {backbones} backbones of {nets} nets; change backbones or nets"
    );
    let of_the_paper = Readings::default().bytes_per_cpu_second;
    let (input, output) = (jobs.input.unwrap_or(of_the_paper), jobs.output.unwrap_or(5.0 * of_the_paper));
    for (field, bytes) in [("jobs.input", input), ("jobs.output", output)] {
        ensure!((0.0..=1e9).contains(&bytes), "{field} is {bytes}; give bytes for each CPU second, from 0 to 1e9");
    }
    ensure!(
        readings.peer_wait_ends == PeerWaitEnds::Offer,
        "readings.peer_wait_ends: a log's jobs start when a server offers itself; leave it out"
    );
    let shape = shape(&tree, &site)?;
    let (mut servers, mut names) = (Vec::new(), Vec::new());
    for one in &site {
        let mut here = Vec::new();
        for server in &one.servers {
            ensure!(server.cpus > 0, "a server of site {:?} has no CPUs; give cpus = 1 or more", one.name);
            let offered = offered(&systems, server).with_context(|| format!("site {:?}", one.name))?;
            let count = server.count.unwrap_or(1);
            ensure!(here.len() + count as usize <= 100_000, "site {:?} has too many servers", one.name);
            for _ in 0..count {
                here.push((server.cpus, offered));
                names.push(format!("{}-{}", one.name, here.len()));
            }
        }
        servers.push(here);
    }
    let stations: Vec<u32> = site.iter().map(|one| one.stations.unwrap_or(1)).collect();
    let total: u64 = stations.iter().map(|stations| u64::from(*stations)).sum();
    ensure!(total <= 10_000_000, "{total} work stations are too many; stations is at most 10000000 in all");
    let cpus = servers.iter().flatten().map(|(cpus, _)| u64::from(*cpus)).sum::<u64>();
    ensure!(cpus <= u64::from(u32::MAX), "{cpus} CPUs are too many; 4294967295 at most");
    let places = Places { backbones, nets, sites: sites / backbones / nets };
    let world = GridWorld::explicit(places, &servers, &stations, shape)?.with_widths()?;
    ensure!(
        systems.is_empty() || world.systems() as usize == systems.len(),
        "no server runs {}; leave it out of systems",
        systems.last().map_or("", String::as_str)
    );
    let mut config = Config::of_the_paper(System::Trees(1), 1, 1.0);
    config.grid.local_load = local_load.unwrap_or(config.grid.local_load);
    (config.network, config.algorithms, config.readings) = (network, algorithms, readings);
    config.validate()?;
    let speed = 1.0 - config.grid.local_load;
    let machines = world.servers().iter().map(|server| Machine { processors: server.cpus, speed });
    let sites = Sites::new(names.into_iter().zip(machines), "the tree file", Inside::Machine);
    Ok((GridTree { config, world, time: jobs.time, input, output }, sites))
}

impl GridTree {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates; no flow is that large")]
    fn submission(&self, LogJob { job, record, .. }: &LogJob) -> Submission {
        let user = record.user.unwrap_or(0);
        let work = job.runtime.as_secs_f64() * f64::from(job.request.processors);
        let bytes = |factor: f64| (factor * work).min(1e18) as u64;
        Submission {
            station: StationId(user % self.world.stations()),
            system: user % self.world.systems(),
            input: bytes(self.input),
            output: bytes(self.output),
            job: *job,
        }
    }
}

/// Largest number of levels, each of which is a recursive call.
const MOST_LEVELS: usize = 64;

fn shape(tree: &Tree, sites: &[SiteTable]) -> Result<Shape> {
    match tree {
        Tree::Text(text) => {
            let level = |part: &str| part.parse::<u32>().ok().filter(|children| *children > 0);
            let levels: Option<Vec<u32>> = text.split('-').map(level).collect();
            let levels = levels.filter(|levels| levels.len() <= MOST_LEVELS).with_context(|| {
                let most = format!("at most {MOST_LEVELS} levels");
                format!("tree is {text:?}; give the children of each level ({most}), as in \"4-2-5\", or nested lists")
            })?;
            let leaves = levels.iter().map(|children| u64::from(*children)).try_fold(1_u64, u64::checked_mul);
            let (found, expected) =
                (leaves.map_or_else(|| "too many".to_owned(), |leaves| leaves.to_string()), sites.len());
            ensure!(
                leaves == u64::try_from(expected).ok(),
                "tree {text:?} has {found} sites, and the file {expected}; the numbers multiplied must be the number of [[site]]"
            );
            Ok(Shape::levels(&levels))
        }
        Tree::Over(children) => {
            let mut seen = Vec::new();
            let shape = Shape::over(shapes(children, &mut seen)?);
            for (k, SiteTable { name: expected, .. }) in sites.iter().enumerate() {
                let Some(name) = seen.get(k) else { bail!("tree: site {expected:?} is missing") };
                ensure!(
                    name == expected,
                    "tree: {name:?} stands where the file has site {expected:?}; name each site once, in the order of [[site]]"
                );
            }
            let extra = seen.get(sites.len());
            ensure!(extra.is_none(), "tree: {:?} is no further site; name each [[site]] once", extra.unwrap_or(&""));
            Ok(shape)
        }
    }
}

fn shapes<'a>(nodes: &'a [Tree], seen: &mut Vec<&'a str>) -> Result<Vec<Shape>> {
    ensure!(!nodes.is_empty(), "tree: an empty list; a scheduler has sites or schedulers below it");
    let shape = |node: &'a Tree| match node {
        Tree::Text(name) => {
            seen.push(name);
            Ok(Shape::site())
        }
        Tree::Over(below) => Ok(Shape::over(shapes(below, seen)?)),
    };
    nodes.iter().map(shape).collect()
}

/// Operating systems of a server, as a set of bits.
fn offered(systems: &[String], server: &ServerTable) -> Result<u32> {
    ensure!(systems.len() <= 32, "{} operating systems are too many; 32 at most", systems.len());
    let Some(names) = &server.systems else {
        return Ok(if systems.is_empty() { 1 } else { u32::MAX >> (32 - systems.len()) });
    };
    ensure!(!names.is_empty(), "a server without an operating system; leave systems out for all of them");
    let bit = |name: &String| {
        let position = systems.iter().position(|system| system == name);
        position.map(|position| 1 << position).with_context(|| format!("{name:?} is not among systems = {systems:?}"))
    };
    names.iter().try_fold(0, |all, name| Ok(all | bit(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &str = "tree = [\"a\", [\"b\", \"c\"]]\nsystems = [\"linux\", \"windows\"]\n[jobs]\ntime = \"runtime\"\n\
        [[site]]\nname = \"a\"\nstations = 2\nservers = [{ cpus = 8, count = 2 }]\n\
        [[site]]\nname = \"b\"\nservers = [{ cpus = 4, systems = [\"windows\"] }]\n\
        [[site]]\nname = \"c\"\nstations = 0\n";

    #[test]
    fn a_file_gives_servers_sites_and_schedulers() {
        let (tree, sites) = parse(THREE).expect("a good file");
        assert_eq!(sites.names, ["a-1", "a-2", "b-1"]);
        let servers: Vec<_> = tree.world.servers().iter().map(|server| (server.cpus, server.systems)).collect();
        assert_eq!(servers, [(8, 0b11), (8, 0b11), (4, 0b10)]);
        assert_eq!((tree.world.sites(), tree.world.stations()), (3, 3));
        assert_eq!(tree.time, TimeRule::Runtime);
        assert_eq!(sites.widest(), 8);
    }
}
