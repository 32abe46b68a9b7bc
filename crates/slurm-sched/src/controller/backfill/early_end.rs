//! End of a pass before plans that alter no start ([`Search::ends_early`]).

use super::{Counts, Search};
use crate::cluster::queue::Entry;

/// Entries between two examinations of the rest of the queue.
const EXAMINATION: usize = 8;

impl Search<'_> {
    /// Returns true if no entry from `index` on can start or must be tested, and further plans cannot alter the effect of
    /// [`Pass::marks_nodes`] and [`Pass::changed`].
    ///
    /// Within a pass plans are only added, and nodes only taken, so that a job that cannot start now is not examined again.
    pub(super) fn is_over(&mut self, queue: &[Entry], index: usize, counts: &Counts, tests: usize) -> bool {
        self.due = index + EXAMINATION;
        let mut candidates =
            self.candidates.take().unwrap_or_else(|| self.reachable(queue, index, counts.clone(), tests));
        let matters = |at: usize| at >= index && (queue[at].needs_test || self.may_start(&queue[at]));
        let left = candidates.iter().rposition(|at| matters(*at)).map_or(0, |last| last + 1);
        candidates.truncate(left);
        self.candidates = Some(candidates);
        // A marked node has the effect of a change. Without idle nodes, 22.05 marks none.
        let is_unmarked = !self.is_new && self.cluster.idle.len() == 0;
        left == 0 && (self.marks_nodes() || (is_unmarked && self.pass.changed))
    }

    /// Returns the indices of the entries from `index` on that the pass visits unless it starts a job, and of some behind
    /// them: only jobs that are tested for certain count towards `bf_max_job_test`.
    fn reachable(&self, queue: &[Entry], index: usize, mut counts: Counts, mut tests: usize) -> Vec<usize> {
        let mut reachable = Vec::new();
        for (at, entry) in queue.iter().enumerate().skip(index) {
            if tests >= self.settings.bf_max_job_test {
                break;
            }
            if self.visits(entry, &mut counts) {
                reachable.push(at);
                tests += usize::from(entry.array.is_none() && self.is_surely_tested(entry));
            }
        }
        reachable
    }

    /// Returns true if the first slot of a job has enough nodes, whatever is planned before it.
    ///
    /// Nodes that running jobs hold beyond its limit, and a step of the table more, have no plan that begins within the limit.
    fn is_surely_tested(&self, entry: &Entry) -> bool {
        let Some(record) = self.table.records_after(self.now).first() else { return false };
        let mut held = self.cluster.partitions[entry.partition].intersection(&record.free);
        held.subtract(self.releases.by(self.now + entry.least_limit() + self.settings.bf_resolution));
        entry.required.is_none() && entry.excluded.is_none() && held.len() >= entry.need.nodes
    }

    /// Returns true if enough idle nodes are unplanned for the limit of a job, and no limit prevents its start.
    fn may_start(&self, entry: &Entry) -> bool {
        let (needed, until) = (entry.need.nodes, self.now + entry.least_limit());
        let mut nodes = self.cluster.idle.intersection(&self.cluster.partitions[entry.partition]);
        let mut records = self.table.records_after(self.now).iter().take_while(|record| record.begin <= until);
        nodes.len() >= needed
            && records.all(|record| {
                nodes.intersect(&record.free);
                nodes.len() >= needed
            })
            && self.cluster.limits.reason(&entry.demand).is_none()
    }
}
