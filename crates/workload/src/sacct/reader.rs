//! Streaming reader: one job at a time.

use super::columns::{CellRole, SacctColumns, WITH_GPUS};
use super::job::{ReqMem, SacctState, cpus_of_tres, has_gpu, word};
use super::time::{Instant, Zone, length};
use super::{SacctRepairs, SacctRule};
use crate::error::InputError;
use crate::gwf::{self, GwfRecord};
use crate::lines::{LOG, Lines};
use crate::swf::decimal::LONGEST;
use crate::swf::{Status, SwfRecord};
use sim_core::Span;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// Reads the finished jobs in the output of `sacct --parsable2`, in the order of the file. Submit times are seconds
/// since 1970. Memory follows the longest line, not the length of the file.
///
/// A job's number is `JobIDRaw`, which is distinct for an array's tasks; without that column, jobs are numbered from
/// one. Its name is `JobID`, if it differs. The wait is `Start` − `Submit`, the run time `ElapsedRaw` or `Elapsed`
/// (without times of suspension) or else `End` − `Start`; group, queue, partition and project are `Group` (or else
/// `Account`), `QOS`, `Partition` and `Account`.
///
/// A faulty line is an error, after which the reader continues with the next line. It ends after an error that leaves
/// no next line (unreadable, truncated, not text).
#[derive(Debug)]
pub struct SacctReader {
    lines: Lines,
    columns: SacctColumns,
    zone: Zone,
    repairs: SacctRepairs,
    /// Number of jobs read.
    counted: u64,
    eligible: Option<u64>,
}

impl SacctReader {
    /// Opens the file at `path`, plain or gzip (recognized by its first bytes, not by its name), and reads its heading.
    /// Times without a zone are those of `zone`.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or its first line does not name the columns that are needed.
    pub fn open(path: &Path, zone: Zone) -> Result<Self, InputError> {
        Self::start(Lines::open(path, LOG)?, zone)
    }

    /// Reads from any reader, plain or gzip; `name` stands for the file's path in errors.
    pub fn from_read(name: &str, input: impl Read + Send + 'static, zone: Zone) -> Result<Self, InputError> {
        Self::start(Lines::from_read(name, input, LOG)?, zone)
    }

    /// Skipped lines and repairs so far.
    pub const fn repairs(&self) -> &SacctRepairs {
        &self.repairs
    }

    /// Zone of times without one.
    pub(crate) const fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Returns true if jobs have Slurm's own numbers; otherwise they are numbered from 1.
    pub(crate) const fn has_numbers(&self) -> bool {
        self.columns.index(CellRole::JobIdRaw).is_some()
    }

    /// Returns true if a column lists GPUs.
    pub(crate) fn has_gpus(&self) -> bool {
        WITH_GPUS.into_iter().any(|role| self.columns.index(role).is_some())
    }

    /// Number of the last line read, counted from 1.
    pub const fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Returns the cell of the line that was read last in the column of that name; `None` if there is no such column.
    pub fn cell(&self, column: &str) -> Option<&str> {
        let at = self.columns.named(column)?;
        std::str::from_utf8(self.lines.current()).ok()?.trim_end().split('|').nth(at).map(str::trim)
    }

    /// Returns the time at which the job that was read last became eligible, in seconds since 1970.
    pub const fn eligible(&self) -> Option<u64> {
        self.eligible
    }

    /// Counts one application of `rule`, at a line that may have been read long ago.
    pub(crate) fn note(&mut self, rule: SacctRule, line: u64) {
        self.repairs.note(rule, Some(line));
    }

    fn start(mut lines: Lines, zone: Zone) -> Result<Self, InputError> {
        let Some(read) = lines.step_to_content(b"") else {
            return Err(InputError::no_record(lines.path(), "it is empty; check that sacct found jobs"));
        };
        read?;
        let columns = SacctColumns::of_heading(&mut lines)?;
        Ok(Self { lines, columns, zone, repairs: SacctRepairs::default(), counted: 0, eligible: None })
    }

