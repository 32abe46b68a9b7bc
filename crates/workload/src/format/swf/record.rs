//! One line of a log: its 18 fields, named and typed.

use super::decimal::{self, Decimal};
use sim_core::Span;
use std::sync::Arc;

/// Job as recorded in a log. `None` is "unknown": −1 in the file, or another negative number in a field that no
/// simulation depends on. (Such values occur, for instance a finish of 0 minus a start in UNIX seconds.)
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwfRecord {
    /// Field 1: number of the job in the log.
    pub number: u64,
    /// Field 2: submission, from the start of the log; in some logs from 1970.
    pub submit: Option<Span>,
    /// Field 3: time from submission to start.
    pub wait: Option<Span>,
    /// Field 4: time from start to end.
    pub runtime: Option<Span>,
    /// Field 5: allocated processors.
    pub allocated_processors: Option<u32>,
    /// Field 6: processor time used, as a mean over its processors.
    pub cpu_time: Option<Span>,
    /// Field 7: memory used, in KiB per processor, to the nearest whole number.
    pub memory: Option<u64>,
    /// Field 8: requested processors.
    pub requested_processors: Option<u32>,
    /// Field 9: requested time, the user's upper bound of the run time.
    pub requested_time: Option<Span>,
    /// Field 10: requested memory, in KiB per processor, to the nearest whole number.
    pub requested_memory: Option<u64>,
    /// Field 11: status at the end.
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
    /// Field 17: job that had to end before this one was submitted.
    pub preceding_job: Option<u64>,
    /// Field 18: time from the end of that job to this submission.
    pub think_time: Option<Span>,
    /// Columns 20 and beyond as they stand, if there are any: see [`SwfRecord::queue_name`]. One allocation, which
    /// plain logs never need.
    pub further: Option<Box<str>>,
    /// Name from a comment before the record, if it is not the number: `12345_7` of an array.
    pub name: Option<Arc<str>>,
}

impl SwfRecord {
    /// Returns the number of processors that the job held: those allocated (field 5), or else those requested (field
    /// 8), if that is at least one.
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

    /// Column 21, the requested nodes in logs of MetaCentrum: `1:ppn=12:cl_zegox#excl`.
    pub fn node_spec(&self) -> Option<&str> {
        self.further.as_deref()?.split_ascii_whitespace().nth(1)
    }
}

/// End of a job. Codes other than 0 to 5 are read as unknown.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// 0: failed.
    Failed,
    /// 1: completed.
    Completed,
    /// 2: a part of a checkpointed job; more will follow.
    PartToBeContinued,
    /// 3: the last part of a checkpointed job, which completed.
    LastPartCompleted,
    /// 4: the last part of a checkpointed job, which failed.
    LastPartFailed,
    /// 5: cancelled, before or after the start.
    Cancelled,
}

impl Status {
    pub(crate) fn from_code(code: u64) -> Option<Self> {
        use Status::{Cancelled, Completed, Failed, LastPartCompleted, LastPartFailed, PartToBeContinued};
        let all = [Failed, Completed, PartToBeContinued, LastPartCompleted, LastPartFailed, Cancelled];
        all.get(usize::try_from(code).ok()?).copied()
    }
}

