//! Job as the scheduler sees it: [`JobRequest`]; and the times of a job in the simulator.

use sim_core::{Job, SiteSet, Span, Time};

/// Part of a job that the scheduler knows: not its run time.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct JobRequest {
    /// Number of processors, at least 1.
    pub processors: u32,
    /// Limit L, on which reservations are based. At least 1 s.
    pub limit: Span,
    /// Duration in a plan: ⌊L + 1⌋ seconds.
    pub planned_time: Span,
    pub(crate) planned_seconds: f64,
    /// Processors × limit, in seconds.
    pub(crate) claim: f64,
    /// Submission.
    pub submit: Time,
    pub(crate) submit_seconds: f64,
    pub(crate) sites: SiteSet,
    /// User. Jobs without a user belong to one common user.
    pub user: Option<u32>,
}

impl JobRequest {
    pub(crate) fn of(job: &Job) -> Self {
        let limit = limit(job);
        Self {
            processors: job.request.processors,
            limit,
            planned_time: rounded_up(limit),
            planned_seconds: rounded_up(limit).as_secs_f64(),
            claim: f64::from(job.request.processors) * limit.as_secs_f64(),
            submit: job.submit,
            submit_seconds: job.submit.as_secs_f64(),
            sites: job.request.sites,
            user: job.request.user,
        }
    }
}

/// Returns the limit at which the job is cut: its estimate, or else its run time. At least 1 s.
pub fn limit(job: &Job) -> Span {
    job.request.estimate.unwrap_or(job.runtime).max(SECOND)
}

/// Returns the work of the job, after which its cluster finds it done at the next look: the runtime, cut at the limit. At least 1 s.
pub fn work(job: &Job) -> Span {
    job.runtime.max(SECOND).min(limit(job))
}

/// Returns the time from the job's start to the look of its cluster for its end: ⌊work + 1⌋ seconds.
pub fn executed_time(job: &Job) -> Span {
    rounded_up(work(job))
}

sim_core::id! {
    /// Position of a job in order of submission, from 0; not its number in the log.
    JobIndex
}

const SECOND: Span = Span::from_secs(1);

/// Returns ⌊t + 1⌋ seconds: the simulator intends to round up (`(int) (time + 1)`), and adds a second to whole numbers.
fn rounded_up(time: Span) -> Span {
    Span::from_secs(time.as_nanos() / SECOND.as_nanos() + 1)
}
