//! Clusters that local users occupy.

use crate::config::{Config, UsersAt};
use rand::RngExt;
use sim_core::{Purpose, Streams};

const PLACES: Purpose = Purpose("local users' clusters");

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
