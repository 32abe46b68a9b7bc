//! Writer of records.

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
    /// Returns a writer to `out`, which should be buffered.
    pub const fn new(out: W) -> Self {
        Self { out }
    }

    /// Writes each line of `text` behind a `;`.
    pub fn comment(&mut self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| writeln!(self.out, "; {line}"))
    }

    /// Writes one record as one line, below a comment with its name if it has one: 18 columns, and those from the 20th on if the
    /// record has them. Column 19, the hosts of a job in logs of MetaCentrum, is not kept in a record; it is written as `{}`.
    pub fn record(&mut self, record: &SwfRecord) -> io::Result<()> {
        let out = &mut self.out;
        if let Some(name) = &record.name {
            writeln!(out, "; Job: {} {name}", record.number)?;
        }
        write_common(out, ' ', record)?;
        for number in [record.user, record.group, record.executable, record.queue, record.partition] {
            write_column(out, ' ', number)?;
        }
        write_column(out, ' ', record.preceding_job)?;
        write_column(out, ' ', record.think_time)?;
        if let Some(further) = &record.further {
            write!(out, " {{}} {further}")?;
        }
        writeln!(out)
    }

    /// Returns the output; flush it if it is buffered.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Writes columns 1 to 11, which the Grid Workloads Format has as well.
pub(crate) fn write_common(out: &mut impl Write, separator: char, record: &SwfRecord) -> io::Result<()> {
    write!(out, "{}", record.number)?;
    write_column(out, separator, record.submit)?;
    write_column(out, separator, record.wait)?;
    write_column(out, separator, record.runtime)?;
    write_column(out, separator, record.allocated_processors)?;
    write_column(out, separator, record.cpu_time)?;
    write_column(out, separator, record.memory)?;
    write_column(out, separator, record.requested_processors)?;
    write_column(out, separator, record.requested_time)?;
    write_column(out, separator, record.requested_memory)?;
    write_column(out, separator, record.status.map(Status::code))
}

pub(crate) fn write_column(out: &mut impl Write, separator: char, value: Option<impl Display>) -> io::Result<()> {
    match value {
        Some(value) => write!(out, "{separator}{value}"),
        None => write!(out, "{separator}-1"),
    }
}
