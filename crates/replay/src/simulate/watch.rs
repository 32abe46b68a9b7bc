//! The record of a run: the summary, its blocks and classes, the levels over time, and the files of its jobs.

use super::free::Free;
use super::rows::{Drafts, FromLog, Rows, tells_processors};
use super::sites::Sites;
use crate::label::Label;
use anyhow::Result;
use metrics::backlog::Backlog;
use metrics::{Blocks, JobClass, Timeline, Totals};
use rustc_hash::FxHashMap;
use sim_core::record::{JobCounts, Sink};
use sim_core::{Fact, JobId, JobLog, JobRecord, Probe, SiteId, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Jobs, over all policies, up to which logs are drawn as Gantt charts: a page of more would weigh megabytes.
const GANTT_JOBS: usize = 3000;

/// The same for each of several policies.
pub(super) const fn drawn(policies: usize) -> usize {
    GANTT_JOBS / policies
}

/// The log's data of each job in the system. Never iterated.
pub(super) type Known = Rc<RefCell<FxHashMap<JobId, FromLog>>>;

pub(super) struct Watch {
    log: JobLog<Finished>,
    waiting: Timeline,
    backlog: Backlog,
    queue: u64,
    last_rejection: Time,
}

struct Finished {
    totals: Totals,
    blocks: Blocks,
    classes: Classes,
    busy: Timeline,
    known: Known,
    rows: Rows,
    seats: Seats,
    last_finish: Time,
    placed: Option<Vec<Placed>>,
}

/// The record of a run that is over.
pub(crate) struct Watched {
    pub(super) totals: Totals,
    /// Jobs by the block of the log in which they were submitted.
    pub(super) blocks: Blocks,
    pub(super) classes: Classes,
    /// Runs that a failure cut short.
    pub(super) interrupted: f64,
    pub(super) busy: Vec<(Time, f64)>,
    pub(super) waiting: Vec<(Time, f64)>,
    /// Complete but for their names.
    pub(super) drafts: Drafts,
    /// Every job, if there are few enough to draw.
    pub(super) placed: Option<Vec<Placed>>,
}

/// A finished job as it is drawn.
#[derive(Clone)]
pub(crate) struct Placed {
    pub(super) known: FromLog,
    pub(super) record: JobRecord,
    /// Blocks of `(first, count)` processors, numbered on through the places.
    pub(super) processors: Vec<(u32, u32)>,
}

impl Watch {
    /// Writes jobs into files that have no names yet.
    pub(super) fn new(drafts: Drafts, sites: &Sites) -> Result<Self> {
        let (is_drawn, has_rows) = (drafts.is_drawn, drafts.jobs.is_some() || drafts.parquet.is_some());
        let listed = has_rows && tells_processors(sites) || drafts.evalys.is_some();
        let finished = Finished {
            totals: Totals::new(sites.processors(), &drafts.own),
            blocks: Blocks::new(),
            classes: Classes::default(),
            busy: Timeline::new(),
            known: Known::default(),
            seats: Seats::of(sites, is_drawn, listed),
            rows: Rows::new(drafts, sites)?,
            last_finish: Time::ZERO,
            placed: is_drawn.then(Vec::new),
        };
        Ok(Self {
            log: JobLog::new(finished),
            waiting: Timeline::new(),
            backlog: Backlog::new(),
            queue: 0,
            last_rejection: Time::ZERO,
        })
    }

    /// The map in which the log's data of each job is entered as it comes in.
    pub(super) fn known(&self) -> Known {
        Rc::clone(&self.log.sink().known)
    }

    /// The record of the run, which is over.
    pub(super) fn finish(self) -> Result<Watched> {
        let JobCounts { rejected, interrupted, .. } = self.log.counts();
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let interrupted = interrupted as f64;
        let Finished { mut totals, blocks, classes, busy, rows, last_finish, placed, .. } = self.log.into_sink();
        (totals.sums.rejected, totals.sums.trend) = (rejected, Some(self.backlog.trend()));
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        totals.count("cut", Some(rows.cut as f64));
        // A job may be rejected after all others have left.
        let end = last_finish.max(self.last_rejection);
        Ok(Watched {
            totals,
            blocks,
            classes,
            interrupted,
            busy: busy.means(last_finish),
            waiting: self.waiting.means(end),
            drafts: rows.finish()?,
            placed,
        })
    }
}

impl Probe for Watch {
    fn observe(&mut self, now: Time, fact: &Fact) {
        match fact {
            Fact::Submitted(_) => {
                let finished = self.log.sink_mut();
                finished.blocks.note_submission(now, self.queue == 0);
                finished.classes.note_submission(now, self.queue == 0);
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
                let Finished { known, rows, .. } = self.log.sink_mut();
                let known = known.borrow_mut().remove(job);
                rows.rejected(&known.expect("the log's data was entered when it came in"));
            }
            Fact::Finished { .. } | Fact::Seized { .. } | Fact::Released { .. } => {}
        }
        self.backlog.observe(now, fact);
        self.log.observe(now, fact);
    }
}

impl Sink for Finished {
    fn take_in(&mut self, record: JobRecord) {
        let known = self.known.borrow_mut().remove(&record.job.id);
        let known = known.expect("the log's data was entered when it came in");
        self.busy.lower(record.finish, u64::from(record.processors));
        self.totals.add(&record);
        self.blocks.add(&record);
        self.classes.add(&record, known.user.as_ref());
        self.last_finish = self.last_finish.max(record.finish);
        let processors = self.seats.give_back(record.job.id);
        self.rows.ran(&record, &known, &processors);
        if let Some(placed) = self.placed.as_mut() {
            placed.push(Placed { known, record, processors });
            if placed.len() > GANTT_JOBS {
                self.placed = None;
                self.seats.drawn = false;
            }
        }
    }
}

/// Blocks of the log by [`JobClass`], and labels by user.
#[derive(Default)]
pub(crate) struct Classes {
    /// In the order of [`JobClass::ALL`].
    pub(super) blocks: [Blocks; 4],
    /// Labels of users by number, where the log has them.
    pub(super) labels: BTreeMap<Option<u32>, Label>,
}

impl Classes {
    /// Records a submission; see [`Blocks::note_submission`].
    pub(super) fn note_submission(&mut self, submit: Time, queue_was_empty: bool) {
        self.blocks.iter_mut().for_each(|blocks| blocks.note_submission(submit, queue_was_empty));
    }

    pub(super) fn add(&mut self, record: &JobRecord, user: Option<&Label>) {
        self.blocks[JobClass::of(record) as usize].add(record);
        if let Some(label) = user {
            self.labels.entry(record.job.request.user).or_insert_with(|| label.clone());
        }
    }
}

/// The processors that jobs hold: of those that are free on their place, the ones of lowest number. No policy distinguishes
/// processors, so any others would do as well.
struct Seats {
    free: Vec<Free>,
    /// Never iterated.
    held: FxHashMap<JobId, (SiteId, Vec<(u32, u32)>)>,
    drawn: bool,
    listed: bool,
}

impl Seats {
    fn of(sites: &Sites, drawn: bool, listed: bool) -> Self {
        let places = sites.first_processors().zip(sites.iter());
        let free = places.map(|((first, _), site)| Free::block(first, site.machine.processors)).collect();
        Self { free, held: FxHashMap::default(), drawn, listed }
    }

    fn take(&mut self, job: JobId, site: SiteId, processors: u32) {
        if self.drawn || self.listed {
            let blocks = self.free[site.index()].take_lowest(processors);
            self.held.insert(job, (site, blocks));
        }
    }

    fn give_back(&mut self, job: JobId) -> Vec<(u32, u32)> {
        let Some((site, blocks)) = self.held.remove(&job) else { return Vec::new() };
        blocks.iter().for_each(|&(first, count)| self.free[site.index()].give_back(first, count));
        blocks
    }
}
