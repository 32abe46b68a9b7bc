//! Records of jobs: [`JobLog`] observes a run and passes on a [`JobRecord`] for every job that finished.

use crate::fact::{Fact, Probe};
use crate::id::{JobId, SiteId};
use crate::job::Job;
use crate::time::{Span, Time};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Record of a finished job.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// The job as submitted.
    pub job: Job,
    /// Start with all its processors.
    pub start: Time,
    /// End of its last task.
    pub finish: Time,
    /// Site on which it ran; the first one, if it spanned several.
    pub site: SiteId,
    /// Number of processors.
    pub processors: u32,
}

impl JobRecord {
    /// Wait time, start − submit.
    pub const fn wait(&self) -> Span {
        self.start.since(self.job.submit)
    }

    /// Response time, finish − submit.
    pub const fn response(&self) -> Span {
        self.finish.since(self.job.submit)
    }
}

/// Probe that assembles [`JobRecord`]s and passes each to a sink as the job finishes.
///
/// Memory follows the jobs in the system: a job is dropped once it has finished or been rejected.
#[derive(Clone, Debug)]
pub struct JobLog<S> {
    /// Jobs in the system. Never iterated.
    open: FxHashMap<JobId, (Job, Started)>,
    sink: S,
    counts: JobCounts,
}

/// Start, site and processors of a job that runs.
type Started = Option<(Time, SiteId, u32)>;

/// Numbers of jobs that a [`JobLog`] has seen: always `submitted = finished + rejected + present`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// Jobs that entered the system.
    pub submitted: u64,
    /// Jobs that ran to their end.
    pub finished: u64,
    /// Jobs that were rejected.
    pub rejected: u64,
}

impl JobLog<Vec<JobRecord>> {
    /// Returns a log that keeps every record: for tests and short runs.
    pub fn collecting() -> Self {
        Self::new(Vec::new())
    }
}

impl<S: Sink> JobLog<S> {
    /// Returns a log that passes each record to `sink`, for instance a closure.
    pub fn new(sink: S) -> Self {
        Self { open: FxHashMap::default(), sink, counts: JobCounts::default() }
    }

    /// Numbers of jobs submitted, finished and rejected so far.
    pub const fn counts(&self) -> JobCounts {
        self.counts
    }

    /// Number of jobs in the system now, waiting or running.
    pub fn present(&self) -> usize {
        self.open.len()
    }

    /// Sink, with the records passed on so far.
    pub const fn sink(&self) -> &S {
        &self.sink
    }

    /// Sink, for data that records do not contain.
    pub const fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Consumes the log and returns its sink.
    pub fn into_sink(self) -> S {
        self.sink
    }
}

/// Consumer of finished jobs, one at a time. Every `FnMut(JobRecord)` is a sink.
pub trait Sink {
    /// Consumes the record of a job that has just finished.
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
                // A wrong order of facts is always a bug of the model; the panic names the job.
                let before = self.open.insert(job.id, (job, None));
                assert!(before.is_none(), "job {} was submitted twice", job.id);
            }
            Fact::Started { job, site, processors } => {
                let open = self.open.get_mut(&job);
                let (_, started) = open.unwrap_or_else(|| panic!("job {job} started but was never submitted"));
                let before = started.replace((now, site, processors));
                assert!(before.is_none(), "job {job} started twice");
            }
            Fact::Finished { job } => {
                let open = self.open.remove(&job);
                let (job, started) = open.unwrap_or_else(|| panic!("job {job} finished but was never submitted"));
                let (start, site, processors) =
                    started.unwrap_or_else(|| panic!("job {} finished but never started", job.id));
                self.counts.finished += 1;
                self.sink.take_in(JobRecord { job, start, finish: now, site, processors });
            }
            Fact::Rejected { job, .. } => {
                self.counts.rejected += 1;
                self.open.remove(&job);
            }
            Fact::Seized { .. } | Fact::Released { .. } => {}
        }
    }
}
