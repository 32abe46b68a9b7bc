//! A job as the log has it.

use sim_core::{Span, Time};

/// One job, with what the log says of it, before estimates are made for policies.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HeldJob {
    /// Submission, since the first job of the log or, in a resampled one, since the first week began.
    pub submit: Time,
    /// Run time by the log, whatever the limit.
    pub runtime: Span,
    /// Wait time in the log, if known.
    pub wait: Option<Span>,
    /// Its requested time (field 9), above zero.
    pub limit: Option<Span>,
    /// From its submission to its deadline, where it has one.
    pub due: Option<Span>,
    /// Processors that it held.
    pub processors: u32,
    /// Its user.
    pub user: Option<u32>,
    /// Its number in the log.
    pub number: u64,
}

impl HeldJob {
    /// Its run time where limits are enforced.
    pub(crate) fn runtime_within_limit(&self) -> Span {
        self.limit.map_or(self.runtime, |limit| limit.min(self.runtime))
    }

    /// Processors × seconds that it occupies where limits are enforced.
    pub fn area(&self) -> f64 {
        f64::from(self.processors) * self.runtime_within_limit().as_secs_f64()
    }
}
