//! Files of jobs: a row of `jobs.csv`, a line of `schedule.swf`, and on request a row of `evalys.csv`.

use super::sites::Sites;
use crate::options::{begun, stem};
use anyhow::{Context, Result};
use lab::output::OutDir;
use lab::terminal::csv_name;
use lab::units::float;
use serde::{Serialize, Serializer};
use sim_core::{Job, JobId, JobRecord, Span, Time};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::NamedTempFile;
use workload::swf::Status;
use workload::{LogJob, SwfRecord, SwfWriter};

/// Job that has left the system, in the columns of `jobs.csv`; `None` for missing values. `columns.md` defines each field.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "columns.md")]
pub struct Row<'a> {
    pub job: Name<'a>,
    pub submit: Seconds,
    pub start: Option<Seconds>,
    pub finish: Option<Seconds>,
    pub processors: u32,
    pub site: Option<&'a str>,
    pub user: Option<Name<'a>>,
    pub requested: Option<Seconds>,
    pub run: Seconds,
    pub deadline: Option<Seconds>,
    pub state: &'static str,
    pub allocated: Option<Processors<'a>>,
}

impl Row<'_> {
    /// Header of `jobs.csv`: the fields, in their order.
    pub const HEADER: &'static str =
        "job,submit,start,finish,processors,site,user,requested,run,deadline,state,allocated";
}

/// Job or user, with its number in the log, and its name if the log has one.
#[derive(Copy, Clone, Debug)]
#[expect(missing_docs, reason = "the line above")]
pub struct Name<'a> {
    pub number: u64,
    pub name: Option<&'a str>,
}

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.name {
            Some(name) => serializer.serialize_str(&csv_name(name)),
            None => serializer.serialize_u64(self.number),
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
            match count {
                1 => write!(f, "{first}")?,
                _ => write!(f, "{first}-{}", first + (count - 1))?,
            }
        }
        Ok(())
    }
}

impl Serialize for Processors<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Instant in seconds with full precision.
#[derive(Copy, Clone, Debug)]
pub struct Seconds(pub Time);

const fn in_seconds(span: Span) -> Seconds {
    Seconds(Time::from_nanos(span.as_nanos()))
}

impl Seconds {
    /// The number nearest to the digits of `jobs.csv`, parsed from the same digits: a quotient of nanoseconds over years would be rounded
    /// twice.
    pub fn as_f64(self) -> f64 {
        let whole = self.whole().map(float);
        whole.unwrap_or_else(|| self.0.to_string().parse().expect("a number is written as one"))
    }

    /// The number of seconds, if it has no fraction.
    fn whole(self) -> Option<u64> {
        let nanos = self.0.as_nanos();
        nanos.is_multiple_of(1_000_000_000).then_some(nanos / 1_000_000_000)
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Most are whole, and take no text of their own.
        match self.whole() {
            Some(whole) => serializer.serialize_u64(whole),
            None => serializer.collect_str(&self.0),
        }
    }
}

/// Columns that evalys reads (`JobSet.columns` of version 4).
const OF_EVALYS: &str = "job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,\
                         execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources";

/// A job of the log in a simulation.
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
    /// A job that has not left the system; `exceeds_limit` is true if it would have run longer than its limit.
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
            job: Name { number: log.record.number, name: log.record.name.as_deref() },
            submit: Seconds(submit),
            start: record.map(|record| Seconds(record.start)),
            finish: record.map(|record| Seconds(record.finish)),
            processors: record.map_or(request.processors, |record| record.processors),
            site: record.map(|record| sites[record.site.index()].as_str()),
            user: log.record.user.map(|user| Name { number: user.into(), name: log.user_name.as_deref() }),
            requested: log.record.requested_time.map(in_seconds),
            run: in_seconds(runtime),
            deadline: request.deadline.map(Seconds),
            state: self.state().0,
            allocated: record.filter(|_| tells_processors).map(|_| Processors(processors)),
        }
    }

    /// Returns its line of `schedule.swf`.
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
type CsvFile = csv::Writer<File>;

