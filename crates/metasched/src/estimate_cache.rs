//! Cache of estimates: what was found for one kind of job on clusters that have not changed since.
//!
//! Where a job of one kind would start, and which users that would disturb, stays true until something starts, ends, comes or goes
//! on the cluster. Where no other job is on those nodes, so does its turnaround. A metascheduler of many clusters then looks
//! only at the few that have changed.

use crate::application::Application;
use crate::cluster_state::{Placement, TurnaroundBounds};
use crate::loras::Loras;
use crate::predictor::Predictor;
use sim_core::{SiteId, Span, Time};
use std::collections::BTreeMap;

/// Estimate of a job that starts on a cluster now: bounds of TR, and LT, without a simulation.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Which cluster.
    pub cluster: SiteId,
    /// Between what TR lies.
    pub turnaround: TurnaroundBounds,
    /// LT: as in [`Prediction::local_nodes`](crate::Prediction::local_nodes).
    pub local_nodes: u32,
    /// As in [`Prediction::occupancy`](crate::Prediction::occupancy).
    pub occupancy: f64,
}

/// The last estimate of each cluster for each kind of job.
#[derive(Clone, Debug, Default)]
pub(crate) struct EstimateCache {
    /// Tasks, CPU, memory and time of each kind.
    kinds: BTreeMap<(u32, u32, u64, Span), usize>,
    /// Those of one kind stand together.
    estimates: Vec<CachedEstimate>,
}

/// The estimate of one cluster for one kind of job, as long as the cluster has not changed.
#[derive(Clone, Debug)]
struct CachedEstimate {
    /// Version of the cluster's state when it was looked at.
    version: Option<u64>,
    seen: Placed,
    /// Nodes on which the job would start; a scratch buffer if it cannot.
    places: Vec<u32>,
    /// How it would share them, beside users.
    placement: Placement,
}

/// What becomes of a job that would be placed on a cluster now.
#[derive(Copy, Clone, Debug)]
enum Placed {
    /// It has no room.
    Full,
    /// The job would be alone: whenever it starts, it takes as long.
    Alone(Estimate),
    /// It would start beside others, who go on meanwhile: LT and occupancy.
    Beside(u32, f64),
}

/// An entry takes about a hundred bytes. If there are more, all are forgotten: kinds were many, and few of them will come again.
const MOST: usize = 1 << 18;

impl EstimateCache {
    /// The number of the kind of `app`, among `clusters` clusters.
    pub(crate) fn kind(&mut self, app: &Application, clusters: usize) -> usize {
        let kind = (app.tasks, app.demand.millionths(), app.demand.memory(), app.time);
        if let Some(&known) = self.kinds.get(&kind) {
            return known;
        }
        // Forgetting all is simple, and rare: a workload of many kinds gains little from a cache anyway.
        if (self.kinds.len() + 1) * clusters > MOST {
            self.kinds.clear();
        }
        let number = self.kinds.len();
        self.kinds.insert(kind, number);
        let end = (number + 1) * clusters;
        if self.estimates.len() < end {
            self.estimates.resize(
                end,
                CachedEstimate {
                    version: None,
                    seen: Placed::Full,
                    places: Vec::new(),
                    placement: Placement::default(),
                },
            );
        }
        // What was seen for a kind that is forgotten.
        self.estimates[number * clusters..end].iter_mut().for_each(|cached| cached.version = None);
        number
    }

    /// What can be said without simulating anything; `None` where the job cannot start now.
    #[expect(clippy::too_many_arguments, reason = "what a view holds, in parts that are borrowed apart")]
    pub(crate) fn estimate(
        &mut self,
        kind: usize,
        now: Time,
        site: SiteId,
        clusters: &[Loras],
        app: &Application,
        sees_users: bool,
        predictor: &mut Predictor,
    ) -> Option<Estimate> {
        let cluster = &clusters[site.index()];
        // First come, first served: with a job waiting there this one cannot start now.
        if !cluster.queue.is_empty() {
            return None;
        }
        let CachedEstimate { version, seen, places, placement } =
            &mut self.estimates[kind * clusters.len() + site.index()];
        let present = cluster.state.version();
        // The version changes with everything that could move the estimate: starts, ends, users. Progress of the jobs
        // beside it does not count here; it enters below, through `bound_of`.
        if *version != Some(present) {
            *version = Some(present);
            *seen = look(now, site, cluster, app, places, placement, predictor);
        }
        let (local_nodes, occupancy) = match *seen {
            Placed::Full => return None,
            Placed::Alone(estimate) if sees_users => return Some(estimate),
            Placed::Alone(Estimate { local_nodes, occupancy, .. }) | Placed::Beside(local_nodes, occupancy) => {
                (local_nodes, occupancy)
            }
        };
        // What is cached is the placement beside users. A policy that does not see them needs another one.
        let turnaround = if sees_users {
            predictor.bound_of(now, cluster, app, placement)
        } else {
            predictor.bound(now, cluster, app, Some(places), false)
        };
        Some(Estimate { cluster: site, turnaround, local_nodes, occupancy })
    }
}

fn look(
    now: Time,
    site: SiteId,
    cluster: &Loras,
    app: &Application,
    places: &mut Vec<u32>,
    placement: &mut Placement,
    predictor: &mut Predictor,
) -> Placed {
    if !cluster.state.place(app, places) {
        return Placed::Full;
    }
    cluster.state.placement(app, places, true, placement);
    let (local_nodes, occupancy) = Predictor::intrusion(cluster, places);
    if places.iter().any(|&place| cluster.state.tasks_on(place) > 0) {
        return Placed::Beside(local_nodes, occupancy);
    }
    let turnaround = predictor.bound_of(now, cluster, app, placement);
    if turnaround.is_exact() {
        Placed::Alone(Estimate { cluster: site, turnaround, local_nodes, occupancy })
    } else {
        // Users are believed to come and go.
        Placed::Beside(local_nodes, occupancy)
    }
}
