//! What is written of each job: a row of `jobs.csv`, a line of `schedule.swf`, and rows of `evalys.csv` and `jobs.parquet` if
//! these are asked for.

#[cfg(feature = "parquet")]
use super::columnar::ParquetRows;
use super::row::{COLUMNS, Cell, Row, Seconds, in_seconds, listed};
use super::sites::Sites;
use crate::label::Label;
use anyhow::{Context, Result};
use lab::terminal::csv_name;
use metrics::Metric;
use sim_core::{Job, JobId, JobRecord, Span, Time};
use std::collections::BTreeMap;
use std::io::{self, BufWriter};
use tempfile::NamedTempFile;
use workload::swf::Status;
use workload::{Alea31Job, LogJob, SwfRecord, SwfWriter};

/// The columns that evalys reads (`JobSet.columns` of version 4).
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

/// The files that a policy's jobs are written to, without names yet; `None` for those that are not written.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    pub(crate) jobs: Option<NamedTempFile>,
    pub(crate) swf: Option<NamedTempFile>,
    pub(crate) evalys: Option<NamedTempFile>,
    /// `None` in a program that cannot write it.
    pub(crate) parquet: Option<NamedTempFile>,
    pub(crate) header: String,
    pub(crate) log: String,
    /// Whether a small log is drawn.
    pub(crate) is_drawn: bool,
    pub(crate) own: Vec<&'static Metric>,
}

/// What a log knows of a job, and a simulation does not.
#[derive(Clone, Debug)]
pub(super) struct FromLog {
    pub(super) label: Label,
    job: Job,
    pub(super) user: Option<Label>,
    pub(super) requested: Option<Span>,
    /// What it takes at reference speed.
    run: Span,
    /// It would have run longer than its limit.
    is_cut: bool,
    group: Option<u32>,
    executable: Option<u32>,
    queue: Option<u32>,
    partition: Option<u32>,
    requested_memory: Option<u64>,
}

impl FromLog {
    /// A job of which no more is known than its number.
    pub(super) fn numbered(job: Job, number: u64) -> Self {
        let (requested, group, executable, queue, partition, requested_memory) = Default::default();
        let (run, is_cut, label, user) = (job.runtime, false, number.into(), None);
        Self { label, job, user, requested, run, is_cut, group, executable, queue, partition, requested_memory }
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
        }
    }
}

