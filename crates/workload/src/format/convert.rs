//! Conversion between formats of logs.

mod sacct;

pub use sacct::convert_sacct;

use crate::error::{InputError, TextError};
use crate::format::file;
use crate::format::lines::{LOG, Lines};
use crate::format::repair::Repairs;
use crate::format::sacct::SacctRule;
use crate::format::swf::{SwfReader, SwfRecord, SwfWriter};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

/// Format of logs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The Standard Workload Format, 18 columns.
    Swf,
    /// SWF with the columns that MetaCentrum adds: hosts, the queue's name, the requested nodes.
    Swf21,
    /// Output of Slurm's `sacct --parsable2`; it is read and not written.
    Sacct,
}

impl Layout {
    /// Detects the format of the log at `path`, by its first record: a nineteenth column in braces, or twenty
    /// columns, are those of MetaCentrum; names between `|` those of `sacct`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds no record.
    pub fn detect(path: &Path) -> Result<Self, InputError> {
        let mut lines = Lines::new(path, file::open(path)?, LOG)?;
        if lines.step_to_content(b";").transpose()?.is_none() {
            let fix = "it is empty or has only comments; check that the log is complete";
            return Err(InputError::no_record(&lines.path, fix));
        }
        if !lines.is_text() {
            return Err(lines.no_text());
        }
        let is_name = |part: &[u8]| part.trim_ascii().eq_ignore_ascii_case(b"State");
        let is_sacct = lines.line.split(|byte| *byte == b'|').any(is_name);
        let has_hosts = lines.columns().nth(18).is_some_and(|column| column.starts_with(b"{"));
        Ok(match lines.columns().count() {
            _ if is_sacct => Self::Sacct,
            _ if has_hosts => Self::Swf21,
            20.. => Self::Swf21,
            _ => Self::Swf,
        })
    }
}

const LAYOUTS: [(Layout, &str); 3] = [(Layout::Swf, "swf"), (Layout::Swf21, "swf21"), (Layout::Sacct, "sacct")];

impl FromStr for Layout {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let known = LAYOUTS.into_iter().find(|(_, name)| *name == text).map(|(layout, _)| layout);
        known.ok_or_else(|| TextError::new("format: expected swf, swf21 or sacct,", text))
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(LAYOUTS[*self as usize].1)
    }
}

/// Result of a conversion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    /// Number of records written, equal to the number read.
    pub records: u64,
    /// Columns that the other format does not have, with the number of records that have a value there.
    pub lost: BTreeMap<&'static str, u64>,
    /// Number of names that were replaced by numbers; comments before the first record with the number list them.
    pub names: u64,
    /// Skipped lines and repairs of a log of `sacct`.
    pub repairs: Repairs<SacctRule>,
}

/// Error that ends a conversion.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The log is faulty, or cannot be read.
    #[error(transparent)]
    Log(#[from] InputError),
    /// The result cannot be written.
    #[error("cannot write the converted log")]
    Write(#[from] io::Error),
}

/// Converts a log in either form of SWF, and writes it to `out`, which should be buffered. A faulty line ends the conversion, so a
/// converted log has all its records.
///
/// Columns of both formats are kept. A log that is to have MetaCentrum's columns and lacks them requests as many nodes
/// of one processor as its job has processors, which adds no demand.
///
/// # Panics
///
/// If `to` is [`Layout::Sacct`], which is not written.
pub fn convert_swf(mut reader: SwfReader, to: Layout, out: impl Write) -> Result<Converted, ConvertError> {
    let (mut out, mut done) = (SwfWriter::new(out), Converted::default());
    reader.header().entries().try_for_each(|(key, value)| out.comment(&format!("{key}: {value}")))?;
    while let Some(record) = reader.next() {
        let record = record?;
        reader.names.passed.iter().try_for_each(|line| out.comment(line))?;
        out.record(&fitted(record, to, &mut done))?;
    }
    Ok(done)
}

/// Fits a record to the columns of the format `to`, and counts it.
fn fitted(mut record: SwfRecord, to: Layout, done: &mut Converted) -> SwfRecord {
    assert!(to != Layout::Sacct, "the format of sacct is read and not written");
    if to == Layout::Swf21 {
        if record.node_spec().is_none() {
            let processors = record.processors().unwrap_or(1);
            let queue = record.queue_name().unwrap_or("-1");
            record.further = Some(format!("{queue} {processors}:ppn=1").into());
        }
    } else if record.further.take().is_some() {
        *done.lost.entry("queue name and requested nodes").or_default() += 1;
    }
    done.records += 1;
    record
}
