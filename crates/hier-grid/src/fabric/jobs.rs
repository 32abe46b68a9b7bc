//! Jobs in the grid, and submissions from outside.

use crate::world::{StationId, narrow};
use sim_core::{Job, JobId, Span, Time};
use std::collections::VecDeque;

/// Job from outside, for example from a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// Number (counted from 0 without gaps), submission time, width, and run time on as many CPUs.
    pub job: Job,
    /// Work station that submits it.
    pub station: StationId,
    /// Operating system that it needs.
    pub system: u32,
    /// Input, in bytes.
    pub input: u64,
    /// Output, in bytes.
    pub output: u64,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Work {
    /// True for CPU seconds, spread over all CPUs of a server; false for seconds, independent of its number of CPUs.
    pub(crate) divides: bool,
    pub(crate) estimate: f64,
    pub(crate) actual: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JobState {
    pub(crate) station: StationId,
    pub(crate) class: u8,
    pub(crate) started: bool,
    pub(crate) taken: bool,
    pub(crate) done: bool,
    /// True if the request has been forwarded beyond the home tree (R8).
    pub(crate) shared: bool,
    /// Number of requests on their way to a root, copies delegated in a tree, and offers and cancels on their way.
    /// A message may name the job as long as this is not zero.
    pub(crate) copies: u32,
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) work: Work,
    pub(crate) submit: Time,
}

impl JobState {
    pub(crate) fn new(station: StationId, class: u8, work: Work, [input, output]: [u64; 2], submit: Time) -> Self {
        let (started, taken, done, shared, copies) = (false, false, false, false, 0);
        Self { station, class, started, taken, done, shared, copies, input, output, work, submit }
    }

    /// Estimated time on a server with `cpus` CPUs, of which owners leave `share`.
    pub(crate) fn estimate(&self, cpus: f64, share: f64) -> Span {
        self.takes(self.work.estimate, cpus, share)
    }

    pub(crate) fn runtime(&self, cpus: f64, share: f64) -> Span {
        self.takes(self.work.actual, cpus, share)
    }

    fn takes(&self, work: f64, cpus: f64, share: f64) -> Span {
        Span::from_secs_f64(work / (if self.work.divides { cpus } else { 1.0 } * share))
    }
}

/// Jobs in the grid, by number. A completed job without copies is forgotten as soon as all
/// older ones are: memory is proportional to the jobs in the grid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs {
    first: u32,
    states: VecDeque<JobState>,
}

impl Jobs {
    pub(crate) fn push(&mut self, job: JobId, state: JobState) {
        assert_eq!(self.next(), job, "jobs are numbered in order of submission, without gaps");
        self.states.push_back(state);
    }

    pub(crate) fn next(&self) -> JobId {
        JobId(self.first + narrow(self.states.len()))
    }

    #[inline]
    pub(crate) fn get(&self, job: JobId) -> &JobState {
        &self.states[(job.0 - self.first) as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, job: JobId) -> &mut JobState {
        &mut self.states[(job.0 - self.first) as usize]
    }

    pub(crate) fn drop_copy(&mut self, job: JobId) {
        self.get_mut(job).copies -= 1;
        self.forget();
    }

    /// Forgets the oldest jobs that no message can name any more.
    pub(crate) fn forget(&mut self) {
        // Only from the front, so that a number stays a position; a long job keeps its successors in memory.
        while self.states.front().is_some_and(|state| state.done && state.copies == 0) {
            self.states.pop_front();
            self.first += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.states.is_empty()
    }
}
