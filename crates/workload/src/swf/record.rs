//! One line of a log: its 18 fields, named and typed.

use super::decimal::{self, Decimal};
use sim_core::Span;
use std::sync::Arc;

/// One job as a log recorded it. `None` is "unknown": −1 in the file, or another negative number in a field that no
/// simulation depends on. (Logs have those: a finish of 0 minus a start in UNIX seconds, for one.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwfRecord {
    /// Field 1: the job's number in the log.
    pub number: u64,
    /// Field 2: when it was submitted, from the start of the log; in some logs from 1970.
    pub submit: Option<Span>,
    /// Field 3: from its submission to its start.
    pub wait: Option<Span>,
    /// Field 4: from its start to its end.
    pub runtime: Option<Span>,
    /// Field 5: processors it was given.
    pub allocated_processors: Option<u32>,
    /// Field 6: processor time it used, as a mean over its processors.
    pub cpu_time: Option<Span>,
    /// Field 7: memory it used, in KiB per processor, to the nearest whole number.
    pub memory: Option<u64>,
    /// Field 8: processors it asked for.
    pub requested_processors: Option<u32>,
    /// Field 9: how long its user believed it would run at most.
    pub requested_time: Option<Span>,
    /// Field 10: memory it asked for, in KiB per processor, to the nearest whole number.
    pub requested_memory: Option<u64>,
    /// Field 11: how it ended.
    pub status: Option<Status>,
    /// Field 12.
    pub user: Option<u32>,
    /// Field 13.
    pub group: Option<u32>,
    /// Field 14: the application.
    pub executable: Option<u32>,
    /// Field 15.
    pub queue: Option<u32>,
    /// Field 16: in logs of grids, often the cluster.
    pub partition: Option<u32>,
    /// Field 17: the job that had to end before this one was submitted.
    pub preceding_job: Option<u64>,
    /// Field 18: from the end of that job to this submission.
    pub think_time: Option<Span>,
    /// Columns 20 and beyond as they stand, if there are any: see [`SwfRecord::queue_name`]. One allocation, which
    /// plain logs never need.
    pub further: Option<Box<str>>,
    /// What people call the job, where that is not its number: `12345_7` of an array. A comment before the record.
    pub name: Option<Arc<str>>,
}

impl SwfRecord {
    /// A record of which nothing is known but its number.
    pub const fn numbered(number: u64) -> Self {
        Self {
            number,
            submit: None,
            wait: None,
            runtime: None,
            allocated_processors: None,
            cpu_time: None,
            memory: None,
            requested_processors: None,
            requested_time: None,
            requested_memory: None,
            status: None,
            user: None,
            group: None,
            executable: None,
            queue: None,
            partition: None,
            preceding_job: None,
            think_time: None,
            further: None,
            name: None,
        }
    }

    /// The processors the job held: those it was given (field 5), or else those it asked for (field 8), if that is at
    /// least one.
    ///
    /// Field 5 comes first because the run time was measured on those.
    pub fn processors(&self) -> Option<u32> {
        self.allocated_processors
            .filter(|processors| *processors > 0)
            .or(self.requested_processors)
            .filter(|processors| *processors > 0)
    }

    /// Column 20, the name of the queue in logs of MetaCentrum.
    pub fn queue_name(&self) -> Option<&str> {
        self.further.as_deref()?.split_ascii_whitespace().next()
    }

    /// Column 21, the nodes asked for in logs of MetaCentrum: `1:ppn=12:cl_zegox#excl`.
    pub fn node_spec(&self) -> Option<&str> {
        self.further.as_deref()?.split_ascii_whitespace().nth(1)
    }
}

/// How a job ended. Codes other than 0 to 5 are read as unknown.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// 0: it failed.
    Failed,
    /// 1: it completed.
    Completed,
    /// 2: a part of a checkpointed job; more will follow.
    PartToBeContinued,
    /// 3: the last part of a checkpointed job, which completed.
    LastPartCompleted,
    /// 4: the last part of a checkpointed job, which failed.
    LastPartFailed,
    /// 5: it was cancelled, before or after it started.
    Cancelled,
}

impl Status {
    /// The number that stands for it in a log.
    pub const fn code(self) -> u8 {
        self as u8
    }

    pub(crate) const fn from_code(code: u64) -> Option<Self> {
        match code {
            0 => Some(Self::Failed),
            1 => Some(Self::Completed),
            2 => Some(Self::PartToBeContinued),
            3 => Some(Self::LastPartCompleted),
            4 => Some(Self::LastPartFailed),
            5 => Some(Self::Cancelled),
            _ => None,
        }
    }
}

/// Columns that every line has.
pub(super) const COLUMNS: usize = 18;

/// Their names in the standard.
pub(super) const NAMES: [&str; COLUMNS] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time used",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];

/// What is wrong with a line.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It ends before this column, counted from 0.
    Short,
    /// This column, counted from 0, holds something else than expected.
    Field { column: usize, expected: &'static str, fix: &'static str },
    /// A further column is no UTF-8.
    NotText,
}

