//! Backfilling with any number of reservations, laid out anew at each pass.

use super::{END_OF_TIME, earliest, free_on, span};
use crate::policy::{Depth, Placement, Policy};
use crate::view::{Starts, View};
use sim_core::{AvailabilityProfile, SiteId};

/// Backfilling with any number of reservations, all given anew, in order of arrival, at each pass.
///
/// [`crate::Backfill`] is the fast one, and says what the rule is.
#[derive(Copy, Clone, Debug)]
pub struct Backfill {
    depth: Depth,
    placement: Placement,
}

impl Backfill {
    /// The policy with `depth` reservations.
    pub const fn new(depth: Depth, placement: Placement) -> Self {
        Self { depth, placement }
    }
}

impl Policy for Backfill {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let now = view.now;
        let mut plans: Vec<AvailabilityProfile> =
            (0..view.machines.len()).map(|machine| free_on(machine, view)).collect();
        let mut promised = 0;
        for job in view.queue {
            let best = earliest(&plans, job, self.placement, view);
            match best {
                Some((start, machine)) if start == now => {
                    // Who passes others takes even the last instant, so that of several jobs without an estimate only
                    // one takes what promises leave over.
                    let takes = span(machine, job, view);
                    let takes = if promised > 0 { takes } else { takes.min(END_OF_TIME.since(now)) };
                    plans[machine].reserve(now, takes, job.request.processors);
                    starts.push((job.job, SiteId(u32::try_from(machine).expect("few machines"))));
                }
                _ if !self.depth.allows_beside(promised) => {}
                _ => {
                    promised += 1;
                    if let Some((start, machine)) = best {
                        plans[machine].reserve(start, span(machine, job, view), job.request.processors);
                    }
                }
            }
        }
    }
}
