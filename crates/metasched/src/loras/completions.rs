//! Total work and end times of running jobs, which a [`ClusterState`] does not know.

use crate::loras::cluster_state::{ClusterState, Work};
use sim_core::Time;

/// Total work of each running job, by slot, and the instant of its end at the present rates.
///
/// The world makes one from true run times and keeps it private. The predictor makes its own from profiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    jobs: Vec<(Work, Time)>,
    /// Scratch buffer, reused across ends.
    pub(crate) due: Vec<u32>,
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

    /// Takes the scratch buffer, filled with the jobs that have ended by `now`.
    pub(crate) fn take_due(&mut self, state: &ClusterState, now: Time) -> Vec<u32> {
        let mut due = std::mem::take(&mut self.due);
        due.clear();
        due.extend(state.live.iter().filter(|&&slot| self.jobs[slot as usize].1 <= now));
        due
    }
}
