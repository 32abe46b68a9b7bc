//! What was seen of clusters that have not changed since.
//!
//! Where a job of one kind would start, and which users that would disturb, stays true until something starts, ends, comes or goes
//! on the cluster. Where no other job is on those nodes, so does its turnaround. A metascheduler of many clusters then looks
//! only at the few that have changed.

use crate::application::Application;
use crate::floor::Prospect;
use crate::loras::Loras;
use crate::policy::Outlook;
use crate::predictor::Predictor;
use sim_core::{SiteId, Span, Time};
use std::collections::BTreeMap;

/// The last glance at each cluster for each kind of job.
#[derive(Clone, Debug, Default)]
pub(crate) struct Glances {
    /// Tasks, CPU, memory and time of each kind.
    kinds: BTreeMap<(u32, u32, u64, Span), usize>,
    /// Those of one kind stand together.
    glances: Vec<Glance>,
}

/// What was seen of one cluster for one kind of job.
#[derive(Clone, Debug)]
struct Glance {
    /// Of the floor when it was looked at.
    version: Option<u64>,
    seen: Seen,
    /// Where the job would start; kept for its memory if it cannot.
    places: Vec<u32>,
    /// How it would share them, beside users.
    prospect: Prospect,
}

#[derive(Copy, Clone, Debug)]
enum Seen {
    /// It has no room.
    Full,
    /// The job would be alone: whenever it starts, it takes as long.
    Alone(Outlook),
    /// It would start beside others, who go on meanwhile: LT and occupancy.
    Beside(u32, f64),
}

/// A glance takes about a hundred bytes. If there are more, all are forgotten: kinds were many, and few of them will come again.
const MOST: usize = 1 << 18;

impl Glances {
    /// The number of the kind of `app`, among `clusters` clusters.
    pub(crate) fn kind(&mut self, app: &Application, clusters: usize) -> usize {
        let kind = (app.tasks, app.demand.millionths(), app.demand.memory(), app.time);
        if let Some(&known) = self.kinds.get(&kind) {
            return known;
        }
        if (self.kinds.len() + 1) * clusters > MOST {
            self.kinds.clear();
        }
        let number = self.kinds.len();
        self.kinds.insert(kind, number);
        let end = (number + 1) * clusters;
        if self.glances.len() < end {
            self.glances.resize(
                end,
                Glance { version: None, seen: Seen::Full, places: Vec::new(), prospect: Prospect::default() },
            );
        }
        // What was seen for a kind that is forgotten.
        self.glances[number * clusters..end].iter_mut().for_each(|glance| glance.version = None);
        number
    }

    /// What can be said without simulating anything; `None` where the job cannot start now.
    #[expect(clippy::too_many_arguments, reason = "what a view holds, in parts that are borrowed apart")]
    pub(crate) fn outlook(
        &mut self,
        kind: usize,
        now: Time,
        site: SiteId,
        clusters: &[Loras],
        app: &Application,
        sees_users: bool,
        predictor: &mut Predictor,
    ) -> Option<Outlook> {
        let cluster = &clusters[site.index()];
        if !cluster.queue.is_empty() {
            return None;
        }
        let Glance { version, seen, places, prospect } = &mut self.glances[kind * clusters.len() + site.index()];
        let present = cluster.floor.version();
        if *version != Some(present) {
            *version = Some(present);
            *seen = look(now, site, cluster, app, places, prospect, predictor);
        }
        let (local_nodes, occupancy) = match *seen {
            Seen::Full => return None,
            Seen::Alone(outlook) if sees_users => return Some(outlook),
            Seen::Alone(Outlook { local_nodes, occupancy, .. }) | Seen::Beside(local_nodes, occupancy) => {
                (local_nodes, occupancy)
            }
        };
        let turnaround = if sees_users {
            predictor.bound_of(now, cluster, app, prospect)
        } else {
            predictor.bound(now, cluster, app, Some(places), false)
        };
        Some(Outlook { cluster: site, turnaround, local_nodes, occupancy })
    }
}

fn look(
    now: Time,
    site: SiteId,
    cluster: &Loras,
    app: &Application,
    places: &mut Vec<u32>,
    prospect: &mut Prospect,
    predictor: &mut Predictor,
) -> Seen {
    if !cluster.floor.place(app, places) {
        return Seen::Full;
    }
    cluster.floor.prospect(app, places, true, prospect);
    let (local_nodes, occupancy) = Predictor::intrusion(cluster, places);
    if places.iter().any(|&place| cluster.floor.tasks_on(place) > 0) {
        return Seen::Beside(local_nodes, occupancy);
    }
    let turnaround = predictor.bound_of(now, cluster, app, prospect);
    if turnaround.is_exact() {
        Seen::Alone(Outlook { cluster: site, turnaround, local_nodes, occupancy })
    } else {
        // Users are believed to come and go.
        Seen::Beside(local_nodes, occupancy)
    }
}
