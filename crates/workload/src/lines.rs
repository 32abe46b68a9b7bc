//! Lines of a log, plain or gzip, one at a time over one buffer.

use crate::error::SwfError;
use crate::file::{self, FileError};
use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// Reads a log line by line. Its memory is that of the longest line.
pub(crate) struct Lines {
    path: PathBuf,
    input: BufReader<Box<dyn Read + Send>>,
    is_gzip: bool,
    /// The current line, without its end.
    buffer: Vec<u8>,
    /// Its number, counted from 1.
    number: u64,
    /// Whether the current line was ended by a line feed, not by the end of the file.
    is_terminated: bool,
    is_done: bool,
}

/// No line of a log is longer; MetaCentrum names the hosts of hundreds of processors in some hundred kilobytes.
const LONGEST_LINE: usize = 1 << 20;

const INPUT_BUFFER: usize = 1 << 17;

impl Lines {
    /// Opens the log at `path`, plain or gzip (recognized by its first bytes, not by its name).
    pub(crate) fn open(path: &Path) -> Result<Self, SwfError> {
        let file = file::open(path)?;
        Self::start(path.to_owned(), Box::new(file))
    }

    /// Reads from anywhere; `name` stands for the file's path in errors.
    pub(crate) fn from_read(name: &str, input: impl Read + Send + 'static) -> Result<Self, SwfError> {
        Self::start(PathBuf::from(name), Box::new(input))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The current line, without its end.
    #[inline]
    pub(crate) fn current(&self) -> &[u8] {
        &self.buffer
    }

    /// The number of the current line, counted from 1.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// Whether nothing more can be read.
    pub(crate) const fn is_done(&self) -> bool {
        self.is_done
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
        let input = BufReader::with_capacity(INPUT_BUFFER, input);
        Ok(Self { path, input, is_gzip, buffer: Vec::new(), number: 0, is_terminated: true, is_done: false })
    }

    /// Reads the next line into the buffer; `false` at the end of the file.
    pub(crate) fn advance(&mut self) -> Result<bool, SwfError> {
        self.buffer.clear();
        // One byte more than the longest line, so that a longer one is noticed before it fills the memory.
        let limit = LONGEST_LINE as u64 + 1;
        let read = (&mut self.input).take(limit).read_until(b'\n', &mut self.buffer);
        let length = match read {
            Ok(0) => {
                self.is_done = true;
                return Ok(false);
            }
            Ok(length) => length,
            Err(source) => {
                self.number += 1;
                self.is_done = true;
                return Err(self.unreadable(source));
            }
        };
        self.number += 1;
        self.is_terminated = self.buffer.ends_with(b"\n");
        if !self.is_terminated && length > LONGEST_LINE {
            self.is_done = true;
            let (path, line) = (self.path.clone(), self.number);
            return Err(if is_text(&self.buffer) {
                SwfError::LongLine { path, line }
            } else {
                SwfError::NotText { path, line }
            });
        }
        if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.buffer.drain(..3); // the byte order mark of Windows editors
        }
        Ok(true)
    }

    #[cold]
    fn unreadable(&self, source: io::Error) -> SwfError {
        let (path, line) = (self.path.clone(), self.number);
        match source.kind() {
            io::ErrorKind::UnexpectedEof if self.is_gzip => SwfError::Truncated { path, line },
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData if self.is_gzip => {
                SwfError::Damaged { path, line, source }
            }
            _ => FileError::reading(&path, source).into(),
        }
    }

    /// What is wrong with a line that has fewer columns than `expected`.
    #[cold]
    pub(crate) fn too_short(&self, expected: usize) -> SwfError {
        let fix = if self.is_terminated {
            "complete the record with -1 for what is unknown, or delete the line"
        } else {
            "the file ends within this line: the download may be incomplete"
        };
        SwfError::Columns { path: self.path.clone(), line: self.number, expected, found: self.columns().count(), fix }
    }

    /// Whether the current line is text.
    #[cold]
    pub(crate) fn is_text(&self) -> bool {
        is_text(&self.buffer)
    }

    /// The error for a line that is no text, after which nothing more is read.
    #[cold]
    pub(crate) fn no_text(&mut self) -> SwfError {
        self.is_done = true;
        SwfError::NotText { path: self.path.clone(), line: self.number }
    }

    /// The columns of the current line.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &[u8]> {
        self.buffer.split(u8::is_ascii_whitespace).filter(|column| !column.is_empty())
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