    /// Parses the current line as a job; `None` if it is skipped.
    fn record(&mut self) -> Result<Option<GwfRecord>, InputError> {
        let Ok(text) = std::str::from_utf8(self.lines.current()) else { return Err(self.lines.no_text()) };
        let values: Vec<&str> = text.trim_end_matches(['\n', '\r']).split('|').map(str::trim).collect();
        if values.len() != self.columns.count() {
            let (expected, found) = (self.columns.count(), values.len());
            return Err(self.lines.fault(format!(
                "expected {expected} columns separated by |, as the heading has, found {found}; run sacct with --parsable2 and \
                 leave out columns of free text, such as JobName and Comment"
            )));
        }
        let (columns, lines, zone) = (&self.columns, &self.lines, &self.zone);
        let mut line = SacctLine { values, columns, lines, zone, rules: BTreeSet::new() };
        let read = line.job(self.counted + 1)?;
        self.eligible = if read.is_some() { line.instant(CellRole::Eligible)? } else { None };
        line.rules.into_iter().for_each(|rule| self.repairs.note(rule, Some(self.lines.number())));
        self.counted += u64::from(read.is_some());
        Ok(read)
    }
}

impl Iterator for SacctReader {
    type Item = Result<GwfRecord, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Err(error) = self.lines.step_to_content(b"")? {
                return Some(Err(error));
            }
            if let Some(read) = self.record().transpose() {
                return Some(read);
            }
        }
    }
}

/// One line.
struct SacctLine<'a> {
    values: Vec<&'a str>,
    columns: &'a SacctColumns,
    lines: &'a Lines,
    zone: &'a Zone,
    /// Rules applied to the line.
    rules: BTreeSet<SacctRule>,
}

const TIMES: &str = "run sacct with SLURM_TIME_FORMAT=%s, or leave that variable unset";
const ZONE: &str = "give the time zone with --zone, as in --zone Europe/Berlin or --zone UTC; or run sacct with \
                    SLURM_TIME_FORMAT=%s";
const AS_IT_IS: &str = "give the output of sacct --parsable2 as it is";

