//! Parameters of the platform, and the readings of what the paper leaves open.

mod readings;

pub use readings::{
    Candidates, Cycle, EnoughResources, LocalSlowdown, NoCandidate, NodeChoice, Readings, SeesUsers, SlowdownWindow,
    Ties, UsersAt,
};

use crate::application::{Demand, PROCESSOR};
use serde::{Deserialize, Serialize};
use sim_core::Span;
use std::collections::BTreeSet;

/// Clusters, their local users, and how both are treated.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The clusters, in the order in which policies see them (§3: three of five nodes).
    pub clusters: Vec<Cluster>,
    /// The users who sit at the nodes.
    pub local: LocalUsers,
    /// Exactly the clusters that users occupy, by their positions, in the place of [`LocalUsers::clusters`] and of R1.
    pub occupied: Option<Vec<u32>>,
    /// MPL: parallel tasks that a node runs at most (§3: 4). Beside local users it is [`Readings::mpl_beside_users`].
    pub mpl: u32,
    /// How much longer a task takes for each further parallel task on its node, as a fraction (assumed: 0.05).
    pub task_overhead: f64,
    /// What the predictor believes is left of a job that has outlived its profile, as a fraction of it (assumed: 0.02).
    pub overrun: f64,
    /// What a job needs whose application was never measured, as those of a log.
    pub default_demand: Demand,
    /// How long a job takes that comes without an estimate, as the predictor believes.
    pub default_time: Span,
    /// c of the queueing law of [`LocalSlowdown::Queueing`] (assumed: 0.5).
    pub queueing_weight: f64,
    /// For which jobs a turnaround is predicted.
    pub forecasts: Forecasts,
    /// Whether jobs that wait in a cluster's queue move to a cluster where they can start (§4: beyond the paper).
    pub redistribution: Redistribution,
    /// What the paper leaves open.
    pub readings: Readings,
}

/// One cluster: equal nodes of one processor each.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Number of nodes, at least 1.
    pub nodes: u32,
    /// Speed relative to the machine on which applications were measured, above 0.
    pub speed: f64,
    /// Memory of a node, in KiB.
    pub memory: u64,
}

/// The local users: each occupied node permanently runs `local_bench` (§3).
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalUsers {
    /// How many clusters they occupy entirely (§3.2: 0, 1, 2 or 3, called 0, 30, 60 and 100 %).
    pub clusters: u32,
    /// CPU that a user asks for, as a fraction of a node's (§3: 0.15).
    pub cpu: f64,
    /// Memory that a user holds, as a fraction of a node's (§3: 0.35).
    pub memory: f64,
    /// Whether they come and go (§4: beyond the paper). If so, `clusters` says whose nodes they visit.
    pub change: Option<OnOff>,
}

/// Users who come and go: present and absent for exponential times.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Mean time present, in seconds.
    pub mean_on: f64,
    /// Mean time absent, in seconds.
    pub mean_off: f64,
    /// Who comes and goes together.
    pub unit: Unit,
    /// What the predictor believes of it.
    pub belief: Belief,
}

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $(#[$first_doc:meta])* $first:ident $(, $(#[$other_doc:meta])* $other:ident)* $(,)? }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $(#[$first_doc])* #[default] $first,
            $($(#[$other_doc])* $other,)*
        }
    };
}

choice! {
    /// Who comes and goes together.
    Unit {
        /// All users of a cluster.
        Cluster,
        /// Each node's user alone.
        Node,
    }
}
choice! {
    /// What the predictor believes of users who come and go.
    Belief {
        /// They stay as they are.
        StayAsTheyAre,
        /// They come and go in turn, each time after the mean.
        TakeTurns,
    }
}
choice! {
    /// For which jobs a turnaround is predicted.
    Forecasts {
        /// For every job when it is dispatched, whatever the policy.
        EveryJob,
        /// Only where the policy asks for it. FFIT and RR then simulate nothing.
        AsThePolicyAsks,
    }
}
choice! {
    /// Whether jobs that wait in a cluster's queue move to a cluster where they can start.
    Redistribution {
        /// They stay where they were sent.
        Never,
        /// Whenever something has changed, the waiting jobs are looked at in the order of their dispatch, and each moves
        /// to the first cluster where it can start at once.
        WhenItCanStart,
    }
}

impl LocalUsers {
    /// What a user asks of a node with so much memory: CPU in millionths, memory in KiB.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fractions of what fits")]
    pub(crate) fn of_node(&self, memory: u64) -> (u32, u64) {
        ((self.cpu * f64::from(PROCESSOR)).round() as u32, (self.memory * memory as f64).round() as u64)
    }
}

impl Config {
    /// The paper's platform with local users in `occupied_clusters` of its three clusters, and default readings.
    pub fn of_the_paper(occupied_clusters: u32) -> Self {
        Self {
            clusters: vec![Cluster { nodes: 5, speed: 1.0, memory: 1024 * 1024 }; 3],
            local: LocalUsers { clusters: occupied_clusters, cpu: 0.15, memory: 0.35, change: None },
            occupied: None,
            mpl: 4,
            task_overhead: 0.05,
            overrun: 0.02,
            default_demand: Demand::new(1.0, 0),
            default_time: Span::from_secs(3600),
            queueing_weight: 0.5,
            forecasts: Forecasts::EveryJob,
            redistribution: Redistribution::Never,
            readings: Readings::default(),
        }
    }

    /// Nodes of all clusters together.
    pub fn nodes(&self) -> u32 {
        self.clusters.iter().map(|cluster| cluster.nodes).sum()
    }

