//! When running jobs end: what a [`Floor`] does not know.

use crate::floor::{Floor, Work};
use sim_core::Time;

/// How much work each running job has in all, by slot, and when it will be done at the present rates.
///
/// The world makes one from true runtimes and shows it to nobody. The predictor makes its own from profiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fate {
    goals: Vec<Work>,
    ends: Vec<Time>,
}

impl Fate {
    /// The job in `slot` has this much work in all.
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

    /// Reckons the ends of `slots` anew.
    pub(crate) fn reckon(&mut self, floor: &Floor, slots: &[u32]) {
        for &slot in slots {
            self.ends[slot as usize] = floor.running(slot).end(self.goals[slot as usize]);
        }
    }

    pub(crate) fn end(&self, slot: u32) -> Time {
        self.ends[slot as usize]
    }

    /// When the next job ends.
    pub(crate) fn next_end(&self, floor: &Floor) -> Option<Time> {
        floor.live().iter().map(|&slot| self.ends[slot as usize]).min()
    }
}
