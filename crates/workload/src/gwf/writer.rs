//! Records back into lines.

use super::GwfRecord;
use crate::swf::Status;
use std::fmt::Display;
use std::io::{self, Write};

/// Writes a log of a grid: comments, then records, one line each, columns separated by tabs.
#[derive(Debug)]
pub struct GwfWriter<W> {
    out: W,
}

impl<W: Write> GwfWriter<W> {
    /// Writes to `out`, which had better be buffered.
    pub const fn new(out: W) -> Self {
        Self { out }
    }

    /// Writes `text` behind a `#`, each of its lines for itself.
    pub fn comment(&mut self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| writeln!(self.out, "# {line}"))
    }

    /// Writes one record as one line of 29 columns.
    pub fn record(&mut self, record: &GwfRecord) -> io::Result<()> {
        let out = &mut self.out;
        write!(out, "{}", record.number)?;
        column(out, record.submit)?;
        column(out, record.wait)?;
        column(out, record.runtime)?;
        column(out, record.processors)?;
        column(out, record.cpu_time)?;
        column(out, record.memory)?;
        column(out, record.requested_processors)?;
        column(out, record.requested_time)?;
        column(out, record.requested_memory)?;
        column(out, record.status.map(Status::code))?;
        for name in [&record.user, &record.group, &record.executable, &record.queue, &record.partition] {
            column(out, name.as_ref())?;
        }
        for text in &record.further {
            column(out, text.as_ref())?;
        }
        writeln!(out)
    }

    /// Gives back what was written to; flush it, if it is buffered.
    pub fn into_inner(self) -> W {
        self.out
    }
}

fn column(out: &mut impl Write, value: Option<impl Display>) -> io::Result<()> {
    match value {
        Some(value) => write!(out, "\t{value}"),
        None => write!(out, "\t-1"),
    }
}
