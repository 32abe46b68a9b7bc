//! First come first served, or a queue in another order, without backfilling.

use crate::order::Priority;
use crate::policy::Policy;
use crate::policy::pass::{JobLine, QueuePass, no_room};
use crate::reason::{Reason, ReasonProbe, Right};
use crate::view::{Starts, View};

/// First come first served on several machines: the head of the queue starts on the first machine, by index, that has
/// room for it and that it may use. If there is none, it blocks all jobs behind it.
///
/// [`in_order`](Self::in_order) gives the queue another [`Order`](crate::Order): `fcfs+order=ORDER+threshold=SPAN` in
/// the names of policies. A pass visits each machine once for each job that starts, and once more. In another order than that
/// of arrival it also computes a key for each waiting job, unless no job is narrow enough for the free processors.
///
/// Source: Klusáček et al., "Comparison of multi-criteria scheduling techniques" (2008), §4, which names it without details.
#[derive(Clone, Debug, Default)]
pub struct Fcfs {
    priority: Priority,
    /// Free processors of each machine; scratch buffer, reused across passes.
    free: Vec<u32>,
}

impl Fcfs {
    /// Returns the policy with turns in order of `priority`.
    pub fn in_order(priority: Priority) -> Self {
        Self { priority, free: Vec::new() }
    }
}

impl Policy for Fcfs {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.schedule_with_reasons(view, starts, &mut ());
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        let mut pass = QueuePass::new(view, starts, probe);
        let Self { priority, free } = self;
        if !priority.is_arrival() && !pass.listens && !view.some_job_is_narrow_enough() {
            return;
        }
        free.clear();
        free.extend(view.free);
        let mut line = JobLine::by(*priority, view, &[]);
        while let Some(head) = pass.next(&mut line) {
            let has_room =
                |machine: &usize| free[*machine] >= head.request.processors && view.suits(*machine, &head.request);
            let Some(machine) = (0..free.len()).find(has_room) else {
                pass.refuse(&head, || no_room(&head, view, |machine| free[machine]));
                if pass.listens {
                    pass.next_where(&mut line, |_| false, |_| Reason::Behind { head: head.job });
                }
                break;
            };
            free[machine] -= head.request.processors;
            pass.start(&head, machine, Right::InTurn);
        }
    }

    fn is_pure(&self) -> bool {
        self.priority.is_arrival()
    }
}
