//! Streaming reader: one job at a time.

use super::SacctRule;
use super::job::{self, cpus_of_tres, has_gpu};
use super::time::{Zone, length, whole};
use crate::error::{InputError, shown};
use crate::format::file;
use crate::format::lines::{LOG, Lines};
use crate::format::repair::Repairs;
use crate::format::swf::decimal::LONGEST;
use crate::format::swf::{Status, SwfRecord, one_word};
use sim_core::Span;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// Other names of columns that are read, used if the first one is not there.
const ALIASES: [(&str, &str); 5] =
    [("User", "UID"), ("Group", "GID"), ("QOS", "QOSRAW"), ("AllocCPUS", "NCPUS"), ("NNodes", "AllocNodes")];

/// Columns that are needed, one of each group.
const NEEDED: [&[&str]; 6] = [
    &["JobIDRaw", "JobID"],
    &["Submit"],
    &["Start"],
    &["ElapsedRaw", "Elapsed", "End"],
    &["AllocCPUS", "AllocTRES", "ReqCPUS", "ReqTRES"],
    &["State"],
];

pub(crate) const WITH_GPUS: [&str; 4] = ["AllocTRES", "ReqTRES", "AllocGRES", "ReqGRES"];

/// Job of a cluster: its record, without the names that become numbers in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SacctJob {
    /// Columns of a log other than user, group, queue and partition.
    pub record: SwfRecord,
    /// Names of the user, the group, the queue and the partition.
    pub(crate) names: [Option<Box<str>>; 4],
    /// True if the job has an account beside its group, for which a log has no column.
    pub(crate) has_project: bool,
}

/// Reads the finished jobs in the output of `sacct --parsable2`, in the order of the file. Submit times are seconds
/// since 1970. Memory follows the longest line, not the length of the file.
///
/// A job's number is `JobIDRaw`, which is distinct for an array's tasks; without that column, jobs are numbered from
/// one. Its name is `JobID`, if it differs. The wait is `Start` − `Submit`, the run time `ElapsedRaw` or `Elapsed`
/// (without times of suspension) or else `End` − `Start`; group, queue and partition are `Group` (or else `Account`),
/// `QOS` and `Partition`.
///
/// A faulty line is an error, after which the reader continues with the next line. It ends after an error that leaves
/// no next line (unreadable, truncated, not text).
#[derive(Debug)]
pub struct SacctReader {
    lines: Lines,
    columns: Vec<Box<str>>,
    /// Zone of times without one.
    pub(crate) zone: Zone,
    /// Skipped lines and repairs so far.
    pub repairs: Repairs<SacctRule>,
    /// Number of jobs read.
    counted: u64,
    /// Time at which the job that was read last became eligible, in seconds since 1970.
    pub eligible: Option<u64>,
}

impl SacctReader {
    /// Opens the file at `path`, plain or gzip (recognized by its first bytes, not by its name), and reads its heading.
    /// Times without a zone are those of `zone`.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or its first line does not name the columns that are needed.
    pub fn open(path: &Path, zone: Zone) -> Result<Self, InputError> {
        Self::from_read(path, file::open(path)?, zone)
    }

    /// Reads from any reader, plain or gzip; `name` stands for the file's path in errors.
    pub fn from_read(
        name: impl AsRef<Path>,
        input: impl Read + Send + 'static,
        zone: Zone,
    ) -> Result<Self, InputError> {
        let mut lines = Lines::new(name, input, LOG)?;
        if lines.step_to_content(b"").transpose()?.is_none() {
            return Err(InputError::no_record(&lines.path, "it is empty; check that sacct found jobs"));
        }
        let Ok(text) = std::str::from_utf8(&lines.line) else { return Err(lines.no_text()) };
        let columns = text.trim().split('|').map(|name| name.trim().into()).collect();
        let reader = Self { lines, columns, zone, repairs: Repairs::default(), counted: 0, eligible: None };
        let Some(missing) = NEEDED.iter().find(|names| !names.iter().any(|name| reader.has(name))) else {
            return Ok(reader);
        };
        Err(reader.lines.fault(format!(
            "expected the names of the columns of sacct --parsable2, separated by |, and among them {}; found {:?}; run \
             sacct without --noheader, with the --format that `workload convert --help` shows",
            missing.join(" or "),
            shown(reader.lines.line.trim_ascii())
        )))
    }

    pub(crate) fn has(&self, column: &str) -> bool {
        self.column(column).is_some()
    }

    /// Position of a column, in the heading, by its name or its other one.
    fn column(&self, name: &str) -> Option<usize> {
        let find = |name: &str| self.columns.iter().position(|own| own.eq_ignore_ascii_case(name));
        find(name).or_else(|| find(ALIASES.iter().find(|(first, _)| *first == name)?.1))
    }

    /// Number of the last line read, counted from 1.
    pub const fn line(&self) -> u64 {
        self.lines.number
    }

