//! LoRaS, the scheduler of one cluster (§2.1): nodes of jobs, and the queue.

pub(crate) mod cluster_state;
pub(crate) mod completions;
pub(crate) mod predictor;
mod share;

use crate::application::Application;
use crate::loras::cluster_state::{ClusterState, JobNodes, WaitingJob, Work};
use crate::loras::completions::Completions;
use sim_core::Time;
use std::collections::VecDeque;

/// Cluster as its LoRaS knows it: nodes, running jobs with their progress, waiting jobs.
///
/// The world and the predictor both drive it, by the same two calls: end the jobs that are due, start the waiting ones. It does
/// not hold true run times.
#[derive(Clone, Debug)]
pub struct Loras {
    pub(crate) state: ClusterState,
    pub(crate) queue: VecDeque<WaitingJob>,
}

impl Loras {
    pub(crate) const fn new(state: ClusterState) -> Self {
        Self { state, queue: VecDeque::new() }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.state.nodes.len()
    }

    /// Speed relative to the machine on which applications were measured.
    pub fn speed(&self) -> f64 {
        self.state.rules.cluster.speed
    }

    /// Returns true if a local user sits at the node.
    pub fn has_users(&self, node: u32) -> bool {
        self.state.nodes[node as usize].users
    }

    /// Returns the nodes that `app` would get if it can start now: no job waits before it (first come, first served), and enough nodes are below
    /// their MPL and have the memory.
    pub(crate) fn room(&self, app: &Application) -> Option<JobNodes> {
        if self.queue.is_empty() { self.state.place(app) } else { None }
    }

    pub(crate) fn finish_due(&mut self, completions: &mut Completions, now: Time, mut ended: impl FnMut(u32, &[u32])) {
        let due = completions.take_due(&self.state, now);
        // One by one, since an end changes the rates of the remaining jobs; jobs due at the same instant have done
        // their work at any rate.
        for &slot in &due {
            let job = self.state.release(now, slot, completions.goal(slot));
            completions.recompute(&self.state, &self.state.touched);
            ended(job.key, &job.nodes);
        }
        completions.due = due;
    }

    /// Starts jobs from the head of the queue while they find nodes. `begin` receives each job that is about to start, and its nodes, and
    /// returns its work.
    pub(crate) fn start_waiting(
        &mut self,
        completions: &mut Completions,
        now: Time,
        mut begin: impl FnMut(&WaitingJob, &[u32], &ClusterState) -> Work,
    ) {
        // First come, first served: a head that finds no nodes holds up all jobs behind it.
        while let Some(head) = self.queue.front()
            && let Some(nodes) = self.state.place(&head.app)
        {
            let goal = begin(head, &nodes, &self.state);
            let waiting = self.queue.pop_front().expect("it was just looked at");
            self.start(completions, now, waiting, nodes, goal);
        }
    }

    pub(crate) fn start(
        &mut self,
        completions: &mut Completions,
        now: Time,
        waiting: WaitingJob,
        nodes: JobNodes,
        goal: Work,
    ) {
        let slot = self.state.admit(now, waiting, nodes);
        completions.set(slot, goal);
        completions.recompute(&self.state, &self.state.touched);
    }
}
