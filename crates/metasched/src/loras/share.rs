//! Sharing of a node's CPU.

use crate::application::PROCESSOR;

/// Max-min fair level of a node: a task with a smaller demand gets its demand, one with a larger demand gets the level. In
/// millionths of a CPU; infinite if there is enough for all. `demands` yields each demand once, `total` is their
/// sum.
///
/// The level is raised in rounds from an equal share: the CPU that modest tasks leave over is shared by the others. A round that
/// finds no further modest task is the last, so there are at most as many rounds as distinct demands, and mostly two.
pub(crate) fn fair_level(total: u32, demands: impl Iterator<Item = u32> + Clone) -> f64 {
    if total <= PROCESSOR {
        return f64::INFINITY;
    }
    let mut sharing = demands.clone().count() as u64;
    let mut left = u64::from(PROCESSOR);
    loop {
        let (mut modest, mut others) = (0, 0);
        for demand in demands.clone() {
            // In integers: demand ≤ left / sharing.
            if u64::from(demand) * sharing <= left {
                modest += u64::from(demand);
            } else {
                others += 1;
            }
        }
        let left_over = u64::from(PROCESSOR) - modest;
        if others == sharing {
            return left_over as f64 / sharing as f64;
        }
        (left, sharing) = (left_over, others);
    }
}