pub(super) const COLUMNS: usize = 18;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum LineFault {
    /// The line ends before this column, counted from 0.
    Short,
    /// This column, counted from 0, is not as expected.
    Field { column: usize, name: &'static str, expected: &'static str, fix: &'static str },
    /// A further column is no UTF-8.
    NotText,
}

/// Parses a line that is no comment.
#[expect(clippy::inline_always, reason = "a call would copy each record once more: a tenth of the time of reading")]
#[inline(always)]
pub(super) fn parse(line: &[u8]) -> Result<SwfRecord, LineFault> {
    let mut fields = Fields { rest: line, next: 0, fault: None };
    let record = SwfRecord {
        number: fields.job_number(),
        submit: fields.time("submit time", Negative::Refused),
        wait: fields.time("wait time", Negative::Unknown),
        // Unknown, although it matters: wagap-2013 has run times of −1 359 980 917 s.
        runtime: fields.time("run time", Negative::Unknown),
        allocated_processors: fields.small("allocated processors", PROCESSORS, Negative::Refused),
        cpu_time: fields.time("average CPU time used", Negative::Unknown),
        memory: fields.memory("used memory"),
        requested_processors: fields.small("requested processors", PROCESSORS, Negative::Refused),
        requested_time: fields.time("requested time", Negative::Refused),
        requested_memory: fields.memory("requested memory"),
        status: fields.whole("status", NUMBER, Negative::Unknown).and_then(Status::from_code),
        user: fields.small("user", NUMBER, Negative::Unknown),
        group: fields.small("group", NUMBER, Negative::Unknown),
        executable: fields.small("executable", NUMBER, Negative::Unknown),
        queue: fields.small("queue", NUMBER, Negative::Unknown),
        partition: fields.small("partition", NUMBER, Negative::Unknown),
        preceding_job: fields.whole("preceding job", NUMBER, Negative::Unknown),
        think_time: fields.time("think time", Negative::Unknown),
        further: fields.further(),
        name: None,
    };
    match fields.fault {
        None => Ok(record),
        Some(fault) => Err(fault),
    }
}

const PROCESSORS: &str = "a whole number of processors, or -1 if unknown";
const NUMBER: &str = "a whole number, or -1 if unknown";
const PLAIN: &str = "write a plain number such as 90 or 12.5, and -1 for what is not known";
const UNKNOWN: &str = "write -1 for what is not known";

/// Meaning of a negative number other than −1.
#[derive(Copy, Clone)]
enum Negative {
    Unknown,
    Refused,
}

/// Splits a line column by column. After a fault the remaining columns are still read, because faults are rare, and
/// eighteen early returns cost more than the numbers themselves.
struct Fields<'a> {
    rest: &'a [u8],
    /// Next column, counted from 0.
    next: usize,
    fault: Option<LineFault>,
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

    /// Returns the next column as a number, unless it is missing or no number.
    #[inline]
    fn value(&mut self, name: &'static str, expected: &'static str, fix: &'static str) -> Option<Decimal> {
        // Nearly every column is a short integer: parsed in one pass that also finds its end.
        let from = self.rest.iter().position(|byte| *byte > b' ').unwrap_or_default();
        let column = &self.rest[from..];
        let negative = column.first() == Some(&b'-');
        match decimal::short_integer(&column[usize::from(negative)..]) {
            Some((whole, rest)) => {
                self.rest = rest;
                self.next += 1;
                Some(Decimal { negative, whole, billionths: 0 })
            }
            None => self.any_value(name, expected, fix),
        }
    }

    /// Parses fractions, exponents, long numbers, and reports other text.
    #[inline(never)]
    fn any_value(&mut self, name: &'static str, expected: &'static str, fix: &'static str) -> Option<Decimal> {
        let Some(token) = self.token() else {
            self.fault.get_or_insert(LineFault::Short);
            return None;
        };
        let value = decimal::parse(token);
        if value.is_none() {
            self.fail(name, expected, fix);
        }
        value
    }

    /// Returns `None` if the value is unknown.
    #[inline]
    fn decimal(&mut self, name: &'static str, expected: &'static str, negative: Negative) -> Option<Decimal> {
        let value = self.value(name, expected, PLAIN)?;
        if !value.is_negative() {
            return Some(value);
        }
        if matches!(negative, Negative::Refused) && !value.is_minus_one() {
            self.fail(name, expected, UNKNOWN);
        }
        None
    }

    #[inline]
    fn time(&mut self, name: &'static str, negative: Negative) -> Option<Span> {
        let value = self.decimal(name, "seconds, or -1 if unknown", negative)?;
        let span = value.as_span();
        if span.is_none() {
            let fix = "give times in seconds, and -1 for what is not known";
            self.fail(name, "at most 4294967295 seconds, which are 136 years", fix);
        }
        span
    }

    #[inline]
    fn whole(&mut self, name: &'static str, expected: &'static str, negative: Negative) -> Option<u64> {
        let value = self.decimal(name, expected, negative)?;
        if value.billionths > 0 {
            self.fail(name, expected, "leave the fraction out");
        }
        Some(value.whole)
    }

    #[inline]
    fn small(&mut self, name: &'static str, expected: &'static str, negative: Negative) -> Option<u32> {
        let value = u32::try_from(self.whole(name, expected, negative)?).ok();
        if value.is_none() {
            self.fail(name, "at most 4294967295", UNKNOWN);
        }
        value
    }

    #[inline]
    fn job_number(&mut self) -> u64 {
        let (name, expected) = ("job number", "a whole number from 0 on");
        let fix = "number the jobs, or delete what is no record";
        let value = self.value(name, expected, fix);
        if value.is_some_and(|value| value.is_negative() || value.billionths > 0) {
            self.fail(name, expected, fix);
        }
        value.map_or(0, |value| value.whole)
    }

    /// Parses an amount of memory; means over processors are often fractions.
    #[inline]
    fn memory(&mut self, name: &'static str) -> Option<u64> {
        self.decimal(name, "KiB, or -1 if unknown", Negative::Unknown).map(Decimal::rounded)
    }

    /// Returns the columns behind the nineteenth.
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
                self.fault.get_or_insert(LineFault::NotText);
                None
            }
        }
    }

    /// Records that the last column read is at fault.
    #[cold]
    fn fail(&mut self, name: &'static str, expected: &'static str, fix: &'static str) {
        self.fault.get_or_insert(LineFault::Field { column: self.next - 1, name, expected, fix });
    }
}
