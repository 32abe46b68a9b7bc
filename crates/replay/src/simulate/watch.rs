//! What is kept of a run while it goes: the summary, the levels over time, and `jobs.csv`.

use super::GANTT_JOBS;
use super::free::Free;
use super::sites::Sites;
use anyhow::{Context, Result};
use lab::terminal::csv_name;
use metrics::{Summary, Timeline};
use rustc_hash::FxHashMap;
use sim_core::record::{JobCounts, Sink};
use sim_core::{Fact, JobId, JobLog, JobRecord, Probe, SiteId, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::rc::Rc;
use tempfile::NamedTempFile;

const WRITING: &str = "cannot write jobs.csv";

/// The log's own number of each job in the system. Never iterated.
pub(super) type Numbers = Rc<RefCell<FxHashMap<JobId, u64>>>;

/// Listens to a run of one policy.
pub(super) struct Watch {
    log: JobLog<Ledger>,
    waiting: Timeline,
}

/// Takes in finished jobs.
struct Ledger {
    summary: Summary,
    busy: Timeline,
    numbers: Numbers,
    /// Names of the sites as fields of a table, by number.
    sites: Vec<String>,
    rows: csv::Writer<BufWriter<JobsFile>>,
    /// The first error in writing; told when the run is over.
    failed: Option<csv::Error>,
    last_finish: Time,
    placed: Option<Vec<Placed>>,
}

/// Where `jobs.csv` goes.
pub(crate) enum JobsFile {
    /// A file that has no name yet.
    Begun(NamedTempFile),
    /// Nobody wants to read it.
    Nowhere,
}

impl Write for JobsFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Begun(file) => file.write(bytes),
            Self::Nowhere => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Begun(file) => file.flush(),
            Self::Nowhere => Ok(()),
        }
    }
}

/// A finished job with the log's own number.
#[derive(Clone)]
pub(crate) struct Placed {
    pub(super) number: u64,
    pub(super) record: JobRecord,
}

/// What is known when the run is over.
pub(crate) struct Watched {
    pub(super) summary: Summary,
    pub(super) rejected: u64,
    /// Runs that a failure cut short.
    pub(super) interrupted: f64,
    pub(super) busy: Vec<(Time, f64)>,
    pub(super) waiting: Vec<(Time, f64)>,
    /// `jobs.csv`, complete but for its name.
    pub(super) jobs: JobsFile,
    /// Every job, if there are few enough to draw.
    pub(super) placed: Option<Vec<Placed>>,
}

impl Watch {
    /// Begins `jobs.csv` in a file that has no name yet.
    pub(super) fn new(jobs: JobsFile, sites: &Sites) -> Result<Self> {
        let mut rows = csv::Writer::from_writer(BufWriter::with_capacity(1 << 16, jobs));
        rows.write_record(["job", "submit", "start", "finish", "processors", "site"]).context(WRITING)?;
        let ledger = Ledger {
            summary: Summary::new(),
            busy: Timeline::new(),
            numbers: Numbers::default(),
            sites: sites.iter().map(|site| csv_name(&site.name).into_owned()).collect(),
            rows,
            failed: None,
            last_finish: Time::ZERO,
            placed: Some(Vec::new()),
        };
        Ok(Self { log: JobLog::new(ledger), waiting: Timeline::new() })
    }

    /// Where the log's own numbers are to be entered as jobs come in.
    pub(super) fn numbers(&self) -> Numbers {
        Rc::clone(&self.log.sink().numbers)
    }

    /// What is known now that the run is over.
    pub(super) fn finish(self) -> Result<Watched> {
        let JobCounts { rejected, interrupted, .. } = self.log.counts();
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let interrupted = interrupted as f64;
        let Ledger { summary, busy, rows, failed, last_finish, placed, .. } = self.log.into_sink();
        if let Some(error) = failed {
            return Err(error).context(WRITING);
        }
        let jobs = rows.into_inner().map_err(csv::IntoInnerError::into_error).context(WRITING)?;
        let jobs = jobs.into_inner().map_err(std::io::IntoInnerError::into_error).context(WRITING)?;
        Ok(Watched {
            summary,
            rejected,
            interrupted,
            busy: busy.means(last_finish),
            waiting: self.waiting.means(last_finish),
            jobs,
            placed,
        })
    }
}

impl Probe for Watch {
    fn observe(&mut self, now: Time, fact: &Fact) {
        match fact {
            Fact::Submitted(_) => self.waiting.raise(now, 1),
            Fact::Started { processors, .. } => {
                self.waiting.lower(now, 1);
                self.log.sink_mut().busy.raise(now, u64::from(*processors));
            }
            Fact::Interrupted { processors, .. } => {
                self.waiting.raise(now, 1);
                self.log.sink_mut().busy.lower(now, u64::from(*processors));
            }
            Fact::Rejected { job, .. } => {
                self.waiting.lower(now, 1);
                self.log.sink_mut().numbers.borrow_mut().remove(job);
            }
            Fact::Finished { .. } | Fact::Seized { .. } | Fact::Released { .. } => {}
        }
        self.log.observe(now, fact);
    }
}

impl Sink for Ledger {
    fn take_in(&mut self, record: JobRecord) {
        let number = self.numbers.borrow_mut().remove(&record.job.id).expect("its number was entered when it came in");
        self.busy.lower(record.finish, u64::from(record.processors));
        self.summary.add(&record);
        self.last_finish = self.last_finish.max(record.finish);
        if let Some(placed) = self.placed.as_mut() {
            placed.push(Placed { number, record });
            if placed.len() > GANTT_JOBS {
                self.placed = None;
            }
        }
        let row = (
            number,
            Seconds(record.job.submit),
            Seconds(record.start),
            Seconds(record.finish),
            record.processors,
            &self.sites[record.site.index()],
        );
        if let Err(error) = self.rows.serialize(row) {
            self.failed.get_or_insert(error);
        }
    }
}

/// An instant as seconds in full precision, not as a float.
struct Seconds(Time);

impl serde::Serialize for Seconds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A site, and blocks of `(first, count)` processors of it.
type Seat = (SiteId, Vec<(u32, u32)>);

/// Gives each job processors of lowest number that are free on its site: blocks of `(first, count)`. Processors are
/// numbered on through the sites.
pub(super) fn assign(placed: &[Placed], sites: &Sites) -> Vec<(Placed, Vec<(u32, u32)>)> {
    let processors = sites.first_processors().zip(sites.iter());
    let mut free: Vec<Free> =
        processors.map(|((first, _), site)| Free::block(first, site.machine.processors)).collect();
    let mut by_start = placed.to_vec();
    by_start.sort_by_key(|placed| (placed.record.start, placed.record.job.id));
    let mut running: BTreeMap<(Time, JobId), Seat> = BTreeMap::new();
    let mut assigned = Vec::with_capacity(by_start.len());
    for placed in by_start {
        let record = &placed.record;
        while let Some(ended) = running.first_entry().filter(|first| first.key().0 <= record.start) {
            let (site, blocks) = ended.remove();
            blocks.into_iter().for_each(|(first, count)| free[site.index()].give_back(first, count));
        }
        let blocks = free[record.site.index()].take_lowest(record.processors);
        running.insert((record.finish, record.job.id), (record.site, blocks.clone()));
        assigned.push((placed, blocks));
    }
    assigned
}