    /// Returns the cell of the line that was read last in the column of that name; `None` if there is no such column.
    pub fn cell(&self, column: &str) -> Option<&str> {
        let at = self.columns.iter().position(|own| own.eq_ignore_ascii_case(column))?;
        std::str::from_utf8(&self.lines.line).ok()?.trim_end().split('|').nth(at).map(str::trim)
    }

    /// Parses the current line as a job; `None` if it is skipped.
    fn record(&mut self) -> Result<Option<SacctJob>, InputError> {
        let Ok(text) = std::str::from_utf8(&self.lines.line) else { return Err(self.lines.no_text()) };
        let values: Vec<&str> = text.trim_end_matches(['\n', '\r']).split('|').map(str::trim).collect();
        if values.len() != self.columns.len() {
            let (expected, found) = (self.columns.len(), values.len());
            return Err(self.lines.fault(format!(
                "expected {expected} columns separated by |, as the heading has, found {found}; run sacct with --parsable2 and \
                 leave out columns of free text, such as JobName and Comment"
            )));
        }
        let mut line = SacctLine { values, reader: self, rules: BTreeSet::new() };
        let read = line.job()?;
        let eligible = if read.is_some() { line.instant("Eligible")? } else { None };
        for rule in line.rules {
            self.repairs.note(rule, Some(self.lines.number));
        }
        self.eligible = eligible;
        self.counted += u64::from(read.is_some());
        Ok(read)
    }
}

impl Iterator for SacctReader {
    type Item = Result<SacctJob, InputError>;

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

struct SacctLine<'a> {
    values: Vec<&'a str>,
    reader: &'a SacctReader,
    rules: BTreeSet<SacctRule>,
}

const TIMES: &str = "run sacct with SLURM_TIME_FORMAT=%s, or leave that variable unset";
const ZONE: &str = "give the time zone with --zone, as in --zone Europe/Berlin or --zone UTC; or run sacct with \
                    SLURM_TIME_FORMAT=%s";
const AS_IT_IS: &str = "give the output of sacct --parsable2 as it is";

impl<'a> SacctLine<'a> {
    /// Returns the job; `None` if the line is skipped.
    fn job(&mut self) -> Result<Option<SacctJob>, InputError> {
        // Steps first: they have no user, and their other columns need no check.
        let ids = ["JobIDRaw", "JobID"];
        let is_step = ids.into_iter().filter_map(|column| self.get(column)).any(|id| id.contains('.'));
        let state = if is_step { Err(SacctRule::Step) } else { job::state(self.get("State").unwrap_or_default()) };
        let status = match state {
            Ok(status) => status,
            Err(rule) => return self.left_out(rule),
        };
        let number = self.whole("JobIDRaw")?.unwrap_or(self.reader.counted + 1);
        let Some(submit) = self.instant("Submit")? else { return self.left_out(SacctRule::NoSubmit) };
        let (allocated, requested) =
            (self.processors("AllocCPUS", "AllocTRES")?, self.processors("ReqCPUS", "ReqTRES")?);
        let nodes = self.processors("NNodes", "NNodes")?;
        let memory = |text: &str| job::memory(text, requested.or(allocated), nodes);
        let memory = self.read("ReqMem", memory, "memory such as 4000Mn, 2Gc or 16G")?;
        let (group, account) = (self.name("Group"), self.name("Account"));
        let id = self.get("JobID").unwrap_or_default();
        let has_gpus = WITH_GPUS.into_iter().filter_map(|column| self.get(column)).any(has_gpu);
        self.note_if(status.is_none(), SacctRule::UnknownState);
        self.note_if(has_gpus, SacctRule::Gpus);
        self.note_if(id.contains('+'), SacctRule::HetComponent);
        self.note_if(id.contains('['), SacctRule::ArrayRange);
        let mut record = SwfRecord {
            number,
            submit: Some(Span::from_secs(submit)),
            requested_processors: requested.or(allocated),
            requested_time: self.limit()?,
            requested_memory: memory.flatten(),
            status,
            name: Some(id).filter(|id| !id.is_empty() && *id != number.to_string()).map(|id| one_word(id).into()),
            ..SwfRecord::default()
        };
        match self.instant("Start")? {
            Some(start) if allocated != Some(0) => {
                self.note_if(start < submit, SacctRule::StartBeforeSubmit);
                record.wait = Some(Span::from_secs(start.saturating_sub(submit)));
                record.runtime = self.runtime(start)?;
            }
            _ if status == Some(Status::Cancelled) => self.note_if(true, SacctRule::CancelledBeforeStart),
            _ => self.note_if(true, SacctRule::NeverStarted),
        }
        if record.runtime.is_some() {
            record.allocated_processors = allocated;
            let total = self.read("TotalCPU", length, "a time such as 1-02:03:04 or 03:04.500")?;
            record.cpu_time = total
                .zip(allocated)
                .map(|(total, processors)| Span::from_nanos(total.as_nanos() / u64::from(processors)));
        }
        let has_project = group.is_some() && account.is_some();
        let names = [self.name("User"), group.or(account), self.name("QOS"), self.name("Partition")];
        Ok(Some(SacctJob { record, names, has_project }))
    }

