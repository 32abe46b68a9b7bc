//! Grid Workloads Format: one job per line, 29 columns, comments after `#`.
//!
//! Defined by the Grid Workloads Archive (Iosup et al., "The Grid Workloads Archive", Future Generation Computer
//! Systems 24(7), 2008). The first eleven columns are those of the Standard Workload Format; users, groups, queues and
//! sites are names. Columns are separated by tabs or by blanks; −1 stands for unknown. [`convert`](mod@crate::convert)
//! converts one format into the other.

use crate::error::InputError;
use crate::lines::{LOG, Lines};
use crate::swf::decimal::{self, Decimal};
use crate::swf::{PLAIN, Status, SwfRecord, begin_line, push_column};
use sim_core::Span;
use std::io::{self, Read, Write};

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

/// Reads a log of a grid record by record. Memory follows the longest line, not the length of the log.
///
/// A faulty line is an error, after which the reader continues with the next line. It ends after an error that leaves
/// no next line (unreadable, truncated, not text).
#[derive(Debug)]
pub struct GwfReader {
    lines: Lines,
    comments: Vec<String>,
}

impl GwfReader {
    /// Reads a log from any reader, plain or gzip; `name` stands for the file's path in errors.
    ///
    /// # Errors
    ///
    /// If the file is no log.
    pub fn from_read(name: &str, input: impl Read + Send + 'static) -> Result<Self, InputError> {
        let (mut lines, mut comments) = (Lines::from_read(name, input, LOG)?, Vec::new());
        lines.header(b'#', |comment| comments.push(String::from_utf8_lossy(comment).trim().to_owned()))?;
        Ok(Self { lines, comments })
    }

    /// Comments before the first record, without their `#`.
    pub fn comments(&self) -> &[String] {
        &self.comments
    }

    /// Parses the current line as a record.
    fn record(&mut self) -> Result<GwfRecord, InputError> {
        let Ok(line) = std::str::from_utf8(&self.lines.line) else {
            return Err(self.lines.no_text());
        };
        let Some(columns) = columns(line) else {
            return Err(if self.lines.is_text() { self.lines.too_short(COLUMNS) } else { self.lines.no_text() });
        };
        let fields = GwfFields { lines: &self.lines, columns };
        let job = SwfRecord {
            submit: fields.time(1)?,
            wait: fields.time(2)?,
            runtime: fields.time(3)?,
            allocated_processors: fields.number(4)?,
            cpu_time: fields.time(5)?,
            memory: fields.memory(6)?,
            requested_processors: fields.number(7)?,
            requested_time: fields.time(8)?,
            requested_memory: fields.memory(9)?,
            status: fields.whole(10)?.and_then(Status::from_code),
            ..SwfRecord::numbered(fields.whole(0)?.ok_or_else(|| fields.fault(0, "a whole number from 0 on"))?)
        };
        let text = |column: usize| Some(fields.columns[column]).filter(|text| !matches!(*text, "" | "-1"));
        Ok(GwfRecord { job, texts: std::array::from_fn(|at| text(SHARED + at).map(Into::into)) })
    }
}

/// Splits a line into columns; `None` if they are fewer than 29. Names may contain blanks where columns are separated by tabs.
fn columns(line: &str) -> Option<[&str; COLUMNS]> {
    fn first<'a>(mut columns: impl Iterator<Item = &'a str>) -> Option<[&'a str; COLUMNS]> {
        let mut all = [""; COLUMNS];
        for column in &mut all {
            *column = columns.next()?;
        }
        Some(all)
    }
    // Trimmed in both ways alike, so that columns read between blanks and written between tabs are read the same again.
    first(line.split('\t').map(str::trim)).or_else(|| first(line.split_ascii_whitespace().map(str::trim)))
}

struct GwfFields<'a> {
    lines: &'a Lines,
    columns: [&'a str; COLUMNS],
}

impl GwfFields<'_> {
    /// Parses a number; `None` if it is negative, which stands for "unknown".
    fn decimal(&self, column: usize, expected: &'static str) -> Result<Option<Decimal>, InputError> {
        let value = decimal::parse(self.columns[column].as_bytes());
        value.map(|value| Some(value).filter(|value| !value.is_negative())).ok_or_else(|| self.fault(column, expected))
    }

    fn time(&self, column: usize) -> Result<Option<Span>, InputError> {
        let value = self.decimal(column, "seconds, or -1 if unknown")?;
        let too_long = || self.fault(column, "at most 4294967295 seconds, which are 136 years");
        value.map(|value| value.as_span().ok_or_else(too_long)).transpose()
    }

    fn whole(&self, column: usize) -> Result<Option<u64>, InputError> {
        let expected = "a whole number, or -1 if unknown";
        match self.decimal(column, expected)? {
            Some(value) if value.billionths > 0 => Err(self.fault(column, expected)),
            value => Ok(value.map(|value| value.whole)),
        }
    }

    fn number(&self, column: usize) -> Result<Option<u32>, InputError> {
        let too_large = |_| self.fault(column, "at most 4294967295");
        self.whole(column)?.map(u32::try_from).transpose().map_err(too_large)
    }

    /// Parses an amount of memory; means over processors are often fractions.
    fn memory(&self, column: usize) -> Result<Option<u64>, InputError> {
        let value = self.decimal(column, "KiB, or -1 if unknown")?;
        Ok(value.map(Decimal::rounded))
    }

    fn fault(&self, column: usize, expected: &'static str) -> InputError {
        self.lines.field(column, NAMES[column], expected, self.columns[column].as_bytes(), PLAIN)
    }
}

impl Iterator for GwfReader {
    type Item = Result<GwfRecord, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.lines.step_to_content(b"#").map(|read| read.and_then(|()| self.record()))
    }
}
