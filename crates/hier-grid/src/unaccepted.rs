//! Jobs that no peer has accepted yet, and when one would: arithmetic without messages.
//!
//! A request that no peer accepts is sent again every two minutes, for hours perhaps. Between two changes at a peer its
//! backlog only shrinks, at a known pace, so the first resubmission that can succeed is computed, and those before it are
//! merely counted.

use sim_core::{JobId, Span, Time};

/// Without an offer a work station resubmits after this ("P2P System").
pub(crate) const RESUBMIT: Span = Span::from_secs(120);

/// How much backlog a peer may have to accept a job; `None` if it never accepts it.
pub(crate) type Allowance = Option<Span>;

/// Jobs of one class that no peer has accepted yet, in no order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unaccepted {
    pub(crate) jobs: Vec<UnacceptedJob>,
    /// For each of the widths of servers: the allowances of these jobs there. A peer looks at one width alone, so the widths
    /// lie apart.
    pub(crate) allowances: Vec<Vec<Allowance>>,
}

impl Unaccepted {
    /// No jobs, among servers of `widths` widths.
    pub(crate) fn new(widths: usize) -> Self {
        Self { jobs: Vec::new(), allowances: vec![Vec::new(); widths] }
    }

    pub(crate) fn push(&mut self, job: UnacceptedJob, allowances: &[Allowance]) {
        self.jobs.push(job);
        for (all, allowance) in self.allowances.iter_mut().zip(allowances) {
            all.push(*allowance);
        }
    }

    pub(crate) fn remove(&mut self, place: usize) {
        self.jobs.swap_remove(place);
        for all in &mut self.allowances {
            all.swap_remove(place);
        }
    }
}

/// A job that no peer has accepted yet, and its resubmissions so far.
#[derive(Copy, Clone, Debug)]
pub(crate) struct UnacceptedJob {
    pub(crate) job: JobId,
    /// When its first request came in at the entry.
    pub(crate) since: Time,
    pub(crate) tried: u64,
    pub(crate) entry: u32,
}

impl UnacceptedJob {
    /// The number of its first resubmission at or after `at`.
    const fn next(&self, at: Time) -> u64 {
        // Resubmissions come every two minutes since the first request; those up to `tried` are past.
        let number = at.saturating_since(self.since).as_nanos().div_ceil(RESUBMIT.as_nanos());
        if number > self.tried { number } else { self.tried + 1 }
    }

    fn time(&self, number: u64) -> Time {
        self.since + RESUBMIT * number
    }
}

/// How much a peer has to do, at an instant.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Backlog {
    /// Estimates of all jobs that it has accepted and not yet offered itself to.
    pub(crate) queued: Span,
    /// When it expects to have run what it runs.
    pub(crate) free_at: Time,
    pub(crate) now: Time,
    /// Whether resubmissions that must fail are skipped; else every one is tried.
    pub(crate) shortcuts: bool,
}

impl Backlog {
    /// When the peer would first accept a resubmission of a job, if nothing else changes, and the job. `None` if never, or
    /// not before `best`.
    #[inline]
    pub(crate) fn acceptance(
        &self,
        waiting: &UnacceptedJob,
        allowance: Allowance,
        best: Option<(Time, JobId)>,
    ) -> Option<(Time, JobId)> {
        let allowed = allowance?;
        let from = if !self.shortcuts {
            self.now
        } else if self.queued > allowed {
            return None;
        } else {
            // Running it down to this leaves just what is allowed.
            let slack = allowed.saturating_sub(self.queued);
            Time::from_nanos(self.free_at.as_nanos().saturating_sub(slack.as_nanos())).max(self.now)
        };
        // Most jobs fall out here, before the division that `next` takes.
        if best.is_some_and(|(best, _)| from > best) {
            return None;
        }
        let found = (waiting.time(waiting.next(from)), waiting.job);
        best.is_none_or(|best| found < best).then_some(found)
    }
}
