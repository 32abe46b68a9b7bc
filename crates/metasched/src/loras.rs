//! LoRaS, the scheduler of one cluster (§2.1): which nodes a job gets, and who waits.

use crate::application::Application;
use crate::cluster_state::{ClusterState, Work, work_of};
use crate::completions::Completions;
use crate::config::OnOff;
use sim_core::Time;
use std::collections::VecDeque;

/// A cluster as its LoRaS knows it: nodes, what runs there and how far it is, what waits.
///
/// The world and the predictor both drive it, by the same two calls: end what is due, start what waits. What it does not
/// hold is how long jobs really take.
#[derive(Clone, Debug)]
pub struct Loras {
    pub(crate) state: ClusterState,
    pub(crate) queue: VecDeque<QueuedJob>,
    /// How its users come and go, if they do.
    pub(crate) change: Option<OnOff>,
}

/// A job in a LoRaS queue.
#[derive(Copy, Clone, Debug)]
pub(crate) struct QueuedJob {
    /// Its number in the world that drives the cluster.
    pub(crate) key: u32,
    pub(crate) app: Application,
}

impl Loras {
    pub(crate) const fn new(state: ClusterState, change: Option<OnOff>) -> Self {
        Self { state, queue: VecDeque::new(), change }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.state.len()
    }

    /// Speed relative to the machine on which applications were measured.
    pub fn speed(&self) -> f64 {
        self.state.rules().speed
    }

    /// Whether a local user sits at the node.
    pub fn has_users(&self, node: u32) -> bool {
        self.state.has_users(node)
    }

    /// Whether `app` could run here if no other job did. Users who come and go will be gone some time.
    pub(crate) fn fits(&self, app: &Application) -> bool {
        self.state.fits(app, self.change.is_none())
    }

    /// Whether `app` could start now: no job waits before it (first come, first served), and enough nodes are below
    /// their MPL and have the memory. `places` is left with the nodes that it would get.
    pub(crate) fn can_start(&self, app: &Application, places: &mut Vec<u32>) -> bool {
        self.queue.is_empty() && self.state.place(app, places)
    }

    /// Ends every job that is due at `now`, and passes each to `ended`.
    pub(crate) fn finish_due(
        &mut self,
        completions: &mut Completions,
        now: Time,
        due: &mut Vec<u32>,
        mut ended: impl FnMut(u32, &[u32]),
    ) {
        due.clear();
        due.extend(self.state.live().iter().filter(|&&slot| completions.end(slot) <= now));
        // One by one, since an end changes the rates of those that are left; jobs due at the same instant have done
        // their work whatever their rate.
        for &slot in &*due {
            self.state.release(now, slot, completions.goal(slot));
            completions.recompute(&self.state, self.state.touched());
            let job = self.state.running(slot);
            ended(job.key, &job.nodes);
        }
    }

    /// Starts jobs from the head of the queue while they find nodes. `goal` says how much work a job has; `started` hears of
    /// each that is about to start, and where.
    pub(crate) fn start_waiting(
        &mut self,
        completions: &mut Completions,
        now: Time,
        places: &mut Vec<u32>,
        goal: impl Fn(&QueuedJob) -> Work,
        mut started: impl FnMut(&QueuedJob, &[u32], &ClusterState),
    ) {
        // First come, first served: a head that finds no nodes holds up all behind it.
        while let Some(head) = self.queue.front()
            && self.state.place(&head.app, places)
        {
            let waiting = self.queue.pop_front().expect("it was just looked at");
            started(&waiting, places, &self.state);
            self.start(completions, now, &waiting, places, goal(&waiting));
        }
    }

    /// Starts a job on `places`.
    pub(crate) fn start(
        &mut self,
        completions: &mut Completions,
        now: Time,
        waiting: &QueuedJob,
        places: &[u32],
        goal: Work,
    ) -> u32 {
        let slot = self.state.admit(now, waiting.key, waiting.app, places);
        completions.set(slot, goal);
        completions.recompute(&self.state, self.state.touched());
        slot
    }

    /// Lets users of `nodes` come or go.
    pub(crate) fn set_users(&mut self, completions: &mut Completions, now: Time, nodes: &[u32], present: bool) {
        for &node in nodes {
            self.state.set_users(now, node, present);
            completions.recompute(&self.state, self.state.touched());
        }
    }
}

/// Work of a job that takes exactly its profile.
pub(crate) fn profiled(app: &Application) -> Work {
    work_of(app.time)
}
