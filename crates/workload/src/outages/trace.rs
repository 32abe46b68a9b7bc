//! Outages from a file.

use crate::error::InputError;
use crate::file;
use crate::lines::{Lines, OUTAGES};
use crate::swf::decimal::{self, Decimal};
use sim_core::{Outage, SiteId, Time};
use std::io::Read;

/// Reads a trace of outages, one at a time: a header `machine,down,up`, then one outage per line, in order of `down`.
///
/// A machine is given by its name or, if none has that name, by its number, counted from 0; `down` and `up` in seconds
/// from the first submission of the log, decimals allowed. Empty lines and lines that begin with `#` are skipped.
///
/// A faulty line is an error, after which the reader continues with the next line.
#[derive(Debug)]
pub struct OutageTrace {
    lines: Lines,
    machines: Vec<String>,
    /// Beginning of the outage on the previous line.
    last: Time,
    /// End of the last known outage of each machine.
    down_until: Vec<Time>,
}

const NAMES: [&str; 3] = ["machine", "down", "up"];

impl OutageTrace {
    /// Reads a trace from any reader; `name` stands for the file's path in errors, and `machines` are the names that it may use,
    /// whose order gives their numbers.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or does not begin with the header.
    pub fn from_read(
        name: &str,
        input: impl Read + Send + 'static,
        machines: &[impl AsRef<str>],
    ) -> Result<Self, InputError> {
        Self::start(Lines::from_read(name, input, OUTAGES)?, machines)
    }

    pub(super) fn start(lines: Lines, machines: &[impl AsRef<str>]) -> Result<Self, InputError> {
        let mut trace = Self {
            lines,
            machines: machines.iter().map(|name| name.as_ref().to_owned()).collect(),
            last: Time::ZERO,
            down_until: vec![Time::ZERO; machines.len()],
        };
        let found = trace.lines.step_to_content(b"#").transpose()?.is_some();
        if !found || trace.columns().is_none_or(|columns| columns != NAMES.map(str::as_bytes)) {
            let found = file::shown(trace.lines.line.trim_ascii());
            return Err(trace.lines.fault(format!("expected the header machine,down,up, found {found:?}")));
        }
        Ok(trace)
    }

    /// Returns the columns of the current line, if they are three.
    fn columns(&self) -> Option<[&[u8]; 3]> {
        let mut columns = self.lines.line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        let three = [columns.next()?, columns.next()?, columns.next()?];
        columns.next().is_none().then_some(three)
    }

    fn outage(&mut self) -> Result<Outage, InputError> {
        let Some(columns) = self.columns() else {
            let found = self.lines.line.split(|byte| *byte == b',').count();
            let expected = "expected 3 columns separated by commas (machine, down, up)";
            return Err(self.lines.fault(format!("{expected}, found {found}")));
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

    /// Finds a machine by its name, or else by its number.
    fn machine(&self, column: &[u8]) -> Option<SiteId> {
        let text = std::str::from_utf8(column).ok()?;
        let position = self.machines.iter().position(|name| name == text);
        let position = position.or_else(|| text.parse().ok().filter(|number| *number < self.machines.len()))?;
        u32::try_from(position).ok().map(SiteId)
    }

    fn fault(&self, column: usize, expected: String) -> InputError {
        let found = self.columns().map_or(&b""[..], |columns| columns[column]);
        self.lines.field(column, NAMES[column], expected, found, "")
    }
}

impl Iterator for OutageTrace {
    type Item = Result<Outage, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.lines.step_to_content(b"#").map(|read| read.and_then(|()| self.outage()))
    }
}
