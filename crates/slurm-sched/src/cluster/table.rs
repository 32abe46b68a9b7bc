//! Table of planned use of the backfill pass.

use crate::cluster::nodes::NodeSet;

/// Span of the table in which the same nodes are unplanned.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub begin: i64,
    /// Second after the last.
    pub end: i64,
    /// Nodes without a plan.
    pub free: NodeSet,
}

/// Table of planned use, rebuilt in each backfill pass: adjacent records that cover the backfill window.
///
/// It omits running jobs, except those that the pass itself started.
#[derive(Clone, Debug)]
pub(crate) struct NodeSpace {
    records: Vec<Record>,
    /// Number of records ever made: `bf_node_space_size` bounds it, and joined records stay counted.
    pub slots: usize,
    /// True if a reservation began at the table's begin, which takes a record of no length before it.
    is_taken_at_begin: bool,
}

impl NodeSpace {
    /// Returns a table of one record, with all of `nodes` nodes unplanned.
    pub(crate) fn new(begin: i64, end: i64, nodes: usize) -> Self {
        let record = Record { begin, end, free: NodeSet::full(nodes) };
        Self { records: vec![record], slots: 1, is_taken_at_begin: false }
    }

    /// Returns the records that end after `time`, in time order.
    pub(crate) fn records_after(&self, time: i64) -> &[Record] {
        &self.records[self.records.partition_point(|record| record.end <= time)..]
    }

    pub(crate) fn end(&self) -> i64 {
        self.records[self.records.len() - 1].end
    }

    /// Returns true if a record that overlaps `[begin, end)` lacks one of the nodes.
    pub(crate) fn clashes(&self, begin: i64, end: i64, nodes: &NodeSet) -> bool {
        let overlapping = self.records_after(begin).iter().take_while(|record| record.begin < end);
        overlapping.into_iter().any(|record| !nodes.is_within(&record.free))
    }

    /// Plans the nodes for `[begin, end)`: splits the records at both ends, then joins one pair of equal neighbours.
    pub(crate) fn reserve(&mut self, begin: i64, end: i64, nodes: &NodeSet) {
        if begin <= self.records[0].begin && !self.is_taken_at_begin {
            self.is_taken_at_begin = true;
            self.slots += 1;
        }
        self.split(begin);
        self.split(end);
        let first = self.records.partition_point(|record| record.begin < begin);
        let last = first + self.records[first..].partition_point(|record| record.begin < end);
        self.records[first..last].iter_mut().for_each(|record| record.free.subtract(nodes));
        // SPEC 5.5: at most one pair per reservation.
        if let Some(left) = self.records.windows(2).position(|pair| pair[0].free == pair[1].free) {
            self.records[left + 1].begin = self.records[left].begin;
            self.records.remove(left);
        }
    }

    /// Makes a record begin at `time`, if the table covers it.
    fn split(&mut self, time: i64) {
        let index = self.records.partition_point(|record| record.end <= time);
        if let Some(record) = self.records.get_mut(index).filter(|record| record.begin < time) {
            let left = Record { end: time, ..record.clone() };
            record.begin = time;
            self.records.insert(index, left);
            self.slots += 1;
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/table.rs"]
mod tests;
