//! Parameters of the model, and the readings of questions that the paper leaves open.

mod readings;

pub use readings::{
    Bags, BranchOrder, FlowRates, LinkContention, LoadBalanceTakes, Neighbours, OutputTransfer, PeerDeadline,
    PeerWaitEnds, Readings, RequestsTo, ServerDraw, Share, Sizes, UnassignedOrder,
};
use serde::{Deserialize, Serialize};
use sim_core::ConfigError;
use std::ops::RangeInclusive;

/// Everything that determines a run, except the random streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Sites, servers, work stations.
    pub grid: GridConfig,
    /// Latencies and links.
    pub network: NetworkConfig,
    /// Requirements of jobs.
    pub jobs: JobConfig,
    /// Submission rule of work stations, and changes of resources.
    pub experiment: Experiment,
    /// Peers or trees.
    pub system: System,
    /// The three rescheduling algorithms, each on or off.
    pub algorithms: Algorithms,
    /// Answers to the questions that the paper leaves open.
    pub readings: Readings,
}

/// The world of "Communication Model" and "Computational Resources".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridConfig {
    /// Backbones, fully meshed (4).
    pub backbones: u32,
    /// Nets in a backbone (4).
    pub nets: u32,
    /// Sites in a net (10).
    pub sites: u32,
    /// Nodes of a site: servers, and work stations for the rest (15).
    pub nodes: u32,
    /// Servers in all (520).
    pub servers: u32,
    /// Servers that every site has (2).
    pub fewest_servers: u32,
    /// Servers that no site exceeds (6).
    pub most_servers: u32,
    /// Table 1: nodes of each type of server.
    pub server_nodes: Vec<u32>,
    /// Table 1: CPUs in each of those nodes.
    pub server_cpus: Vec<u32>,
    /// Operating systems, each as likely as the others (3: Windows, UNIX, LINUX).
    pub systems: u32,
    /// Share of every server that its owners keep busy (0.1).
    pub local_load: f64,
    /// Children of each scheduler, level by level, the sites last (4, 4, 2, 5). The product is the number of sites.
    pub tree: Vec<u32>,
}

/// The network of "Communication Model".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// One way, between two nodes of a site, in seconds; every message pays it (0.0001).
    pub site_latency: f64,
    /// Latency per kilometre of cable, in seconds (0.000005).
    pub latency_per_km: f64,
    /// Kilometres between sites of one net (100), of one backbone (200), of two backbones (1200).
    pub kilometres: [f64; 3],
    /// TCP window, in bytes (65536): a flow never exceeds window / round trip.
    pub window: f64,
    /// Share of every link that the rest of the Internet takes (0.1).
    pub foreign_load: f64,
    /// Links of a site to its net, and of a net to its backbone, in bytes per second (155 Mb/s).
    pub site_link: f64,
    /// Links between two backbones, in bytes per second (9.6 Gb/s).
    pub backbone_link: f64,
    /// Cables inside a site, in bytes per second (100 MB/s).
    pub inside_link: f64,
}

/// The jobs of "Grid Jobs" and "Workloads".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobConfig {
    /// Number of jobs submitted (520 … 10 000).
    pub count: u32,
    /// Mean input, in gigabytes of 10⁹ bytes (1, 10, 100).
    pub mean_input: f64,
    /// Output, as a multiple of the input (5).
    pub output_factor: f64,
    /// Lower bound of an execution time, as a share of its mean (0.1): the Gaussian is cut off there.
    pub shortest: f64,
}

/// Submission by work stations: "Simulation Experiments".
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Time at which a work station submits its next job.
    pub submission: SubmissionRule,
    /// Changes of the servers' operating systems (experiment 4): means in seconds of the exponential times between
    /// changes, one of which is redrawn at each change.
    pub changes: Option<Vec<f64>>,
}

/// Time at which a work station submits its next job. No work station has two jobs in the system.
#[derive(Clone, Debug, PartialEq)]
pub enum SubmissionRule {
    /// Completion of the last one; all begin at time zero, in a random order (experiments 1 and 4).
    OneAfterAnother,
    /// After an exponential time (experiments 2 and 3).
    Thinking {
        /// Means in seconds, of which each work station draws one.
        means: Vec<f64>,
        /// Bounds of a probability that each site draws: a due submission happens with that probability; otherwise
        /// the work station thinks again. `None`: it always happens.
        chance: Option<[f64; 2]>,
    },
}

/// System that runs the grid ("System Model").
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// Every server is a peer; requests flood the overlay.
    P2p,
    /// The number of grid trees: 1 is the hierarchical system, more are a hybrid whose roots are peers of each other.
    Trees(u32),
}

