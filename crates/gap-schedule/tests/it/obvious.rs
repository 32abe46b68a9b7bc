//! EASY as one would explain it; shared with the benches.

use gap_schedule::{Dispatch, View};
use sim_core::{AvailabilityProfile, JobId, Span};

/// Draws the whole future anew at each pass, and reserves in it for the head alone.
#[derive(Clone)]
pub(crate) struct ObviousEasy;

impl Dispatch for ObviousEasy {
    fn dispatch(&mut self, view: &View<'_>, starts: &mut Vec<JobId>) {
        let now = view.now;
        let mut plan = AvailabilityProfile::new(view.capacity);
        for running in view.running.iter() {
            let left = running.expected_end.saturating_since(now).max(Span::from_nanos(1));
            plan.reserve(now, left, running.processors);
        }
        let mut head_is_waiting = false;
        for waiting in view.queue {
            // Even a job that is expected to take no time needs its processors at its start.
            let estimate = waiting.request.estimate.expect("the workloads have estimates");
            let span = estimate.max(Span::from_nanos(1));
            let processors = waiting.request.processors;
            let start = plan.earliest(now, span, processors).expect("admission rejects jobs wider than the pool");
            if start == now {
                plan.reserve(start, span, processors);
                starts.push(waiting.job);
            } else if !head_is_waiting {
                plan.reserve(start, span, processors);
                head_is_waiting = true;
            }
        }
    }
}
