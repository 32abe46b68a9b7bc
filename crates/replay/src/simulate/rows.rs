//! Files of jobs: a row of `jobs.csv`, a line of `schedule.swf`, and on request a row of `evalys.csv`.

use super::row::{Name, Processors, Row, Seconds, in_seconds, listed};
use super::sites::Sites;
use crate::label::Label;
use anyhow::{Context, Result};
use lab::output::OutDir;
use lab::terminal::csv_name;
use sim_core::{Job, JobId, JobRecord, Span, Time};
use std::collections::BTreeMap;
use std::io::{self, BufWriter};
use std::path::Path;
use tempfile::NamedTempFile;
use workload::swf::Status;
use workload::{LogJob, SwfRecord, SwfWriter};

/// Columns that evalys reads (`JobSet.columns` of version 4).
const OF_EVALYS: [&str; 13] = [
    "job_id",
    "workload_name",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
];

/// Data of a job from the log that a simulation does not have.
#[derive(Clone, Debug)]
pub(super) struct FromLog {
    pub(super) label: Label,
    job: Job,
    pub(super) user: Option<Label>,
    pub(super) requested: Option<Span>,
    /// Run time at reference speed.
    run: Span,
    /// True if it would have run longer than its limit.
    is_cut: bool,
    pub(super) group: Option<u32>,
    executable: Option<u32>,
    queue: Option<u32>,
    pub(super) partition: Option<u32>,
    requested_memory: Option<u64>,
    /// Wait and run time in the log, if it knows the wait.
    logged: Option<[Span; 2]>,
}

impl FromLog {
    /// The job as it ran in the log, on the processors of a simulated run.
    pub(super) fn logged(&self, record: &JobRecord) -> Option<JobRecord> {
        let [wait, runtime] = self.logged?;
        let start = record.job.submit + wait;
        Some(JobRecord { job: Job { runtime, ..record.job }, start, finish: start + runtime, ..*record })
    }

    /// A job of which only the number is known.
    pub(super) fn numbered(job: Job, number: u64) -> Self {
        let (requested, group, executable, queue, partition, requested_memory, logged) = Default::default();
        let (run, is_cut, label, user) = (job.runtime, false, number.into(), None);
        Self { label, job, user, requested, run, is_cut, group, executable, queue, partition, requested_memory, logged }
    }

    /// A job of the profile `alea31`. Its request names no user, and the simulator cuts it itself.
    pub(super) fn of_alea31(one: &LogJob, simulated: &alea31::Job) -> Self {
        let mut job = one.job;
        job.request.user = one.user;
        Self { job, run: simulated.executed_time(), is_cut: simulated.limit() < job.runtime, ..Self::from(one) }
    }
}

impl From<&LogJob> for FromLog {
    fn from(one: &LogJob) -> Self {
        Self {
            label: Label::of_job(one),
            job: one.job,
            user: Label::of_user(one),
            requested: one.requested_time,
            run: one.job.runtime,
            is_cut: one.job.runtime < one.logged_runtime,
            group: one.group,
            executable: one.executable,
            queue: one.queue,
            partition: one.partition,
            requested_memory: one.requested_memory,
            logged: one.logged_wait.map(|wait| [wait, one.logged_runtime]),
        }
    }
}

/// A job that has left the system.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedJob {
    pub(super) known: FromLog,
    /// `None` if it was rejected.
    pub(super) record: Option<JobRecord>,
    /// Blocks of `(first, count)` processors, numbered through the places; empty if they are not known.
    pub(super) processors: Vec<(u32, u32)>,
}

impl SimulatedJob {
    /// Its number among the jobs of the run, in order of submission.
    pub(super) const fn id(&self) -> JobId {
        self.known.job.id
    }

    pub(super) const fn state(&self) -> RowState {
        match self.record {
            None => RowState::Rejected,
            Some(_) if self.known.is_cut => RowState::Cut,
            Some(_) => RowState::Done,
        }
    }

