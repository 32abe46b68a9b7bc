//! What became of each job: [`JobLog`] observes a run and hands on a [`JobRecord`] for every job that finished.

use crate::fact::{Fact, Probe};
use crate::id::{JobId, SiteId};
use crate::job::Job;
use crate::time::{Span, Time};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A finished job.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// The job as submitted.
    pub job: Job,
    /// When it began, with all its processors; if it was interrupted, the run that it finished.
    pub start: Time,
    /// When its last task ended.
    pub finish: Time,
    /// Where it ran; the first site, if it spanned several.
    pub site: SiteId,
    /// On how many processors.
    pub processors: u32,
}

impl JobRecord {
    /// Start − submit. Of a job that was interrupted, this contains the runs that were lost.
    pub const fn wait(&self) -> Span {
        self.start.since(self.job.submit)
    }

    /// Finish − submit.
    pub const fn response(&self) -> Span {
        self.finish.since(self.job.submit)
    }
}

/// A probe that assembles [`JobRecord`]s and passes each to a sink as the job finishes.
///
/// Memory follows the jobs in the system: a job is forgotten once it has finished or been rejected.
#[derive(Clone, Debug)]
pub struct JobLog<S> {
    /// Jobs in the system. Never iterated.
    open: FxHashMap<JobId, Open>,
    sink: S,
    counts: JobCounts,
}

#[derive(Clone, Debug)]
struct Open {
    job: Job,
    started: Option<(Time, SiteId, u32)>,
}

/// How many jobs a [`JobLog`] has seen: always `submitted = finished + rejected + present`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// Jobs that entered the system.
    pub submitted: u64,
    /// Jobs that ran to their end.
    pub finished: u64,
    /// Jobs that were turned away.
    pub rejected: u64,
    /// Runs that were cut short, see [`Fact::Interrupted`]; of one job any number.
    pub interrupted: u64,
}

impl JobLog<Vec<JobRecord>> {
    /// A log that keeps every record: for tests and short runs.
    pub fn collecting() -> Self {
        Self::new(Vec::new())
    }
}

impl<S: Sink> JobLog<S> {
    /// A log that passes each record to `sink`, a closure for instance.
    pub fn new(sink: S) -> Self {
        Self { open: FxHashMap::default(), sink, counts: JobCounts::default() }
    }

    /// Jobs submitted, finished and rejected so far, and runs interrupted.
    pub const fn counts(&self) -> JobCounts {
        self.counts
    }

    /// Jobs in the system now, waiting or running.
    pub fn present(&self) -> usize {
        self.open.len()
    }

    /// What has been passed on so far.
    pub const fn sink(&self) -> &S {
        &self.sink
    }

    /// The sink, to tell it what records do not.
    pub const fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Gives up the log for its sink.
    pub fn into_sink(self) -> S {
        self.sink
    }
}

/// Takes in finished jobs, one at a time. Every `FnMut(JobRecord)` is a sink.
pub trait Sink {
    /// Takes in the record of a job that has just finished.
    fn take_in(&mut self, record: JobRecord);
}

impl Sink for Vec<JobRecord> {
    fn take_in(&mut self, record: JobRecord) {
        self.push(record);
    }
}

impl<F: FnMut(JobRecord)> Sink for F {
    fn take_in(&mut self, record: JobRecord) {
        self(record);
    }
}

impl<S: Sink> Probe for JobLog<S> {
    fn observe(&mut self, now: Time, fact: &Fact) {
        match *fact {
            Fact::Submitted(job) => {
                self.counts.submitted += 1;
                // Every broken order of facts is a bug of the model, and is reported with its job.
                let before = self.open.insert(job.id, Open { job, started: None });
                assert!(before.is_none(), "job {} was submitted twice", job.id);
            }
            Fact::Started { job, site, processors } => {
                let open =
                    self.open.get_mut(&job).unwrap_or_else(|| panic!("job {job} started but was never submitted"));
                let before = open.started.replace((now, site, processors));
                assert!(before.is_none(), "job {job} started twice");
            }
            Fact::Interrupted { job, .. } => {
                // It waits again: the next start is one from the beginning, and the record will hold that one.
                let run = self.open.get_mut(&job).and_then(|open| open.started.take());
                assert!(run.is_some(), "job {job} was interrupted but did not run");
                self.counts.interrupted += 1;
            }
            Fact::Finished { job } => {
                let open =
                    self.open.remove(&job).unwrap_or_else(|| panic!("job {job} finished but was never submitted"));
                let (start, site, processors) =
                    open.started.unwrap_or_else(|| panic!("job {job} finished but never started"));
                self.counts.finished += 1;
                self.sink.take_in(JobRecord { job: open.job, start, finish: now, site, processors });
            }
            Fact::Rejected { job, .. } => {
                self.counts.rejected += 1;
                self.open.remove(&job);
            }
            Fact::Seized { .. } | Fact::Released { .. } => {}
        }
    }
}
