//! EASY in about 30 lines.

use super::{END_OF_TIME, free_on, span};
use crate::policy::Policy;
use crate::view::{Starts, View};
use sim_core::SiteId;

/// EASY backfilling on one machine. Jobs start in order of arrival. The first that cannot start gets the earliest
/// reservation. Other jobs may start before it if they delay neither running jobs nor that reservation.
///
/// Source: A. W. Mu'alem and D. G. Feitelson, IEEE TPDS 12(6), 2001, figure 1. [`crate::Easy`] is fast, and supports
/// several machines.
#[derive(Copy, Clone, Debug, Default)]
pub struct Easy;

impl Policy for Easy {
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
                // A job that overtakes the head also takes the last instant of time. Then only one of several jobs
                // without an estimate gets the processors that the reservation leaves.
                let takes = if head_is_waiting { takes } else { takes.min(END_OF_TIME.since(view.now)) };
                plan.reserve(view.now, takes, processors);
                starts.push((job.job, SiteId(0)));
            } else if !head_is_waiting {
                // Only the first blocked job gets a reservation; a reservation for every job would be conservative backfilling.
                if let Some(start) = start {
                    plan.reserve(start, takes, processors);
                }
                head_is_waiting = true;
            }
        }
    }
}
