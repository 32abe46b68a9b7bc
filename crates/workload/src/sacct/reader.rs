//! Streaming reader: one job at a time.

use super::columns::{Columns, Role, WITH_GPUS};
use super::job::{Memory, State, cpus_of_tres, has_gpu, word};
use super::rule::{SacctRepairs, SacctRule};
use super::time::{Instant, LONGEST, Zone, length};
use crate::error::InputError;
use crate::gwf::{GwfRecord, PROJECT};
use crate::lines::{LOG, Lines};
use crate::swf::Status;
use sim_core::Span;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// Reads the jobs that `sacct --parsable2` lists, those that have ended, in the order of the file. Submit times are seconds
/// since 1970. Memory is that of the longest line, whatever the length of the file.
///
/// A job's number is `JobIDRaw`, which an array's tasks have for themselves; where that column is missing, jobs are counted from
/// one. Its name is `JobID`, where that is another. The wait is `Start` − `Submit`, the run time `ElapsedRaw` or `Elapsed` (without the times for which a job was
/// suspended) or else `End` − `Start`; group, queue, partition and project are `Group` (or else `Account`), `QOS`, `Partition`
/// and `Account`.
///
/// A faulty line is an error, after which the reader goes on with the next line; it ends after an error that leaves no
/// next line to go on with (unreadable, truncated, not text).
#[derive(Debug)]
pub struct SacctReader {
    lines: Lines,
    columns: Columns,
    zone: Zone,
    repairs: SacctRepairs,
    /// Ends of the columns of the current line. Scratch buffer, reused across lines.
    ends: Vec<usize>,
    counted: u64,
}

impl SacctReader {
    /// Opens the file at `path`, plain or gzip (recognized by its first bytes, not by its name), and reads its heading. Times without a
    /// zone are those of `zone`.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or its first line does not name the columns that are needed.
    pub fn open(path: &Path, zone: Zone) -> Result<Self, InputError> {
        Self::start(Lines::open(path, LOG)?, zone)
    }

    /// Reads from anywhere, plain or gzip; `name` stands for the file's path in errors.
    pub fn from_read(name: &str, input: impl Read + Send + 'static, zone: Zone) -> Result<Self, InputError> {
        Self::start(Lines::from_read(name, input, LOG)?, zone)
    }

    /// What was left out or repaired so far.
    pub const fn repairs(&self) -> &SacctRepairs {
        &self.repairs
    }

    /// Zone of times without one.
    pub const fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Whether jobs have Slurm's own numbers; else they are counted from 1.
    pub const fn has_numbers(&self) -> bool {
        self.columns.index(Role::JobIdRaw).is_some()
    }

    /// Whether a column tells GPUs.
    pub fn tells_gpus(&self) -> bool {
        WITH_GPUS.into_iter().any(|role| self.columns.index(role).is_some())
    }

    /// The number of the line that was read last, counted from 1.
    pub const fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Counts one application of `rule`, at a line that may have been read long ago.
    pub(crate) fn note(&mut self, rule: SacctRule, line: u64) {
        self.repairs.note(rule, Some(line));
    }

    fn start(mut lines: Lines, zone: Zone) -> Result<Self, InputError> {
        while lines.advance()? {
            if lines.current().trim_ascii().is_empty() {
                continue;
            }
            let columns = Columns::of_heading(&mut lines)?;
            let (repairs, ends) = (SacctRepairs::default(), Vec::new());
            return Ok(Self { lines, columns, zone, repairs, ends, counted: 0 });
        }
        Err(InputError::no_record(lines.path(), "it is empty: did sacct find anything?"))
    }

    /// The current line as a job; `None` if it is left out.
    fn record(&mut self) -> Result<Option<GwfRecord>, InputError> {
        let Ok(text) = std::str::from_utf8(self.lines.current()) else { return Err(self.lines.no_text()) };
        let text = text.trim_end_matches(['\n', '\r']);
        self.ends.clear();
        self.ends.extend(text.bytes().enumerate().filter(|(_, byte)| *byte == b'|').map(|(at, _)| at));
        self.ends.push(text.len());
        if self.ends.len() != self.columns.count() {
            let (expected, found) = (self.columns.count(), self.ends.len());
            return Err(self.lines.fault(format!(
                "expected {expected} columns separated by |, as the heading has, found {found}; ask sacct with --parsable2 and \
                 leave out columns of free text, such as JobName and Comment"
            )));
        }
        let line = Line { text, ends: &self.ends, columns: &self.columns, lines: &self.lines };
        let mut noted = Noted::new();
        let read = line.job(&self.zone, self.counted + 1, &mut noted)?;
        let at = Some(self.lines.number());
        noted.into_iter().for_each(|rule| self.repairs.note(rule, at));
        self.counted += u64::from(read.is_some());
        Ok(read)
    }
}

impl Iterator for SacctReader {
    type Item = Result<GwfRecord, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Err(error) = self.lines.step()? {
                return Some(Err(error));
            }
            if !self.lines.current().trim_ascii().is_empty()
                && let Some(read) = self.record().transpose()
            {
                return Some(read);
            }
        }
    }
}

