//! The LoRaS predictor: a simulation inside the simulation (§2.1, §2.3).
//!
//! Its inputs are [`Loras`] and [`Application`]: running jobs with their progress, waiting jobs, profiles. True run times
//! are part of neither.

use crate::application::Application;
use crate::loras::cluster_state::{ClusterState, WaitingJob, work_of};
use crate::loras::{Completions, Loras};
use sim_core::{Span, Time};

/// Prediction of LoRaS for a job on its cluster.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Prediction {
    /// TR: time from now to its end.
    pub turnaround: Span,
    /// LT: number of its nodes with local users.
    pub local_nodes: u32,
    /// CPU and memory in use on its nodes before it starts: the sum over nodes of the mean of both, each as a
    /// fraction of the node's.
    pub occupancy: f64,
}

/// Number of the job of the prediction. The world's own numbers are smaller.
const ASKED: u32 = u32::MAX;

/// Predicts the course of `app` if it is sent to `cluster` now and no other job arrives; with `sees_users` false, without
/// local users. It starts at once if it can. `None` if no end is in sight: if it does not fit beside
/// the users.
pub(crate) fn predict(
    now: Time,
    cluster: &Loras,
    app: &Application,
    sees_users: bool,
    overrun: f64,
) -> Option<Prediction> {
    let mut replica = cluster.clone();
    replica.state.believe(now, sees_users);
    let mut completions = Completions::default();
    for &slot in &replica.state.live {
        let job = &replica.state.running[slot as usize];
        let (done, profile) = (job.done(now), work_of(job.app.time));
        // Beliefs instead of the truth: a running job ends with its profile, or a little later if it has
        // outlived its profile (§6 of the specification).
        let overdue = || done + work_of(job.app.time.scaled(overrun)).max(1);
        completions.set(slot, if done < profile { profile } else { overdue() });
    }
    completions.recompute(&replica.state, &replica.state.live);

    let begins = |places: &[u32], state: &ClusterState| Prediction {
        turnaround: Span::MAX,
        local_nodes: places.iter().map(|&node| u32::from(state.nodes[node as usize].users)).sum(),
        occupancy: places.iter().map(|&node| state.occupancy(node)).sum(),
    };
    let asked = WaitingJob { key: ASKED, app: *app };
    let mut begun = None;
    // On the nodes that it gets now, even if the replica orders them otherwise.
    if let Some(places) = cluster.room(app) {
        begun = Some(begins(&places, &replica.state));
        replica.start(&mut completions, now, asked, places, work_of(app.time));
    } else {
        replica.queue.push_back(asked);
    }
    let (mut instant, mut ended) = (now, false);
    while !ended {
        replica.start_waiting(&mut completions, instant, |job, places, state| {
            if job.key == ASKED {
                begun = Some(begins(places, state));
            }
            work_of(job.app.time)
        });
        // Nothing else happens in the replica: no arrivals, since later jobs may go to any cluster.
        instant = completions.next_end(&replica.state)?;
        replica.finish_due(&mut completions, instant, |key, _| ended |= key == ASKED);
    }
    begun.map(|begun| Prediction { turnaround: instant.since(now), ..begun })
}