/// The rescheduling algorithms.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Algorithms {
    /// "Butterfly Algorithm": queued jobs move to children that are nearer to their work stations.
    pub butterfly: bool,
    /// "Fallback Algorithm": jobs whose resources are lost go back to be scheduled again.
    pub fallback: bool,
    /// "Load-Balance Algorithm": queued jobs move to children that request work.
    pub load_balance: bool,
}

impl Default for Algorithms {
    fn default() -> Self {
        Self { butterfly: true, fallback: true, load_balance: true }
    }
}

pub(crate) fn at_least_one(field: &str, found: u32) -> Result<(), ConfigError> {
    ConfigError::check(found > 0, || format!("{field} is 0; at least 1 is needed"))
}

pub(crate) fn hold_a_site(trees: u32, sites: u64) -> Result<(), ConfigError> {
    ConfigError::check(u64::from(trees) <= sites, || {
        format!("{trees} grid trees for {sites} sites; a tree holds at least one site")
    })
}

pub(crate) fn has_station(is_there: bool) -> Result<(), ConfigError> {
    ConfigError::check(is_there, || "no site has a work station; give a site more nodes than servers".to_owned())
}

pub(crate) fn fit_a_bag(classes: usize) -> Result<(), ConfigError> {
    ConfigError::check(classes <= 32, || {
        format!("{classes} kinds of jobs (operating systems × sizes) are too many; 32 fit a bag")
    })
}

const GB: f64 = 1e9;
const DAY: f64 = 86_400.0;

impl Config {
    /// The paper's world with `count` jobs of a mean input of `mean_input` gigabytes in experiment 1.
    pub fn of_the_paper(system: System, count: u32, mean_input: f64) -> Self {
        Self {
            grid: GridConfig::of_the_paper(),
            network: NetworkConfig::of_the_paper(),
            jobs: JobConfig { count, mean_input, output_factor: 5.0, shortest: 0.1 },
            experiment: Experiment { submission: SubmissionRule::OneAfterAnother, changes: None },
            system,
            algorithms: Algorithms::default(),
            readings: Readings::default(),
        }
    }

    /// Checks every field.
    ///
    /// # Errors
    ///
    /// The first invalid field, by name.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.grid.validate()?;
        self.network.validate()?;
        self.jobs.validate()?;
        self.experiment.validate()?;
        let Readings { bytes_per_cpu_second, sigma, .. } = self.readings;
        number("bytes_per_cpu_second", bytes_per_cpu_second, 1e-3..=1e12, "a number from 0.001 to 1e12")?;
        number("sigma", sigma, 0.0..=10.0, "a number from 0 to 10")?;
        // The clock ends after 584 years: leave room for the spread, and for queues.
        let slowest = self.jobs.mean_input * GB / bytes_per_cpu_second;
        number("mean_input", slowest, 0.0..=1e12, "less than 1e12 CPU seconds in a mean job (input / b)")?;
        // Transfers must end before the clock does, even if all of them share the narrowest link.
        let NetworkConfig { site_link, backbone_link, inside_link, foreign_load, .. } = self.network;
        let bytes = f64::from(self.jobs.count) * self.jobs.mean_input * GB * (1.0 + self.jobs.output_factor);
        let years = bytes / site_link.min(backbone_link).min(inside_link) / (1.0 - foreign_load) / (365.0 * DAY);
        let expected = "at most 300 years on the narrowest link; give less mean_input, output_factor or count";
        number("time to transfer the data of all jobs", years, 0.0..=300.0, expected)?;
        if let System::Trees(trees) = self.system {
            at_least_one("trees", trees)?;
            hold_a_site(trees, self.grid.all_sites())?;
        }
        Ok(())
    }
}

impl GridConfig {
    /// 4 × 4 × 10 sites of 15 nodes, 520 of them servers.
    pub fn of_the_paper() -> Self {
        Self {
            backbones: 4,
            nets: 4,
            sites: 10,
            nodes: 15,
            servers: 520,
            fewest_servers: 2,
            most_servers: 6,
            server_nodes: vec![184, 305, 144, 1024, 64, 512, 128],
            server_cpus: vec![16, 4, 8, 4, 2, 4, 2],
            systems: 3,
            local_load: 0.1,
            tree: vec![4, 4, 2, 5],
        }
    }

    /// Number of sites of the whole world; [`u64::MAX`] on overflow.
    pub fn all_sites(&self) -> u64 {
        (u64::from(self.backbones) * u64::from(self.nets)).saturating_mul(u64::from(self.sites))
    }

