//! Jobs on their way through the grid, and where they come from.

use crate::config::span;
use crate::ids::{StationId, narrow};
use sim_core::{Job, JobId, Span, Time};
use std::collections::VecDeque;

/// A job from outside: one of a log, say.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// Its number, counted from 0 without gaps, when it is submitted, how wide it is and how long it runs on as many CPUs.
    pub job: Job,
    /// The work station that submits it.
    pub station: StationId,
    /// The operating system that it needs.
    pub system: u32,
    /// Input, in bytes.
    pub input: u64,
    /// Output, in bytes.
    pub output: u64,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Work {
    /// CPU seconds, spread over all CPUs of a server.
    Divisible { estimate: f64, actual: f64 },
    /// Seconds, however many CPUs the server has.
    Rigid { estimate: f64, actual: f64 },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JobState {
    pub(crate) station: StationId,
    pub(crate) class: u8,
    pub(crate) started: bool,
    pub(crate) taken: bool,
    pub(crate) done: bool,
    /// Whether trees beyond the home tree have been asked (R8).
    pub(crate) shared: bool,
    /// Copies on their way to a root or delegated in a tree, offers and cancels on their way: as long as there are any,
    /// a message may name the job.
    pub(crate) copies: u32,
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) work: Work,
    pub(crate) submit: Time,
}

impl JobState {
    /// Seconds on a server of `cpus` CPUs, of which owners leave `share`: as estimated, or as it will be.
    fn seconds(&self, cpus: f64, share: f64, true_work: bool) -> f64 {
        let pick = |estimate, actual| if true_work { actual } else { estimate };
        match self.work {
            Work::Divisible { estimate, actual } => pick(estimate, actual) / (cpus * share),
            Work::Rigid { estimate, actual } => pick(estimate, actual) / share,
        }
    }

    pub(crate) fn estimate(&self, cpus: f64, share: f64) -> Span {
        span(self.seconds(cpus, share, false))
    }

    pub(crate) fn runtime(&self, cpus: f64, share: f64) -> Span {
        span(self.seconds(cpus, share, true))
    }
}

/// The jobs that are in the grid, by number. One that is done, and of which no copy is left, is forgotten as soon as all
/// older ones are: memory follows the jobs in the grid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs {
    first: u32,
    states: VecDeque<JobState>,
}

impl Jobs {
    pub(crate) fn push(&mut self, state: JobState) -> JobId {
        self.states.push_back(state);
        JobId(self.first + narrow(self.states.len() - 1))
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

    /// Forgets the oldest that no message can name any more.
    pub(crate) fn forget(&mut self) {
        // From the front alone, so that a number stays a position; a job that lives long keeps its successors in
        // memory.
        while self.states.front().is_some_and(|state| state.done && state.copies == 0) {
            self.states.pop_front();
            self.first += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.states.is_empty()
    }
}
