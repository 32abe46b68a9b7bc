//! What can be wrong with a log, in words that lead to the place and to the fix.

use crate::file::FileError;
use std::io;
use std::path::PathBuf;

/// A log that cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum SwfError {
    /// The file cannot be opened or read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A field holds something else than expected.
    #[error("{path}:{line}: field {field} ({name}): expected {expected}, found {found:?}; {fix}", path = path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: u64,
        /// The column, counted from 1.
        field: u8,
        /// The column's name in the standard.
        name: &'static str,
        /// What may stand there.
        expected: &'static str,
        /// What stands there, shortened if it is long.
        found: String,
        /// What to do.
        fix: &'static str,
    },
    /// A record has too few columns.
    #[error("{path}:{line}: expected {expected} columns separated by blanks, found {found}; {fix}", path = path.display())]
    Columns {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: u64,
        /// Columns that a record has.
        expected: usize,
        /// Columns of that line.
        found: usize,
        /// What to do.
        fix: &'static str,
    },
    /// A line of `sacct` has more or fewer columns than its heading.
    #[error(
        "{path}:{line}: expected {expected} columns separated by |, as the heading has, found {found}; ask sacct with --parsable2 and \
         leave out columns of free text, such as JobName and Comment",
        path = path.display()
    )]
    Delimited {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: u64,
        /// Columns of the heading.
        expected: usize,
        /// Columns of that line.
        found: usize,
    },
    /// The first line is no heading of `sacct`, or lacks a column.
    #[error(
        "{path}:{line}: expected the names of the columns of sacct --parsable2, separated by |, and among them {missing}; found {found:?}; \
         ask sacct without --noheader, with the --format that `workload convert --help` shows",
        path = path.display()
    )]
    Heading {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: u64,
        /// What is missing.
        missing: String,
        /// The line, shortened if it is long.
        found: String,
    },
    /// A line is longer than any record can be; it was not read to its end.
    #[error("{path}:{line}: the line is longer than 1 MiB; is this a workload log?", path = path.display())]
    LongLine {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: u64,
    },
    /// The file holds bytes that are no text.
    #[error("{path}:{line}: the file is not text; give a workload log, plain or gzip", path = path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: u64,
    },
    /// The file is packed, but not with gzip.
    #[error("{path}: the file is packed with {format}, which is not read here; unpack it, or pack it with gzip", path = path.display())]
    Packed {
        /// The file.
        path: PathBuf,
        /// The program that packed it.
        format: &'static str,
    },
    /// The gzip data ends in the middle.
    #[error("{path}:{line}: the gzip data ends early: the download may be incomplete; fetch the file again", path = path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The line that could not be read to its end, counted from 1.
        line: u64,
    },
    /// The gzip data contradicts itself.
    #[error("{path}:{line}: the gzip data is damaged; fetch the file again", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line that could not be read to its end, counted from 1.
        line: u64,
        /// What the decoder says.
        #[source]
        source: io::Error,
    },
    /// There is nothing in the file, or nothing but comments.
    #[error("{path}: there is no job record in the file; {fix}", path = path.display())]
    NoRecord {
        /// The file.
        path: PathBuf,
        /// What to do.
        fix: &'static str,
    },
    /// The header has no `MaxProcs`, nor a `MaxNodes` that could be the number of processors.
    #[error(
        "{path}: the log does not say how many processors its machine has{}; give their number{}",
        nodes.map_or_else(String::new, |nodes| format!(", only that it has {nodes} nodes")),
        widest.map_or_else(String::new, |widest| format!(" (the widest job asks for {widest})")),
        path = path.display()
    )]
    NoCapacity {
        /// The file.
        path: PathBuf,
        /// `MaxNodes`, where some job is wider: nodes then have several processors.
        nodes: Option<u32>,
        /// Processors of the widest job; `None` if no record tells any.
        widest: Option<u32>,
    },
    /// The comments before the first record are longer than those of any log.
    #[error("{path}:{line}: the comments before the first job are longer than 16 MiB; is this a workload log?", path = path.display())]
    LongHeader {
        /// The file.
        path: PathBuf,
        /// The line where they became too long, counted from 1.
        line: u64,
    },
}

impl SwfError {
    /// Whether the system failed (`true`: the input may be fine), or the input is at fault (`false`).
    ///
    /// A file that does not exist is at fault, too: what has to be mended is the command.
    pub const fn is_io(&self) -> bool {
        matches!(self, Self::File(error) if error.is_io())
    }
}
