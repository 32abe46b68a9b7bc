//! Writer of records.

use super::SwfRecord;
use std::fmt::{Display, Write as _};
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
    /// The last line: columns are appended to a `String`, which takes a third fewer instructions than an [`io::Write`].
    line: String,
}

impl<W: Write> SwfWriter<W> {
    /// Returns a writer to `out`, which should be buffered.
    pub const fn new(out: W) -> Self {
        Self { out, line: String::new() }
    }

    /// Writes each line of `text` behind a `;`.
    pub fn comment(&mut self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| writeln!(self.out, "; {line}"))
    }

    /// Writes one record as one line, below a comment with its name if it has one: 18 columns, and those from the 20th on if the
    /// record has them. Column 19, the hosts of a job in logs of MetaCentrum, is not kept in a record; it is written as `{}`.
    pub fn record(&mut self, record: &SwfRecord) -> io::Result<()> {
        if let Some(name) = &record.name {
            writeln!(self.out, "; Job: {} {name}", record.number)?;
        }
        let line = &mut self.line;
        begin_line(line, ' ', record);
        for number in [record.user, record.group, record.executable, record.queue, record.partition] {
            push_column(line, ' ', number);
        }
        push_column(line, ' ', record.preceding_job);
        push_column(line, ' ', record.think_time);
        if let Some(further) = &record.further {
            *line += " {} ";
            *line += further;
        }
        line.push('\n');
        self.out.write_all(line.as_bytes())
    }

    /// Returns the output; flush it if it is buffered.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Replaces `line` by columns 1 to 11, which the Grid Workloads Format has as well.
pub(crate) fn begin_line(line: &mut String, separator: char, record: &SwfRecord) {
    line.clear();
    *line += &record.number.to_string();
    push_column(line, separator, record.submit);
    push_column(line, separator, record.wait);
    push_column(line, separator, record.runtime);
    push_column(line, separator, record.allocated_processors);
    push_column(line, separator, record.cpu_time);
    push_column(line, separator, record.memory);
    push_column(line, separator, record.requested_processors);
    push_column(line, separator, record.requested_time);
    push_column(line, separator, record.requested_memory);
    push_column(line, separator, record.status.map(|status| status as u8));
}

pub(crate) fn push_column(line: &mut String, separator: char, value: Option<impl Display>) {
    line.push(separator);
    match value {
        Some(value) => write!(line, "{value}").expect("a String takes every text"),
        None => *line += "-1",
    }
}