impl From<&Alea31Job> for FromLog {
    fn from(one: &Alea31Job) -> Self {
        let (group, executable, queue, partition, requested_memory) = Default::default();
        let mut job = one.job;
        job.request.user = one.user;
        Self {
            label: Label { number: one.number, name: one.name.clone() },
            job,
            user: one.user.map(|number| Label { number: number.into(), name: one.user_name.clone() }),
            requested: Some(one.limit),
            run: one.executed,
            is_cut: one.limit < one.job.runtime,
            group,
            executable,
            queue,
            partition,
            requested_memory,
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum State {
    Done,
    Cut,
    Rejected,
}

impl State {
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

/// On more processors than these, `jobs.csv` does not list the processors of jobs: the lists would be most of the file.
pub(super) const LISTED: u32 = 10_000;

/// Whether `jobs.csv` lists processors: not where tasks share them.
pub(super) fn tells_processors(sites: &Sites) -> bool {
    !sites.shares_processors() && sites.processors() <= LISTED
}

pub(super) struct Rows {
    jobs: Option<csv::Writer<BufWriter<NamedTempFile>>>,
    swf: Option<SwfWriter<BufWriter<NamedTempFile>>>,
    evalys: Option<csv::Writer<BufWriter<NamedTempFile>>>,
    #[cfg(feature = "parquet")]
    parquet: Option<ParquetRows<NamedTempFile>>,
    log: String,
    tells_processors: bool,
    /// Names of the places as fields of a table, by number.
    sites: Vec<String>,
    /// Records whose turn has not come: a log in the format is in the order of submission.
    waiting: BTreeMap<JobId, SwfRecord>,
    /// The next job of `schedule.swf`.
    next: JobId,
    pub(super) cut: u64,
    /// The first error, reported when the run is over.
    failed: Option<anyhow::Error>,
}

impl Rows {
    pub(super) fn new(drafts: Drafts, sites: &Sites) -> Result<Self> {
        #[cfg(feature = "parquet")]
        let Drafts { jobs, swf, evalys, parquet, header, log, .. } = drafts;
        #[cfg(not(feature = "parquet"))]
        let Drafts { jobs, swf, evalys, header, log, .. } = drafts;
        let buffered = |draft| BufWriter::with_capacity(1 << 16, draft);
        // The header is there even if no job comes.
        let table = |draft| csv::WriterBuilder::new().has_headers(false).from_writer(buffered(draft));
        let mut jobs = jobs.map(table);
        if let Some(rows) = &mut jobs {
            rows.write_record(COLUMNS).map_err(io::Error::from).context("cannot write jobs.csv")?;
        }
        let mut swf = swf.map(|draft| SwfWriter::new(buffered(draft)));
        if let Some(records) = &mut swf {
            records.comment(&header).context("cannot write schedule.swf")?;
        }
        let mut evalys = evalys.map(table);
        if let Some(rows) = &mut evalys {
            rows.write_record(OF_EVALYS).map_err(io::Error::from).context("cannot write evalys.csv")?;
        }
        #[cfg(feature = "parquet")]
        let parquet = parquet.map(ParquetRows::new).transpose().context("cannot write jobs.parquet")?;
        let tells_processors = tells_processors(sites);
        let sites = sites.iter().map(|site| csv_name(&site.name).into_owned()).collect();
        Ok(Self {
            jobs,
            swf,
            evalys,
            #[cfg(feature = "parquet")]
            parquet,
            log,
            tells_processors,
            sites,
            waiting: BTreeMap::new(),
            next: JobId(0),
            cut: 0,
            failed: None,
        })
    }

    /// A job that ran, on blocks of `(first, count)` processors, if they are known.
    pub(super) fn ran(&mut self, record: &JobRecord, known: &FromLog, allocated: &[(u32, u32)]) {
        let state = if known.is_cut { State::Cut } else { State::Done };
        self.cut += u64::from(known.is_cut);
        let written = self.write_ran(record, known, state, allocated);
        self.note(written);
        let site = record.site.index();
        let record = SwfRecord {
            wait: Some(record.wait()),
            runtime: Some(record.finish.since(record.start)),
            allocated_processors: Some(record.processors),
            partition: if self.sites.len() > 1 { u32::try_from(site + 1).ok() } else { known.partition },
            ..of_log(known, state)
        };
        self.in_turn(known.job.id, record);
    }

    pub(super) fn rejected(&mut self, known: &FromLog) {
        let written = self.write_row(&row_of(known));
        self.note(written);
        let record = SwfRecord { partition: known.partition, ..of_log(known, State::Rejected) };
        self.in_turn(known.job.id, record);
    }

    fn write_ran(&mut self, record: &JobRecord, known: &FromLog, state: State, allocated: &[(u32, u32)]) -> Result<()> {
        let JobRecord { job, start, finish, site, processors } = *record;
        self.write_row(&Row {
            start: Some(Seconds(start)),
            finish: Some(Seconds(finish)),
            processors,
            site: Some(&self.sites[site.index()].clone()),
            state: state.name(),
            allocated: self.tells_processors.then(|| listed(allocated, ',')),
            ..row_of(known)
        })?;
        let Some(rows) = &mut self.evalys else { return Ok(()) };
        let (wait, ran, response) = (record.wait(), finish.since(start), record.response());
        let written = rows.serialize((
            known.label.number,
            &self.log,
            Seconds(job.submit),
            processors,
            known.requested.map(in_seconds),
            u8::from(state == State::Done),
            Seconds(start),
            in_seconds(ran),
            Seconds(finish),
            in_seconds(wait),
            in_seconds(response),
            response.as_secs_f64() / ran.as_secs_f64(),
            listed(allocated, ' '),
        ));
        Ok(written.map_err(io::Error::from)?)
    }

    /// To the files that have a row for every job.
    fn write_row(&mut self, row: &Row<'_>) -> Result<()> {
        // As the disk's error, which decides the exit code: an error of the table keeps it to itself.
        if let Some(rows) = &mut self.jobs {
            rows.serialize(row).map_err(io::Error::from)?;
        }
        #[cfg(feature = "parquet")]
        if let Some(rows) = &mut self.parquet {
            rows.push(row)?;
        }
        Ok(())
    }

    fn note<E: Into<anyhow::Error>>(&mut self, written: Result<(), E>) {
        if let Err(error) = written {
            self.failed.get_or_insert(error.into());
        }
    }

    /// Writes a record when all that were submitted before it have been written.
    fn in_turn(&mut self, job: JobId, record: SwfRecord) {
        let Some(records) = &mut self.swf else { return };
        self.waiting.insert(job, record);
        while let Some(record) = self.waiting.remove(&self.next) {
            if let Err(error) = records.record(&record) {
                self.failed.get_or_insert(error.into());
            }
            self.next.0 += 1;
        }
    }

    /// The files, complete but for their names.
    pub(super) fn finish(mut self) -> Result<Drafts> {
        for record in std::mem::take(&mut self.waiting).into_values() {
            let written = self.swf.as_mut().map_or(Ok(()), |records| records.record(&record));
            self.note(written);
        }
        if let Some(error) = self.failed {
            return Err(error).context("cannot write what became of jobs");
        }
        let table = |rows: csv::Writer<BufWriter<NamedTempFile>>| -> Result<NamedTempFile> {
            Ok(rows
                .into_inner()
                .map_err(csv::IntoInnerError::into_error)?
                .into_inner()
                .map_err(io::IntoInnerError::into_error)?)
        };
        Ok(Drafts {
            jobs: self.jobs.map(table).transpose().context("cannot write jobs.csv")?,
            swf: self
                .swf
                .map(|records| records.into_inner().into_inner().map_err(io::IntoInnerError::into_error))
                .transpose()
                .context("cannot write schedule.swf")?,
            evalys: self.evalys.map(table).transpose().context("cannot write evalys.csv")?,
            #[cfg(feature = "parquet")]
            parquet: self.parquet.map(ParquetRows::finish).transpose().context("cannot write jobs.parquet")?,
            ..Drafts::default()
        })
    }
}

/// A row of which no more is known than the log knows: that of a rejected job.
fn row_of(known: &FromLog) -> Row<'_> {
    let Job { submit, request, .. } = known.job;
    Row {
        job: Cell(&known.label),
        submit: Seconds(submit),
        start: None,
        finish: None,
        processors: request.processors,
        site: None,
        user: known.user.as_ref().map(Cell),
        requested: known.requested.map(in_seconds),
        run: in_seconds(known.run),
        deadline: request.deadline.map(Seconds),
        state: State::Rejected.name(),
        allocated: None,
    }
}

/// What of a record does not depend on the run.
fn of_log(known: &FromLog, state: State) -> SwfRecord {
    SwfRecord {
        submit: Some(known.job.submit.since(Time::ZERO)),
        requested_processors: Some(known.job.request.processors),
        requested_time: known.requested,
        requested_memory: known.requested_memory,
        status: Some(state.of_swf()),
        user: known.job.request.user,
        group: known.group,
        executable: known.executable,
        queue: known.queue,
        name: known.label.name.clone(),
        ..SwfRecord::numbered(known.label.number)
    }
}
