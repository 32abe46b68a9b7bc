//! Local users: their places, and the times at which they come and go.

use crate::config::{Config, OnOff, Unit, UsersAt};
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use sim_core::{Purpose, Span, Stream, Streams};

const PLACES: Purpose = Purpose("local users' clusters");
const VISITS: Purpose = Purpose("local users' visits");

/// Clusters that users occupy, in order: the named ones, or those by R1.
pub(crate) fn occupied_clusters(config: &Config, streams: &Streams) -> Vec<u32> {
    if let Some(named) = &config.occupied {
        let mut clusters = named.clone();
        clusters.sort_unstable();
        return clusters;
    }
    let (all, occupied) = (config.clusters.len(), config.local.clusters as usize);
    let mut clusters: Vec<u32> = (0..u32::try_from(all).expect("clusters are numbered by u32")).collect();
    match config.readings.users_at {
        UsersAt::FirstClusters => clusters.truncate(occupied),
        UsersAt::LastClusters => clusters.drain(..all - occupied).for_each(drop),
        UsersAt::Random => {
            // Fisher–Yates from the front: one more occupied cluster leaves the others unchanged.
            let mut draws = streams.stream(PLACES, 0);
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

/// A user, or all users of a cluster at once, coming and going: an on-off process with exponential stays.
#[derive(Clone, Debug)]
pub(crate) struct OnOffUser {
    pub(crate) cluster: u32,
    /// Nodes that the visit is to.
    pub(crate) nodes: std::ops::Range<u32>,
    pub(crate) present: bool,
    means: [f64; 2],
    draws: Stream,
}

impl OnOffUser {
    /// All visitors of `cluster` of `nodes` nodes. Each has a stream of its own and is at first present with its
    /// long-run probability.
    pub(crate) fn of_cluster(cluster: u32, nodes: u32, change: &OnOff, streams: &Streams) -> Vec<Self> {
        let visits: Vec<std::ops::Range<u32>> = match change.unit {
            Unit::Cluster => std::iter::once(0..nodes).collect(),
            Unit::Node => (0..nodes).map(|node| node..node + 1).collect(),
        };
        let user = |nodes: std::ops::Range<u32>| {
            // Clusters below 2¹² and nodes below 2²⁰ have streams of their own, others may share one.
            let mut draws = streams.stream(VISITS, cluster.wrapping_shl(20).wrapping_add(nodes.start));
            let present = draws.random_bool(change.mean_on / (change.mean_on + change.mean_off));
            Self { cluster, nodes, present, means: [change.mean_off, change.mean_on], draws }
        };
        visits.into_iter().map(user).collect()
    }

    /// Time for which the visitor stays as it is now.
    pub(crate) fn stay(&mut self) -> Span {
        let draw: f64 = Exp1.sample(&mut self.draws);
        Span::from_secs_f64(draw * self.means[usize::from(self.present)]).max(Span::from_nanos(1))
    }
}