    fn validate(&self) -> Result<(), ConfigError> {
        // Counts before products: a zero would make every later message misleading.
        let counts = [
            ("backbones", self.backbones),
            ("nets", self.nets),
            ("sites", self.sites),
            ("nodes", self.nodes),
            ("servers", self.servers),
            ("systems", self.systems),
        ];
        counts.into_iter().try_for_each(|(field, count)| at_least_one(field, count))?;
        let sites = self.all_sites();
        let leaves = self.tree.iter().fold(1, |leaves: u64, children| leaves.saturating_mul(u64::from(*children)));
        ConfigError::check(leaves == sites && !self.tree.is_empty(), || {
            let tree = &self.tree;
            format!(
                "tree {tree:?} has {leaves} leaves for {sites} sites; the product of its levels must be the number of sites"
            )
        })?;
        let (servers, fewest, most) = (self.servers, self.fewest_servers, self.most_servers.min(self.nodes));
        let room = u64::from(fewest).saturating_mul(sites)..=u64::from(most).saturating_mul(sites);
        ConfigError::check(room.contains(&u64::from(servers)), || {
            format!("{servers} servers do not fit {sites} sites of {fewest} to {most}")
        })?;
        has_station(u64::from(servers) < sites.saturating_mul(self.nodes.into()))?;
        let (nodes, cpus) = (self.server_nodes.len(), self.server_cpus.len());
        ConfigError::check(nodes > 0 && nodes == cpus, || {
            format!("server_nodes has {nodes} entries and server_cpus {cpus}; give one of each per type of server")
        })?;
        for (field, values) in [("server_nodes", &self.server_nodes), ("server_cpus", &self.server_cpus)] {
            values.iter().try_for_each(|count| at_least_one(field, *count))?;
        }
        fit_a_bag(self.systems as usize)?;
        number("local_load", self.local_load, 0.0..=0.99, "a share from 0 to 0.99")
    }
}

impl NetworkConfig {
    /// The communication model of the paper: 5 µs per kilometre, 155 Mb/s, 9.6 Gb/s, 100 MB/s, windows of 64 KiB.
    pub fn of_the_paper() -> Self {
        Self {
            site_latency: 0.0001,
            latency_per_km: 0.000_005,
            kilometres: [100.0, 200.0, 1200.0],
            window: 65_536.0,
            foreign_load: 0.1,
            site_link: 155e6 / 8.0,
            backbone_link: 9.6e9 / 8.0,
            inside_link: 100e6,
        }
    }

    fn validate(&self) -> Result<(), ConfigError> {
        number("site_latency", self.site_latency, 1e-9..=1e3, "seconds from 1e-9 to 1000")?;
        number("latency_per_km", self.latency_per_km, 0.0..=1.0, "seconds from 0 to 1")?;
        for kilometres in self.kilometres {
            number("kilometres", kilometres, 0.0..=1e6, "kilometres from 0 to 1e6")?;
        }
        number("foreign_load", self.foreign_load, 0.0..=0.99, "a share from 0 to 0.99")?;
        let rates = [
            ("window", self.window),
            ("site_link", self.site_link),
            ("backbone_link", self.backbone_link),
            ("inside_link", self.inside_link),
        ];
        for (field, found) in rates {
            number(field, found, 1.0..=1e18, "a number from 1 to 1e18")?;
        }
        Ok(())
    }
}

impl JobConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        at_least_one("count", self.count)?;
        number("mean_input", self.mean_input, 1e-6..=1e9, "gigabytes from 1e-6 to 1e9")?;
        number("output_factor", self.output_factor, 0.0..=1e6, "a factor from 0 to 1e6")?;
        number("shortest", self.shortest, 0.0..=1.0, "a share from 0 to 1")
    }
}

impl Experiment {
    /// Experiment 1: a work station submits its next job at the completion of the last one.
    pub const fn first() -> Self {
        Self { submission: SubmissionRule::OneAfterAnother, changes: None }
    }

    fn validate(&self) -> Result<(), ConfigError> {
        let check = |field, means: &[f64]| {
            ConfigError::check(!means.is_empty(), || format!("{field} is empty; give at least one mean"))?;
            means.iter().try_for_each(|found| {
                ConfigError::check((1e-6..1e9).contains(found), || {
                    format!("{field}: a mean of {found} s; expected more than 0 and less than 1e9")
                })
            })
        };
        if let SubmissionRule::Thinking { means, chance } = &self.submission {
            check("think times", means)?;
            if let Some([low, high]) = *chance {
                number("chance", low, 1e-6..=1.0, "a probability above 0")?;
                number("chance", high, low..=1.0, "a probability, the lower bound first")?;
            }
        }
        self.changes.as_deref().map_or(Ok(()), |means| check("changes", means))
    }
}

fn number(field: &str, found: f64, range: RangeInclusive<f64>, expected: &str) -> Result<(), ConfigError> {
    ConfigError::check(range.contains(&found), || format!("{field} is {found}; expected {expected}"))
}
