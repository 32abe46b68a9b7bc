//! Tournament tree over the free processors of machines.

use crate::machine::{Machine, site};
use crate::policy::readings::Placement;
use sim_core::Request;

/// Free processors of machines that stand in an order of preference, under a tree of maxima: the most preferred machine
/// with room is found in O(log n).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FreeProcessorTree {
    /// Node `n` has the children `2n` and `2n + 1`; the leaf of the machine at `rank` is `width + rank`.
    tree: Vec<u32>,
    /// The machines, the preferred one first.
    order: Vec<usize>,
    /// The place of each machine in that order.
    ranks: Vec<usize>,
    /// The same as in the leaves, by machine.
    free: Vec<u32>,
}

impl FreeProcessorTree {
    /// The machines, with `free` processors each.
    pub(super) fn new(machines: &[Machine], free: &[u32], placement: Placement) -> Self {
        let order = placement.order(machines);
        let mut ranks = vec![0; order.len()];
        let width = order.len().next_power_of_two();
        let mut tree = vec![0; 2 * width];
        for (rank, machine) in order.iter().enumerate() {
            ranks[*machine] = rank;
            tree[width + rank] = free[*machine];
        }
        for node in (1..width).rev() {
            tree[node] = tree[2 * node].max(tree[2 * node + 1]);
        }
        Self { tree, order, ranks, free: free.to_vec() }
    }

    /// The machines, the preferred one first.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The machine's place in the order of preference.
    pub(super) fn rank(&self, machine: usize) -> usize {
        self.ranks[machine]
    }

    /// Free processors of one machine.
    pub(super) fn free(&self, machine: usize) -> u32 {
        self.free[machine]
    }

    /// Free processors of the machine that has most.
    pub(super) fn most(&self) -> u32 {
        self.tree[1]
    }

    /// Sets the free processors of all machines.
    pub(super) fn update(&mut self, free: &[u32]) {
        for (machine, now_free) in free.iter().enumerate() {
            if self.free[machine] != *now_free {
                self.set(machine, *now_free);
            }
        }
    }

    pub(super) fn set(&mut self, machine: usize, free: u32) {
        self.free[machine] = free;
        let mut node = self.width() + self.ranks[machine];
        self.tree[node] = free;
        while node > 1 {
            node /= 2;
            let most = self.tree[2 * node].max(self.tree[2 * node + 1]);
            if self.tree[node] == most {
                break;
            }
            self.tree[node] = most;
        }
    }

    /// The rank of the first machine, from `rank` on, on which `processors` (at least one) are free. `steps` counts the
    /// nodes that were looked at.
    pub(super) fn next(&self, rank: usize, processors: u32, steps: &mut u64) -> Option<usize> {
        let width = self.width();
        if rank >= width {
            return None;
        }
        // The largest stretch that begins there.
        let mut node = width + rank;
        node >>= node.trailing_zeros();
        loop {
            *steps += 1;
            if self.tree[node] >= processors {
                if node >= width {
                    return Some(node - width);
                }
                node *= 2;
            } else {
                // On to the right, likewise. The root's right neighbour is the end.
                node += 1;
                node >>= node.trailing_zeros();
                if node == 1 {
                    return None;
                }
            }
        }
    }

    /// The most preferred machine, of those the job may use, with room for it.
    pub(super) fn first(&self, job: &Request, steps: &mut u64) -> Option<usize> {
        let mut rank = 0;
        loop {
            rank = self.next(rank, job.processors, steps)?;
            let machine = self.order[rank];
            if job.sites.contains(site(machine)) {
                return Some(machine);
            }
            rank += 1;
        }
    }

    const fn width(&self) -> usize {
        self.tree.len() / 2
    }
}