/// The files of a policy's jobs, before they get their names.
#[derive(Default)]
pub(crate) struct Rows {
    /// `jobs.csv`.
    jobs: Option<CsvFile>,
    schedule: Option<Schedule>,
    /// `evalys.csv`, and the name of the log.
    evalys: Option<(CsvFile, String)>,
    /// Names of the places as fields of a table, by number.
    sites: Vec<String>,
    tells_processors: bool,
    /// The first error, reported at the end of the run.
    failed: Option<io::Error>,
}

/// `schedule.swf`.
struct Schedule {
    records: SwfWriter<File>,
    /// Records from the job `next` on, as far as those jobs have left: a log in the format is in the order of submission.
    waiting: VecDeque<Option<SwfRecord>>,
    next: JobId,
}

impl Rows {
    /// Begins the files of one policy in `out`: `jobs.csv`, `schedule.swf` and `evalys.csv`, as far as they are `wanted`, for this log.
    pub(super) fn begin(log: &Path, sites: &Sites, out: &OutDir, wanted: [bool; 3]) -> Result<Self> {
        let [jobs, schedule, evalys] = wanted;
        // The header is written even without jobs.
        let table = |header: &str| {
            let mut file = buffered(out.begin()?);
            writeln!(file, "{header}").context("cannot write a table of jobs")?;
            anyhow::Ok(csv::WriterBuilder::new().has_headers(false).from_writer(file))
        };
        let begin_schedule = || {
            let mut records = SwfWriter::new(buffered(out.begin()?));
            records.comment(&swf_header(log, sites)?).context("cannot write schedule.swf")?;
            anyhow::Ok(Schedule { records, waiting: VecDeque::new(), next: JobId(0) })
        };
        let begin_evalys = || anyhow::Ok((table(OF_EVALYS)?, stem(log)));
        Ok(Self {
            jobs: jobs.then(|| table(Row::HEADER)).transpose()?,
            schedule: schedule.then(begin_schedule).transpose()?,
            evalys: evalys.then(begin_evalys).transpose()?,
            sites: sites.names.iter().map(|name| csv_name(name).into_owned()).collect(),
            tells_processors: tells_processors(sites),
            failed: None,
        })
    }

    /// Returns true if a file lists the processors of jobs.
    pub(super) const fn lists_processors(&self) -> bool {
        self.evalys.is_some() || self.jobs.is_some() && self.tells_processors
    }

    /// Writes a job that has left the system.
    pub(super) fn add(&mut self, job: &SimulatedJob) {
        if let Err(error) = self.write(job) {
            self.failed.get_or_insert(error);
        }
    }

    fn write(&mut self, job: &SimulatedJob) -> io::Result<()> {
        if let Some(table) = &mut self.jobs {
            table.serialize(job.row(&self.sites, self.tells_processors))?;
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
        if let Some(((table, log), record)) = self.evalys.as_mut().zip(job.record) {
            let (wait, ran, response) = (record.wait(), record.finish.since(record.start), record.response());
            table.serialize((
                job.log.record.number,
                log,
                Seconds(record.job.submit),
                record.processors,
                job.log.record.requested_time.map(in_seconds),
                u8::from(!job.exceeds_limit),
                Seconds(record.start),
                in_seconds(ran),
                Seconds(record.finish),
                in_seconds(wait),
                in_seconds(response),
                response.as_secs_f64() / ran.as_secs_f64(),
                Processors(&job.processors).to_string().replace(',', " "),
            ))?;
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
        let inner = |table: CsvFile| table.into_inner().map_err(csv::IntoInnerError::into_error);
        self.jobs.map_or(Ok(()), |table| keep("jobs.csv", inner(table)))?;
        if let Some(Schedule { mut records, waiting, .. }) = self.schedule {
            let rest = waiting.iter().flatten().try_for_each(|record| records.record(record));
            keep("schedule.swf", rest.map(|()| records.into_inner()))?;
        }
        self.evalys.map_or(Ok(()), |(table, _)| keep("evalys.csv", inner(table)))
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

fn buffered(file: NamedTempFile) -> File {
    BufWriter::with_capacity(1 << 16, file)
}
