//! Streaming reader: one record at a time, over one buffer.

use super::decimal::{self, Decimal};
use super::names::Names;
use super::record::{COLUMNS, Fault, NAMES, parse};
use super::{Header, SwfError, SwfRecord};
use crate::file;
use crate::lines::Lines;
use sim_core::Span;
use std::fmt;
use std::io::Read;
use std::iter::FusedIterator;
use std::path::Path;
use std::sync::Arc;

/// Reads a log record by record. Its memory is that of the longest line, whatever the length of the log.
///
/// A faulty line is an error, after which the reader goes on with the next line; it ends after an error that leaves no
/// next line to go on with (unreadable, truncated, not text).
pub struct SwfReader {
    lines: Lines,
    header: Header,
    names: Names,
    /// Whether the current line is a record that has not been delivered: the first, which ends the header.
    is_pending: bool,
}

impl SwfReader {
    /// Opens the log at `path`, plain or gzip (recognized by its first bytes, not by its name), and reads its header.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or is no log: see [`SwfError`].
    pub fn open(path: &Path) -> Result<Self, SwfError> {
        Self::start(Lines::open(path)?)
    }

    /// Reads a log from anywhere, plain or gzip; `name` stands for the file's path in errors.
    ///
    /// # Errors
    ///
    /// As [`SwfReader::open`].
    pub fn from_read(name: &str, input: impl Read + Send + 'static) -> Result<Self, SwfError> {
        Self::start(Lines::from_read(name, input)?)
    }

    /// What the log says about itself before its first record.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The file's path, or the name that stands for it.
    pub fn path(&self) -> &Path {
        self.lines.path()
    }

    /// The number of the line that was read last, counted from 1: after `next`, the line of that record.
    pub const fn line(&self) -> u64 {
        self.lines.number()
    }

    /// The name of a user, if a comment so far gives one: `; User: 3 alice`.
    pub fn user_name(&self, user: u32) -> Option<&Arc<str>> {
        self.names.of_user(user)
    }

    /// Comments that name users, groups, executables, queues or partitions, between the record that was read last and the
    /// one before it. Those of the header are entries of it.
    pub(crate) fn names_before(&self) -> &[String] {
        self.names.passed()
    }

    /// Whether nothing more can be read.
    pub(crate) const fn is_done(&self) -> bool {
        self.lines.is_done()
    }

    /// The line that was read last as it stands: after `next`, the line of that record.
    pub fn text(&self) -> &[u8] {
        self.lines.current()
    }

    /// The time in any column of the line that was read last, counted from 1; `name` names it in errors. `None` if the
    /// column holds −1. A line that ends before the column is an error: a misprinted column would be missing everywhere.
    pub(crate) fn time_in_column(&self, column: u8, name: &'static str) -> Result<Option<Span>, SwfError> {
        let fault = |found, fix| SwfError::Field {
            path: self.lines.path().to_owned(),
            line: self.lines.number(),
            field: column,
            name,
            expected: "seconds, at most 4294967295, or -1 if there is none",
            found,
            fix,
        };
        let Some(found) = self.lines.columns().nth(usize::from(column) - 1) else {
            let columns = self.lines.columns().count();
            let fix = "choose the column that holds it, or write -1 there where there is none";
            return Err(fault(format!("end of line after {columns} columns"), fix));
        };
        let value = decimal::parse(found);
        if value.is_some_and(Decimal::is_minus_one) {
            return Ok(None);
        }
        value.and_then(Decimal::as_span).map(Some).ok_or_else(|| {
            let fix = "write a plain number such as 90 or 12.5, or choose the column that holds it";
            fault(file::shown(found), fix)
        })
    }

    fn start(lines: Lines) -> Result<Self, SwfError> {
        let mut reader = Self { lines, header: Header::default(), names: Names::default(), is_pending: false };
        reader.read_header()?;
        Ok(reader)
    }

    fn read_header(&mut self) -> Result<(), SwfError> {
        while self.lines.advance()? {
            match kind_of(self.lines.current()) {
                Kind::Blank => {}
                Kind::Comment(text) => {
                    if !self.names.take_in(text) && !self.header.take_in(text) {
                        let (path, line) = (self.lines.path().to_owned(), self.lines.number());
                        return Err(SwfError::LongHeader { path, line });
                    }
                }
                Kind::Record => {
                    self.is_pending = true;
                    return Ok(());
                }
            }
        }
        let fix = if self.lines.number() == 0 {
            "it is empty: the download may have failed"
        } else {
            "it holds nothing but comments: is it the whole log?"
        };
        Err(SwfError::NoRecord { path: self.lines.path().to_owned(), fix })
    }

    #[cold]
    fn faulty(&mut self, fault: Fault) -> SwfError {
        if fault == Fault::NotText || !self.lines.is_text() {
            return self.lines.no_text();
        }
        match fault {
            Fault::Field { column, expected, fix } if self.lines.columns().count() >= COLUMNS => {
                let field = u8::try_from(column + 1).unwrap_or(u8::MAX);
                let found = file::shown(self.lines.columns().nth(column).unwrap_or_default());
                let (path, line) = (self.lines.path().to_owned(), self.lines.number());
                SwfError::Field { path, line, field, name: NAMES[column], expected, found, fix }
            }
            // A line that is too short is reported as such, even if its third column is no number: it is no record at all.
            _ => self.lines.too_short(COLUMNS),
        }
    }
}

impl Iterator for SwfReader {
    type Item = Result<SwfRecord, SwfError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.names.go_on();
        loop {
            if self.lines.is_done() {
                return None;
            }
            if !self.is_pending {
                match self.lines.advance() {
                    Ok(true) => {}
                    Ok(false) => return None,
                    Err(error) => return Some(Err(error)),
                }
            }
            self.is_pending = false;
            match kind_of(self.lines.current()) {
                Kind::Blank => {}
                Kind::Comment(text) => {
                    self.names.take_in(text);
                }
                Kind::Record => {
                    let name = |record: SwfRecord| SwfRecord { name: self.names.of_job(record.number), ..record };
                    return Some(parse(self.lines.current()).map(name).map_err(|fault| self.faulty(fault)));
                }
            }
        }
    }
}

impl FusedIterator for SwfReader {}

impl fmt::Debug for SwfReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SwfReader").field("path", &self.path()).field("line", &self.line()).finish_non_exhaustive()
    }
}

enum Kind<'a> {
    Blank,
    /// What stands behind the `;`.
    Comment(&'a [u8]),
    Record,
}

#[inline]
fn kind_of(line: &[u8]) -> Kind<'_> {
    let start = line.iter().position(|byte| !byte.is_ascii_whitespace());
    match start.map(|start| &line[start..]) {
        None => Kind::Blank,
        Some([b';', text @ ..]) => Kind::Comment(text),
        Some(_) => Kind::Record,
    }
}