impl<'a> SacctLine<'a> {
    /// Returns the job; `None` if the line is skipped. `count` is its number if no column has one.
    fn job(&mut self, count: u64) -> Result<Option<GwfRecord>, InputError> {
        // Steps first: they have no user, and their other columns need no check.
        let ids = [CellRole::JobIdRaw, CellRole::JobId];
        let is_step = ids.into_iter().filter_map(|role| self.get(role)).any(|id| id.contains('.'));
        let state = SacctState::parse(self.get(CellRole::State).unwrap_or_default());
        let left_out = match state {
            _ if is_step => Some(SacctRule::Step),
            SacctState::Unfinished => Some(SacctRule::Unfinished),
            SacctState::Revoked => Some(SacctRule::Revoked),
            SacctState::Ended(_) | SacctState::Other => None,
        };
        if let Some(rule) = left_out {
            self.rules.insert(rule);
            return Ok(None);
        }
        let number = match self.get(CellRole::JobIdRaw) {
            Some(_) => {
                self.whole(CellRole::JobIdRaw)?.ok_or_else(|| self.fault(CellRole::JobIdRaw, "a number", AS_IT_IS))?
            }
            None => count,
        };
        let Some(submit) = self.instant(CellRole::Submit)? else {
            self.rules.insert(SacctRule::NoSubmit);
            return Ok(None);
        };
        let status = if let SacctState::Ended(status) = state { Some(status) } else { None };
        let (allocated, requested) = (
            self.processors(CellRole::AllocCpus, CellRole::AllocTres)?,
            self.processors(CellRole::ReqCpus, CellRole::ReqTres)?,
        );
        let nodes = self.processors(CellRole::Nodes, CellRole::Nodes)?;
        let memory = self.read(CellRole::ReqMem, ReqMem::parse, "memory such as 4000Mn, 2Gc or 16G")?;
        let (group, account) = (self.name(CellRole::Group), self.name(CellRole::Account));
        let id = self.get(CellRole::JobId).unwrap_or_default();
        let has_gpus = WITH_GPUS.into_iter().filter_map(|role| self.get(role)).any(has_gpu);
        self.note_if(status.is_none(), SacctRule::UnknownState);
        self.note_if(has_gpus, SacctRule::Gpus);
        self.note_if(id.contains('+'), SacctRule::HetComponent);
        self.note_if(id.contains('['), SacctRule::ArrayRange);
        let mut job = SwfRecord {
            submit: Some(Span::from_secs(submit)),
            requested_processors: requested.or(allocated),
            requested_time: self.limit()?,
            requested_memory: memory.and_then(|memory| memory.per_processor(requested.or(allocated), nodes)),
            status,
            name: Some(id).filter(|id| !id.is_empty() && *id != number.to_string()).map(|id| word(id).into()),
            ..SwfRecord::numbered(number)
        };
        match self.instant(CellRole::Start)? {
            Some(start) if allocated != Some(0) => {
                self.note_if(start < submit, SacctRule::StartBeforeSubmit);
                job.wait = Some(Span::from_secs(start.saturating_sub(submit)));
                job.runtime = self.runtime(start)?;
            }
            _ if status == Some(Status::Cancelled) => self.note_if(true, SacctRule::CancelledBeforeStart),
            _ => self.note_if(true, SacctRule::NeverStarted),
        }
        if job.runtime.is_some() {
            job.allocated_processors = allocated;
            let total = self.read(CellRole::TotalCpu, length, "a time such as 1-02:03:04 or 03:04.500")?;
            job.cpu_time = total
                .zip(allocated)
                .map(|(total, processors)| Span::from_nanos(total.as_nanos() / u64::from(processors)));
        }
        let mut record = GwfRecord { job, ..GwfRecord::default() };
        record.texts[gwf::USER] = self.name(CellRole::User);
        record.texts[gwf::GROUP] = group.clone().or_else(|| account.clone());
        record.texts[gwf::QUEUE] = self.name(CellRole::Qos);
        record.texts[gwf::PARTITION] = self.name(CellRole::Partition);
        // If both are given, the account has a column of its own in logs of grids.
        record.texts[gwf::PROJECT] = account.filter(|_| group.is_some());
        Ok(Some(record))
    }

    fn note_if(&mut self, applies: bool, rule: SacctRule) {
        self.rules.extend(applies.then_some(rule));
    }

    /// Returns the run time of a job that started at `start`.
    fn runtime(&mut self, start: u64) -> Result<Option<Span>, InputError> {
        let end = self.instant(CellRole::End)?;
        let elapsed = match self.seconds(CellRole::ElapsedRaw)? {
            Some(seconds) => Some(seconds),
            None => self.read(CellRole::Elapsed, length, "a time such as 1-02:03:04 or 00:03:04")?,
        };
        let between = end.and_then(|end| end.checked_sub(start)).map(Span::from_secs);
        self.note_if(elapsed.is_some() && end.is_some() && elapsed != between, SacctRule::ElapsedDiffers);
        self.note_if(elapsed.is_none() && end.is_some() && between.is_none(), SacctRule::EndBeforeStart);
        Ok(elapsed.or(between))
    }

