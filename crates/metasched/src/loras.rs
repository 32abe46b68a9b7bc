//! LoRaS, the scheduler of one cluster (§2.1): nodes of jobs, the queue, and the ends of running jobs.

pub(crate) mod cluster_state;
pub(crate) mod predictor;

use crate::application::Application;
use crate::loras::cluster_state::{ClusterState, JobNodes, WaitingJob, Work};
use sim_core::Time;
use smallvec::SmallVec;
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
        // One by one, since an end changes the rates of the remaining jobs; jobs due at the same instant have done
        // their work at any rate.
        for slot in completions.due(&self.state, now) {
            let job = self.state.release(now, slot, completions.goal(slot));
            completions.recompute(&self.state, &self.state.touched);
            ended(job.key, &job.nodes);
        }
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

/// Total work of each running job, by slot, and the instant of its end at the present rates: a [`ClusterState`] knows neither.
///
/// The world makes one from true run times and keeps it private. The predictor makes its own from profiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    jobs: Vec<(Work, Time)>,
}

impl Completions {
    pub(crate) fn set(&mut self, slot: u32, goal: Work) {
        let slot = slot as usize;
        if slot >= self.jobs.len() {
            self.jobs.resize(slot + 1, (0, Time::MAX));
        }
        self.jobs[slot].0 = goal;
    }

    pub(crate) fn goal(&self, slot: u32) -> Work {
        self.jobs[slot as usize].0
    }

    /// Recomputes the ends of `slots` after their rates have changed.
    pub(crate) fn recompute(&mut self, state: &ClusterState, slots: &[u32]) {
        for &slot in slots {
            let (goal, end) = &mut self.jobs[slot as usize];
            *end = state.running[slot as usize].end(*goal);
        }
    }

    pub(crate) fn next_end(&self, state: &ClusterState) -> Option<Time> {
        state.live.iter().map(|&slot| self.jobs[slot as usize].1).min()
    }

    /// Jobs that have ended by `now`.
    pub(crate) fn due(&self, state: &ClusterState, now: Time) -> SmallVec<[u32; 8]> {
        state.live.iter().copied().filter(|slot| self.jobs[*slot as usize].1 <= now).collect()
    }
}
