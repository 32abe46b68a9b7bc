//! Free processors of machines, in order of preference.

use crate::min_demand::Tournament;
use crate::policy::readings::Placement;
use crate::view::{Machine, site};
use sim_core::Request;
use std::cell::Cell;

/// Free processors of machines in an order of preference: finds the most preferred machine with room in O(log n).
#[derive(Clone, Debug, Default)]
pub(super) struct FreeProcessorTree {
    /// Free processors by rank.
    free: Tournament<u32>,
    /// Machines, the preferred one first.
    pub(super) order: Vec<usize>,
    /// Rank of each machine in that order.
    pub(super) ranks: Vec<usize>,
}

impl FreeProcessorTree {
    /// Returns the tree of the machines, without a free processor.
    pub(super) fn new(machines: &[Machine], placement: Placement) -> Self {
        let order = placement.order(machines);
        let mut ranks = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, machine)| ranks[*machine] = rank);
        Self { free: Tournament::planted(order.len(), [], 0), order, ranks }
    }

    pub(super) fn free(&self, machine: usize) -> u32 {
        self.free.at(self.ranks[machine])
    }

    /// Largest number of free processors of any machine.
    pub(super) fn most(&self) -> u32 {
        self.free.root()
    }

    pub(super) fn seize(&mut self, machine: usize, processors: u32) {
        self.set(machine, self.free(machine) - processors);
    }

    pub(super) fn set(&mut self, machine: usize, free: u32) {
        self.free.set(self.ranks[machine], free);
    }

    /// Returns the most preferred machine on which `processors` (at least one) are free and that the job `may_use`.
    /// `steps` counts the nodes visited.
    pub(super) fn find(&self, processors: u32, steps: &Cell<u64>, may_use: impl Fn(usize) -> bool) -> Option<usize> {
        let has_room = |free| {
            steps.update(|steps| steps + 1);
            free >= processors
        };
        self.free.first(has_room, |rank| may_use(self.order[rank])).map(|rank| self.order[rank])
    }

    /// Returns the most preferred machine with room for the job, among those that it may use.
    pub(super) fn first(&self, job: &Request, steps: &Cell<u64>) -> Option<usize> {
        self.find(job.processors, steps, |machine| job.sites.contains(site(machine)))
    }
}
