//! Lines of a log, plain or gzip, one at a time over one buffer.

use crate::error::{InputError, shown};
use flate2::bufread::MultiGzDecoder;
use std::fmt::{self, Display};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// Reads a log line by line. Memory follows the longest line.
pub(crate) struct Lines {
    pub(crate) path: PathBuf,
    /// Name of the kind of file, for errors.
    kind: &'static str,
    input: BufReader<Box<dyn Read + Send>>,
    is_gzip: bool,
    /// Current line, with its end.
    pub(crate) line: Vec<u8>,
    /// Number of the current line, counted from 1.
    pub(crate) number: u64,
    /// True if the current line is to be delivered again.
    is_held: bool,
    /// True if nothing more can be read.
    pub(crate) is_done: bool,
}

pub(crate) const LOG: &str = "a workload log";
pub(crate) const MACHINES: &str = "a machine file";

/// Limit of a line. MetaCentrum lists the hosts of hundreds of processors in some hundred kilobytes.
const LONGEST_LINE: usize = 1 << 20;

/// Limit above the comments before the first record of any log; some kilobytes packed may be gigabytes unpacked.
const LARGEST_HEADER: usize = 16 << 20;
const HEADER_TOO_LARGE: &str = "the comments before the first job are longer than 16 MiB; is this a workload log?";

/// Memory of a comment beside its text.
const COMMENT: usize = 2 * size_of::<String>();

const INPUT_BUFFER: usize = 1 << 17;

impl Lines {
    /// Reads from `input`, plain or gzip (recognized by its first bytes, not by its name); errors name `path`.
    pub(crate) fn new(
        path: impl AsRef<Path>,
        mut input: impl Read + Send + 'static,
        kind: &'static str,
    ) -> Result<Self, InputError> {
        let (path, mut magic) = (path.as_ref().to_owned(), Vec::with_capacity(8));
        let read = input.by_ref().take(8).read_to_end(&mut magic);
        read.map_err(|source| InputError::reading(&path, source))?;
        if let Some((_, format)) = FOREIGN_FORMATS.iter().find(|(start, _)| magic.starts_with(start)) {
            let problem =
                format!("the file is packed with {format}, which is not read here; unpack it, or pack it with gzip");
            return Err(InputError::of_file(&path, problem));
        }
        let is_gzip = magic.starts_with(&[0x1f, 0x8b]);
        let input = Cursor::new(magic).chain(input);
        let input: Box<dyn Read + Send> = if is_gzip {
            Box::new(MultiGzDecoder::new(BufReader::with_capacity(INPUT_BUFFER, input)))
        } else {
            Box::new(input)
        };
        let input = BufReader::with_capacity(INPUT_BUFFER, input);
        Ok(Self { path, kind, input, is_gzip, line: Vec::new(), number: 0, is_held: false, is_done: false })
    }