    /// Checks every field.
    ///
    /// # Errors
    ///
    /// The first field that makes no sense, by name.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.clusters.is_empty() {
            return Err(ConfigError::NoCluster);
        }
        let mut nodes = 0_u64;
        for (i, cluster) in self.clusters.iter().enumerate() {
            nodes += u64::from(cluster.nodes);
            if cluster.nodes == 0 {
                return Err(ConfigError::NoNode { cluster: i + 1 });
            }
            if !(cluster.speed >= SLOWEST && cluster.speed <= FASTEST) {
                return Err(ConfigError::Speed { cluster: i + 1, speed: cluster.speed });
            }
            if cluster.memory > LARGEST_MEMORY {
                return Err(ConfigError::Memory { cluster: i + 1, memory: cluster.memory });
            }
        }
        if nodes > MOST_NODES {
            return Err(ConfigError::TooManyNodes(nodes));
        }
        if self.local.clusters as usize > self.clusters.len() {
            return Err(ConfigError::TooManyOccupied { occupied: self.local.clusters, clusters: self.clusters.len() });
        }
        let mut named = BTreeSet::new();
        for cluster in self.occupied.iter().flatten() {
            if *cluster as usize >= self.clusters.len() || !named.insert(cluster) {
                return Err(ConfigError::Occupied { position: *cluster, clusters: self.clusters.len() });
            }
        }
        let fractions = [
            ("local.cpu", self.local.cpu),
            ("local.memory", self.local.memory),
            ("overrun", self.overrun),
            ("queueing_weight", self.queueing_weight),
        ];
        for (field, found) in fractions {
            if !(0.0..=1.0).contains(&found) {
                return Err(ConfigError::Fraction { field, found });
            }
        }
        // With nothing left to do, an overrun job would end at once in every prediction, again and again.
        if self.overrun < 1e-6 {
            return Err(ConfigError::Fraction { field: "overrun", found: self.overrun });
        }
        if !(0.0..1.0).contains(&self.readings.hidden_loss) {
            return Err(ConfigError::Fraction { field: "hidden_loss", found: self.readings.hidden_loss });
        }
        if !(0.0..=100.0).contains(&self.task_overhead) {
            return Err(ConfigError::TaskOverhead(self.task_overhead));
        }
        if !(1..=MOST_TASKS).contains(&self.mpl) {
            return Err(ConfigError::Mpl { field: "mpl", found: self.mpl });
        }
        if self.readings.mpl_beside_users == 0 {
            return Err(ConfigError::Mpl { field: "mpl_beside_users", found: 0 });
        }
        if let Some(OnOff { mean_on, mean_off, .. }) = self.local.change {
            for (field, found) in [("local.change.mean_on", mean_on), ("local.change.mean_off", mean_off)] {
                if !(1e-3..=1e8).contains(&found) {
                    return Err(ConfigError::Mean { field, found });
                }
            }
        }
        if self.default_time.is_zero() {
            return Err(ConfigError::DefaultTime);
        }
        Ok(())
    }
}

const SLOWEST: f64 = 1e-3;
const FASTEST: f64 = 1e3;
/// A pebibyte, in KiB.
const LARGEST_MEMORY: u64 = 1 << 40;
/// A simulated node takes about a hundred bytes.
const MOST_NODES: u64 = 10_000_000;
const MOST_TASKS: u32 = 1000;

/// Why a [`Config`] cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// There is nowhere to run.
    #[error("clusters: at least one cluster is needed")]
    NoCluster,
    /// A cluster without nodes.
    #[error("clusters: cluster {cluster} has no nodes; give it at least 1")]
    NoNode {
        /// Counted from 1.
        cluster: usize,
    },
    /// More nodes than fit in memory.
    #[error("clusters: {0} nodes in all are too many; {MOST_NODES} fit in memory")]
    TooManyNodes(u64),
    /// A speed out of range.
    #[error("clusters: cluster {cluster} has speed {speed}; a speed lies between {SLOWEST} and {FASTEST}")]
    Speed {
        /// Counted from 1.
        cluster: usize,
        /// As given.
        speed: f64,
    },
    /// More memory than there is.
    #[error("clusters: cluster {cluster} has nodes of {memory} KiB; at most {LARGEST_MEMORY}")]
    Memory {
        /// Counted from 1.
        cluster: usize,
        /// As given, in KiB.
        memory: u64,
    },
    /// Users in more clusters than there are.
    #[error("local.clusters: users occupy {occupied} of {clusters} clusters")]
    TooManyOccupied {
        /// As given.
        occupied: u32,
        /// How many there are.
        clusters: usize,
    },
    /// Users in a cluster that there is not, or in one twice.
    #[error("occupied: {position} is no position among {clusters} clusters, or is named twice; the first is 0")]
    Occupied {
        /// As given.
        position: u32,
        /// How many there are.
        clusters: usize,
    },
    /// A fraction out of range.
    #[error("{field}: {found} is out of range; it is a fraction of a whole, as 0.15 for 15 %")]
    Fraction {
        /// Which field.
        field: &'static str,
        /// As given.
        found: f64,
    },
    /// An overhead out of range.
    #[error("task_overhead: {0} is out of range; 0.05 means 5 % for each further task")]
    TaskOverhead(f64),
    /// A multiprogramming level out of range.
    #[error("{field}: {found} is out of range; a node runs 1 to {MOST_TASKS} parallel tasks")]
    Mpl {
        /// Which field.
        field: &'static str,
        /// As given.
        found: u32,
    },
    /// A mean that no exponential distribution has, or that does not fit into the range of time.
    #[error("{field}: expected a mean from 0.001 to 100000000 seconds, found {found}")]
    Mean {
        /// Which field.
        field: &'static str,
        /// As given.
        found: f64,
    },
    /// Jobs that take no time.
    #[error("default_time: a job takes longer than nothing")]
    DefaultTime,
}