    /// Returns its row of `jobs.csv`. `sites` are the names of the places; processors are listed if `tells_processors`.
    pub(super) fn row<'a>(&'a self, sites: &'a [String], tells_processors: bool) -> Row<'a> {
        let Self { known, record, processors } = self;
        let Job { submit, request, .. } = known.job;
        Row {
            job: Name::of(&known.label),
            submit: Seconds(submit),
            start: record.map(|record| Seconds(record.start)),
            finish: record.map(|record| Seconds(record.finish)),
            processors: record.map_or(request.processors, |record| record.processors),
            site: record.map(|record| sites[record.site.index()].as_str()),
            user: known.user.as_ref().map(Name::of),
            requested: known.requested.map(in_seconds),
            run: in_seconds(known.run),
            deadline: request.deadline.map(Seconds),
            state: self.state().name(),
            allocated: record.filter(|_| tells_processors).map(|_| Processors(processors)),
        }
    }

    /// Returns its line of `schedule.swf`.
    fn swf(&self, has_sites: bool) -> SwfRecord {
        let Self { known, record, .. } = self;
        let site = record.filter(|_| has_sites).and_then(|record| u32::try_from(record.site.index() + 1).ok());
        SwfRecord {
            submit: Some(known.job.submit.since(Time::ZERO)),
            wait: record.map(|record| record.wait()),
            runtime: record.map(|record| record.finish.since(record.start)),
            allocated_processors: record.map(|record| record.processors),
            requested_processors: Some(known.job.request.processors),
            requested_time: known.requested,
            requested_memory: known.requested_memory,
            status: Some(self.state().of_swf()),
            user: known.job.request.user,
            group: known.group,
            executable: known.executable,
            queue: known.queue,
            partition: site.or(known.partition),
            name: known.label.name.clone(),
            ..SwfRecord::numbered(known.label.number)
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum RowState {
    Done,
    Cut,
    Rejected,
}

impl RowState {
    const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Cut => "cut",
            Self::Rejected => "rejected",
        }
    }

    const fn of_swf(self) -> Status {
        match self {
            Self::Done => Status::Completed,
            Self::Cut => Status::Failed,
            Self::Rejected => Status::Cancelled,
        }
    }
}

/// Number of processors above which `jobs.csv` does not list the processors of jobs: the lists would be most of the file.
pub(super) const LISTED: u32 = 10_000;

/// Returns true if `jobs.csv` lists processors; it does not if tasks share them.
pub(super) fn tells_processors(sites: &Sites) -> bool {
    !sites.shares_processors() && sites.processors() <= LISTED
}

/// The files of a policy's jobs, before they get their names.
#[derive(Default)]
pub(crate) struct Rows {
    files: Vec<(&'static str, Box<dyn JobFile>)>,
    places: PlaceNames,
    /// True if a file lists the processors of jobs.
    pub(super) list_processors: bool,
    /// The first error, reported at the end of the run.
    failed: Option<anyhow::Error>,
}

/// The places of a world, as files name them.
#[derive(Default)]
struct PlaceNames {
    /// Names as fields of a table, by number.
    names: Vec<String>,
    tells_processors: bool,
}

/// File that receives jobs as they leave the system.
trait JobFile: Send + Sync {
    fn add(&mut self, job: &SimulatedJob, places: &PlaceNames) -> io::Result<()>;

    /// Completes the file except for its name.
    fn finish(self: Box<Self>) -> io::Result<NamedTempFile>;
}

impl Rows {
    /// Creates the set without files.
    pub(super) fn of(sites: &Sites) -> Self {
        let names = sites.iter().map(|site| csv_name(&site.name).into_owned()).collect();
        let places = PlaceNames { names, tells_processors: tells_processors(sites) };
        Self { places, ..Self::default() }
    }

    /// Adds `jobs.csv`.
    pub(super) fn jobs(&mut self, file: NamedTempFile) -> Result<()> {
        let table = table(file, &Row::COLUMNS).context("cannot write jobs.csv")?;
        self.list_processors |= self.places.tells_processors;
        self.files.push(("jobs.csv", Box::new(table)));
        Ok(())
    }

