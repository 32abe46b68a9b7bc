//! Total work and end times of running jobs, which a [`ClusterState`] does not know.

use crate::cluster_state::{ClusterState, Work};
use sim_core::Time;

/// Total work of each running job, by slot, and the instant of its end at the present rates.
///
/// The world makes one from true run times and keeps it private. The predictor makes its own from profiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    goals: Vec<Work>,
    ends: Vec<Time>,
}

impl Completions {
    pub(crate) fn set(&mut self, slot: u32, goal: Work) {
        let slot = slot as usize;
        if slot >= self.goals.len() {
            self.goals.resize(slot + 1, 0);
            self.ends.resize(slot + 1, Time::MAX);
        }
        self.goals[slot] = goal;
    }

    pub(crate) fn goal(&self, slot: u32) -> Work {
        self.goals[slot as usize]
    }

    /// Recomputes the ends of `slots` after their rates have changed.
    pub(crate) fn recompute(&mut self, state: &ClusterState, slots: &[u32]) {
        for &slot in slots {
            self.ends[slot as usize] = state.running(slot).end(self.goals[slot as usize]);
        }
    }

    pub(crate) fn end(&self, slot: u32) -> Time {
        self.ends[slot as usize]
    }

    pub(crate) fn next_end(&self, state: &ClusterState) -> Option<Time> {
        state.live().iter().map(|&slot| self.ends[slot as usize]).min()
    }
}
