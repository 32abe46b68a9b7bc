//! Schedules as CSV or SWF, of any program.

use crate::options::unpacked;
use anyhow::{Context, Result, anyhow, bail};
use rustc_hash::FxHashMap;
use sim_core::Span;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use workload::{InputError, SwfReader};

/// One job of a schedule. Times count from the schedule's own origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScheduleRow {
    /// The line of the file, counted from 1.
    pub(super) line: u64,
    pub(super) number: u64,
    pub(super) submit: Option<Span>,
    /// `None` if it never started.
    pub(super) start: Option<Span>,
    pub(super) finish: Option<Span>,
    pub(super) processors: Option<u32>,
    pub(super) site: Option<String>,
    /// Processors as blocks of `(first, count)`.
    pub(super) allocated: Option<Vec<(u32, u32)>>,
}

/// Numbers of jobs by their names in the log; never iterated.
pub(super) type JobNumbers = FxHashMap<Arc<str>, u64>;

/// Reads the schedule at `path`; its first line decides between CSV and SWF. Jobs of `names` may have their names there.
pub(super) fn read(path: &Path, names: &JobNumbers) -> Result<Vec<ScheduleRow>> {
    let mut text = unpacked(path)?;
    let beginning = text.fill_buf().map_err(|error| InputError::reading(path, error))?;
    let first = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    // A record of SWF begins with a number, and its comments with a semicolon.
    if first.is_empty() || first.starts_with(b";") || first.first().is_some_and(u8::is_ascii_digit) {
        drop(text);
        return read_swf(path);
    }
    read_csv(path, text, names)
}

fn read_swf(path: &Path) -> Result<Vec<ScheduleRow>> {
    let mut log = SwfReader::open(path)?;
    let mut rows = Vec::new();
    while let Some(record) = log.next() {
        let record = record?;
        let start = record.submit.zip(record.wait).map(|(submit, wait)| submit + wait);
        let start = start.filter(|_| record.runtime.is_some());
        rows.push(ScheduleRow {
            line: log.line(),
            number: record.number,
            submit: record.submit,
            start,
            finish: start.zip(record.runtime).map(|(start, runtime)| start + runtime),
            processors: record.processors(),
            ..ScheduleRow::default()
        });
    }
    Ok(rows)
}

/// Columns that are read, each with the headings that stand for it. The first two are needed.
const COLUMNS: [(&str, &[&str]); 8] = [
    ("job", &["job", "job_id"]),
    ("start", &["start"]),
    ("submit", &["submit"]),
    ("finish", &["finish", "end"]),
    ("processors", &["processors", "procs", "cpus"]),
    ("site", &["site"]),
    ("allocated", &["allocated"]),
    ("state", &["state"]),
];

type Columns = BTreeMap<&'static str, usize>;

fn read_csv(path: &Path, text: impl Read, names: &JobNumbers) -> Result<Vec<ScheduleRow>> {
    let failed = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => anyhow!(InputError::reading(path, error)),
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.map_or(0, |pos| pos.line());
            anyhow!("{}:{line}: expected {expected_len} columns as in the heading, found {len}", path.display())
        }
        other => anyhow!("{}: cannot be read as CSV: {other:?}", path.display()),
    };
    let mut reader = csv::Reader::from_reader(text);
    let heading = reader.headers().map_err(failed)?.clone();
    let find = |names: &[&str]| heading.iter().position(|cell| names.iter().any(|name| cell.trim() == *name));
    let columns: Columns = COLUMNS.iter().filter_map(|(name, names)| Some((*name, find(names)?))).collect();
    if let Some((_, names)) = COLUMNS[..2].iter().find(|(name, _)| !columns.contains_key(name)) {
        let found: Vec<&str> = heading.iter().collect();
        bail!("{}:1: a schedule needs a column {}; found {found:?}", path.display(), names.join(" or "));
    }
    let (mut rows, mut record) = (Vec::new(), csv::StringRecord::new());
    while reader.read_record(&mut record).map_err(failed)? {
        let line = record.position().map_or(0, csv::Position::line);
        rows.push(row(&columns, &record, line, names).with_context(|| format!("{}:{line}", path.display()))?);
    }
    Ok(rows)
}

fn row(columns: &Columns, record: &csv::StringRecord, line: u64, names: &JobNumbers) -> Result<ScheduleRow> {
    let cell = |name: &str| columns.get(name).map(|column| record[*column].trim()).filter(|text| !text.is_empty());
    let time = |name: &str| {
        let wrong = |text| format!("{name}: expected seconds such as 90 or 12.5, found {text:?}");
        cell(name).map(|text| seconds(text).with_context(|| wrong(text))).transpose()
    };
    let job = cell("job").unwrap_or_default();
    let number = names.get(job).copied().or_else(|| job.parse().ok());
    let wrong = || format!("job: expected the number that it has in the log, or its name, found {job:?}");
    let start = time("start")?.filter(|_| cell("state") != Some("rejected"));
    let whole = |text: &str| text.parse().map_err(|_| anyhow!("processors: expected a whole number, found {text:?}"));
    Ok(ScheduleRow {
        line,
        number: number.with_context(wrong)?,
        submit: time("submit")?,
        start,
        finish: time("finish")?.filter(|_| start.is_some()),
        processors: cell("processors").map(whole).transpose()?,
        site: cell("site").map(str::to_owned),
        allocated: cell("allocated").map(blocks).transpose()?,
    })
}

/// `12.5` in nanoseconds, exactly; `None` if it is no such number, or more than 136 years.
fn seconds(text: &str) -> Option<Span> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    // Zeros after the ninth place do not matter.
    let part = part.trim_end_matches('0');
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 9 {
        return None;
    }
    let whole: u64 = whole.parse().ok().filter(|whole| *whole <= 2 * u64::from(u32::MAX))?;
    let nanos: u64 = format!("{part:0<9}").parse().ok()?;
    Some(Span::from_nanos(1_000_000_000 * whole + nanos))
}

/// `0-3,7` as blocks of `(first, count)`.
fn blocks(text: &str) -> Result<Vec<(u32, u32)>> {
    let block = |part: &str| -> Option<(u32, u32)> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        Some((first, last.checked_sub(first)?.checked_add(1)?))
    };
    let blocks: Option<_> = text.split([',', ' ']).filter(|part| !part.is_empty()).map(block).collect();
    blocks.with_context(|| format!("allocated: expected processors such as 0-3,7, found {text:?}"))
}