    /// Returns the requested time.
    fn limit(&mut self) -> Result<Option<Span>, InputError> {
        let roles = [CellRole::TimelimitRaw, CellRole::Timelimit];
        let Some((role, text)) = roles.into_iter().find_map(|role| Some((role, self.get(role)?))) else {
            self.note_if(roles.into_iter().any(|role| self.columns.index(role).is_some()), SacctRule::NoLimit);
            return Ok(None);
        };
        match text {
            "UNLIMITED" | "INVALID" => self.note_if(true, SacctRule::NoLimit),
            "Partition_Limit" => self.note_if(true, SacctRule::PartitionLimit),
            _ if role == CellRole::Timelimit => {
                return self.read(role, length, "a time such as 1-00:00:00, UNLIMITED or Partition_Limit");
            }
            _ => {
                let minutes = self.whole(role)?.unwrap_or(0);
                let fault = || self.fault(role, "minutes, UNLIMITED or Partition_Limit", AS_IT_IS);
                let seconds = minutes.checked_mul(60).filter(|seconds| *seconds <= LONGEST).ok_or_else(fault)?;
                return Ok(Some(Span::from_secs(seconds)));
            }
        }
        Ok(None)
    }

    /// Returns the value in the column of `role`; `None` if there is no such column, or it is empty.
    fn get(&self, role: CellRole) -> Option<&'a str> {
        let column = usize::from(self.columns.index(role)?);
        Some(self.values[column]).filter(|text| !text.is_empty())
    }

    fn read<T>(
        &self,
        role: CellRole,
        parse: impl Fn(&str) -> Option<T>,
        expected: &'static str,
    ) -> Result<Option<T>, InputError> {
        let read = |text| parse(text).ok_or_else(|| self.fault(role, expected, AS_IT_IS));
        self.get(role).map(read).transpose()
    }

    fn whole(&self, role: CellRole) -> Result<Option<u64>, InputError> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        self.read(role, digits, "a whole number")
    }

    fn seconds(&self, role: CellRole) -> Result<Option<Span>, InputError> {
        let expected = "at most 4294967295 seconds, which are 136 years";
        let in_range =
            |seconds| if seconds <= LONGEST { Ok(seconds) } else { Err(self.fault(role, expected, AS_IT_IS)) };
        Ok(self.whole(role)?.map(in_range).transpose()?.map(Span::from_secs))
    }

    /// Returns the number of processors from a column of their own, or else from the list of all resources.
    fn processors(&self, plain: CellRole, resources: CellRole) -> Result<Option<u32>, InputError> {
        let expected = "a whole number up to 4294967295";
        let (role, digits) = match self.get(plain) {
            Some(text) => (plain, Some(text)),
            None => (resources, self.get(resources).and_then(cpus_of_tres)),
        };
        let number = |text: &str| text.parse().map_err(|_| self.fault(role, expected, AS_IT_IS));
        digits.map(number).transpose()
    }

    /// Returns seconds since 1970.
    fn instant(&mut self, role: CellRole) -> Result<Option<u64>, InputError> {
        let Some(text) = self.get(role) else { return Ok(None) };
        let expected = "a time such as 2026-01-31T08:15:00, seconds since 1970, or Unknown";
        let instant = self.zone.instant(text).ok_or_else(|| match self.zone {
            Zone::Unknown if Zone::Fixed(0).instant(text).is_some() => {
                self.fault(role, "a time with its zone, or seconds since 1970", ZONE)
            }
            _ => self.fault(role, expected, TIMES),
        })?;
        self.note_if(matches!(instant, Instant::Ambiguous(_)), SacctRule::AmbiguousTime);
        let in_range = |seconds| u64::try_from(seconds).ok().filter(|seconds| *seconds <= LONGEST);
        let checked = |seconds| in_range(seconds).ok_or_else(|| self.fault(role, "a time from 1970 to 2106", TIMES));
        instant.seconds().map(checked).transpose()
    }

    fn name(&self, role: CellRole) -> Option<Box<str>> {
        self.get(role).map(|text| word(text).into())
    }

    #[cold]
    fn fault(&self, role: CellRole, expected: &'static str, fix: &'static str) -> InputError {
        let column = self.columns.index(role).map_or(0, usize::from);
        self.lines.field(column, role.name(), expected, self.get(role).unwrap_or_default().as_bytes(), fix)
    }
}
