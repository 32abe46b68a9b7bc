//! Files of jobs: a row of `jobs.csv`, and a line of `schedule.swf`.

use super::sites::Sites;
use crate::label::Label;
use crate::options::begun;
use anyhow::{Context, Result};
use lab::output::OutDir;
use lab::terminal::csv_name;
use sim_core::{Job, JobId, JobRecord, Span, Time};
use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::NamedTempFile;
use workload::swf::Status;
use workload::{LogJob, SwfRecord, SwfWriter};

/// Job that has left the system, in the columns of `jobs.csv`; `None` for missing values. `columns.md` defines each field.
#[derive(Debug)]
#[expect(missing_docs, reason = "columns.md")]
pub struct Row<'a> {
    pub job: Label,
    pub submit: Time,
    pub start: Option<Time>,
    pub finish: Option<Time>,
    pub processors: u32,
    pub site: Option<&'a str>,
    pub user: Option<Label>,
    pub requested: Option<Span>,
    pub run: Span,
    pub deadline: Option<Time>,
    pub state: &'static str,
    pub allocated: Option<Processors<'a>>,
}

impl Row<'_> {
    /// Header of `jobs.csv`: the fields, in their order.
    pub const HEADER: &'static str =
        "job,submit,start,finish,processors,site,user,requested,run,deadline,state,allocated";

    /// Writes its line; `line` is a scratch buffer. Through `csv` and `serde` it took four times the instructions, a tenth of a run.
    pub(super) fn write(&self, table: &mut impl Write, line: &mut String) -> io::Result<()> {
        let Self { job, submit, start, finish, processors, site, user, requested, run, deadline, state, allocated } =
            self;
        let cells: [&dyn Cell; 12] =
            [job, submit, start, finish, processors, site, user, requested, run, deadline, state, allocated];
        line.clear();
        for cell in cells {
            cell.push_to(line);
            line.push(',');
        }
        line.pop();
        line.push('\n');
        table.write_all(line.as_bytes())
    }
}

trait Cell {
    fn push_to(&self, line: &mut String);
}

impl<C: Cell> Cell for Option<C> {
    fn push_to(&self, line: &mut String) {
        self.iter().for_each(|cell| cell.push_to(line));
    }
}

impl Cell for u32 {
    fn push_to(&self, line: &mut String) {
        *line += itoa::Buffer::new().format(*self);
    }
}

impl Cell for &str {
    fn push_to(&self, line: &mut String) {
        if self.contains([',', '"', '\n', '\r']) {
            *line += &format!("\"{}\"", self.replace('"', "\"\""));
        } else {
            *line += self;
        }
    }
}

impl Cell for Label {
    fn push_to(&self, line: &mut String) {
        match self {
            Self::Name(name) => (&*csv_name(name)).push_to(line),
            Self::Number(number) => *line += itoa::Buffer::new().format(*number),
        }
    }
}

/// Processors as blocks of `(first, count)`, written as `0-3,7`.
#[derive(Copy, Clone, Debug)]
pub struct Processors<'a>(pub &'a [(u32, u32)]);

impl fmt::Display for Processors<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, &(first, count)) in self.0.iter().enumerate() {
            f.write_str(if place > 0 { "," } else { "" })?;
            f.write_str(itoa::Buffer::new().format(first))?;
            if count > 1 {
                f.write_str("-")?;
                f.write_str(itoa::Buffer::new().format(first + (count - 1)))?;
            }
        }
        Ok(())
    }
}

impl Cell for Processors<'_> {
    fn push_to(&self, line: &mut String) {
        let quote = if self.0.len() > 1 { "\"" } else { "" };
        write!(line, "{quote}{self}{quote}").expect("a String takes every text");
    }
}

impl Cell for Time {
    fn push_to(&self, line: &mut String) {
        let (whole, rest) = (self.as_nanos() / 1_000_000_000, self.as_nanos() % 1_000_000_000);
        match rest {
            0 => *line += itoa::Buffer::new().format(whole),
            _ => write!(line, "{self}").expect("a String takes every text"),
        }
    }
}

impl Cell for Span {
    fn push_to(&self, line: &mut String) {
        (Time::ZERO + *self).push_to(line);
    }
}

