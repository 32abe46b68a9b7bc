//! Waiting jobs one after the other, in any order.

use crate::min_demand::MinDemand;
use crate::queue::{QueuedJob, WaitingJobs};

/// Waiting jobs in the order in which they may start, on a walk that never goes back.
pub(super) trait Line {
    /// Walks on to the next job.
    fn next(&mut self) -> Option<QueuedJob>;

    /// Walks on to the next job whose demands are `worth` a start, as [`WaitingJobs::next_where`] does. From call to call,
    /// `worth` accepts no more than before.
    fn next_where(&mut self, worth: impl Fn(MinDemand) -> bool) -> Option<QueuedJob>;

    /// Whether there is such a job ahead.
    fn has_where(&self, worth: impl Fn(MinDemand) -> bool) -> bool;
}

impl Line for WaitingJobs<'_> {
    fn next(&mut self) -> Option<QueuedJob> {
        Iterator::next(self).copied()
    }

    fn next_where(&mut self, worth: impl Fn(MinDemand) -> bool) -> Option<QueuedJob> {
        WaitingJobs::next_where(self, worth).copied()
    }

    fn has_where(&self, worth: impl Fn(MinDemand) -> bool) -> bool {
        WaitingJobs::next_where(&mut self.clone(), worth).is_some()
    }
}
