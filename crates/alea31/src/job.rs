//! Job as the simulator runs it, and as its scheduler sees it: [`Job`] and [`JobRequest`].

use sim_core::{SiteSet, Span, Time};

/// Job of the world, with its true run time. Schedulers see its [`JobRequest`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Job with the runtime of the log; its estimate is the limit at which it is cut, its deadline the due date, its
    /// sites the clusters that it may use: cluster 0 is the largest.
    pub job: sim_core::Job,
    /// User that submitted it; any number.
    pub user: u32,
}

impl Job {
    /// Returns the part of it that a scheduler sees.
    pub fn request(&self) -> JobRequest {
        let limit = self.limit();
        JobRequest {
            processors: self.job.request.processors,
            limit,
            planned_time: rounded_up(limit),
            planned_seconds: rounded_up(limit).as_secs_f64(),
            claim: f64::from(self.job.request.processors) * limit.as_secs_f64(),
            submit: self.job.submit,
            submit_seconds: self.job.submit.as_secs_f64(),
            sites: self.job.request.sites,
            user: self.user,
        }
    }

    /// Number of processors, at least 1.
    pub const fn processors(&self) -> u32 {
        self.job.request.processors
    }

    /// Limit, at which it is cut. At least 1 s.
    pub fn limit(&self) -> Span {
        self.job.request.estimate.unwrap_or(self.job.runtime).max(SECOND)
    }

    /// Work of the job, after which its cluster finds it done at the next look: the runtime, cut at the limit. At least 1 s.
    pub fn work(&self) -> Span {
        self.job.runtime.max(SECOND).min(self.limit())
    }

    /// Time from its start to the look of its cluster for its end: ⌊work + 1⌋ seconds.
    pub fn executed_time(&self) -> Span {
        rounded_up(self.work())
    }
}

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
    /// User.
    pub user: u32,
}

/// Position of a job in order of submission, from 0; not its number in the log.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobIndex(pub u32);

impl JobIndex {
    /// Returns the position for use as an index.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

const SECOND: Span = Span::from_secs(1);

/// Returns ⌊t + 1⌋ seconds: the simulator intends to round up (`(int) (time + 1)`), and adds a second to whole numbers.
fn rounded_up(time: Span) -> Span {
    Span::from_secs(time.as_nanos() / SECOND.as_nanos() + 1)
}
