//! The will-run test: when, and on which nodes, a job could start if running jobs last until their limits.

use crate::limits::Demand;
use crate::nodes::NodeSet;
use crate::select::{Machine, Need};

/// Width of the first group of ends, in seconds.
const FIRST_WIDTH: i64 = 30;

/// Number of jobs after which a group is closed.
const GROUP_JOBS: usize = 200;

/// Running job, as the will-run test sees it.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// The job's number.
    pub job: u32,
    /// Start plus time limit.
    pub end: i64,
    /// Nodes that it holds.
    pub nodes: NodeSet,
    /// What limits count of it.
    pub demand: Demand,
}

/// What the will-run test reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WillRun<'a> {
    /// The nodes.
    pub machine: &'a Machine,
    /// Nodes that no job holds.
    pub idle: &'a NodeSet,
    /// Running jobs by expected end.
    pub running: &'a [Running],
    /// The pass's time.
    pub now: i64,
    /// `bf_window_linear`; 0 doubles the width before each group.
    pub window_linear: i64,
}

/// Slot under test, for versions whose will-run test knows it (24.11).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// Its begin.
    pub from: i64,
    /// Begin of the next slot, or 0.
    pub later: i64,
}

impl WillRun<'_> {
    /// Returns the start and the nodes of a job that may use `usable`.
    pub(crate) fn test(
        &self,
        usable: &NodeSet,
        need: Need,
        required: Option<&NodeSet>,
        slot: Option<Slot>,
    ) -> Option<(i64, NodeSet)> {
        let mut free = usable.clone();
        free.intersect(self.idle);
        let slot = slot.unwrap_or(Slot { from: self.now, later: 0 });
        if slot.from <= self.now
            && let Some(nodes) = self.machine.choose(&free, need, required)
        {
            return Some((self.now, nodes));
        }
        let mut rest = self.running.iter().peekable();
        if slot.from > self.now {
            while let Some(running) = rest.next_if(|running| running.end < slot.from) {
                free.unite_shared(&running.nodes, usable);
            }
            if let Some(nodes) = self.machine.choose(&free, need, required) {
                return Some((slot.from, nodes));
            }
        }
        let mut base = None;
        let mut width = FIRST_WIDTH;
        loop {
            let mut last = None;
            let mut removed = 0;
            while let Some(running) = rest.next_if(|running| slot.later == 0 || running.end <= slot.later) {
                if !running.nodes.meets(usable) {
                    continue;
                }
                // SPEC 5.6: a whole width later if it is a multiple already.
                let base = *base.get_or_insert((running.end / FIRST_WIDTH + 1) * FIRST_WIDTH);
                free.unite_shared(&running.nodes, usable);
                last = Some(running.end);
                removed += 1;
                // The next job closes the group even if it holds none of the usable nodes. After such a job the next that
                // holds some is taken without a look at its end (found in w4-fair-tree.log, 22:28:48, job 6).
                if removed > GROUP_JOBS || rest.peek().is_some_and(|next| next.end > base + width) {
                    break;
                }
            }
            let last = last?;
            if let Some(nodes) = self.machine.choose(&free, need, required) {
                return Some((last, nodes));
            }
            let (Some(next), Some(base)) = (rest.peek(), base) else { return None };
            while next.end > base + width {
                width += if self.window_linear > 0 { self.window_linear } else { width };
            }
        }
    }
}
