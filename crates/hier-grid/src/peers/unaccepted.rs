//! Jobs that no peer has accepted yet, and the time at which a peer would: arithmetic without messages.
//!
//! A request that no peer accepts is sent again every two minutes, possibly for hours. Between two changes at a peer its
//! backlog only shrinks, at a known rate. The first resubmission that can succeed is therefore computed, and those before it are
//! only counted.

use sim_core::{JobId, Span, Time};

/// Time after which a work station without an offer resubmits ("P2P System").
pub(crate) const RESUBMIT: Span = Span::from_secs(120);

/// Largest backlog with which a peer accepts a job; `None` if it never accepts it.
pub(crate) type Allowance = Option<Span>;

/// Jobs of one class that no peer has accepted yet, unordered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unaccepted {
    pub(crate) jobs: Vec<UnacceptedJob>,
    /// Allowances of these jobs for each width of servers. A peer reads only one width, so the widths
    /// are stored separately.
    pub(crate) allowances: Vec<Vec<Allowance>>,
}

impl Unaccepted {
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
    /// Time at which its first request arrived at the entry.
    pub(crate) since: Time,
    pub(crate) tried: u64,
    pub(crate) entry: u32,
}

impl UnacceptedJob {
    /// Time of its first resubmission to come at or after `at`.
    pub(crate) fn next_from(&self, at: Time) -> Time {
        // Resubmissions come every two minutes since the first request; those up to `tried` are past.
        let number = at.saturating_since(self.since).as_nanos().div_ceil(RESUBMIT.as_nanos());
        self.since + RESUBMIT * number.max(self.tried + 1)
    }
}
