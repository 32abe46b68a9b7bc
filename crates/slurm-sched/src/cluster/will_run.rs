//! Will-run test: the start and the nodes of a job if running jobs last until their limits.

use crate::cluster::limits::Demand;
use crate::cluster::nodes::NodeSet;
use crate::cluster::select::{Machine, Need};

/// Width of the first group of ends, in seconds.
const FIRST_WIDTH: i64 = 30;

/// Number of jobs after which a group is closed.
const GROUP_JOBS: usize = 200;

/// Running job, as the will-run test sees it.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub job: u32,
    /// Start plus time limit.
    pub end: i64,
    pub nodes: NodeSet,
    pub demand: Demand,
    /// True if it was stopped and its nodes are not idle yet.
    pub is_completing: bool,
}

/// Running jobs in order of their limits' ends, for the will-run tests of a pass.
#[derive(Clone, Debug)]
pub(crate) struct ExpectedEnds {
    ends: Vec<i64>,
    /// The same ends, later for jobs past their limits.
    expected: Vec<i64>,
    nodes: Vec<NodeSet>,
    /// Nodes that are idle before the first end, and after each.
    released: Vec<NodeSet>,
}

impl ExpectedEnds {
    /// Returns the releases of running jobs: the end by its limit, in order, the expected end, and the nodes of each.
    pub(crate) fn new(idle: &NodeSet, running: &[(i64, i64, &NodeSet)]) -> Self {
        let mut released = vec![idle.clone()];
        for (_, _, nodes) in running {
            let mut next = released[released.len() - 1].clone();
            next.unite(nodes);
            released.push(next);
        }
        let nodes = running.iter().map(|(_, _, nodes)| (*nodes).clone()).collect();
        let (ends, expected) = running.iter().map(|(end, expected, _)| (*end, *expected)).unzip();
        Self { ends, expected, nodes, released }
    }

    /// Returns the nodes that are idle once the jobs have ended that should end by `time`.
    pub(crate) fn by(&self, time: i64) -> &NodeSet {
        &self.released[self.ends.partition_point(|end| *end <= time)]
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct WillRun<'a> {
    pub machine: &'a Machine,
    pub releases: &'a ExpectedEnds,
    pub now: i64,
    /// `bf_window_linear`; 0 doubles the width before each group.
    pub window_linear: i64,
    /// True if the walk ends before the first job that ends later than the slot (24.11); otherwise it ends with it, and finds nothing.
    pub is_bounded: bool,
}

impl WillRun<'_> {
    /// Returns the start and the nodes of a job that may use `usable`, in a slot that begins at `from` (24.11), or in a pass at that
    /// time. `until` is the greatest end of a job that the test visits.
    pub(crate) fn test(
        &self,
        usable: &NodeSet,
        need: Need,
        required: Option<&NodeSet>,
        (from, until): (i64, i64),
    ) -> Option<(i64, NodeSet)> {
        let ExpectedEnds { ends, expected, nodes, released } = self.releases;
        // A useful start has enough nodes by the end of the slot.
        let latest = ends.partition_point(|end| *end <= until);
        if released[latest].count_within(usable) < need.nodes {
            return None;
        }
        let choose = |next: usize| {
            if released[next].count_within(usable) < need.nodes {
                return None;
            }
            self.machine.choose(&released[next].intersection(usable), need, required)
        };
        // Idle nodes are tried first if the slot begins now. Then, in 24.11, jobs whose limits end before the slot have ended,
        // even those that still run past their limits.
        let ended = if self.is_bounded { ends.partition_point(|end| *end < from) } else { 0 };
        let idle = (from <= self.now && ended > 0).then_some(0);
        if let Some(nodes) = idle.into_iter().chain([ended]).find_map(choose) {
            return Some((from.max(self.now), nodes));
        }
        let mut next = ended;
        let in_reach = if self.is_bounded { latest } else { ends.len() };
        let holds_usable = |index: &usize| nodes[*index].meets(usable);
        let first = (next..in_reach).find(holds_usable)?;
        // SPEC 5.6: a whole width later if it is already a multiple.
        let base = (ends[first] / FIRST_WIDTH + 1) * FIRST_WIDTH;
        let mut width = FIRST_WIDTH;
        while next < ends.len() {
            // The next job closes the group even if it holds none of the usable nodes. After such a job, the next
            // one that holds some is taken regardless of its end (found in w4-fair-tree.log, 22:28:48, job 6).
            // Jobs before the one that closes the group are visited only if there may be too many of them.
            let beyond = next + ends[next..].partition_point(|end| *end <= base + width);
            let closes = |index: &usize| index + 1 >= beyond && index + 1 < ends.len();
            let visited = if beyond - next > GROUP_JOBS { next } else { next.max(beyond.saturating_sub(1)) };
            let mut members = (visited..in_reach).filter(holds_usable).zip(1..);
            let closing = members.find(|(index, count)| closes(index) || *count > GROUP_JOBS).map(|(index, _)| index);
            let last = closing.or_else(|| (next..in_reach).rev().find(holds_usable))?;
            if ends[last] > until {
                return None;
            }
            next = last + 1;
            if let Some(nodes) = choose(next) {
                return (expected[last] <= until).then_some((expected[last], nodes));
            }
            // SPEC 5.6: the width grows until it reaches the next job.
            while ends.get(next).is_some_and(|next| *next > base + width) {
                width += if self.window_linear > 0 { self.window_linear } else { width };
            }
        }
        None
    }
}

#[cfg(test)]
#[path = "../../tests/unit/will_run.rs"]
mod tests;
