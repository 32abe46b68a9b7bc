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
    /// Nodes without a plan that are released before the record ends. A job that the pass starts meanwhile may hold some of them.
    pub ready: NodeSet,
    /// Number of ready nodes.
    pub ready_count: usize,
    /// Nodes without a plan in the next record that have one in this.
    risen: NodeSet,
    is_rising: bool,
    /// Number of nodes without a plan.
    count: usize,
}

impl Record {
    /// Returns true if a plan on a node of `nodes` ends with this record.
    pub(crate) fn rises_on(&self, nodes: &NodeSet) -> bool {
        self.is_rising && self.risen.meets(nodes)
    }
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
}

impl NodeSpace {
    /// Returns a table of one record, with all of `nodes` nodes unplanned.
    pub(crate) fn new(begin: i64, end: i64, nodes: usize, releases: &ExpectedEnds) -> Self {
        let ready = releases.by(end).clone();
        let record = Record {
            begin,
            end,
            free: NodeSet::full(nodes),
            ready_count: ready.len(),
            ready,
            risen: NodeSet::empty(nodes),
            is_rising: false,
            count: nodes,
        };
        Self { records: vec![record], slots: 1, is_taken_at_begin: false }
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
        let first = self.records.partition_point(|record| record.begin < begin);
        let last = self.records.partition_point(|record| record.begin < end);
        for record in &mut self.records[first..last] {
            record.count -= record.free.subtract_part(&nodes);
            record.ready_count -= record.ready.subtract_part(&nodes);
        }
        for index in first.saturating_sub(1)..last.min(self.records.len() - 1) {
            let (left, right) = self.records.split_at_mut(index + 1);
            let record = &mut left[index];
            record.risen.set_difference(&nodes, &right[0].free, &record.free);
            record.is_rising = !record.risen.is_empty();
        }
        // SPEC 5.5: at most one pair per reservation. If no node rises and the count is the same, no node falls.
        let is_same = |pair: &[Record]| !pair[0].is_rising && pair[0].count == pair[1].count;
        if let Some(left) = self.records.windows(2).position(is_same) {
            self.records[left + 1].begin = self.records[left].begin;
            self.records.remove(left);
        }
    }

    /// Makes a record begin at `time`, if the table covers it.
    fn split(&mut self, time: i64, releases: &ExpectedEnds) {
        let index = self.records.partition_point(|record| record.end <= time);
        if let Some(record) = self.records.get_mut(index).filter(|record| record.begin < time) {
            let right = Record { begin: time, ..record.clone() };
            record.end = time;
            record.risen.subtract(&right.risen);
            record.is_rising = false;
            record.ready.intersect(releases.by(time));
            record.ready_count = record.ready.len();
            self.records.insert(index + 1, right);
            self.slots += 1;
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/table.rs"]
mod tests;
