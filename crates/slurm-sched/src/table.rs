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
    slots: usize,
    /// A reservation began at the table's begin, which takes a record of no length before it.
    is_taken_at_begin: bool,
}

impl NodeSpace {
    /// Returns a table of one record, with all nodes of `free` unplanned.
    pub(crate) fn new(begin: i64, end: i64, free: NodeSet) -> Self {
        Self { records: vec![Record { begin, end, free }], slots: 1, is_taken_at_begin: false }
    }

    /// Returns the records that end after `time`, in time order.
    pub(crate) fn records_after(&self, time: i64) -> &[Record] {
        &self.records[self.records.partition_point(|record| record.end <= time)..]
    }

    /// Returns the number of records ever made: `bf_node_space_size` bounds it, and joined records stay counted.
    pub(crate) fn slots(&self) -> usize {
        self.slots
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
        if begin <= self.records[0].begin && !self.is_taken_at_begin {
            self.is_taken_at_begin = true;
            self.slots += 1;
        }
        self.split(begin);
        self.split(end);
        let first = self.records.partition_point(|record| record.begin < begin);
        for record in self.records[first..].iter_mut().take_while(|record| record.begin < end) {
            record.free.subtract(nodes);
        }
        // SPEC 5.5: at most one pair a reservation.
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
            self.slots += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_table_says_of_every_second_what_a_grid_of_seconds_and_nodes_says(
            plans in prop::collection::vec((0_i64..50, 1_i64..30, prop::collection::vec(0_usize..70, 1..9)), 0..25),
        ) {
            const NODES: usize = 70;
            let mut table = NodeSpace::new(0, 60, NodeSet::full(NODES));
            let mut grid = vec![NodeSet::full(NODES); 60];
            for (begin, length, members) in plans {
                let nodes = NodeSet::of(NODES, members);
                let seconds = || usize::try_from(begin).expect("small")..usize::try_from((begin + length).min(60)).expect("small");
                let is_taken = grid[seconds()].iter().any(|free| !nodes.is_within(free));
                prop_assert_eq!(table.clashes(begin, begin + length, &nodes), is_taken);
                let before = table.records.len();
                table.reserve(begin, begin + length, &nodes);
                grid[seconds()].iter_mut().for_each(|free| free.subtract(&nodes));
                prop_assert!(table.records.len() <= before + 2);
                prop_assert!(table.records.windows(2).all(|pair| pair[0].end == pair[1].begin));
                for (second, free) in (0..).zip(&grid) {
                    let of_second = table.records.iter().find(|record| (record.begin..record.end).contains(&second));
                    prop_assert_eq!(&of_second.expect("covered").free, free);
                }
            }
        }
    }
}