    /// Reads the next line into the buffer, unless reading has ended; `None` at the end.
    pub(crate) fn step(&mut self) -> Option<Result<(), InputError>> {
        if std::mem::take(&mut self.is_held) {
            return Some(Ok(()));
        }
        if self.is_done {
            return None;
        }
        self.line.clear();
        // One byte more than the longest line, so that a longer one is noticed before it fills the memory.
        let read = (&mut self.input).take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut self.line);
        self.is_done = !matches!(read, Ok(1..));
        if matches!(read, Ok(0)) {
            return None;
        }
        self.number += 1;
        if let Err(source) = read {
            return Some(Err(self.unreadable(source)));
        }
        if self.line.len() > LONGEST_LINE && !self.line.ends_with(b"\n") {
            if !self.is_text() {
                return Some(Err(self.no_text()));
            }
            self.is_done = true;
            return Some(Err(self.fault(format!("the line is longer than 1 MiB; is this {}?", self.kind))));
        }
        if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
            self.line.drain(..3); // the byte order mark of Windows editors
        }
        Some(Ok(()))
    }

    /// Advances to the next line that is neither blank nor begins with one of the bytes of `comments`; `None` at the end.
    pub(crate) fn step_to_content(&mut self, comments: &[u8]) -> Option<Result<(), InputError>> {
        loop {
            let read = self.step()?;
            if read.is_err() || self.line.trim_ascii_start().first().is_some_and(|first| !comments.contains(first)) {
                return Some(read);
            }
        }
    }

    /// Reads the comments before the first record, which begin with `;`. The next [`step`](Self::step) delivers the
    /// line of that record.
    pub(crate) fn header(&mut self, mut comment: impl FnMut(&[u8])) -> Result<(), InputError> {
        let mut held = 0;
        while let Some(read) = self.step() {
            read?;
            match self.line.trim_ascii() {
                [] => {}
                [b';', text @ ..] => {
                    let text = text.trim_ascii();
                    held += text.len() + COMMENT;
                    if held > LARGEST_HEADER {
                        return Err(self.fault(HEADER_TOO_LARGE));
                    }
                    comment(text);
                }
                _ => {
                    self.is_held = true;
                    return Ok(());
                }
            }
        }
        let fix = if self.number == 0 {
            "it is empty: the download may have failed"
        } else {
            "it has only comments; check that the log is complete"
        };
        Err(InputError::no_record(&self.path, fix))
    }

    #[cold]
    fn unreadable(&self, source: io::Error) -> InputError {
        let problem = match source.kind() {
            io::ErrorKind::UnexpectedEof if self.is_gzip => {
                return self.fault("the gzip data ends early: the download may be incomplete; fetch the file again");
            }
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData if self.is_gzip => {
                "the gzip data is damaged; fetch the file again".to_owned()
            }
            _ => return InputError::reading(&self.path, source),
        };
        InputError::Faulty { path: self.path.clone(), line: Some(self.number), problem, source: Some(source) }
    }

    #[cold]
    pub(crate) fn fault(&self, problem: impl Into<String>) -> InputError {
        // The fault of a file without lines is reported for its first line.
        let (path, line) = (self.path.clone(), Some(self.number.max(1)));
        InputError::Faulty { path, line, problem: problem.into(), source: None }
    }

    /// Returns the error for an unexpected field of the current line; `column` counts from 0, `fix` may be empty.
    #[cold]
    pub(crate) fn field(
        &self,
        column: usize,
        name: &str,
        expected: impl Display,
        found: &[u8],
        fix: &str,
    ) -> InputError {
        let found = shown(found);
        let separator = if fix.is_empty() { "" } else { "; " };
        self.fault(format!("field {} ({name}): expected {expected}, found {found:?}{separator}{fix}", column + 1))
    }

    /// Returns true if the current line is UTF-8, as far as it was read, without control characters except white space.
    #[cold]
    pub(crate) fn is_text(&self) -> bool {
        let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
        // A line that was not read to its end may end within a character.
        let is_utf8 = std::str::from_utf8(&self.line).map_or_else(|error| error.error_len().is_none(), |_| true);
        is_utf8 && !self.line.iter().any(is_control)
    }

    /// Returns the error for a line that is no text, after which nothing more is read.
    #[cold]
    pub(crate) fn no_text(&mut self) -> InputError {
        self.is_done = true;
        self.fault("the file is not text; give a workload log, plain or gzip")
    }

    pub(crate) fn columns(&self) -> impl Iterator<Item = &[u8]> {
        self.line.split(u8::is_ascii_whitespace).filter(|column| !column.is_empty())
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("path", &self.path).field("line", &self.number).finish_non_exhaustive()
    }
}

/// First bytes of files that are packed otherwise.
const FOREIGN_FORMATS: [(&[u8], &str); 5] = [
    (b"\xfd7zXZ", "xz"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"7z\xbc\xaf", "7-zip"),
];
