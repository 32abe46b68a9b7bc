//! Fields of a log that no job carries into a simulation.

use crate::swf::SwfRecord;
use std::collections::BTreeSet;

/// Counts of jobs with fields that are read and not passed on, so that a study can report what it leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Number of jobs counted.
    pub jobs: u64,
    /// Number of jobs that request memory (field 10).
    pub memory: u64,
    /// Number of jobs that wait for the end of another (field 17), from which their think time (field 18) counts.
    pub preceding_job: u64,
    /// Number of jobs that request nodes (column 21, in logs of `MetaCentrum`); zero if the intake reads them.
    pub nodes: u64,
    partitions: BTreeSet<u32>,
    last_partition: Option<u32>,
}

impl Unread {
    /// Number of partitions that jobs name (field 16).
    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// Counts the record of a job; `reads_nodes` if its intake uses column 21.
    pub(crate) fn count(&mut self, record: &SwfRecord, reads_nodes: bool) {
        self.jobs += 1;
        self.memory += u64::from(record.requested_memory.is_some_and(|memory| memory > 0));
        self.preceding_job += u64::from(record.preceding_job.is_some_and(|job| job > 0));
        self.nodes += u64::from(!reads_nodes && record.node_spec().is_some_and(|nodes| nodes != "-1"));
        // Neighbouring records mostly share a partition.
        if record.partition.is_some() && record.partition != self.last_partition {
            self.last_partition = record.partition;
            self.partitions.extend(record.partition);
        }
    }
}
