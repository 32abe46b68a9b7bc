//! Shared set-up.

use gap_schedule::{Cluster, Dispatch, Passes};
use sim_core::{Fact, Job, JobId, JobLog, JobRecord, Sim, Span, Time};

/// What was told, in order.
pub(crate) type Transcript = Vec<(Time, Fact)>;

/// A job whose numbers are seconds, its estimate exact.
pub(crate) fn job(id: u32, submit: u64, processors: u32, runtime: u64) -> Job {
    Job::new(JobId(id), Time::from_secs(submit), processors, Span::from_secs(runtime))
}

pub(crate) fn transcript(processors: u32, policy: impl Dispatch, passes: Passes, jobs: &[Job]) -> Transcript {
    let cluster = Cluster::new(processors, policy, jobs.iter().copied()).with_passes(passes);
    Sim::new(cluster, Transcript::new()).run().1
}

/// The records of all jobs that ran, by id.
pub(crate) fn records(processors: u32, policy: impl Dispatch, jobs: &[Job]) -> Vec<JobRecord> {
    let cluster = Cluster::new(processors, policy, jobs.iter().copied());
    let mut records = Sim::new(cluster, JobLog::collecting()).run().1.into_sink();
    records.sort_by_key(|record| record.job.id);
    records
}

/// The starts of all jobs that ran, in seconds, by id.
pub(crate) fn starts(processors: u32, policy: impl Dispatch, jobs: &[Job]) -> Vec<f64> {
    records(processors, policy, jobs).iter().map(|record| record.start.as_secs_f64()).collect()
}
