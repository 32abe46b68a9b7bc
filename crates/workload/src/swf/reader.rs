//! Streaming reader: one record at a time, over one buffer.

use super::record::{COLUMNS, Fault, NAMES, parse};
use super::{Header, SwfError, SwfRecord};
use crate::file::{self, FileError};
use flate2::bufread::MultiGzDecoder;
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::iter::FusedIterator;
use std::path::{Path, PathBuf};

/// Reads a log record by record. Its memory is that of the longest line, whatever the length of the log.
///
/// A faulty line is an error, after which the reader goes on with the next line; it ends after an error that leaves no
/// next line to go on with (unreadable, truncated, not text).
pub struct SwfReader {
    path: PathBuf,
    input: BufReader<Box<dyn Read + Send>>,
    is_gzip: bool,
    header: Header,
    /// The current line, without its end.
    buffer: Vec<u8>,
    /// Its number, counted from 1.
    line: u64,
    /// Whether the buffer holds a record that has not been delivered: the first, which ends the header.
    is_pending: bool,
    /// Whether the current line was ended by a line feed, not by the end of the file.
    is_terminated: bool,
    is_done: bool,
}

/// No line of a log is longer; MetaCentrum names the hosts of hundreds of processors in some hundred kilobytes.
const LONGEST_LINE: usize = 1 << 20;

const INPUT_BUFFER: usize = 1 << 17;

impl SwfReader {
    /// Opens the log at `path`, plain or gzip (told by its first bytes, not by its name), and reads its header.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or is no log: see [`SwfError`].
    pub fn open(path: &Path) -> Result<Self, SwfError> {
        let file = file::open(path)?;
        Self::start(path.to_owned(), Box::new(file))
    }

    /// Reads a log from anywhere, plain or gzip; `name` stands for the file's path in errors.
    ///
    /// # Errors
    ///
    /// As [`SwfReader::open`].
    pub fn from_read(name: &str, input: impl Read + Send + 'static) -> Result<Self, SwfError> {
        Self::start(PathBuf::from(name), Box::new(input))
    }

    /// What the log says about itself before its first record.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The file's path, or the name that stands for it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the line that was read last, counted from 1: after `next`, the line of that record.
    pub const fn line(&self) -> u64 {
        self.line
    }

    /// The line that was read last as it stands: after `next`, the line of that record.
    pub fn text(&self) -> &[u8] {
        &self.buffer
    }

    fn start(path: PathBuf, mut input: Box<dyn Read + Send>) -> Result<Self, SwfError> {
        let mut magic = Vec::with_capacity(8);
        if let Err(source) = input.by_ref().take(8).read_to_end(&mut magic) {
            return Err(FileError::reading(&path, source).into());
        }
        if let Some(format) = foreign_format(&magic) {
            return Err(SwfError::Packed { path, format });
        }
        let is_gzip = magic.starts_with(&[0x1f, 0x8b]);
        let input = Cursor::new(magic).chain(input);
        let input: Box<dyn Read + Send> = if is_gzip {
            Box::new(MultiGzDecoder::new(BufReader::with_capacity(INPUT_BUFFER, input)))
        } else {
            Box::new(input)
        };
        let mut reader = Self {
            path,
            input: BufReader::with_capacity(INPUT_BUFFER, input),
            is_gzip,
            header: Header::default(),
            buffer: Vec::new(),
            line: 0,
            is_pending: false,
            is_terminated: true,
            is_done: false,
        };
        reader.read_header()?;
        Ok(reader)
    }

    fn read_header(&mut self) -> Result<(), SwfError> {
        while self.read_line()? {
            match kind_of(&self.buffer) {
                Kind::Blank => {}
                Kind::Comment(text) => self.header.take_in(text),
                Kind::Record => {
                    self.is_pending = true;
                    return Ok(());
                }
            }
        }
        let fix = if self.line == 0 {
            "it is empty: the download may have failed"
        } else {
            "it holds nothing but comments: is it the whole log?"
        };
        Err(SwfError::NoRecord { path: self.path.clone(), fix })
    }

