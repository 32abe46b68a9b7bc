//! Parameters of the platform, and the readings of questions that the paper leaves open.

mod readings;

pub use readings::{
    Candidates, Cycle, EnoughResources, LocalSlowdown, NoCandidate, NodeChoice, Readings, SeesUsers, SlowdownWindow,
    Ties, UsersAt,
};

use crate::application::Demand;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use sim_core::{ConfigError, Purpose, Span, Streams};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Clusters, their local users, and the treatment of both.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The clusters, in the order in which policies see them (§3: three of five nodes).
    pub clusters: Vec<Cluster>,
    /// Local users of the nodes.
    pub local: LocalUsers,
    /// Positions of exactly the clusters that users occupy, instead of [`LocalUsers::clusters`] and R1.
    pub occupied: Option<Vec<u32>>,
    /// MPL: largest number of parallel tasks on a node (§3: 4). Beside local users it is [`Readings::mpl_beside_users`].
    pub mpl: u32,
    /// Relative increase of a task's duration for each further parallel task on its node (assumed: 0.05).
    pub task_overhead: f64,
    /// Believed remaining time of a job that has outlived its profile, as a fraction of the profile (assumed: 0.02).
    pub overrun: f64,
    /// Demand of a job whose application was never measured, as in a log.
    pub default_demand: Demand,
    /// Believed run time of a job without an estimate.
    pub default_time: Span,
    /// c of the queueing law of [`LocalSlowdown::Queueing`] (assumed: 0.5).
    pub queueing_weight: f64,
    /// Jobs for which a turnaround is predicted.
    pub forecasts: Forecasts,
    /// Answers to the questions that the paper leaves open.
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
    /// Number of clusters that they occupy entirely (§3.2: 0, 1, 2 or 3, called 0, 30, 60 and 100 %).
    pub clusters: u32,
    /// CPU demand of a user, as a fraction of a node's (§3: 0.15).
    pub cpu: f64,
    /// Memory that a user holds, as a fraction of a node's (§3: 0.35).
    pub memory: f64,
}

sim_core::answers! {
    /// Jobs for which a turnaround is predicted.
    pub enum Forecasts {
        /// For every job when it is dispatched, under every policy.
        EveryJob,
        /// Only on request of the policy. FFIT and RR then simulate nothing.
        AsThePolicyAsks,
    }
}

impl Config {
    /// The paper's platform with local users in `occupied_clusters` of its three clusters, and default readings.
    pub fn of_the_paper(occupied_clusters: u32) -> Self {
        Self {
            clusters: vec![Cluster { nodes: 5, speed: 1.0, memory: 1024 * 1024 }; 3],
            local: LocalUsers { clusters: occupied_clusters, cpu: 0.15, memory: 0.35 },
            occupied: None,
            mpl: 4,
            task_overhead: 0.05,
            overrun: 0.02,
            default_demand: Demand::new(1.0, 0),
            default_time: Span::from_secs(3600),
            queueing_weight: 0.5,
            forecasts: Forecasts::EveryJob,
            readings: Readings::default(),
        }
    }

    /// Checks every field.
    ///
    /// # Errors
    ///
    /// The first invalid field, by name.
    pub fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::check(!self.clusters.is_empty(), || "clusters: at least one cluster is needed".to_owned())?;
        for (number, cluster) in (1..).zip(&self.clusters) {
            ConfigError::check(cluster.nodes > 0, || {
                format!("clusters: cluster {number} has no nodes; give it at least 1")
            })?;
            let field = |field: &str| format!("clusters: {field} of cluster {number}");
            in_range(&field("speed"), cluster.speed, 1e-3..=1e3)?;
            in_range(&field("memory"), cluster.memory as f64, 0.0..=PEBIBYTE)?;
        }
        let nodes: u64 = self.clusters.iter().map(|cluster| u64::from(cluster.nodes)).sum();
        ConfigError::check(nodes <= MOST_NODES, || {
            format!("clusters: {nodes} nodes in all are too many; {MOST_NODES} fit in memory")
        })?;
        let (occupied, clusters) = (self.local.clusters, self.clusters.len());
        let is_there = |cluster: u32| (cluster as usize) < clusters;
        ConfigError::check(occupied as usize <= clusters, || {
            format!("local.clusters: users occupy {occupied} of {clusters} clusters")
        })?;
        let mut named = BTreeSet::new();
        for &cluster in self.occupied.iter().flatten() {
            ConfigError::check(is_there(cluster) && named.insert(cluster), || {
                format!(
                    "occupied: {cluster} is no position among {clusters} clusters, or is named twice; the first is 0"
                )
            })?;
        }
        for (field, found, range) in [
            ("local.cpu", self.local.cpu, 0.0..=1.0),
            ("local.memory", self.local.memory, 0.0..=1.0),
            // With nothing left to do, an overrun job would end at once in every prediction, again and again.
            ("overrun", self.overrun, 1e-6..=1.0),
            ("queueing_weight", self.queueing_weight, 0.0..=1.0),
            ("hidden_loss", self.readings.hidden_loss, 0.0..=1.0 - f64::EPSILON),
            ("task_overhead", self.task_overhead, 0.0..=100.0),
            ("mpl", self.mpl.into(), 1.0..=1000.0),
            // Beside users, the lesser of both holds.
            ("mpl_beside_users", self.readings.mpl_beside_users.into(), 1.0..=f64::INFINITY),
        ] {
            in_range(field, found, range)?;
        }
        ConfigError::check(!self.default_time.is_zero(), || "default_time: a job takes longer than nothing".to_owned())
    }

    /// Clusters that users occupy, in order: the named ones, or those by R1.
    pub(crate) fn occupied_clusters(&self, streams: &Streams) -> Vec<u32> {
        if let Some(named) = &self.occupied {
            let mut clusters = named.clone();
            clusters.sort_unstable();
            return clusters;
        }
        let (all, occupied) = (self.clusters.len(), self.local.clusters as usize);
        let mut clusters: Vec<u32> = (0..u32::try_from(all).expect("clusters are numbered by u32")).collect();
        match self.readings.users_at {
            UsersAt::FirstClusters => clusters.truncate(occupied),
            UsersAt::LastClusters => clusters.drain(..all - occupied).for_each(drop),
            UsersAt::Random => {
                // Fisher–Yates from the front: one more occupied cluster leaves the others unchanged.
                let mut draws = streams.stream(Purpose("local users' clusters"), 0);
                for i in 0..occupied {
                    let last = u64::try_from(all - 1).expect("a number of clusters");
                    let j = draws.random_range(i as u64..=last);
                    clusters.swap(i, usize::try_from(j).expect("below a number of clusters"));
                }
                clusters.truncate(occupied);
                clusters.sort_unstable();
            }
        }
        clusters
    }
}

fn in_range(field: &str, found: f64, range: RangeInclusive<f64>) -> Result<(), ConfigError> {
    ConfigError::check(range.contains(&found), || {
        format!("{field}: {found} is out of range; expected {} to {}", range.start(), range.end())
    })
}

/// In KiB.
const PEBIBYTE: f64 = 1_099_511_627_776.0;
/// A simulated node takes about a hundred bytes.
const MOST_NODES: u64 = 10_000_000;
