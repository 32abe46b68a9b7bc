//! Input and output of a policy: machines, the jobs that run on them, [`View`] and [`Starts`].

use crate::queue::Queue;
use serde::{Deserialize, Serialize};
use sim_core::{JobId, Request, SiteId, Span, Time};
use std::ops::Deref;

/// Jobs to start now, each with its machine, in starting order.
pub type Starts = Vec<(JobId, SiteId)>;

/// System state that a policy may see: everything but the run times.
///
/// The slices have one entry per machine, by the machine's index, which is its [`SiteId`].
#[derive(Copy, Clone, Debug)]
pub struct View<'a> {
    /// Present instant.
    pub now: Time,
    /// Machines.
    pub machines: &'a [Machine],
    /// Processors that are free now.
    pub free: &'a [u32],
    /// Running jobs, by expected end: start plus estimate at the machine's speed.
    pub running: &'a [Running],
    /// Waiting jobs, in order of arrival.
    pub queue: &'a Queue,
}

impl View<'_> {
    /// Returns true if the job may run on the machine of this index, and the machine is wide enough.
    #[inline]
    pub fn suits(&self, machine: usize, request: &Request) -> bool {
        self.machines[machine].suits(request) && request.sites.contains(site(machine))
    }

    /// Returns the fastest machine; the last of several.
    pub(crate) fn fastest(&self) -> &Machine {
        let fastest = self.machines.iter().max_by(|one, other| one.speed.total_cmp(&other.speed));
        fastest.expect("a job is admitted because there is a machine for it")
    }

    /// Returns true if some waiting job is no wider than the free processors of some machine. Otherwise no job can start.
    pub(crate) fn some_job_is_narrow_enough(&self) -> bool {
        self.free.iter().any(|free| self.queue.least().processors <= *free)
    }
}

/// Machine of a [`MultiCluster`](crate::MultiCluster): identical processors, each held by one job at a time.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Number of processors, at least 1.
    pub processors: u32,
    /// Speed relative to the machine that runtimes and estimates refer to, above 0: on a machine of speed 2, a job takes
    /// half its runtime. Where a paper gives benchmark scores, this is the machine's score divided by the score at which
    /// jobs were measured.
    pub speed: f64,
}

impl Machine {
    /// Returns a machine of reference speed.
    pub const fn new(processors: u32) -> Self {
        Self { processors, speed: 1.0 }
    }

    /// Returns the duration on this machine of work that takes `span` at reference speed. [`Span::MAX`], which never
    /// ends, stays [`Span::MAX`].
    ///
    /// # Panics
    ///
    /// If the result exceeds 584 years.
    #[track_caller]
    #[inline]
    pub fn takes(&self, span: Span) -> Span {
        // Fast path: nearly every machine has reference speed, and this is called very often.
        let is_unscaled = span == Span::MAX || self.speed.to_bits() == 1.0_f64.to_bits();
        if is_unscaled { span } else { span.scaled(1.0 / self.speed) }
    }

    /// Returns the expected run time of a job on this machine; [`Span::MAX`] if there is no estimate.
    ///
    /// # Panics
    ///
    /// If the result exceeds 584 years.
    #[track_caller]
    #[inline]
    pub fn expects(&self, request: &Request) -> Span {
        request.estimate.map_or(Span::MAX, |estimate| self.takes(estimate))
    }

    /// Returns true if the machine is wide enough for the job. [`View::suits`](crate::View::suits) also checks that the
    /// job may run there.
    #[inline]
    pub const fn suits(&self, request: &Request) -> bool {
        request.processors <= self.processors
    }

    /// Returns the job as started on this machine at `start`.
    pub fn running(&self, job: JobId, request: &Request, start: Time) -> RunningJob {
        let expected_end = start.saturating_add(self.expects(request));
        RunningJob { expected_end, job, processors: request.processors, user: request.user, start }
    }
}

#[inline]
pub(crate) fn site(machine: usize) -> SiteId {
    SiteId(u32::try_from(machine).expect("fewer than 2^32 machines"))
}

/// Running jobs, a slice sorted by expected end, then by id, so that no policy has to sort them.
#[derive(Clone, Debug, Default)]
pub struct Running(Vec<RunningJob>);

/// Running job: all that a policy may know of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunningJob {
    /// Start plus estimate; [`Time::MAX`] without an estimate. In the past, if the job has outlived its estimate.
    pub expected_end: Time,
    /// Id of the job.
    pub job: JobId,
    /// Number of processors that it holds.
    pub processors: u32,
    /// User, if known.
    pub user: Option<u32>,
    /// Start of the job.
    pub start: Time,
}

impl Deref for Running {
    type Target = [RunningJob];

    fn deref(&self) -> &[RunningJob] {
        &self.0
    }
}

impl Running {
    /// Inserts a job that starts.
    pub fn insert(&mut self, job: RunningJob) {
        self.0.insert(self.0.partition_point(|other| *other < job), job);
    }

    /// Removes a job that ends.
    ///
    /// # Panics
    ///
    /// If it does not run.
    pub fn remove(&mut self, job: &RunningJob) {
        let place = self.0.binary_search(job).unwrap_or_else(|_| panic!("job {} ended but does not run", job.job));
        self.0.remove(place);
    }
}
