//! The LoRaS predictor: a simulation inside the simulation (§2.1, §2.3).

use crate::application::Application;
use crate::cluster_state::{AffectedSet, ClusterState, Neighbour, TurnaroundBounds};
use crate::completions::Completions;
use crate::loras::{Loras, WaitingJob, profiled};
use sim_core::{Span, Time};

/// Prediction of LoRaS for a job on its cluster.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Prediction {
    /// TR: time from now to its end.
    pub turnaround: Span,
    /// Time from now to its start.
    pub wait: Span,
    /// LT: number of its nodes with local users.
    pub local_nodes: u32,
    /// CPU and memory in use on its nodes before it starts: the sum over nodes of the mean of both, each as a
    /// fraction of the node's.
    pub occupancy: f64,
}

/// Simulates clusters from their known state, repeatedly in the same memory.
///
/// Its inputs are [`Loras`] and [`Application`]: running jobs with their progress, waiting jobs, profiles. True run times
/// are part of neither.
#[derive(Clone, Debug)]
pub(crate) struct LorasPredictor {
    overrun: f64,
    /// The simulated cluster, which uses the code of the real one.
    replica: Loras,
    completions: Completions,
    affected: AffectedSet,
    /// Nodes found for jobs that wait.
    found: Vec<u32>,
    due: Vec<u32>,
    neighbours: Vec<Neighbour>,
}

/// Number of the job of the prediction. The world's own numbers are smaller.
const ASKED: u32 = u32::MAX;

impl LorasPredictor {
    /// Creates a predictor for clusters like this one.
    pub(crate) fn new(state: &ClusterState, overrun: f64) -> Self {
        Self {
            overrun,
            replica: Loras::new(ClusterState::new(0, *state.rules(), None, false)),
            completions: Completions::default(),
            affected: AffectedSet::default(),
            found: Vec::new(),
            due: Vec::new(),
            neighbours: Vec::new(),
        }
    }

    /// Predicts the course of `app` if it is sent to `cluster` now and no other job arrives; with `sees_users` false, without
    /// local users. It starts at once on `places`, if these are given. `None` if it ends later than `limit`
    /// from now, or if no end is in sight: if it does not fit beside the users.
    pub(crate) fn predict(
        &mut self,
        now: Time,
        cluster: &Loras,
        app: &Application,
        places: Option<&[u32]>,
        sees_users: bool,
        limit: Span,
    ) -> Option<Prediction> {
        let bound = self.bound(now, cluster, app, places, sees_users);
        // Most predictions end here, without a simulation: the bound shows that the cluster cannot be the best one, or
        // gives the exact TR.
        if bound.at_least > limit {
            return None;
        }
        if let (Some(places), true) = (places, bound.is_exact()) {
            return Some(PredictedStart::at(now, places, &cluster.state).prediction(now, now + bound.at_least));
        }
        let Self { replica, completions, affected, found, due, .. } = self;
        let asked = WaitingJob { key: ASKED, app: *app };
        // Only state that can affect the result is copied, into memory of earlier predictions.
        replica.queue.clear();
        if let Some(places) = places {
            // No job waits, so jobs that share no node with it, directly or through others, cannot affect it.
            replica.state.copy_around(&cluster.state, places, now, sees_users, affected);
        } else {
            replica.state.copy_all(&cluster.state, now, sees_users, affected);
            replica.queue.extend(&cluster.queue);
            replica.queue.push_back(asked);
        }
        for &slot in replica.state.live() {
            let job = replica.state.running(slot);
            // Beliefs instead of the truth: a running job ends with its profile, or a little later if it has
            // outlived its profile.
            completions.set(slot, job.done(now) + job.believed_left(now, self.overrun));
        }
        completions.recompute(&replica.state, replica.state.live());

        let mut start = places.map(|places| PredictedStart::at(now, places, &replica.state));
        // If it does not start at once, it gets a slot when it starts in the simulation.
        let mut slot = places.map(|places| replica.start(completions, now, &asked, places, profiled(app)));
        let deadline = now.saturating_add(limit);
        let mut instant = now;
        loop {
            replica.start_waiting(
                completions,
                instant,
                found,
                |job| profiled(&job.app),
                |job, places, state| {
                    start = start.or((job.key == ASKED).then(|| PredictedStart::at(instant, places, state)));
                },
            );
            if start.is_some() && slot.is_none() {
                // No job waits behind it, so it was the last to start.
                slot = replica.state.live().last().copied();
            }
            // Nothing else happens in the replica: no arrivals, since later jobs may go to any cluster.
            instant = completions.next_end(&replica.state)?;
            if instant > deadline {
                return None;
            }
            if let (Some(slot), Some(start)) = (slot, start)
                && completions.end(slot) <= instant
            {
                return Some(start.prediction(now, instant));
            }
            replica.finish_due(completions, instant, due, |_, _| {});
        }
    }

    /// Bounds of the turnaround, without a simulation.
    pub(crate) fn bound(
        &mut self,
        now: Time,
        cluster: &Loras,
        app: &Application,
        places: Option<&[u32]>,
        sees_users: bool,
    ) -> TurnaroundBounds {
        match places {
            Some(places) => cluster.state.bound(app, places, now, sees_users, self.overrun, &mut self.neighbours),
            None => {
                // Lower bound: alone on its nodes; rounding may be a nanosecond off.
                let alone = app.time.scaled(1.0 / cluster.speed());
                TurnaroundBounds { at_least: alone.saturating_sub(Span::from_nanos(2)), at_most: Span::MAX }
            }
        }
    }

    /// LT and occupancy of a job that starts on `places` now, as in [`predict`](Self::predict).
    pub(crate) fn intrusion(cluster: &Loras, places: &[u32]) -> (u32, f64) {
        let PredictedStart { local_nodes, occupancy, .. } = PredictedStart::at(Time::ZERO, places, &cluster.state);
        (local_nodes, occupancy)
    }
}

/// Start of the job of the prediction.
#[derive(Copy, Clone, Debug)]
struct PredictedStart {
    at: Time,
    local_nodes: u32,
    occupancy: f64,
}

impl PredictedStart {
    /// Start of a job that is about to start on `places`.
    fn at(at: Time, places: &[u32], state: &ClusterState) -> Self {
        Self {
            at,
            local_nodes: places.iter().map(|&node| u32::from(state.has_users(node))).sum(),
            occupancy: places.iter().map(|&node| state.occupancy(node)).sum(),
        }
    }

    /// Prediction for a job that ends at `end`, made at `now`.
    fn prediction(self, now: Time, end: Time) -> Prediction {
        let Self { at, local_nodes, occupancy } = self;
        Prediction { turnaround: end.since(now), wait: at.since(now), local_nodes, occupancy }
    }
}
