//! Conversion between formats of logs.

mod sacct;

pub use sacct::convert_sacct;

use crate::error::{InputError, TextError};
use crate::file;
use crate::gwf::{self, GwfReader, GwfRecord};
use crate::lines::{LOG, Lines};
use crate::repair::Repairs;
use crate::sacct::{SacctReader, SacctRule, Zone};
use crate::swf::{NAMED, SwfReader, SwfRecord, SwfWriter, one_word};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::str::FromStr;

/// Format of logs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The Standard Workload Format, 18 columns.
    Swf,
    /// SWF with the columns that MetaCentrum adds: hosts, the queue's name, the requested nodes.
    Swf21,
    /// The Grid Workloads Format, 29 columns.
    Gwf,
    /// Output of Slurm's `sacct --parsable2`; it is read and not written.
    Sacct,
}

impl Layout {
    /// Detects the format of the log at `path`, by its first record: 29 columns are those of a grid; a nineteenth
    /// column in braces, or twenty columns, those of MetaCentrum; names between `|` those of `sacct`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds no record.
    pub fn detect(path: &Path) -> Result<Self, InputError> {
        let mut lines = Lines::new(path, file::open(path)?, LOG)?;
        if lines.step_to_content(b";#").transpose()?.is_none() {
            let fix = "it is empty or has only comments; check that the log is complete";
            return Err(InputError::no_record(&lines.path, fix));
        }
        if !lines.is_text() {
            return Err(lines.no_text());
        }
        let is_name = |part: &[u8]| part.trim_ascii().eq_ignore_ascii_case(b"State");
        let is_sacct = lines.line.split(|byte| *byte == b'|').any(is_name);
        let has_hosts = lines.columns().nth(18).is_some_and(|column| column.starts_with(b"{"));
        let tabs = lines.line.iter().filter(|byte| **byte == b'\t').count();
        Ok(match lines.columns().count() {
            _ if is_sacct => Self::Sacct,
            _ if has_hosts => Self::Swf21,
            columns if columns >= 29 || tabs >= 28 => Self::Gwf,
            columns if columns >= 20 => Self::Swf21,
            _ => Self::Swf,
        })
    }
}

const LAYOUTS: [(Layout, &str); 4] =
    [(Layout::Swf, "swf"), (Layout::Swf21, "swf21"), (Layout::Gwf, "gwf"), (Layout::Sacct, "sacct")];

impl FromStr for Layout {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let known = LAYOUTS.into_iter().find(|(_, name)| *name == text).map(|(layout, _)| layout);
        known.ok_or_else(|| TextError::new("format: expected swf, swf21, gwf or sacct,", text))
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

/// Converts a log in the format `from` from any reader, and writes it to `out`, which should be buffered; `name` stands for the
/// file's path in errors. A faulty line ends the conversion, so a converted log has all its records.
///
/// Columns of both formats are kept. Going to the Grid Workloads Format, the users 12, groups 3, applications 5, queues
/// 2 and partitions 1 become `U12`, `G3`, `E5`, `Q2` and `P1`; a queue with a name (column 20) keeps that name, and the
/// requested nodes (column 21) become required resources. Coming from it, names become numbers: names of the same
/// letters with a number behind keep that number, others are numbered from a thousand million on, and a comment before
/// the first record with the number gives the name (`User: 1000000000 Jane`). A log that is to have MetaCentrum's
/// columns and lacks them requests as many nodes of one processor as its job has processors, which adds no demand.
/// Output of `sacct` needs times with their zone; [`convert_sacct`] takes one.
///
/// # Panics
///
/// If `to` is [`Layout::Sacct`], which is not written.
pub fn convert_read(
    name: impl AsRef<Path>,
    input: impl Read + Send + 'static,
    from: Layout,
    to: Layout,
    out: impl Write,
) -> Result<Converted, ConvertError> {
    let mut sink = RecordWriter::new(to, out);
    match from {
        Layout::Swf | Layout::Swf21 => {
            let mut reader = SwfReader::from_read(name, input)?;
            reader.header().entries().try_for_each(|(key, value)| sink.comment(&format!("{key}: {value}")))?;
            while let Some(record) = reader.next() {
                let record = record?;
                reader.names.passed.iter().try_for_each(|line| sink.comment(line))?;
                sink.swf(record)?;
            }
        }
        Layout::Gwf => {
            let reader = GwfReader::from_read(name, input)?;
            reader.comments.iter().try_for_each(|line| sink.comment(line))?;
            reader.into_iter().try_for_each(|record| sink.named(record?))?;
        }
        Layout::Sacct => {
            return convert_sacct(SacctReader::from_read(name, input, Zone::default())?, None, to, sink.out);
        }
    }
    Ok(sink.done)
}

struct RecordWriter<W> {
    out: W,
    to: Layout,
    names: NameNumbers,
    done: Converted,
}

impl<W: Write> RecordWriter<W> {
    fn new(to: Layout, out: W) -> Self {
        assert!(to != Layout::Sacct, "the format of sacct is read and not written");
        Self { out, to, names: NameNumbers::default(), done: Converted::default() }
    }

    fn comment(&mut self, text: &str) -> Result<(), ConvertError> {
        let mark = if self.to == Layout::Gwf { '#' } else { ';' };
        Ok(text.lines().try_for_each(|line| writeln!(self.out, "{mark} {line}"))?)
    }