    /// Adds `schedule.swf`, with these comments at its head.
    pub(super) fn schedule(&mut self, file: NamedTempFile, header: &str) -> Result<()> {
        let mut records = SwfWriter::new(buffered(file));
        records.comment(header).context("cannot write schedule.swf")?;
        self.files.push(("schedule.swf", Box::new(Schedule { records, waiting: BTreeMap::new(), next: JobId(0) })));
        Ok(())
    }

    /// Adds `evalys.csv`, for the log of this name.
    pub(super) fn evalys(&mut self, file: NamedTempFile, log: String) -> Result<()> {
        let rows = table(file, &OF_EVALYS).context("cannot write evalys.csv")?;
        self.list_processors = true;
        self.files.push(("evalys.csv", Box::new(Evalys { rows, log })));
        Ok(())
    }

    /// Writes a job that has left the system.
    pub(super) fn add(&mut self, job: &SimulatedJob) {
        for (_, file) in &mut self.files {
            if let Err(error) = file.add(job, &self.places) {
                self.failed.get_or_insert(error.into());
            }
        }
    }

    /// Completes the files, below the folder `policy`.
    pub(super) fn keep(self, policy: &str, out: &OutDir) -> Result<()> {
        self.failed.map_or(Ok(()), Err).context("cannot write what became of jobs")?;
        self.files.into_iter().try_for_each(|(name, file)| {
            let file = file.finish().with_context(|| format!("cannot write {name}"))?;
            out.keep(file, Path::new(policy).join(name))
        })
    }
}

type Table = csv::Writer<BufWriter<NamedTempFile>>;

fn buffered(file: NamedTempFile) -> BufWriter<NamedTempFile> {
    BufWriter::with_capacity(1 << 16, file)
}

/// A table with its header, which is written even without jobs.
fn table(file: NamedTempFile, header: &[&str]) -> io::Result<Table> {
    let mut rows = csv::WriterBuilder::new().has_headers(false).from_writer(buffered(file));
    // As the disk's error, which determines the exit code: an error of the table would hide it.
    rows.write_record(header).map_err(io::Error::from).map(|()| rows)
}

/// `jobs.csv`.
impl JobFile for Table {
    fn add(&mut self, job: &SimulatedJob, places: &PlaceNames) -> io::Result<()> {
        self.serialize(job.row(&places.names, places.tells_processors)).map_err(io::Error::from)
    }

    fn finish(self: Box<Self>) -> io::Result<NamedTempFile> {
        let file = self.into_inner().map_err(csv::IntoInnerError::into_error)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

struct Evalys {
    rows: Table,
    log: String,
}

impl JobFile for Evalys {
    fn add(&mut self, job: &SimulatedJob, _: &PlaceNames) -> io::Result<()> {
        let Some(record) = job.record else { return Ok(()) };
        let (wait, ran, response) = (record.wait(), record.finish.since(record.start), record.response());
        let written = self.rows.serialize((
            job.known.label.number,
            &self.log,
            Seconds(record.job.submit),
            record.processors,
            job.known.requested.map(in_seconds),
            u8::from(job.state() == RowState::Done),
            Seconds(record.start),
            in_seconds(ran),
            Seconds(record.finish),
            in_seconds(wait),
            in_seconds(response),
            response.as_secs_f64() / ran.as_secs_f64(),
            listed(&job.processors, ' '),
        ));
        written.map_err(io::Error::from)
    }

    fn finish(self: Box<Self>) -> io::Result<NamedTempFile> {
        Box::new(self.rows).finish()
    }
}

struct Schedule {
    records: SwfWriter<BufWriter<NamedTempFile>>,
    /// Records of later jobs: a log in the format is in the order of submission.
    waiting: BTreeMap<JobId, SwfRecord>,
    next: JobId,
}

impl JobFile for Schedule {
    fn add(&mut self, job: &SimulatedJob, places: &PlaceNames) -> io::Result<()> {
        self.waiting.insert(job.id(), job.swf(places.names.len() > 1));
        while let Some(record) = self.waiting.remove(&self.next) {
            self.next.0 += 1;
            self.records.record(&record)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<NamedTempFile> {
        self.waiting.values().try_for_each(|record| self.records.record(record))?;
        self.records.into_inner().into_inner().map_err(io::IntoInnerError::into_error)
    }
}
