//! Streaming reader: one record at a time.

use super::{COLUMNS, GwfRecord, NAMES, SHARED};
use crate::error::InputError;
use crate::lines::{LARGEST_HEADER, LOG, Lines};
use crate::swf::decimal::{self, Decimal};
use crate::swf::{PLAIN, Status, SwfRecord};
use sim_core::Span;
use std::io::Read;
use std::path::Path;

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
    /// Opens the log at `path`, plain or gzip (recognized by its first bytes, not by its name), and reads its header.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or is no log.
    pub fn open(path: &Path) -> Result<Self, InputError> {
        Self::start(Lines::open(path, LOG)?)
    }

    /// Reads a log from any reader, plain or gzip; `name` stands for the file's path in errors.
    pub fn from_read(name: &str, input: impl Read + Send + 'static) -> Result<Self, InputError> {
        Self::start(Lines::from_read(name, input, LOG)?)
    }

    /// Comments before the first record, without their `#`.
    pub fn comments(&self) -> &[String] {
        &self.comments
    }

    fn start(lines: Lines) -> Result<Self, InputError> {
        let mut reader = Self { lines, comments: Vec::new() };
        let mut held = 0;
        while reader.lines.advance()? {
            match reader.lines.current().trim_ascii() {
                [] => {}
                [b'#', comment @ ..] => {
                    let comment = String::from_utf8_lossy(comment).trim().to_owned();
                    held += comment.len() + size_of::<String>();
                    reader.comments.push(comment);
                    if held > LARGEST_HEADER {
                        return Err(reader.lines.long_header());
                    }
                }
                _ => {
                    reader.lines.hold();
                    return Ok(reader);
                }
            }
        }
        Err(reader.lines.no_record())
    }

    /// Parses the current line as a record.
    fn record(&mut self) -> Result<GwfRecord, InputError> {
        let Ok(line) = std::str::from_utf8(self.lines.current()) else {
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
