//! Writer of records.

use super::SwfRecord;
use sim_core::Span;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes a log: comments, then records, one line each.
///
/// ```
/// use workload::{SwfReader, SwfRecord, SwfWriter};
/// use sim_core::Span;
///
/// let mut log = SwfWriter::new(Vec::new());
/// log.comment("MaxProcs: 16")?;
/// log.record(&SwfRecord { number: 1, submit: Some(Span::from_secs(5)), ..SwfRecord::default() })?;
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
        write_line(&mut self.line, record);
        self.out.write_all(self.line.as_bytes())
    }

    /// Returns the output; flush it if it is buffered.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Replaces `line` by the record: a function of its own, so that it is compiled in this crate, once for all writers.
fn write_line(line: &mut String, record: &SwfRecord) {
    line.clear();
    *line += itoa::Buffer::new().format(record.number);
    push_span(line, record.submit);
    push_span(line, record.wait);
    push_span(line, record.runtime);
    push_whole(line, record.allocated_processors);
    push_span(line, record.cpu_time);
    push_whole(line, record.memory);
    push_whole(line, record.requested_processors);
    push_span(line, record.requested_time);
    push_whole(line, record.requested_memory);
    push_whole(line, record.status.map(|status| status as u8));
    for number in [record.user, record.group, record.executable, record.queue, record.partition] {
        push_whole(line, number);
    }
    push_whole(line, record.preceding_job);
    push_span(line, record.think_time);
    if let Some(further) = &record.further {
        *line += " {} ";
        *line += further;
    }
    line.push('\n');
}

/// Appends a time. Nearly all are whole seconds, which [`push_whole`] appends in a quarter of the instructions.
fn push_span(line: &mut String, span: Option<Span>) {
    match span.map(|span| (span.as_nanos() / 1_000_000_000, span.as_nanos() % 1_000_000_000, span)) {
        Some((_, 1.., span)) => write!(line, " {span}").expect("a String takes every text"),
        seconds => push_whole(line, seconds.map(|(whole, ..)| whole)),
    }
}

fn push_whole(line: &mut String, number: Option<impl Into<u64>>) {
    line.push(' ');
    let mut digits = itoa::Buffer::new();
    *line += number.map_or("-1", |number| digits.format(number.into()));
}
