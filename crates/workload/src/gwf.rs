//! Grid Workloads Format: one job per line, 29 columns, comments after `#`.
//!
//! Defined by the Grid Workloads Archive (Iosup et al., "The Grid Workloads Archive", Future Generation Computer
//! Systems 24(7), 2008). The first eleven columns are those of the Standard Workload Format; users, groups, queues and
//! sites are names. Columns are separated by tabs or by blanks; −1 stands for unknown. [`convert`](mod@crate::convert)
//! converts one format into the other.

mod reader;

pub use reader::GwfReader;

use crate::swf::{SwfRecord, begin_line, push_column};
use std::io::{self, Write};

/// Job as recorded in a log of a grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GwfRecord {
    /// Columns 1 to 11, which both formats have, and the job's name. Every negative number is unknown.
    pub job: SwfRecord,
    /// Columns 12 to 29 as they stand, `None` for −1: [`USER`] and those that follow.
    pub texts: [Option<Box<str>>; COLUMNS - SHARED],
}

impl GwfRecord {
    /// Writes the record as one line of 29 columns, separated by tabs.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let mut line = String::new();
        begin_line(&mut line, '\t', &self.job);
        self.texts.iter().for_each(|text| push_column(&mut line, '\t', text.as_ref()));
        line.push('\n');
        out.write_all(line.as_bytes())
    }
}

/// Position in [`GwfRecord::texts`] of column 12, the user.
pub const USER: usize = 0;
/// Position of column 13, the group.
pub(crate) const GROUP: usize = 1;
/// Position of column 15, the queue, behind the executable.
pub(crate) const QUEUE: usize = 3;
/// Position of column 16, the partition.
pub(crate) const PARTITION: usize = 4;
/// Position of column 27, the required resources: `resource:consumption`, several separated by commas.
pub(crate) const REQ_RESOURCES: usize = 15;
/// Position of column 29, the project.
pub(crate) const PROJECT: usize = 17;

/// Columns that both formats have.
pub(crate) const SHARED: usize = 11;

/// Columns that every line has.
const COLUMNS: usize = 29;

/// Column names of the format.
pub(crate) const NAMES: [&str; COLUMNS] = [
    "JobID",
    "SubmitTime",
    "WaitTime",
    "RunTime",
    "NProc",
    "UsedCPUTime",
    "UsedMemory",
    "ReqNProcs",
    "ReqTime",
    "ReqMemory",
    "Status",
    "UserID",
    "GroupID",
    "ExecutableID",
    "QueueID",
    "PartitionID",
    "OrigSiteID",
    "LastRunSiteID",
    "JobStructure",
    "JobStructureParams",
    "UsedNetwork",
    "UsedLocalDiskSpace",
    "UsedResources",
    "ReqPlatform",
    "ReqNetwork",
    "ReqLocalDiskSpace",
    "ReqResources",
    "VOID",
    "ProjectID",
];