    /// Counts records with a value that has no column in the target format.
    fn lose(&mut self, values: impl IntoIterator<Item = (&'static str, bool)>) {
        for (name, _) in values.into_iter().filter(|(_, is_known)| *is_known) {
            *self.done.lost.entry(name).or_default() += 1;
        }
    }

    /// Writes a record with names, which become numbers if the format has no names.
    fn named(&mut self, record: GwfRecord) -> Result<(), ConvertError> {
        if self.to == Layout::Gwf {
            self.lose([("job's own name", record.job.name.is_some())]);
            return self.gwf(&record);
        }
        let keeps_resources = self.to == Layout::Swf21;
        let beyond =
            (gwf::PARTITION + 1..record.texts.len()).filter(|at| *at != gwf::REQ_RESOURCES || !keeps_resources);
        self.lose(beyond.map(|at| (gwf::name(gwf::SHARED + at), record.texts[at].is_some())));
        let record = self.names.number(record);
        for line in std::mem::take(&mut self.names.fresh) {
            self.done.names += 1;
            self.comment(&line)?;
        }
        self.swf(record)
    }

    fn gwf(&mut self, record: &GwfRecord) -> Result<(), ConvertError> {
        self.done.records += 1;
        Ok(record.write(&mut self.out)?)
    }

    fn swf(&mut self, mut record: SwfRecord) -> Result<(), ConvertError> {
        match self.to {
            Layout::Gwf => {
                let has_named_queue = record.queue_name().is_some_and(|name| name != "-1");
                self.lose([
                    ("job's own name", record.name.is_some()),
                    ("preceding job", record.preceding_job.is_some()),
                    ("think time", record.think_time.is_some()),
                    ("queue number", has_named_queue && record.queue.is_some()),
                ]);
                return self.gwf(&named(record));
            }
            Layout::Swf21 if record.node_spec().is_none() => {
                let processors = record.processors().unwrap_or(1);
                let queue = record.queue_name().unwrap_or("-1");
                record.further = Some(format!("{queue} {processors}:ppn=1").into());
            }
            Layout::Swf21 => {}
            _ => self.lose([("queue name and requested nodes", record.further.take().is_some())]),
        }
        self.done.records += 1;
        Ok(SwfWriter::new(&mut self.out).record(&record)?)
    }
}

/// Returns the record with names for its numbers.
fn named(job: SwfRecord) -> GwfRecord {
    let known = |text: Option<&str>| text.filter(|text| *text != "-1").map(Into::into);
    let numbers = [('U', job.user), ('G', job.group), ('E', job.executable), ('Q', job.queue), ('P', job.partition)];
    let mut texts: [Option<Box<str>>; 18] = Default::default();
    for (text, (letter, number)) in texts.iter_mut().zip(numbers) {
        *text = number.map(|number| format!("{letter}{number}").into());
    }
    texts[gwf::QUEUE] = known(job.queue_name()).or(texts[gwf::QUEUE].take());
    texts[gwf::REQ_RESOURCES] = known(job.node_spec());
    GwfRecord { job, texts }
}

/// Numbers for the names in a log of a grid.
///
/// In each column, names that are the same letters with a number behind keep that number: `U12` is 12, and so is `12` in a
/// column of plain numbers. Other names are numbered from a thousand million on, in the order in which they appear.
#[derive(Clone, Debug, Default)]
struct NameNumbers {
    columns: [ColumnNumbers; 5],
    /// One comment for each name that has just been numbered: `User: 1000000000 Jane`.
    fresh: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct ColumnNumbers {
    /// Letters before the first number.
    letters: Option<Box<str>>,
    others: BTreeMap<Box<str>, u32>,
}

/// First number for a name without one.
const FIRST_OTHER: u32 = 1_000_000_000;

impl NameNumbers {
    /// Replaces the names of the record by numbers. The queue's name and the required resources become columns 20 and
    /// 21; other columns that SWF does not have are left out.
    fn number(&mut self, record: GwfRecord) -> SwfRecord {
        let GwfRecord { job, texts } = record;
        let further = texts[gwf::REQ_RESOURCES].as_deref().map(|resources| {
            let name = texts[gwf::QUEUE].as_deref().unwrap_or("-1");
            format!("{} {}", one_word(name), one_word(resources)).into_boxed_str()
        });
        let mut texts = texts.into_iter();
        let mut number = |column: usize| texts.next()?.map(|name| self.number_of(name, column));
        SwfRecord {
            user: number(0),
            group: number(1),
            executable: number(2),
            queue: number(3),
            partition: number(4),
            further,
            ..job
        }
    }

    fn number_of(&mut self, name: Box<str>, column: usize) -> u32 {
        let ColumnNumbers { letters: own, others } = &mut self.columns[column];
        let digits = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        let (letters, number) = name.split_at(digits);
        // A number with leading zeros is another name than the number without.
        let is_plain = number == "0" || !number.starts_with('0');
        let number = number.parse().ok().filter(|number| is_plain && *number < FIRST_OTHER);
        if let Some(number) = number
            && **own.get_or_insert_with(|| letters.into()) == *letters
        {
            return number;
        }
        let next = FIRST_OTHER + u32::try_from(others.len()).expect("fewer than 3 billion names");
        *others.entry(name).or_insert_with_key(|name| {
            self.fresh.push(format!("{}: {next} {name}", NAMED[column]));
            next
        })
    }
}
