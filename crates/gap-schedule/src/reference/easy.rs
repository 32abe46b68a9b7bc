//! EASY, in a screenful.

use super::{END_OF_TIME, free_on, span};
use crate::policy::Policy;
use crate::view::{Starts, View};
use sim_core::SiteId;

/// EASY backfilling on one machine: jobs start in order of arrival; the first that cannot is promised the earliest start there
/// is; others may start before it if they touch neither what runs nor that promise.
///
/// Source: A. W. Mu'alem and D. G. Feitelson, IEEE TPDS 12(6), 2001, figure 1. [`crate::Easy`] is fast, and knows several
/// machines.
#[derive(Copy, Clone, Debug, Default)]
pub struct Easy;

impl Policy for Easy {
    fn is_pure(&self) -> bool {
        true
    }

    /// # Panics
    ///
    /// If there is more than one machine.
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        assert_eq!(view.machines.len(), 1, "this is EASY on one machine");
        let mut plan = free_on(0, view);
        let mut head_is_waiting = false;
        for job in view.queue {
            let (processors, takes) = (job.request.processors, span(0, job, view));
            // By expectations, a job that needs the processors of a job without an estimate never starts.
            let start = plan.earliest(view.now, takes, processors);
            if start == Some(view.now) {
                // A job that passes the head takes even the last instant, so that of several jobs without an estimate only one takes
                // what the promise leaves over.
                let takes = if head_is_waiting { takes } else { takes.min(END_OF_TIME.since(view.now)) };
                plan.reserve(view.now, takes, processors);
                starts.push((job.job, SiteId(0)));
            } else if !head_is_waiting {
                // Only the first blocked job is promised a start: a promise to every job here would be conservative.
                if let Some(start) = start {
                    plan.reserve(start, takes, processors);
                }
                head_is_waiting = true;
            }
        }
    }
}
