//! The record of a run: the summary, its blocks and classes, the levels over time, and the files of its jobs.

use super::free::Free;
use super::rows::{FromLog, Rows, SimulatedJob};
use super::sites::Sites;
use crate::label::Label;
use lab::control::Control;
use metrics::backlog::Backlog;
use metrics::sums::Breakdown;
use metrics::{Blocks, JobClass, OwnMetric, Timeline, Totals};
use rustc_hash::FxHashMap;
use sim_core::record::{JobCounts, Sink};
use sim_core::{Fact, JobId, JobLog, JobRecord, Probe, SiteId, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use workload::Repairs;

/// Number of jobs, over all policies, up to which logs are drawn as Gantt charts: a larger page would take megabytes.
const GANTT_JOBS: usize = 3000;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    None,
    /// Jobs that ran, unless there are too many to draw.
    Drawable,
    All,
}

/// Requested results of a run beside its metrics.
pub(crate) struct RunRequest<'a> {
    pub(super) keeps: Keeps,
    /// Files that receive jobs as they leave the system.
    pub(super) rows: Rows,
    pub(super) own: &'a [OwnMetric],
}

/// The log's data of each job in the system. Never iterated.
pub(super) type Known = Rc<RefCell<FxHashMap<JobId, Box<FromLog>>>>;

pub(super) struct Watch {
    log: JobLog<Finished>,
    waiting: Timeline,
    backlog: Backlog,
    queue: u64,
    last_rejection: Time,
}

struct Finished {
    /// The record up to now.
    so_far: Outcome,
    busy: Timeline,
    known: Known,
    seats: Seats,
    last_finish: Time,
    cut: u64,
    keeps: Keeps,
}

/// Record of a run that is over.
pub(crate) struct Outcome {
    pub(super) totals: Totals,
    /// The same jobs as they ran in the log, as far as it knows their waits, in [`Totals::sums`] of all jobs; `None` where there is no
    /// page to show them.
    pub(super) log: Option<Totals>,
    /// Jobs by the block of the log in which they were submitted.
    pub(super) blocks: Blocks,
    /// The same by class, in the order of [`JobClass::ALL`].
    pub(super) blocks_by_class: [Blocks; 4],
    pub(super) groups: Breakdown,
    pub(super) partitions: Breakdown,
    /// Labels of users by number, if the log has them.
    pub(super) users: BTreeMap<Option<u32>, Label>,
    /// Runs that a failure cut short.
    pub(super) interrupted: f64,
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
    pub(super) fn new(asked: RunRequest<'_>, sites: &Sites) -> Self {
        let RunRequest { keeps, rows, own } = asked;
        let so_far = Outcome {
            totals: Totals::new(sites.processors(), own),
            log: (keeps != Keeps::None).then(|| Totals::new(sites.processors(), &[])),
            blocks: Blocks::default(),
            blocks_by_class: Default::default(),
            groups: Breakdown::default(),
            partitions: Breakdown::default(),
            users: BTreeMap::new(),
            interrupted: 0.0,
            busy: Vec::new(),
            waiting: Vec::new(),
            rows,
            jobs: Vec::new(),
            repairs: Repairs::default(),
            notes: Vec::new(),
            disturbed: None,
        };
        let places = sites.first_processors().zip(sites.iter());
        let free = places.map(|((first, _), site)| Free::block(first, site.machine.processors)).collect();
        let seats = Seats { free, held: FxHashMap::default() };
        let (busy, known, last_finish) = (Timeline::default(), Known::default(), Time::ZERO);
        Self {
            log: JobLog::new(Finished { so_far, busy, known, seats, last_finish, cut: 0, keeps }),
            waiting: Timeline::default(),
            backlog: Backlog::default(),
            queue: 0,
            last_rejection: Time::ZERO,
        }
    }

    /// Map that receives the log's data of each arriving job.
    pub(super) fn known(&self) -> Known {
        Rc::clone(&self.log.sink().known)
    }

