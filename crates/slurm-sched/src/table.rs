//! The backfill pass's table of planned use.

use crate::nodes::NodeSet;

/// Span of the table in which the same nodes are unplanned.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Record {
    /// First second.
    pub begin: i64,
    /// Second after the last.
    pub end: i64,
    /// Nodes without a plan.
    pub free: NodeSet,
}

/// Table of planned use, made from nothing in each backfill pass: adjacent records that cover the backfill window.
///
/// Running jobs are not in it, except those that the pass itself started.
#[derive(Clone, Debug)]
pub(crate) struct NodeSpace {
    records: Vec<Record>,
}

impl NodeSpace {
    /// Returns a table of one record, with all nodes of `free` unplanned.
    pub(crate) fn new(begin: i64, end: i64, free: NodeSet) -> Self {
        Self { records: vec![Record { begin, end, free }] }
    }

    /// Returns the records in time order.
    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the table's end.
    pub(crate) fn end(&self) -> i64 {
        self.records[self.records.len() - 1].end
    }

    /// Returns true if a record that overlaps `[begin, end)` lacks one of the nodes.
    pub(crate) fn clashes(&self, begin: i64, end: i64, nodes: &NodeSet) -> bool {
        let first = self.records.partition_point(|record| record.end <= begin);
        let overlapping = self.records[first..].iter().take_while(|record| record.begin < end);
        overlapping.into_iter().any(|record| !nodes.is_within(&record.free))
    }

    /// Plans the nodes for `[begin, end)`: splits the records at both ends, then joins one pair of equal neighbours.
    pub(crate) fn reserve(&mut self, begin: i64, end: i64, nodes: &NodeSet) {
        self.split(begin);
        self.split(end);
        let first = self.records.partition_point(|record| record.begin < begin);
        for record in self.records[first..].iter_mut().take_while(|record| record.begin < end) {
            record.free.subtract(nodes);
        }
        // SPEC 5.5: at most one pair a reservation. More can stay: they count against the table's size.
        if let Some(left) =
            (1..self.records.len()).find(|right| self.records[right - 1].free == self.records[*right].free)
        {
            self.records[left - 1].end = self.records[left].end;
            self.records.remove(left);
        }
    }

    /// Lets a record begin at `time`, if the table covers it.
    fn split(&mut self, time: i64) {
        let index = self.records.partition_point(|record| record.end <= time);
        if let Some(record) = self.records.get_mut(index).filter(|record| record.begin < time) {
            let right = Record { begin: time, ..record.clone() };
            record.end = time;
            self.records.insert(index + 1, right);
        }
    }
}