#[derive(Clone, Debug)]
pub(crate) struct SimulatedJob {
    /// Its data in the log; the run time is that at reference speed.
    pub(super) log: LogJob,
    /// True if it would have run longer than its limit.
    exceeds_limit: bool,
    /// `None` if it has not left the system, or was rejected.
    pub(super) record: Option<JobRecord>,
    /// Blocks of `(first, count)` processors, numbered through the places; empty if they are not known.
    pub(super) processors: Box<[(u32, u32)]>,
}

impl SimulatedJob {
    pub(super) fn new(log: LogJob, exceeds_limit: bool) -> Self {
        Self { log, exceeds_limit, record: None, processors: Box::default() }
    }

    /// The job as it ran in the log, on the processors of its simulated run; `None` if the log does not know its wait.
    pub(super) fn logged(&self) -> Option<JobRecord> {
        let (record, wait, runtime) = (self.record?, self.log.record.wait?, self.log.logged_runtime);
        let start = record.job.submit + wait;
        Some(JobRecord { job: Job { runtime, ..record.job }, start, finish: start + runtime, ..record })
    }

    /// Its number among the jobs of the run, in order of submission.
    pub(super) const fn id(&self) -> JobId {
        self.log.job.id
    }

    /// Returns true if it was ended at its limit.
    pub(super) const fn is_cut(&self) -> bool {
        self.record.is_some() && self.exceeds_limit
    }

    /// State in `jobs.csv`, and status in `schedule.swf`.
    const fn state(&self) -> (&'static str, Status) {
        match self.record {
            None => ("rejected", Status::Cancelled),
            Some(_) if self.exceeds_limit => ("cut", Status::Failed),
            Some(_) => ("done", Status::Completed),
        }
    }

    /// Returns its row of `jobs.csv`. `sites` are the names of the places; processors are listed if `tells_processors`.
    pub(super) fn row<'a>(&'a self, sites: &'a [String], tells_processors: bool) -> Row<'a> {
        let Self { log, record, processors, .. } = self;
        let Job { submit, request, runtime, .. } = log.job;
        Row {
            job: Label::of_job(log),
            submit,
            start: record.map(|record| record.start),
            finish: record.map(|record| record.finish),
            processors: record.map_or(request.processors, |record| record.processors),
            site: record.map(|record| sites[record.site.index()].as_str()),
            user: Label::of_user(log),
            requested: log.record.requested_time,
            run: runtime,
            deadline: request.deadline,
            state: self.state().0,
            allocated: record.filter(|_| tells_processors).map(|_| Processors(processors)),
        }
    }

    fn swf(&self, has_sites: bool) -> SwfRecord {
        let (log, record) = (&self.log, self.record);
        let site = record.filter(|_| has_sites).and_then(|record| u32::try_from(record.site.index() + 1).ok());
        SwfRecord {
            submit: Some(log.job.submit.since(Time::ZERO)),
            wait: record.map(|record| record.wait()),
            runtime: record.map(|record| record.finish.since(record.start)),
            allocated_processors: record.map(|record| record.processors),
            requested_processors: Some(log.job.request.processors),
            status: Some(self.state().1),
            partition: site.or(log.record.partition),
            cpu_time: None,
            memory: None,
            preceding_job: None,
            think_time: None,
            further: None,
            ..log.record.clone()
        }
    }
}

/// Number of processors above which `jobs.csv` does not list the processors of jobs: the lists would be most of the file.
pub(super) const LISTED: u32 = 10_000;

/// Returns true if `jobs.csv` lists processors; it does not if tasks share them.
pub(super) fn tells_processors(sites: &Sites) -> bool {
    sites.shared.is_none() && sites.processors() <= LISTED
}

type File = BufWriter<NamedTempFile>;

const BUFFER: usize = 1 << 16;

/// The files of a policy's jobs, before they get their names.
#[derive(Default)]
pub(crate) struct Rows {
    jobs: Option<File>,
    schedule: Option<Schedule>,
    /// Names of the places as fields of a table, by number.
    sites: Vec<String>,
    tells_processors: bool,
    line: String,
    /// The first error, reported at the end of the run.
    failed: Option<io::Error>,
}

struct Schedule {
    records: SwfWriter<File>,
    /// Records from the job `next` on, as far as those jobs have left: a log in the format is in the order of submission.
    waiting: VecDeque<Option<SwfRecord>>,
    next: JobId,
}

