//! Fields that a log holds and that no job carries into a simulation.

use crate::swf::SwfRecord;
use std::collections::BTreeSet;

/// Counts of jobs with fields that are read from the log and not passed on, so that a study can report what it leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Jobs that were counted.
    pub jobs: u64,
    /// Jobs that request memory (field 10).
    pub memory: u64,
    /// Jobs that wait for another to end (field 17), from which their think time (field 18) counts.
    pub preceding_job: u64,
    /// Jobs that request nodes (column 21, in logs of `MetaCentrum`); none where the intake reads them.
    pub nodes: u64,
    partitions: BTreeSet<u32>,
    last_partition: Option<u32>,
}

impl Unread {
    /// Partitions that jobs name (field 16).
    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// Counts the record of a job; `reads_nodes` if its intake uses column 21.
    pub(crate) fn count(&mut self, record: &SwfRecord, reads_nodes: bool) {
        self.jobs += 1;
        self.memory += u64::from(record.requested_memory.is_some_and(|memory| memory > 0));
        self.preceding_job += u64::from(record.preceding_job.is_some_and(|job| job > 0));
        self.nodes += u64::from(!reads_nodes && record.node_spec().is_some_and(|nodes| nodes != "-1"));
        // Neighbours mostly share a partition.
        if record.partition.is_some() && record.partition != self.last_partition {
            self.last_partition = record.partition;
            self.partitions.extend(record.partition);
        }
    }
}
