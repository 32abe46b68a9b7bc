//! The log of a run, read job by job at the pace of the model, and its record: the summary, its blocks and classes, the levels over time,
//! and the files of its jobs.

use super::clock::ensure_ends_on;
use super::rows::{Rows, SimulatedJob, tells_processors};
use super::sites::Sites;
use crate::label::Label;
use crate::options::LogOptions;
use anyhow::{Result, anyhow};
use lab::control::Control;
use lab::units::float;
use metrics::backlog::Backlog;
use metrics::sums::Breakdown;
use metrics::{Blocks, OwnMetric, Timeline, Totals};
use rustc_hash::FxHashMap;
use sim_core::record::{JobCounts, Sink};
use sim_core::{Fact, JobId, JobLog, JobRecord, Probe, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use workload::{Intake, LogJob, Repairs, SwfReader};

/// Number of jobs, over all policies, up to which logs are drawn as Gantt charts: a larger page would take megabytes.
const GANTT_JOBS: usize = 3000;

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Keeps {
    #[default]
    None,
    /// Jobs that ran, unless there are too many to draw.
    Drawable,
    All,
}

/// The log's data of each job in the system. Never iterated.
pub(super) type Known = Rc<RefCell<FxHashMap<JobId, Box<SimulatedJob>>>>;

/// Log of a simulation, repaired, which is read when the model requests jobs.
pub(super) struct Log {
    intake: RefCell<Intake>,
    slowest: f64,
    failed: RefCell<Option<anyhow::Error>>,
}

impl Log {
    pub(super) fn open(options: &LogOptions, sites: &Sites) -> Result<Self> {
        let mut intake = Intake::new(SwfReader::open(options.trace())?, options.intake(sites.widest()));
        if let Some(rule) = sites.rule {
            intake.note(rule);
        }
        Ok(Self { intake: RefCell::new(intake), slowest: sites.slowest(), failed: RefCell::new(None) })
    }

    /// Returns `of` its jobs, up to the first error. The log's data of each job is entered into `known`.
    pub(super) fn jobs<T>(&self, known: Known, of: impl Fn(&LogJob) -> T) -> impl Iterator<Item = T> {
        let next = move || {
            let mut intake = self.intake.borrow_mut();
            let job = intake.next()?.map_err(anyhow::Error::from).and_then(|log| {
                ensure_ends_on(&log.job, log.record.number, self.slowest)
                    .map_err(|words| anyhow!("{}:{}: {words}", intake.reader().path().display(), log.line))?;
                let is_cut = log.job.runtime < log.logged_runtime;
                Ok(Box::new(SimulatedJob::new(log, is_cut)))
            });
            let job = job.map_err(|error| self.failed.replace(Some(error))).ok()?;
            let of_job = of(&job.log);
            known.borrow_mut().insert(job.id(), job);
            Some(of_job)
        };
        std::iter::from_fn(next).fuse()
    }

    /// The repairs of a run that is over, or the error that ended the log.
    pub(super) fn finish(self) -> Result<Repairs> {
        self.failed.into_inner().map_or_else(|| Ok(self.intake.into_inner().repairs().clone()), Err)
    }
}

/// Free processors of a place, the length of each block by its first: a machine of four billion takes no more memory than one of four.
type Free = BTreeMap<u32, u32>;

const KNOWN: &str = "the log's data was entered when the job came in";

/// Takes the processors of lowest number as blocks of `(first, count)`, no two of which are adjacent; fewer if fewer are free.
fn take_lowest(free: &mut Free, mut wanted: u32) -> Vec<(u32, u32)> {
    let mut taken: Vec<(u32, u32)> = Vec::new();
    while wanted > 0
        && let Some((first, count)) = free.pop_first()
    {
        let used = count.min(wanted);
        if used < count {
            free.insert(first + used, count - used);
        }
        match taken.last_mut() {
            Some((before, length)) if *before + *length == first => *length += used,
            _ => taken.push((first, used)),
        }
        wanted -= used;
    }
    taken
}

pub(crate) struct Watch(JobLog<Recorder>);

/// Sink of the jobs that ran, and all that is recorded beside them.
#[derive(Default)]
struct Recorder {
    /// The record up to now.
    outcome: Outcome,
    busy: Timeline,
    waiting: Timeline,
    backlog: Backlog,
    queue: u64,
    cut: u64,
    last_finish: Time,
    last_rejection: Time,
    known: Known,
    /// Free processors of each place, while jobs are listed or drawn with theirs: on a large machine they take half of a run's time. Jobs
    /// hold those of lowest number, since no policy distinguishes processors.
    free: Vec<Free>,
    lists_processors: bool,
    keeps: Keeps,
}

/// Record of a run that is over.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(super) totals: Totals,
    /// The same jobs as they ran in the log, as far as it knows their waits: [`Totals::sums`] alone. `None` where no page shows them.
    pub(super) log: Option<Totals>,
    /// Jobs by the block of the log in which they were submitted.
    pub(super) blocks: Blocks,
    pub(super) groups: Breakdown,
    pub(super) partitions: Breakdown,
    /// Labels of users by number, if the log has them.
    pub(super) users: BTreeMap<Option<u32>, Label>,
    pub(super) busy: Vec<(Time, f64)>,
    pub(super) waiting: Vec<(Time, f64)>,
    /// Files, complete except for their names.
    pub(super) rows: Rows,
    /// Jobs that were to be kept, in the order in which they left the system.
    pub(super) jobs: Vec<SimulatedJob>,
    pub(super) repairs: Repairs,
    pub(super) notes: Vec<String>,
    /// Makespan (s), and the time (s) by which local users of a node were slowed down, if there are any.
    pub(super) disturbed: Option<(f64, Option<f64>)>,
}