/// Reads a line that is no comment.
#[inline]
pub(super) fn parse(line: &[u8]) -> Result<SwfRecord, Fault> {
    let mut fields = Fields { rest: line, next: 0, fault: None };
    let record = SwfRecord {
        number: fields.job_number(),
        submit: fields.time(Negative::Refused),
        wait: fields.time(Negative::Unknown),
        // Unknown, although it matters: wagap-2013 has run times of −1 359 980 917 s.
        runtime: fields.time(Negative::Unknown),
        allocated_processors: fields.number(PROCESSORS, Negative::Refused),
        cpu_time: fields.time(Negative::Unknown),
        memory: fields.memory(),
        requested_processors: fields.number(PROCESSORS, Negative::Refused),
        requested_time: fields.time(Negative::Refused),
        requested_memory: fields.memory(),
        status: fields.whole(NUMBER, Negative::Unknown).and_then(Status::from_code),
        user: fields.number(NUMBER, Negative::Unknown),
        group: fields.number(NUMBER, Negative::Unknown),
        executable: fields.number(NUMBER, Negative::Unknown),
        queue: fields.number(NUMBER, Negative::Unknown),
        partition: fields.number(NUMBER, Negative::Unknown),
        preceding_job: fields.whole(NUMBER, Negative::Unknown),
        think_time: fields.time(Negative::Unknown),
        further: fields.further(),
        name: None,
    };
    match fields.fault {
        None => Ok(record),
        Some(fault) => Err(fault),
    }
}

const SECONDS: &str = "seconds, or -1 if unknown";
const PROCESSORS: &str = "a whole number of processors, or -1 if unknown";
const NUMBER: &str = "a whole number, or -1 if unknown";
const PLAIN: &str = "write a plain number such as 90 or 12.5, and -1 for what is not known";
const UNKNOWN: &str = "write -1 for what is not known";

/// What a negative number other than −1 means.
#[derive(Copy, Clone)]
enum Negative {
    Unknown,
    Refused,
}

/// Takes a line apart, column by column. After a fault the remaining columns are read for nothing: faults are rare, and
/// eighteen early returns cost more than the numbers themselves.
struct Fields<'a> {
    rest: &'a [u8],
    /// The column that comes next, counted from 0.
    next: usize,
    /// The first fault.
    fault: Option<Fault>,
}

impl<'a> Fields<'a> {
    fn token(&mut self) -> Option<&'a [u8]> {
        let from = self.rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let rest = &self.rest[from..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.rest = &rest[end..];
        self.next += 1;
        Some(&rest[..end])
    }

    /// The next column as a number, unless there is none or it is no number.
    #[inline]
    fn value(&mut self, expected: &'static str, fix: &'static str) -> Option<Decimal> {
        // Nearly every column is a short integer: read in one pass, its end being found on the way.
        let from = self.rest.iter().position(|byte| *byte > b' ').unwrap_or_default();
        let column = &self.rest[from..];
        let negative = column.first() == Some(&b'-');
        match decimal::short_integer(&column[usize::from(negative)..]) {
            Some((whole, rest)) => {
                self.rest = rest;
                self.next += 1;
                Some(Decimal { negative, whole, billionths: 0 })
            }
            None => self.any_value(expected, fix),
        }
    }

    /// The same for fractions, exponents, long numbers, and what is no number.
    #[inline(never)]
    fn any_value(&mut self, expected: &'static str, fix: &'static str) -> Option<Decimal> {
        let Some(token) = self.token() else {
            self.fault.get_or_insert(Fault::Short);
            return None;
        };
        let value = decimal::parse(token);
        if value.is_none() {
            self.fail(expected, fix);
        }
        value
    }

    /// `None` if the value is unknown.
    #[inline]
    fn decimal(&mut self, expected: &'static str, negative: Negative) -> Option<Decimal> {
        let value = self.value(expected, PLAIN)?;
        if !value.is_negative() {
            return Some(value);
        }
        if matches!(negative, Negative::Refused) && !value.is_minus_one() {
            self.fail(expected, UNKNOWN);
        }
        None
    }

    #[inline]
    fn time(&mut self, negative: Negative) -> Option<Span> {
        let value = self.decimal(SECONDS, negative)?;
        let span = value.as_span();
        if span.is_none() {
            let fix = "give times in seconds, and -1 for what is not known";
            self.fail("at most 4294967295 seconds, which are 136 years", fix);
        }
        span
    }

    #[inline]
    fn whole(&mut self, expected: &'static str, negative: Negative) -> Option<u64> {
        let value = self.decimal(expected, negative)?;
        if value.billionths > 0 {
            self.fail(expected, "leave the fraction out");
        }
        Some(value.whole)
    }

    #[inline]
    fn number(&mut self, expected: &'static str, negative: Negative) -> Option<u32> {
        let value = u32::try_from(self.whole(expected, negative)?).ok();
        if value.is_none() {
            self.fail("at most 4294967295", UNKNOWN);
        }
        value
    }

    #[inline]
    fn job_number(&mut self) -> u64 {
        let expected = "a whole number from 0 on";
        let fix = "number the jobs, or delete what is no record";
        let value = self.value(expected, fix);
        if value.is_some_and(|value| value.is_negative() || value.billionths > 0) {
            self.fail(expected, fix);
        }
        value.map_or(0, |value| value.whole)
    }

    /// Means over processors are often fractions.
    #[inline]
    fn memory(&mut self) -> Option<u64> {
        let value = self.decimal("KiB, or -1 if unknown", Negative::Unknown)?;
        Some(value.whole.saturating_add(u64::from(value.billionths >= 500_000_000)))
    }

    /// What stands behind column 19.
    #[inline]
    fn further(&mut self) -> Option<Box<str>> {
        self.token()?;
        let further = self.rest.trim_ascii();
        if further.is_empty() {
            return None;
        }
        match std::str::from_utf8(further) {
            Ok(text) => Some(text.into()),
            Err(_) => {
                self.fault.get_or_insert(Fault::NotText);
                None
            }
        }
    }

    /// Remembers that the column that was read last is at fault.
    #[cold]
    fn fail(&mut self, expected: &'static str, fix: &'static str) {
        self.fault.get_or_insert(Fault::Field { column: self.next - 1, expected, fix });
    }
}
