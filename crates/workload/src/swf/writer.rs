//! Records back into lines.

use super::{Status, SwfRecord};
use std::fmt::Display;
use std::io::{self, Write};

/// Writes a log: comments, then records, one line each.
///
/// ```
/// use workload::{SwfReader, SwfRecord, SwfWriter};
/// use sim_core::Span;
///
/// let mut log = SwfWriter::new(Vec::new());
/// log.comment("MaxProcs: 16")?;
/// log.record(&SwfRecord { submit: Some(Span::from_secs(5)), ..SwfRecord::numbered(1) })?;
/// let text = log.into_inner();
/// assert_eq!(text, b"; MaxProcs: 16\n1 5 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct SwfWriter<W> {
    out: W,
}

impl<W: Write> SwfWriter<W> {
    /// Writes to `out`, which had better be buffered.
    pub const fn new(out: W) -> Self {
        Self { out }
    }

    /// Writes `text` behind a `;`, each of its lines for itself.
    pub fn comment(&mut self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| writeln!(self.out, "; {line}"))
    }

    /// Writes one record as one line, below a comment with its name if it has one: 18 columns, and those from the 20th on where the
    /// record has them. Column 19, the hosts of a job in logs of MetaCentrum, is not kept in a record; it is written as `{}`.
    pub fn record(&mut self, record: &SwfRecord) -> io::Result<()> {
        let out = &mut self.out;
        if let Some(name) = &record.name {
            writeln!(out, "; Job: {} {name}", record.number)?;
        }
        write!(out, "{}", record.number)?;
        column(out, record.submit)?;
        column(out, record.wait)?;
        column(out, record.runtime)?;
        column(out, record.allocated_processors)?;
        column(out, record.cpu_time)?;
        column(out, record.memory)?;
        column(out, record.requested_processors)?;
        column(out, record.requested_time)?;
        column(out, record.requested_memory)?;
        column(out, record.status.map(Status::code))?;
        column(out, record.user)?;
        column(out, record.group)?;
        column(out, record.executable)?;
        column(out, record.queue)?;
        column(out, record.partition)?;
        column(out, record.preceding_job)?;
        column(out, record.think_time)?;
        if let Some(further) = &record.further {
            write!(out, " {{}} {further}")?;
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
        Some(value) => write!(out, " {value}"),
        None => write!(out, " -1"),
    }
}