    /// Reads the next line into the buffer; `false` at the end of the file.
    fn read_line(&mut self) -> Result<bool, SwfError> {
        self.buffer.clear();
        // One byte more than the longest line, so that a longer one is noticed before it fills the memory.
        let limit = LONGEST_LINE as u64 + 1;
        let read = (&mut self.input).take(limit).read_until(b'\n', &mut self.buffer);
        let length = match read {
            Ok(0) => return Ok(false),
            Ok(length) => length,
            Err(source) => {
                self.line += 1;
                self.is_done = true;
                return Err(self.unreadable(source));
            }
        };
        self.line += 1;
        self.is_terminated = self.buffer.ends_with(b"\n");
        if !self.is_terminated && length > LONGEST_LINE {
            self.is_done = true;
            let (path, line) = (self.path.clone(), self.line);
            return Err(if is_text(&self.buffer) {
                SwfError::LongLine { path, line }
            } else {
                SwfError::NotText { path, line }
            });
        }
        if self.line == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.buffer.drain(..3); // the byte order mark of Windows editors
        }
        Ok(true)
    }

    #[cold]
    fn unreadable(&self, source: io::Error) -> SwfError {
        let (path, line) = (self.path.clone(), self.line);
        match source.kind() {
            io::ErrorKind::UnexpectedEof if self.is_gzip => SwfError::Truncated { path, line },
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData if self.is_gzip => {
                SwfError::Damaged { path, line, source }
            }
            _ => FileError::reading(&path, source).into(),
        }
    }

    #[cold]
    fn faulty(&mut self, fault: Fault) -> SwfError {
        let (path, line) = (self.path.clone(), self.line);
        if fault == Fault::NotText || !is_text(&self.buffer) {
            self.is_done = true;
            return SwfError::NotText { path, line };
        }
        let found = self.buffer.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty()).count();
        match fault {
            Fault::Field { column, expected, fix } if found >= COLUMNS => {
                let mut tokens = self.buffer.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
                let found = file::shown(tokens.nth(column).unwrap_or_default());
                let field = u8::try_from(column + 1).unwrap_or(u8::MAX);
                SwfError::Field { path, line, field, name: NAMES[column], expected, found, fix }
            }
            // A line that is too short is told as such, even if its third column is no number: it is no record at all.
            _ => {
                let fix = if self.is_terminated {
                    "complete the record with -1 for what is unknown, or delete the line"
                } else {
                    "the file ends within this line: the download may be incomplete"
                };
                SwfError::Columns { path, line, found, fix }
            }
        }
    }
}

impl Iterator for SwfReader {
    type Item = Result<SwfRecord, SwfError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.is_done {
                return None;
            }
            if !self.is_pending {
                match self.read_line() {
                    Ok(true) => {}
                    Ok(false) => {
                        self.is_done = true;
                        return None;
                    }
                    Err(error) => return Some(Err(error)),
                }
            }
            self.is_pending = false;
            if matches!(kind_of(&self.buffer), Kind::Record) {
                return Some(parse(&self.buffer).map_err(|fault| self.faulty(fault)));
            }
        }
    }
}

impl FusedIterator for SwfReader {}

impl fmt::Debug for SwfReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SwfReader").field("path", &self.path).field("line", &self.line).finish_non_exhaustive()
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

/// Text has no control characters but blanks, and is UTF-8, as far as it was read.
fn is_text(line: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    // A line that was not read to its end may end within a character.
    let is_utf8 = std::str::from_utf8(line).map_or_else(|error| error.error_len().is_none(), |_| true);
    is_utf8 && !line.iter().any(is_control)
}

fn foreign_format(magic: &[u8]) -> Option<&'static str> {
    const FORMATS: [(&[u8], &str); 5] = [
        (b"\xfd7zXZ", "xz"),
        (b"BZh", "bzip2"),
        (b"PK\x03\x04", "zip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"7z\xbc\xaf", "7-zip"),
    ];
    FORMATS.iter().find(|(start, _)| magic.starts_with(start)).map(|(_, name)| *name)
}
