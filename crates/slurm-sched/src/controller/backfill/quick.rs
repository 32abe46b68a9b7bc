//! Search of a job's start without the slots in which too few nodes are released and unplanned. Its twin is [`Search::search`].

use super::{Found, Search};
use crate::cluster::nodes::NodeSet;
use crate::cluster::queue::Entry;
use crate::cluster::table::Record;
use std::collections::BTreeMap;

/// Lower bounds of the starts of the jobs of a pass.
///
/// A job can start at T only if enough nodes are released by T and unplanned for its limit from T. Within a pass plans
/// are only added, and nodes are only taken. If this fails at every second before a bound for one job, it also fails
/// there for each later job of the partition that needs at least as many nodes for at least as long.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// Nodes, limit and bound, by partition.
    partitions: BTreeMap<usize, Vec<(usize, i64, i64)>>,
}

impl Bounds {
    fn of(&self, entry: &Entry) -> Option<i64> {
        let (nodes, limit) = (entry.need.nodes, entry.least_limit());
        let known = self.partitions.get(&entry.partition)?.iter();
        known.filter(|known| known.0 <= nodes && known.1 <= limit).map(|known| known.2).max()
    }

    fn add(&mut self, entry: &Entry, bound: i64) {
        let known = self.partitions.entry(entry.partition).or_default();
        let (nodes, limit) = (entry.need.nodes, entry.least_limit());
        known.retain(|known| known.0 < nodes || known.1 < limit || known.2 > bound);
        known.push((nodes, limit, bound));
    }
}

impl Search<'_> {
    /// Searches the start of one job like [`Search::search`], without the tests of slots in which too few nodes are
    /// released and unplanned. Returns `None` if the search by slots must decide.
    pub(super) fn quick_search(&mut self, entry: &Entry) -> Found {
        let known = self.bounds.of(entry);
        let bound = self.not_before(entry, known.unwrap_or(self.now));
        if known != Some(bound) {
            self.bounds.add(entry, bound);
        }
        let limit = entry.least_limit();
        let partition = &self.cluster.partitions[entry.partition];
        let mut usable = partition.clone();
        let mut not_before = bound;
        let mut from = self.now;
        let (start, end, nodes, is_moved) = loop {
            if not_before < from {
                not_before = self.not_before(entry, from);
            }
            let (slot_begin, records, later) = self.slot(partition, limit, from, not_before)?;
            from = slot_begin;
            // The slot serves starts up to `later`.
            let until = if later == 0 { i64::MAX } else { later };
            let beyond = records.partition_point(|record| record.begin <= from + limit);
            usable.copy_from(partition);
            records[..beyond].iter().for_each(|record| usable.intersect(&record.free));
            let Some((start, nodes)) = self.will_run(entry, &usable, from, until) else {
                if later == 0 {
                    return None;
                }
                from = later;
                continue;
            };
            let is_moved = start < from;
            let start = start.max(from);
            if start <= self.now {
                if !nodes.is_within(&self.cluster.idle) {
                    return None;
                }
                break (start, 0, nodes, false);
            }
            let end = self.round_end(start + limit);
            // Up to the end of a job that starts with the slot, the usable nodes have no plan.
            let begin = self.floor(start);
            let further = beyond.max(records.partition_point(|record| record.end <= begin));
            let mut further = records[further..].iter().take_while(|record| record.begin < end);
            if further.any(|record| !nodes.is_within(&record.free)) {
                from = start;
            } else if start > until {
                from = later;
            } else {
                break (start, end, nodes, is_moved);
            }
        };
        self.pass.changed |= is_moved;
        self.pass.found.insert(entry.job, self.cluster.machine.cpus(&nodes));
        Some((nodes, (start > self.now).then_some((start, end))))
    }

    /// Returns the first slot from `from` on that can serve a start at `not_before`: its begin, the records from there, and the
    /// begin of the next slot, or 0. Returns `None` after the last record.
    ///
    /// The first end of a plan in a slot is the next slot: up to there, nodes that the walk lacks are lacking in the present
    /// record, too. If a slot begins with a clash, the same end follows, because no plan of the partition ends earlier.
    fn slot(&self, partition: &NodeSet, limit: i64, from: i64, not_before: i64) -> Option<(i64, &[Record], i64)> {
        let records = self.table.records_after(from);
        let (mut first, mut from) = (0, from);
        for (index, record) in records.iter().enumerate() {
            if records.get(index + 1).is_some_and(|next| next.free.offers_more(partition, &record.free, &record.free)) {
                if record.end >= not_before {
                    return Some((from, &records[first..], record.end));
                }
                (first, from) = (index + 1, record.end);
            } else if record.begin > from + limit {
                let after_next = if self.is_new { records.get(index + 1).map_or(0, |next| next.end) } else { 0 };
                return Some((from, &records[first..], after_next));
            }
        }
        (first < records.len()).then_some((from, &records[first..], 0))
    }

    /// Returns the first second from `time` on at which enough nodes may be released and unplanned for the limit of a job.
    fn not_before(&self, entry: &Entry, time: i64) -> i64 {
        let (nodes, partition) = (entry.need.nodes, &self.cluster.partitions[entry.partition]);
        let records = self.table.records_after(time);
        let (mut first, mut common) = (0, partition.clone());
        while first < records.len() {
            // A start in the first record lasts at least until then.
            let end = self.round_end(time.max(records[first].begin) + entry.least_limit());
            let reach = records.partition_point(|record| record.begin < end).max(first + 1);
            common.copy_from(partition);
            common.intersect(self.releases.by(records[first].end));
            let lacks = |record: &Record| {
                common.intersect(&record.free);
                common.len() < nodes
            };
            let Some(low) = records[first..reach].iter().position(lacks) else { break };
            // The walk backward finds the last record from which these records bar a start.
            common.copy_from(partition);
            let bars = |at: &usize| {
                common.intersect(&records[*at].free);
                common.count_within(self.releases.by(records[*at].end)) < nodes
            };
            first = (first..=first + low).rev().find(bars).unwrap_or(first) + 1;
        }
        let after_all = || records.last().map_or(time, |record| record.end);
        records.get(first).map_or_else(after_all, |record| time.max(record.begin))
    }
}
