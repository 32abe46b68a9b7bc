//! Table of planned use of the backfill pass.

use crate::nodes::{NodeSet, Part};
use crate::will_run::ExpectedEnds;

/// Span of the table in which the same nodes are unplanned.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// First second.
    pub begin: i64,
    /// Second after the last.
    pub end: i64,
    /// Nodes without a plan.
    pub free: NodeSet,
    /// Upper bound of the number of nodes without a plan that are released before the record ends.
    pub ready_count: usize,
    /// Number of nodes without a plan.
    count: usize,
    /// True if a plan ends with the record: the next one has a node without a plan that this one lacks.
    pub is_rising: bool,
    /// True if the next record has the same nodes.
    is_same: bool,
}

/// Table of planned use, rebuilt in each backfill pass: adjacent records that cover the backfill window.
///
/// It omits running jobs, except those that the pass itself started.
#[derive(Clone, Debug)]
pub(crate) struct NodeSpace {
    records: Vec<Record>,
    slots: usize,
    /// True if a reservation began at the table's begin, which takes a record of no length before it.
    is_taken_at_begin: bool,
    /// Number of records that are the same as the next.
    same_pairs: usize,
}

impl NodeSpace {
    /// Returns a table of one record, with all of `nodes` nodes unplanned.
    pub(crate) fn new(begin: i64, end: i64, nodes: usize, releases: &ExpectedEnds) -> Self {
        let free = NodeSet::full(nodes);
        let ready_count = releases.by(end).len();
        let record = Record { begin, end, free, ready_count, count: nodes, is_rising: false, is_same: false };
        Self { records: vec![record], slots: 1, is_taken_at_begin: false, same_pairs: 0 }
    }

    /// Returns the records that end after `time`, in time order.
    pub(crate) fn records_after(&self, time: i64) -> &[Record] {
        &self.records[self.records.partition_point(|record| record.end <= time)..]
    }

    /// Returns the number of records ever made: `bf_node_space_size` bounds it, and joined records stay counted.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// Returns the end of the table.
    pub(crate) fn end(&self) -> i64 {
        self.records[self.records.len() - 1].end
    }

    /// Returns true if a record that overlaps `[begin, end)` lacks one of the nodes.
    pub(crate) fn clashes(&self, begin: i64, end: i64, nodes: &NodeSet) -> bool {
        let nodes = Part::of(nodes);
        let overlapping = self.records_after(begin).iter().take_while(|record| record.begin < end);
        overlapping.into_iter().any(|record| !nodes.is_within(&record.free))
    }

    /// Plans the nodes for `[begin, end)`: splits the records at both ends, then joins one pair of equal neighbours.
    pub(crate) fn reserve(&mut self, begin: i64, end: i64, nodes: &NodeSet, releases: &ExpectedEnds) {
        if begin <= self.records[0].begin && !self.is_taken_at_begin {
            self.is_taken_at_begin = true;
            self.slots += 1;
        }
        self.split(begin, releases);
        self.split(end, releases);
        let nodes = Part::of(nodes);
        let count = nodes.len();
        let first = self.records.partition_point(|record| record.begin < begin);
        let last = first + self.records[first..].partition_point(|record| record.begin < end);
        let mut are_unplanned = true;
        // Nodes that are released by the end of the first record are released by the ends of the others.
        let is_released = self.records.get(first).is_some_and(|record| nodes.is_within(releases.by(record.end)));
        for record in &mut self.records[first..last] {
            if record.free.remove_part(&nodes) {
                record.count -= count;
                record.ready_count -= if is_released { count } else { 0 };
            } else {
                are_unplanned = false;
                record.count = record.free.len();
            }
        }
        // If all nodes were unplanned, the plan makes a difference at its begin and at its end only.
        self.compare(first.wrapping_sub(1));
        self.compare(last.wrapping_sub(1));
        if !are_unplanned {
            (first..last).for_each(|index| self.compare(index));
        }
        // SPEC 5.5: at most one pair per reservation.
        if self.same_pairs > 0
            && let Some(left) = self.records.iter().position(|record| record.is_same)
        {
            self.records[left + 1].begin = self.records[left].begin;
            self.records.remove(left);
            self.same_pairs -= 1;
        }
    }

    /// Makes a record begin at `time`, if the table covers it.
    fn split(&mut self, time: i64, releases: &ExpectedEnds) {
        let index = self.records.partition_point(|record| record.end <= time);
        if let Some(record) = self.records.get_mut(index).filter(|record| record.begin < time) {
            let left = Record { end: time, is_rising: false, is_same: true, ..record.clone() };
            record.begin = time;
            self.records.insert(index, Record { ready_count: left.free.count_within(releases.by(time)), ..left });
            self.slots += 1;
            self.same_pairs += 1;
        }
    }

    /// Compares a record with the next, if there are both.
    fn compare(&mut self, index: usize) {
        let Some([left, right]) = self.records.get_mut(index..).and_then(|rest| rest.get_mut(..2)) else { return };
        left.is_rising = !right.free.is_within(&left.free);
        self.same_pairs -= usize::from(left.is_same);
        left.is_same = !left.is_rising && left.count == right.count;
        self.same_pairs += usize::from(left.is_same);
    }
}

#[cfg(test)]
#[path = "../tests/unit/table.rs"]
mod tests;
