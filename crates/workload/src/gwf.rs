//! The Grid Workloads Format: one job per line, 29 columns, comments after `#`.
//!
//! Defined by the Grid Workloads Archive (Iosup et al., "The Grid Workloads Archive", Future Generation Computer Systems
//! 24(7), 2008). The first eleven columns are those of the Standard Workload Format; users, groups, queues and sites are
//! names. Columns are separated by tabs or by blanks; −1 stands for what is not known. [`convert`](mod@crate::convert)
//! turns one format into the other.

mod reader;
mod writer;

pub use reader::GwfReader;
pub use writer::GwfWriter;

use crate::swf::Status;
use sim_core::Span;

/// One job as a log of a grid recorded it. `None` is "unknown": −1 in the file, or another negative number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GwfRecord {
    /// Column 1: the job's number in the log.
    pub number: u64,
    /// Column 2: when it was submitted, from the start of the log or from 1970.
    pub submit: Option<Span>,
    /// Column 3: from its submission to its start.
    pub wait: Option<Span>,
    /// Column 4: from its start to its end.
    pub runtime: Option<Span>,
    /// Column 5: processors it was given.
    pub processors: Option<u32>,
    /// Column 6: processor time it used, as a mean over its processors.
    pub cpu_time: Option<Span>,
    /// Column 7: memory it used, in KiB per processor, to the nearest whole number.
    pub memory: Option<u64>,
    /// Column 8: processors it asked for.
    pub requested_processors: Option<u32>,
    /// Column 9: how long its user believed it would run at most.
    pub requested_time: Option<Span>,
    /// Column 10: memory it asked for, in KiB per processor, to the nearest whole number.
    pub requested_memory: Option<u64>,
    /// Column 11: how it ended.
    pub status: Option<Status>,
    /// Column 12.
    pub user: Option<Box<str>>,
    /// Column 13.
    pub group: Option<Box<str>>,
    /// Column 14: the application.
    pub executable: Option<Box<str>>,
    /// Column 15.
    pub queue: Option<Box<str>>,
    /// Column 16.
    pub partition: Option<Box<str>>,
    /// Columns 17 to 29 as they stand.
    pub further: Further,
    /// What people call the job, where that is not its number; the format has no column for it.
    pub name: Option<Box<str>>,
}

/// What stands in columns 17 to 29, which the Standard Workload Format does not have.
pub type Further = [Option<Box<str>>; 13];

/// Position in [`Further`] of column 27, the required resources: `resource:consumption`, several separated by commas.
pub const REQ_RESOURCES: usize = 10;

/// Position in [`Further`] of column 29, the project.
pub const PROJECT: usize = 12;

/// Columns that every line has.
const COLUMNS: usize = 29;

/// Their names in the format.
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