    pub(super) fn finish(self, repairs: Repairs) -> Outcome {
        let JobCounts { rejected, interrupted, .. } = self.log.counts();
        let Finished { so_far, busy, last_finish, cut, .. } = self.log.into_sink();
        let mut totals = so_far.totals;
        (totals.sums.rejected, totals.sums.trend) = (rejected, Some(self.backlog.trend()));
        totals.count("cut", Some(float(cut)));
        Outcome {
            totals,
            interrupted: float(interrupted),
            repairs,
            busy: busy.means(last_finish),
            // A job may be rejected after all others have left.
            waiting: self.waiting.means(last_finish.max(self.last_rejection)),
            ..so_far
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count")]
pub(super) const fn float(count: u64) -> f64 {
    count as f64
}

impl Probe for Watch {
    fn observe(&mut self, now: Time, fact: &Fact) {
        match fact {
            Fact::Submitted(_) => {
                let finished = self.log.sink_mut();
                let Outcome { blocks, blocks_by_class, .. } = &mut finished.so_far;
                let all = blocks_by_class.iter_mut().chain([blocks]);
                all.for_each(|blocks| blocks.note_submission(now, self.queue == 0));
                self.queue += 1;
                self.waiting.raise(now, 1);
            }
            Fact::Started { job, site, processors } => {
                self.queue -= 1;
                self.waiting.lower(now, 1);
                let finished = self.log.sink_mut();
                finished.busy.raise(now, u64::from(*processors));
                finished.seats.take(*job, *site, *processors);
            }
            Fact::Interrupted { job, processors, .. } => {
                self.queue += 1;
                self.waiting.raise(now, 1);
                let finished = self.log.sink_mut();
                finished.busy.lower(now, u64::from(*processors));
                finished.seats.give_back(*job);
            }
            Fact::Rejected { job, .. } => {
                self.queue -= 1;
                self.waiting.lower(now, 1);
                self.last_rejection = now;
                self.log.sink_mut().leaves(*job, None);
            }
            Fact::Finished { .. } | Fact::Seized { .. } | Fact::Released { .. } => {}
        }
        self.backlog.observe(now, fact);
        self.log.observe(now, fact);
    }
}

impl Sink for Finished {
    fn take_in(&mut self, record: JobRecord) {
        self.busy.lower(record.finish, u64::from(record.processors));
        self.so_far.totals.add(&record);
        self.so_far.blocks.add(&record);
        self.last_finish = self.last_finish.max(record.finish);
        self.leaves(record.job.id, Some(record));
    }
}

impl Finished {
    /// Records a job that leaves the system: it ran, or is rejected.
    fn leaves(&mut self, id: JobId, record: Option<JobRecord>) {
        let known = self.known.borrow_mut().remove(&id).expect("the log's data was entered when it came in");
        let so_far = &mut self.so_far;
        if let Some(record) = &record {
            so_far.blocks_by_class[JobClass::of(record) as usize].add(record);
            let log = &known.log.record;
            so_far.groups.add(log.group, record);
            so_far.partitions.add(log.partition, record);
            if let Some(user) = Label::of_user(&known.log) {
                so_far.users.entry(record.job.request.user).or_insert(user);
            }
            if let Some((log, logged)) = so_far.log.as_mut().zip(known.logged(record)) {
                log.sums.summary.add(&logged);
            }
        }
        let job = SimulatedJob { known, record, processors: self.seats.give_back(id).into() };
        self.cut += u64::from(job.is_cut());
        so_far.rows.add(&job);
        Control::count_job();
        if self.keeps == Keeps::All || self.keeps == Keeps::Drawable && record.is_some() {
            so_far.jobs.push(job);
        }
        if self.keeps == Keeps::Drawable && so_far.jobs.len() > GANTT_JOBS {
            (self.keeps, so_far.jobs) = (Keeps::None, Vec::new());
        }
    }
}

/// Processors that jobs hold: those of lowest number that are free on their place. No policy distinguishes
/// processors, so any choice is equivalent.
struct Seats {
    free: Vec<Free>,
    /// Place and processors of each job; never iterated.
    held: FxHashMap<JobId, (SiteId, Vec<(u32, u32)>)>,
}

impl Seats {
    fn take(&mut self, job: JobId, site: SiteId, processors: u32) {
        let blocks = self.free[site.index()].take_lowest(processors);
        self.held.insert(job, (site, blocks));
    }

    fn give_back(&mut self, job: JobId) -> Vec<(u32, u32)> {
        let Some((site, blocks)) = self.held.remove(&job) else { return Vec::new() };
        blocks.iter().for_each(|&(first, count)| self.free[site.index()].give_back(first, count));
        blocks
    }
}