impl Rows {
    /// Begins the files of one policy in `out`: `jobs.csv` and `schedule.swf`, as far as they are `wanted`, for this log.
    pub(super) fn begin(log: &Path, sites: &Sites, out: &OutDir, wanted: [bool; 2]) -> Result<Self> {
        let [jobs, schedule] = wanted;
        // The header is written even without jobs.
        let begin_jobs = || {
            let mut file = BufWriter::with_capacity(BUFFER, out.begin()?);
            writeln!(file, "{}", Row::HEADER).context("cannot write jobs.csv")?;
            anyhow::Ok(file)
        };
        let begin_schedule = || {
            let mut records = SwfWriter::new(BufWriter::with_capacity(BUFFER, out.begin()?));
            records.comment(&swf_header(log, sites)?).context("cannot write schedule.swf")?;
            anyhow::Ok(Schedule { records, waiting: VecDeque::new(), next: JobId(0) })
        };
        Ok(Self {
            jobs: jobs.then(begin_jobs).transpose()?,
            schedule: schedule.then(begin_schedule).transpose()?,
            sites: sites.names.iter().map(|name| csv_name(name).into_owned()).collect(),
            tells_processors: tells_processors(sites),
            ..Self::default()
        })
    }

    pub(super) const fn lists_processors(&self) -> bool {
        self.jobs.is_some() && self.tells_processors
    }

    /// Writes a job that has left the system.
    pub(super) fn add(&mut self, job: &SimulatedJob) {
        if let Err(error) = self.write(job) {
            self.failed.get_or_insert(error);
        }
    }

    fn write(&mut self, job: &SimulatedJob) -> io::Result<()> {
        if let Some(table) = &mut self.jobs {
            job.row(&self.sites, self.tells_processors).write(table, &mut self.line)?;
        }
        if let Some(Schedule { records, waiting, next }) = &mut self.schedule {
            let place = (job.id().0 - next.0) as usize;
            waiting.resize(waiting.len().max(place + 1), None);
            waiting[place] = Some(job.swf(self.sites.len() > 1));
            while let Some(Some(record)) = waiting.pop_front_if(|record| record.is_some()) {
                next.0 += 1;
                records.record(&record)?;
            }
        }
        Ok(())
    }

    /// Completes the files, below the folder `policy`.
    pub(super) fn keep(self, policy: &str, out: &OutDir) -> Result<()> {
        self.failed.map_or(Ok(()), Err).context("cannot write what became of jobs")?;
        let keep = |name: &str, file: io::Result<File>| {
            let file = file.and_then(|file| file.into_inner().map_err(io::IntoInnerError::into_error));
            out.keep(file.with_context(|| format!("cannot write {name}"))?, Path::new(policy).join(name))
        };
        self.jobs.map_or(Ok(()), |table| keep("jobs.csv", Ok(table)))?;
        self.schedule.map_or(Ok(()), |Schedule { mut records, waiting, .. }| {
            let rest = waiting.iter().flatten().try_for_each(|record| records.record(record));
            keep("schedule.swf", rest.map(|()| records.into_inner()))
        })
    }
}

/// Comments at the head of `schedule.swf`: the fields that readers of the format need. Times count from the first submit.
fn swf_header(trace: &Path, sites: &Sites) -> Result<String> {
    let intake = begun(trace)?;
    let origin = intake.origin().unwrap_or_default();
    let header = intake.reader().header();
    let mut text = "Version: 2.2\n".to_owned();
    for key in ["Computer", "Installation", "TimeZone", "TimeZoneString"] {
        if let Some(value) = header.get(key) {
            let value = value.lines().next().unwrap_or_default();
            text += &format!("{key}: {}\n", csv_name(value));
        }
    }
    if let Some(start) = header.unix_start_time {
        text += &format!("UnixStartTime: {}\n", start + origin.as_nanos() / 1_000_000_000);
    }
    text += &format!("MaxProcs: {}\n", sites.processors());
    text +=
        "Note: a simulated schedule; status 1 ran to its end, 0 was cut at its limit, 5 was rejected and never ran\n";
    for (number, name) in (1..).zip(&sites.names).filter(|_| sites.names.len() > 1) {
        text += &format!("Partition: {number} {}\n", csv_name(name));
    }
    Ok(text)
}
