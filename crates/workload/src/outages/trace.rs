//! Outages from a file.

use crate::file::{self, FileError};
use crate::swf::decimal::{self, Decimal};
use sim_core::{Outage, SiteId, Time};
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Reads a trace of outages, one at a time: a header `machine,down,up`, then one outage per line, in order of `down`.
///
/// A machine is given by its name or, where none has that name, by its number from 0 on; `down` and `up` in seconds from
/// the first submission of the log, decimals allowed. Empty lines and lines that begin with `#` are skipped.
///
/// A faulty line is an error, after which the reader goes on with the next line.
pub struct OutageTrace {
    path: PathBuf,
    input: BufReader<Box<dyn Read + Send>>,
    line: u64,
    buffer: Vec<u8>,
    machines: Vec<String>,
    /// When the outage of the line above began.
    last: Time,
    /// Until when each machine is known to be down.
    down_until: Vec<Time>,
    is_done: bool,
}

const NAMES: [&str; 3] = ["machine", "down", "up"];

/// Far above any line of a trace; a file given by mistake is not read into memory.
const LONGEST_LINE: u64 = 1 << 16;

impl OutageTrace {
    /// Opens the trace at `path`; `machines` are the names that it may use, and their order gives their numbers.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or does not begin with the header.
    pub fn open(path: &Path, machines: &[impl AsRef<str>]) -> Result<Self, OutagesError> {
        Self::start(path.to_owned(), Box::new(file::open(path)?), machines)
    }

    /// Reads a trace from anywhere; `name` stands for the file's path in errors.
    ///
    /// # Errors
    ///
    /// As [`OutageTrace::open`].
    pub fn from_read(
        name: &str,
        input: impl Read + Send + 'static,
        machines: &[impl AsRef<str>],
    ) -> Result<Self, OutagesError> {
        Self::start(PathBuf::from(name), Box::new(input), machines)
    }

    fn start(path: PathBuf, input: Box<dyn Read + Send>, machines: &[impl AsRef<str>]) -> Result<Self, OutagesError> {
        let mut trace = Self {
            path,
            input: BufReader::new(input),
            line: 0,
            buffer: Vec::new(),
            machines: machines.iter().map(|name| name.as_ref().to_owned()).collect(),
            last: Time::ZERO,
            down_until: vec![Time::ZERO; machines.len()],
            is_done: false,
        };
        let found = trace.read_line()?;
        let columns = trace.columns();
        if !found || columns.is_none_or(|columns| columns != NAMES.map(str::as_bytes)) {
            let found = file::shown(trace.buffer.trim_ascii());
            return Err(OutagesError::Header { path: trace.path, line: trace.line.max(1), found });
        }
        Ok(trace)
    }

    /// Reads on to a line that says something; `false` at the end of the file.
    fn read_line(&mut self) -> Result<bool, OutagesError> {
        loop {
            self.buffer.clear();
            let read = (&mut self.input).take(LONGEST_LINE).read_until(b'\n', &mut self.buffer);
            let length = read.map_err(|source| {
                self.is_done = true;
                FileError::reading(&self.path, source)
            })?;
            if length == 0 {
                self.is_done = true;
                return Ok(false);
            }
            self.line += 1;
            if length as u64 == LONGEST_LINE {
                self.is_done = true;
                return Err(OutagesError::LongLine { path: self.path.clone(), line: self.line });
            }
            if self.line == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3); // the byte order mark of Windows editors
            }
            if !matches!(self.buffer.trim_ascii().first(), None | Some(b'#')) {
                return Ok(true);
            }
        }
    }

    /// The columns of the current line, if they are three.
    fn columns(&self) -> Option<[&[u8]; 3]> {
        let mut columns = self.buffer.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        let three = [columns.next()?, columns.next()?, columns.next()?];
        columns.next().is_none().then_some(three)
    }

    fn outage(&mut self) -> Result<Outage, OutagesError> {
        let Some(columns) = self.columns() else {
            let found = self.buffer.split(|byte| *byte == b',').count();
            return Err(OutagesError::Columns { path: self.path.clone(), line: self.line, found });
        };
        let site = self.machine(columns[0]).ok_or_else(|| {
            let expected = match self.machines.len() {
                0 => "the name of a machine, of which there is none".to_owned(),
                1 => format!("{:?} or 0, the only machine", self.machines[0]),
                count => format!("the name of a machine or its number from 0 to {}", count - 1),
            };
            self.fault(0, expected)
        })?;
        let at = |column: usize| {
            decimal::parse(columns[column])
                .and_then(Decimal::as_span)
                .map(|after| Time::ZERO + after)
                .ok_or_else(|| self.fault(column, "seconds from the first submission, from 0 to 4294967295".to_owned()))
        };
        let (down, up) = (at(1)?, at(2)?);
        if up <= down {
            return Err(self.fault(2, format!("a time after down, which is {down}")));
        }
        if down < self.last {
            return Err(self.fault(1, format!("a time from {} on, as the lines are sorted by down", self.last)));
        }
        let until = self.down_until[site.index()];
        if down < until {
            return Err(self.fault(1, format!("a time from {until} on, until when this machine is down already")));
        }
        self.last = down;
        self.down_until[site.index()] = up;
        Ok(Outage { down, site, up })
    }

    /// A machine by its name, or else by its number.
    fn machine(&self, column: &[u8]) -> Option<SiteId> {
        let text = std::str::from_utf8(column).ok()?;
        let position = self.machines.iter().position(|name| name == text);
        let position = position.or_else(|| text.parse().ok().filter(|number| *number < self.machines.len()))?;
        u32::try_from(position).ok().map(SiteId)
    }

    fn fault(&self, column: usize, expected: String) -> OutagesError {
        let found = self.columns().map_or(&b""[..], |columns| columns[column]);
        OutagesError::Field {
            path: self.path.clone(),
            line: self.line,
            field: column + 1,
            name: NAMES[column],
            expected,
            found: file::shown(found),
        }
    }
}

impl Iterator for OutageTrace {
    type Item = Result<Outage, OutagesError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        match self.read_line() {
            Err(error) => Some(Err(error)),
            Ok(false) => None,
            Ok(true) => Some(self.outage()),
        }
    }
}

impl fmt::Debug for OutageTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutageTrace").field("path", &self.path).field("line", &self.line).finish_non_exhaustive()
    }
}

/// A trace of outages that cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum OutagesError {
    /// The file cannot be opened or read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It begins with something else.
    #[error("{path}:{line}: expected the header machine,down,up, found {found:?}", path = path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: u64,
        /// What stands there, shortened if it is long.
        found: String,
    },
    /// A line has not three columns.
    #[error("{path}:{line}: expected 3 columns separated by commas (machine, down, up), found {found}", path = path.display())]
    Columns {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: u64,
        /// Columns of that line.
        found: usize,
    },
    /// A line is longer than any outage can be; it was not read to its end.
    #[error("{path}:{line}: the line is longer than 64 KiB; is this a trace of outages?", path = path.display())]
    LongLine {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: u64,
    },
    /// A field holds something else than expected.
    #[error("{path}:{line}: field {field} ({name}): expected {expected}, found {found:?}", path = path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: u64,
        /// The column, counted from 1.
        field: usize,
        /// The column's name.
        name: &'static str,
        /// What may stand there.
        expected: String,
        /// What stands there, shortened if it is long.
        found: String,
    },
}

impl OutagesError {
    /// Whether the system failed (`true`), or the input is at fault (`false`).
    pub const fn is_io(&self) -> bool {
        matches!(self, Self::File(error) if error.is_io())
    }
}