    fn left_out(&mut self, rule: SacctRule) -> Result<Option<SacctJob>, InputError> {
        self.rules.insert(rule);
        Ok(None)
    }

    fn note_if(&mut self, applies: bool, rule: SacctRule) {
        self.rules.extend(applies.then_some(rule));
    }

    fn runtime(&mut self, start: u64) -> Result<Option<Span>, InputError> {
        let end = self.instant("End")?;
        let elapsed = match self.whole("ElapsedRaw")? {
            Some(seconds) if seconds > LONGEST => {
                return Err(self.fault("ElapsedRaw", "at most 4294967295 seconds, which are 136 years", AS_IT_IS));
            }
            Some(seconds) => Some(Span::from_secs(seconds)),
            None => self.read("Elapsed", length, "a time such as 1-02:03:04 or 00:03:04")?,
        };
        let between = end.and_then(|end| end.checked_sub(start)).map(Span::from_secs);
        self.note_if(elapsed.is_some() && end.is_some() && elapsed != between, SacctRule::ElapsedDiffers);
        self.note_if(elapsed.is_none() && end.is_some() && between.is_none(), SacctRule::EndBeforeStart);
        Ok(elapsed.or(between))
    }

    fn limit(&mut self) -> Result<Option<Span>, InputError> {
        let limits = ["TimelimitRaw", "Timelimit"];
        match limits.into_iter().find_map(|column| Some((column, self.get(column)?))) {
            None => self.note_if(limits.into_iter().any(|column| self.reader.has(column)), SacctRule::NoLimit),
            Some((_, "UNLIMITED" | "INVALID")) => self.note_if(true, SacctRule::NoLimit),
            Some((_, "Partition_Limit")) => self.note_if(true, SacctRule::PartitionLimit),
            Some((column @ "Timelimit", _)) => {
                return self.read(column, length, "a time such as 1-00:00:00, UNLIMITED or Partition_Limit");
            }
            Some((column, _)) => {
                let seconds = self.whole(column)?.and_then(|minutes| minutes.checked_mul(60));
                let limit = seconds.filter(|seconds| *seconds <= LONGEST).map(Span::from_secs);
                let fault = || self.fault(column, "minutes, UNLIMITED or Partition_Limit", AS_IT_IS);
                return limit.map(Some).ok_or_else(fault);
            }
        }
        Ok(None)
    }

    /// Returns the value in that column; `None` if there is no such column, or it is empty.
    fn get(&self, column: &str) -> Option<&'a str> {
        Some(self.values[self.reader.column(column)?]).filter(|text| !text.is_empty())
    }

    fn read<T>(
        &self,
        column: &str,
        parse: impl Fn(&str) -> Option<T>,
        expected: &'static str,
    ) -> Result<Option<T>, InputError> {
        let read = |text| parse(text).ok_or_else(|| self.fault(column, expected, AS_IT_IS));
        self.get(column).map(read).transpose()
    }

    fn whole(&self, column: &str) -> Result<Option<u64>, InputError> {
        self.read(column, whole, "a whole number")
    }

    /// Returns the number of processors from a column of their own, or else from the list of all resources.
    fn processors(&self, plain: &str, resources: &str) -> Result<Option<u32>, InputError> {
        let expected = "a whole number up to 4294967295";
        let (column, digits) = match self.get(plain) {
            Some(text) => (plain, Some(text)),
            None => (resources, self.get(resources).and_then(cpus_of_tres)),
        };
        let number = |text: &str| text.parse().map_err(|_| self.fault(column, expected, AS_IT_IS));
        digits.map(number).transpose()
    }

    /// Returns seconds since 1970.
    fn instant(&mut self, column: &str) -> Result<Option<u64>, InputError> {
        let Some(text) = self.get(column) else { return Ok(None) };
        let expected = "a time such as 2026-01-31T08:15:00, seconds since 1970, or Unknown";
        let zone = &self.reader.zone;
        let instant = zone.instant(text).ok_or_else(|| match Zone::utc().instant(text) {
            Some(_) => self.fault(column, "a time with its zone, or seconds since 1970", ZONE),
            None => self.fault(column, expected, TIMES),
        })?;
        let Some((seconds, is_ambiguous)) = instant else { return Ok(None) };
        self.note_if(is_ambiguous, SacctRule::AmbiguousTime);
        let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds <= LONGEST);
        seconds.map(Some).ok_or_else(|| self.fault(column, "a time from 1970 to 2106", TIMES))
    }

    fn name(&self, column: &str) -> Option<Box<str>> {
        self.get(column).map(|text| one_word(text).into())
    }

    #[cold]
    fn fault(&self, column: &str, expected: &'static str, fix: &'static str) -> InputError {
        let at = self.reader.column(column).unwrap_or_default();
        self.reader.lines.field(at, column, expected, self.get(column).unwrap_or_default().as_bytes(), fix)
    }
}