/// The rules that one line comes under.
type Noted = BTreeSet<SacctRule>;

/// One line, and which of its columns is which.
struct Line<'a> {
    text: &'a str,
    ends: &'a [usize],
    columns: &'a Columns,
    lines: &'a Lines,
}

const TIMES: &str = "ask sacct with SLURM_TIME_FORMAT=%s, or leave that variable unset";
const ZONE: &str = "say where the clocks stood with --zone, as in --zone Europe/Berlin or --zone UTC; or ask sacct with \
                    SLURM_TIME_FORMAT=%s";
const AS_IT_IS: &str = "give the output of sacct --parsable2 as it is";

impl Line<'_> {
    fn job(&self, zone: &Zone, count: u64, noted: &mut Noted) -> Result<Option<GwfRecord>, InputError> {
        // Steps first: they have no user, and nothing else of theirs needs to be in order.
        let ids = [Role::JobIdRaw, Role::JobId];
        if ids.into_iter().filter_map(|role| self.get(role)).any(|id| id.contains('.')) {
            noted.insert(SacctRule::Step);
            return Ok(None);
        }
        let state = State::parse(self.get(Role::State).unwrap_or_default());
        let left_out = match state {
            State::Unfinished => Some(SacctRule::Unfinished),
            State::Revoked => Some(SacctRule::Revoked),
            State::Ended(_) | State::Other => None,
        };
        if let Some(rule) = left_out {
            noted.insert(rule);
            return Ok(None);
        }
        let number = match self.get(Role::JobIdRaw) {
            Some(_) => self.whole(Role::JobIdRaw)?.ok_or_else(|| self.fault(Role::JobIdRaw, "a number", AS_IT_IS))?,
            None => count,
        };
        let Some(submit) = self.instant(Role::Submit, zone, noted)? else {
            noted.insert(SacctRule::NoSubmit);
            return Ok(None);
        };
        let status = match state {
            State::Ended(status) => Some(status),
            _ => {
                noted.insert(SacctRule::UnknownState);
                None
            }
        };
        let (allocated, requested) =
            (self.processors(Role::AllocCpus, Role::AllocTres)?, self.processors(Role::ReqCpus, Role::ReqTres)?);
        let nodes = self.processors(Role::Nodes, Role::Nodes)?;
        let memory = self.read(Role::ReqMem, Memory::parse, "memory such as 4000Mn, 2Gc or 16G")?;
        let (group, account) = (self.name(Role::Group), self.name(Role::Account));
        self.note_dropped(noted);
        let mut record = GwfRecord {
            number,
            submit: Some(Span::from_secs(submit)),
            requested_processors: requested.or(allocated),
            requested_time: self.limit(noted)?,
            requested_memory: memory.and_then(|memory| memory.per_processor(requested.or(allocated), nodes)),
            status,
            user: self.name(Role::User),
            group: group.clone().or_else(|| account.clone()),
            queue: self.name(Role::Qos),
            partition: self.name(Role::Partition),
            name: self.get(Role::JobId).filter(|id| *id != number.to_string()).map(|id| word(id).into()),
            ..GwfRecord::default()
        };
        // Where both are given, the account has a column of its own in logs of grids.
        record.further[PROJECT] = account.filter(|_| group.is_some());
        let start = self.instant(Role::Start, zone, noted)?;
        match start {
            Some(start) if allocated != Some(0) => self.ran(&mut record, submit, start, zone, noted)?,
            _ => {
                let is_cancelled = status == Some(Status::Cancelled);
                noted.insert(if is_cancelled { SacctRule::CancelledBeforeStart } else { SacctRule::NeverStarted });
            }
        }
        if record.runtime.is_some() {
            record.processors = allocated;
            let total = self.read(Role::TotalCpu, length, "a time such as 1-02:03:04 or 03:04.500")?;
            record.cpu_time = total
                .zip(allocated)
                .map(|(total, processors)| Span::from_nanos(total.as_nanos() / u64::from(processors)));
        }
        Ok(Some(record))
    }

    /// Counts what the record cannot hold.
    fn note_dropped(&self, noted: &mut Noted) {
        let id = self.get(Role::JobId).unwrap_or_default();
        let has_gpus = WITH_GPUS.into_iter().filter_map(|role| self.get(role)).any(has_gpu);
        for (is_dropped, rule) in [
            (has_gpus, SacctRule::Gpus),
            (id.contains('+'), SacctRule::HetComponent),
            (id.contains('['), SacctRule::ArrayRange),
        ] {
            if is_dropped {
                noted.insert(rule);
            }
        }
    }

    /// What is known of a job that started.
    fn ran(
        &self,
        record: &mut GwfRecord,
        submit: u64,
        start: u64,
        zone: &Zone,
        noted: &mut Noted,
    ) -> Result<(), InputError> {
        if start < submit {
            noted.insert(SacctRule::StartBeforeSubmit);
        }
        record.wait = Some(Span::from_secs(start.saturating_sub(submit)));
        let end = self.instant(Role::End, zone, noted)?;
        let elapsed = match self.seconds(Role::ElapsedRaw)? {
            Some(seconds) => Some(seconds),
            None => self.read(Role::Elapsed, length, "a time such as 1-02:03:04 or 00:03:04")?,
        };
        let between = end.and_then(|end| end.checked_sub(start)).map(Span::from_secs);
        if let (Some(elapsed), Some(_)) = (elapsed, end)
            && Some(elapsed) != between
        {
            noted.insert(SacctRule::ElapsedDiffers);
        }
        if elapsed.is_none() && end.is_some() && between.is_none() {
            noted.insert(SacctRule::EndBeforeStart);
        }
        record.runtime = elapsed.or(between);
        Ok(())
    }

    /// The limit that was asked for.
    fn limit(&self, noted: &mut Noted) -> Result<Option<Span>, InputError> {
        let told =
            [Role::TimelimitRaw, Role::Timelimit].into_iter().find_map(|role| self.get(role).map(|text| (role, text)));
        let Some((role, text)) = told else {
            if self.columns.index(Role::TimelimitRaw).or(self.columns.index(Role::Timelimit)).is_some() {
                noted.insert(SacctRule::NoLimit);
            }
            return Ok(None);
        };
        let rule = match text {
            "UNLIMITED" | "INVALID" => SacctRule::NoLimit,
            "Partition_Limit" => SacctRule::PartitionLimit,
            _ if role == Role::Timelimit => {
                return self.read(role, length, "a time such as 1-00:00:00, UNLIMITED or Partition_Limit");
            }
            _ => {
                let minutes = self.whole(role)?.unwrap_or(0);
                let fault = || self.fault(role, "minutes, UNLIMITED or Partition_Limit", AS_IT_IS);
                let seconds = minutes.checked_mul(60).filter(|seconds| *seconds <= LONGEST).ok_or_else(fault)?;
                return Ok(Some(Span::from_secs(seconds)));
            }
        };
        noted.insert(rule);
        Ok(None)
    }

    /// What stands in the column of `role`; `None` if there is no such column, or nothing in it.
    fn get(&self, role: Role) -> Option<&str> {
        let column = usize::from(self.columns.index(role)?);
        let start = if column == 0 { 0 } else { self.ends[column - 1] + 1 };
        Some(self.text[start..self.ends[column]].trim()).filter(|text| !text.is_empty())
    }

    fn read<T>(
        &self,
        role: Role,
        parse: impl Fn(&str) -> Option<T>,
        expected: &'static str,
    ) -> Result<Option<T>, InputError> {
        let read = |text| parse(text).ok_or_else(|| self.fault(role, expected, AS_IT_IS));
        self.get(role).map(read).transpose()
    }

    fn whole(&self, role: Role) -> Result<Option<u64>, InputError> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        self.read(role, digits, "a whole number")
    }

    fn seconds(&self, role: Role) -> Result<Option<Span>, InputError> {
        let expected = "at most 4294967295 seconds, which are 136 years";
        let in_range =
            |seconds| if seconds <= LONGEST { Ok(seconds) } else { Err(self.fault(role, expected, AS_IT_IS)) };
        Ok(self.whole(role)?.map(in_range).transpose()?.map(Span::from_secs))
    }

    /// Processors by a column of their own, or else among all resources.
    fn processors(&self, plain: Role, resources: Role) -> Result<Option<u32>, InputError> {
        let expected = "a whole number up to 4294967295";
        let (role, digits) = match self.get(plain) {
            Some(text) => (plain, Some(text)),
            None => (resources, self.get(resources).and_then(cpus_of_tres)),
        };
        let number = |text: &str| text.parse().map_err(|_| self.fault(role, expected, AS_IT_IS));
        digits.map(number).transpose()
    }

    /// Seconds since 1970.
    fn instant(&self, role: Role, zone: &Zone, noted: &mut Noted) -> Result<Option<u64>, InputError> {
        let Some(text) = self.get(role) else { return Ok(None) };
        let expected = "a time such as 2026-01-31T08:15:00, seconds since 1970, or Unknown";
        let instant = zone.instant(text).ok_or_else(|| match zone {
            Zone::Unknown if Zone::Fixed(0).instant(text).is_some() => {
                self.fault(role, "a time with its zone, or seconds since 1970", ZONE)
            }
            _ => self.fault(role, expected, TIMES),
        })?;
        if matches!(instant, Instant::Ambiguous(_)) {
            noted.insert(SacctRule::AmbiguousTime);
        }
        let in_range = |seconds| u64::try_from(seconds).ok().filter(|seconds| *seconds <= LONGEST);
        let told = |seconds| in_range(seconds).ok_or_else(|| self.fault(role, "a time from 1970 to 2106", TIMES));
        instant.seconds().map(told).transpose()
    }

    fn name(&self, role: Role) -> Option<Box<str>> {
        self.get(role).map(|text| word(text).into())
    }

    #[cold]
    fn fault(&self, role: Role, expected: &'static str, fix: &'static str) -> InputError {
        let column = self.columns.index(role).map_or(0, usize::from);
        self.lines.field(column, role.name(), expected, self.get(role).unwrap_or_default().as_bytes(), fix)
    }
}
