//! Streaming reader: one record at a time, over one buffer.

use super::decimal::{self, Decimal};
use super::header::NameComments;
use super::record::{COLUMNS, LineFault, parse};
use super::{Header, SwfRecord};
use crate::error::InputError;
use crate::format::file;
use crate::format::lines::{LOG, Lines};
use sim_core::Span;
use std::io::Read;
use std::path::Path;

/// Reads a log record by record. Memory follows the longest line, not the length of the log.
///
/// A faulty line is an error, after which the reader continues with the next line. It ends after an error that leaves
/// no next line (unreadable, truncated, not text).
#[derive(Debug)]
pub struct SwfReader {
    pub(crate) lines: Lines,
    header: Header,
    pub(crate) names: NameComments,
}

impl SwfReader {
    /// Opens the log at `path`, plain or gzip (recognized by its first bytes, not by its name), and reads its header.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or is no log: see [`InputError`].
    pub fn open(path: &Path) -> Result<Self, InputError> {
        Self::from_read(path, file::open(path)?)
    }

    /// Reads a log from any reader, plain or gzip; `name` stands for the file's path in errors.
    pub fn from_read(name: impl AsRef<Path>, input: impl Read + Send + 'static) -> Result<Self, InputError> {
        let mut lines = Lines::new(name, input, LOG)?;
        let (mut header, mut names) = (Header::default(), NameComments::default());
        lines.header(|text| {
            if !names.take_in(text) {
                header.take_in(text);
            }
        })?;
        Ok(Self { lines, header, names })
    }

    /// Header: comments before the first record.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Path of the file, or the name that stands for it.
    pub fn path(&self) -> &Path {
        &self.lines.path
    }

    /// Number of the last line read, counted from 1: after `next`, the line of that record.
    pub const fn line(&self) -> u64 {
        self.lines.number
    }

    /// Returns the time in any column of the last line read, counted from 1; `name` names it in errors. `None` if the column
    /// contains −1. A line that ends before the column is an error, because a wrong column number would be missing everywhere.
    pub(crate) fn time_in_column(&self, column: u8, name: &'static str) -> Result<Option<Span>, InputError> {
        let at = usize::from(column) - 1;
        let found = self.lines.columns().nth(at);
        let value = found.and_then(decimal::parse);
        if value.is_some_and(Decimal::is_minus_one) {
            return Ok(None);
        }
        value.and_then(Decimal::as_span).map(Some).ok_or_else(|| {
            let end = format!("end of line after {} columns", self.lines.columns().count());
            let fix = match found {
                Some(_) => "write a plain number such as 90 or 12.5, or choose the column that holds it",
                None => "choose the column that holds it, or write -1 there where there is none",
            };
            let expected = "seconds, at most 4294967295, or -1 if there is none";
            self.lines.field(at, name, expected, found.unwrap_or(end.as_bytes()), fix)
        })
    }

    #[cold]
    fn faulty(&mut self, fault: LineFault) -> InputError {
        if fault == LineFault::NotText || !self.lines.is_text() {
            return self.lines.no_text();
        }
        let count = self.lines.columns().count();
        match fault {
            LineFault::Field { column, name, expected, fix } if count >= COLUMNS => {
                let found = self.lines.columns().nth(column).unwrap_or_default();
                self.lines.field(column, name, expected, found, fix)
            }
            // A line that is too short is reported as such, even if its third column is no number: it is no record at all.
            _ => {
                let fix = if self.lines.line.ends_with(b"\n") {
                    "complete the record with -1 for what is unknown, or delete the line"
                } else {
                    "the file ends within this line: the download may be incomplete"
                };
                self.lines.fault(format!("expected {COLUMNS} columns separated by blanks, found {count}; {fix}"))
            }
        }
    }
}

impl Iterator for SwfReader {
    type Item = Result<SwfRecord, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.names.passed.clear();
        loop {
            if let Err(error) = self.lines.step()? {
                return Some(Err(error));
            }
            match self.lines.line.trim_ascii_start() {
                [] => {}
                [b';', text @ ..] => {
                    self.names.take_in(text);
                }
                _ => {
                    let name = |record: SwfRecord| SwfRecord { name: self.names.of_job(record.number), ..record };
                    return Some(parse(&self.lines.line).map(name).map_err(|fault| self.faulty(fault)));
                }
            }
        }
    }
}
