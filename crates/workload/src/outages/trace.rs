//! Outages from a file.

use crate::error::{InputError, shown};
use crate::lines::{Lines, OUTAGES};
use crate::swf::decimal::{self, Decimal};
use sim_core::{Outage, SiteId, Time};
use std::io::Read;
use std::path::Path;

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
        name: impl AsRef<Path>,
        input: impl Read + Send + 'static,
        machines: &[impl AsRef<str>],
    ) -> Result<Self, InputError> {
        let mut lines = Lines::new(name, input, OUTAGES)?;
        lines.step_to_content(b"#").transpose()?;
        if columns(&lines) != NAMES.map(str::as_bytes) {
            let found = shown(lines.line.trim_ascii());
            return Err(lines.fault(format!("expected the header machine,down,up, found {found:?}")));
        }
        let down_until = vec![Time::ZERO; machines.len()];
        let machines = machines.iter().map(|name| name.as_ref().to_owned()).collect();
        Ok(Self { lines, machines, last: Time::ZERO, down_until })
    }

    fn outage(&mut self) -> Result<Outage, InputError> {
        let columns = columns(&self.lines);
        if columns.len() != NAMES.len() {
            let expected = "expected 3 columns separated by commas (machine, down, up)";
            return Err(self.lines.fault(format!("{expected}, found {}", columns.len())));
        }
        let machine = columns[0];
        let fault = |at: usize, expected: String| self.lines.field(at, NAMES[at], expected, columns[at], "");
        let by_name = self.machines.iter().position(|name| name.as_bytes() == machine);
        let by_number = || std::str::from_utf8(machine).ok()?.parse().ok().filter(|at| *at < self.machines.len());
        let machine = by_name.or_else(by_number).ok_or_else(|| {
            let expected = match self.machines.len() {
                0 => "the name of a machine, of which there is none".to_owned(),
                1 => format!("{:?} or 0, the only machine", self.machines[0]),
                count => format!("the name of a machine or its number from 0 to {}", count - 1),
            };
            fault(0, expected)
        })?;
        let time = |at: usize| {
            let after = decimal::parse(columns[at]).and_then(Decimal::as_span);
            let expected = "seconds from the first submission, from 0 to 4294967295";
            after.map(|after| Time::ZERO + after).ok_or_else(|| fault(at, expected.to_owned()))
        };
        let (down, up) = (time(1)?, time(2)?);
        let until = self.down_until[machine];
        if up <= down {
            return Err(fault(2, format!("a time after down, which is {down}")));
        }
        if down < self.last {
            return Err(fault(1, format!("a time from {} on, as the lines are sorted by down", self.last)));
        }
        if down < until {
            return Err(fault(1, format!("a time from {until} on, until when this machine is down already")));
        }
        self.last = down;
        self.down_until[machine] = up;
        Ok(Outage { down, site: SiteId(u32::try_from(machine).expect("fewer than 4 billion machines")), up })
    }
}

fn columns(lines: &Lines) -> Vec<&[u8]> {
    lines.line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect()
}

impl Iterator for OutageTrace {
    type Item = Result<Outage, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.lines.step_to_content(b"#").map(|read| read.and_then(|()| self.outage()))
    }
}
