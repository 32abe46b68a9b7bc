//! Tournament tree over the free processors of machines.

use crate::machine::{Machine, site};
use crate::policy::readings::Placement;
use sim_core::Request;
use std::cell::Cell;

/// Free processors of machines in an order of preference, under a tree of maxima: finds the most preferred machine with
/// room in O(log n).
#[derive(Clone, Debug, Default)]
pub(super) struct FreeProcessorTree {
    /// Node `n` has the children `2n` and `2n + 1`; the leaf of the machine at `rank` is `width + rank`.
    nodes: Vec<u32>,
    /// Machines, the preferred one first.
    order: Vec<usize>,
    /// Rank of each machine in that order.
    ranks: Vec<usize>,
}

impl FreeProcessorTree {
    /// Returns the tree of the machines, without a free processor.
    pub(super) fn new(machines: &[Machine], placement: Placement) -> Self {
        let (order, ranks) = placement.order(machines);
        Self { nodes: vec![0; 2 * order.len().next_power_of_two()], order, ranks }
    }

    /// Machines, the preferred one first.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Rank of the machine in the order of preference.
    pub(super) fn rank(&self, machine: usize) -> usize {
        self.ranks[machine]
    }

    /// Free processors of one machine.
    pub(super) fn free(&self, machine: usize) -> u32 {
        self.nodes[self.width() + self.ranks[machine]]
    }

    /// Largest number of free processors of any machine.
    pub(super) fn most(&self) -> u32 {
        self.nodes[1]
    }

    /// Sets the free processors of all machines.
    pub(super) fn update(&mut self, free: &[u32]) {
        for (machine, free) in free.iter().enumerate() {
            self.set(machine, *free);
        }
    }

    /// Seizes processors of the machine.
    pub(super) fn seize(&mut self, machine: usize, processors: u32) {
        self.set(machine, self.free(machine) - processors);
    }

    /// Sets the free processors of one machine.
    pub(super) fn set(&mut self, machine: usize, free: u32) {
        let mut node = self.width() + self.ranks[machine];
        let mut most = free;
        while self.nodes[node] != most {
            self.nodes[node] = most;
            node /= 2;
            if node == 0 {
                break;
            }
            most = self.nodes[2 * node].max(self.nodes[2 * node + 1]);
        }
    }

    /// Returns the most preferred machine on which `processors` (at least one) are free and that the job `may_use`.
    /// `steps` counts the nodes visited.
    pub(super) fn find(&self, processors: u32, steps: &Cell<u64>, may_use: impl Fn(usize) -> bool) -> Option<usize> {
        let width = self.width();
        let mut node = 1;
        loop {
            steps.update(|steps| steps + 1);
            if self.nodes[node] >= processors {
                if node < width {
                    node *= 2;
                    continue;
                }
                let machine = self.order[node - width];
                if may_use(machine) {
                    return Some(machine);
                }
            }
            // On to the largest subtree that begins on the right. The right neighbour of the root is the end.
            node += 1;
            node >>= node.trailing_zeros();
            if node == 1 {
                return None;
            }
        }
    }

    /// Returns the most preferred machine with room for the job, among those that it may use.
    pub(super) fn first(&self, job: &Request, steps: &Cell<u64>) -> Option<usize> {
        self.find(job.processors, steps, |machine| job.sites.contains(site(machine)))
    }

    const fn width(&self) -> usize {
        self.nodes.len() / 2
    }
}
