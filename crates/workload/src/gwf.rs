//! Grid Workloads Format: one job per line, 29 columns, comments after `#`.
//!
//! Defined by the Grid Workloads Archive (Iosup et al., "The Grid Workloads Archive", Future Generation Computer
//! Systems 24(7), 2008). The first eleven columns are those of the Standard Workload Format; users, groups, queues and
//! sites are names. Columns are separated by tabs or by blanks; −1 stands for unknown. [`convert`](mod@crate::convert)
//! converts one format into the other.

use crate::error::InputError;
use crate::lines::{LOG, Lines};
use crate::swf::{self, LineFault, PLAIN, SwfRecord, begin_line, decimal, push_column};
use std::io::{self, Read, Write};
use std::path::Path;

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
// Columns 13, 15 and 16, 27 (`resource:consumption`, several separated by commas) and 29.
pub(crate) const GROUP: usize = 1;
pub(crate) const QUEUE: usize = 3;
pub(crate) const PARTITION: usize = 4;
pub(crate) const REQ_RESOURCES: usize = 15;
pub(crate) const PROJECT: usize = 17;

/// Columns that both formats have.
pub(crate) const SHARED: usize = 11;

const COLUMNS: usize = 29;

/// Returns the name of a column, counted from 0.
pub(crate) fn name(column: usize) -> &'static str {
    const NAMES: &str = "JobID SubmitTime WaitTime RunTime NProc UsedCPUTime UsedMemory ReqNProcs ReqTime ReqMemory Status UserID GroupID ExecutableID QueueID PartitionID \
                         OrigSiteID LastRunSiteID JobStructure JobStructureParams UsedNetwork UsedLocalDiskSpace UsedResources ReqPlatform ReqNetwork ReqLocalDiskSpace ReqResources VOID ProjectID";
    NAMES.split(' ').nth(column).unwrap_or_default()
}

/// Reads a log of a grid record by record. Memory follows the longest line, not the length of the log.
///
/// A faulty line is an error, after which the reader continues with the next line. It ends after an error that leaves
/// no next line (unreadable, truncated, not text).
#[derive(Debug)]
pub struct GwfReader {
    lines: Lines,
    /// Comments before the first record, without their `#`.
    pub comments: Vec<String>,
}

impl GwfReader {
    /// Reads a log from any reader, plain or gzip; `name` stands for the file's path in errors.
    ///
    /// # Errors
    ///
    /// If the file is no log.
    pub fn from_read(name: impl AsRef<Path>, input: impl Read + Send + 'static) -> Result<Self, InputError> {
        let (mut lines, mut comments) = (Lines::new(name, input, LOG)?, Vec::new());
        lines.header(b'#', |comment| comments.push(String::from_utf8_lossy(comment).trim().to_owned()))?;
        Ok(Self { lines, comments })
    }

    fn record(&mut self) -> Result<GwfRecord, InputError> {
        let Ok(line) = std::str::from_utf8(&self.lines.line) else { return Err(self.lines.no_text()) };
        // Names may contain blanks where columns are separated by tabs. Trimmed in both ways alike, so that columns read between
        // blanks and written between tabs are read the same again.
        let mut columns: Vec<&str> = line.split('\t').map(str::trim).collect();
        if columns.len() < COLUMNS {
            columns = line.split_ascii_whitespace().map(str::trim).collect();
        }
        if columns.len() < COLUMNS {
            return Err(if self.lines.is_text() { self.lines.too_short(COLUMNS) } else { self.lines.no_text() });
        }
        // The shared columns are parsed as those of a line of SWF, in which other negative numbers than −1 may be errors.
        let shared = columns[..SHARED].iter().map(|text| match decimal::parse(text.as_bytes()) {
            Some(value) if value.is_negative() => "-1",
            Some(_) => text,
            None => "?",
        });
        let shared: Vec<&str> = shared.chain([UNKNOWN]).collect();
        let job = swf::parse(shared.join(" ").as_bytes()).map_err(|fault| match fault {
            LineFault::Field { column, expected, .. } => {
                self.lines.field(column, name(column), expected, columns[column].as_bytes(), PLAIN)
            }
            _ => self.lines.too_short(COLUMNS),
        })?;
        let text = |column: usize| Some(columns[column]).filter(|text| !matches!(*text, "" | "-1"));
        Ok(GwfRecord { job, texts: std::array::from_fn(|at| text(SHARED + at).map(Into::into)) })
    }
}

/// Columns of SWF behind those that both formats have.
const UNKNOWN: &str = "-1 -1 -1 -1 -1 -1 -1";

impl Iterator for GwfReader {
    type Item = Result<GwfRecord, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.lines.step_to_content(b"#").map(|read| read.and_then(|()| self.record()))
    }
}
