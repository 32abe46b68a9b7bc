//! Shared set-up.

use crate::grid_common;
pub(crate) use gap_schedule::testkit::Transcript;
use gap_schedule::{Machine, Passes, Policy};
use sim_core::{Job, JobId, JobRecord, Span, Time};
use std::fmt::Debug;
use std::panic::{UnwindSafe, catch_unwind};

/// Returns a job with times in seconds and an exact estimate.
pub(crate) fn job(id: u32, submit: u64, processors: u32, runtime: u64) -> Job {
    Job::new(JobId(id), Time::from_secs(submit), processors, Span::from_secs(runtime))
}

/// Asserts that the run panics with this message.
#[track_caller]
pub(crate) fn panics<T: Debug>(run: impl FnOnce() -> T + UnwindSafe, message: &str) {
    let panic = catch_unwind(run).expect_err(message);
    assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some(message));
}

/// Runs on one machine.
pub(crate) fn transcript(processors: u32, policy: impl Policy, passes: Passes, jobs: &[Job]) -> Transcript {
    grid_common::transcript(&[Machine::new(processors)], policy, passes, jobs)
}

/// Returns the records of all jobs that ran on one machine, by id.
pub(crate) fn records(processors: u32, policy: impl Policy, jobs: &[Job]) -> Vec<JobRecord> {
    grid_common::records(&[Machine::new(processors)], policy, jobs)
}

/// Returns the starts of all jobs that ran on one machine, in seconds, by id.
pub(crate) fn starts(processors: u32, policy: impl Policy, jobs: &[Job]) -> Vec<f64> {
    records(processors, policy, jobs).iter().map(|record| record.start.as_secs_f64()).collect()
}