impl Outcome {
    /// The jobs that ran, if they can be drawn beside those of the other policies; otherwise empty.
    pub(super) fn drawable(&self, policies: usize) -> Vec<(&SimulatedJob, &JobRecord)> {
        let ran = self.jobs.iter().filter_map(|job| Some((job, job.record.as_ref()?)));
        let ran: Vec<_> = ran.take(GANTT_JOBS / policies + 1).collect();
        if ran.len() > GANTT_JOBS / policies { Vec::new() } else { ran }
    }
}

impl Watch {
    /// A probe that hands jobs to `rows` as they leave the system, and measures `own` beside the built-in metrics.
    pub(super) fn new(sites: &Sites, keeps: Keeps, rows: Rows, own: &[OwnMetric]) -> Self {
        let lists_processors = rows.lists_processors() || keeps == Keeps::All && tells_processors(sites);
        let totals = |own| Totals::new(sites.processors(), own);
        let log = (keeps != Keeps::None).then(|| totals(&[]));
        let outcome = Outcome { totals: totals(own), log, rows, ..Outcome::default() };
        let places = sites.first_processors().zip(&sites.machines);
        let places = places.filter(|_| lists_processors || keeps != Keeps::None);
        let free = places.map(|((first, _), machine)| Free::from([(first, machine.processors)])).collect();
        Self(JobLog::new(Recorder { outcome, free, lists_processors, keeps, ..Recorder::default() }))
    }

    pub(super) fn known(&self) -> Known {
        Rc::clone(&self.0.sink().known)
    }

    pub(super) fn finish(self, repairs: Repairs) -> Outcome {
        let JobCounts { rejected, .. } = self.0.counts();
        let Recorder { mut outcome, busy, waiting, backlog, cut, last_finish, last_rejection, .. } = self.0.into_sink();
        (outcome.totals.sums.rejected, outcome.totals.sums.trend) = (rejected, Some(backlog.trend()));
        outcome.totals.count("cut", Some(float(cut)));
        outcome.busy = busy.means(last_finish);
        // A job may be rejected after all others have left.
        outcome.waiting = waiting.means(last_finish.max(last_rejection));
        outcome.repairs = repairs;
        outcome
    }
}

impl Probe for Watch {
    fn observe(&mut self, now: Time, fact: &Fact) {
        let all = self.0.sink_mut();
        match fact {
            Fact::Submitted(_) => {
                all.outcome.blocks.note_submission(now, all.queue == 0);
                all.queue += 1;
                all.waiting.raise(now, 1);
            }
            Fact::Started { job, site, processors } => {
                all.queue -= 1;
                all.waiting.lower(now, 1);
                all.busy.raise(now, u64::from(*processors));
                if let Some(free) = all.free.get_mut(site.index()) {
                    all.known.borrow_mut().get_mut(job).expect(KNOWN).processors =
                        take_lowest(free, *processors).into();
                }
            }
            Fact::Rejected { job, .. } => {
                all.queue -= 1;
                all.waiting.lower(now, 1);
                all.last_rejection = now;
                all.leaves(*job, None);
            }
            Fact::Finished { .. } | Fact::Seized { .. } | Fact::Released { .. } => {}
        }
        all.backlog.observe(now, fact);
        self.0.observe(now, fact);
    }
}

impl Sink for Recorder {
    fn take_in(&mut self, record: JobRecord) {
        self.busy.lower(record.finish, u64::from(record.processors));
        self.outcome.totals.add(&record);
        self.outcome.blocks.add(&record);
        self.last_finish = self.last_finish.max(record.finish);
        self.leaves(record.job.id, Some(record));
    }
}

impl Recorder {
    /// Records a job that leaves the system: it ran, or is rejected.
    fn leaves(&mut self, id: JobId, record: Option<JobRecord>) {
        let mut job = self.known.borrow_mut().remove(&id).expect(KNOWN);
        job.record = record;
        let outcome = &mut self.outcome;
        if let Some(record) = &record {
            if let Some(free) = self.free.get_mut(record.site.index()) {
                free.extend(job.processors.iter().copied());
            }
            let log = &job.log.record;
            outcome.groups.add(log.group, record);
            outcome.partitions.add(log.partition, record);
            if let Some(user) = Label::of_user(&job.log) {
                outcome.users.entry(record.job.request.user).or_insert(user);
            }
            if let Some((log, logged)) = outcome.log.as_mut().zip(job.logged()) {
                log.sums.summary.add(&logged);
            }
        }
        self.cut += u64::from(job.is_cut());
        outcome.rows.add(&job);
        Control::count_job();
        if self.keeps == Keeps::All || self.keeps == Keeps::Drawable && record.is_some() {
            outcome.jobs.push(*job);
        }
        if outcome.totals.sums.summary.jobs > GANTT_JOBS as u64 {
            if self.keeps == Keeps::Drawable {
                (self.keeps, outcome.jobs) = (Keeps::None, Vec::new());
            }
            if !self.lists_processors {
                self.free.clear();
            }
        }
    }
}
