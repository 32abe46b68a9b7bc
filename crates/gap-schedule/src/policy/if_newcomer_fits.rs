//! Rule of the simulator pyss: no pass for a newcomer that does not fit.

use crate::policy::{Policy, forward_events, forward_wakeups};
use crate::queue::QueuedJob;
use crate::reason::ReasonProbe;
use crate::view::{Starts, View};
use sim_core::Request;

/// Policy that makes the pass after a submission only if the submitted job fits the free processors of some machine.
///
/// For EASY this is nearly a shortcut, because a job that does not fit cannot start and blocks the others. But a skipped pass
/// might have started others, because time has passed or a prediction has expired since the last pass. The simulator pyss has
/// this rule, and so have the published results of SC'15: [`Passes::Pyss`](crate::Passes::Pyss), under which every submission
/// has a pass of its own. (With one pass per instant, only the last newcomer of the instant would decide.)
#[derive(Clone, Debug, Default)]
pub struct IfNewcomerFits<P> {
    policy: P,
    /// Job submitted since the last pass.
    newcomer: Option<Request>,
}

impl<P> IfNewcomerFits<P> {
    /// Wraps `policy`, which is called if the newcomer fits.
    pub const fn new(policy: P) -> Self {
        Self { policy, newcomer: None }
    }
}

impl<P: Policy> IfNewcomerFits<P> {
    /// Returns true if a pass is due.
    fn is_worth_a_pass(&mut self, view: &View<'_>) -> bool {
        let fits = |request: &Request| {
            let mut machines = 0..view.machines.len();
            machines.any(|machine| view.suits(machine, request) && request.processors <= view.free[machine])
        };
        self.newcomer.take().is_none_or(|request| fits(&request))
    }
}

impl<P: Policy> Policy for IfNewcomerFits<P> {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        if self.is_worth_a_pass(view) {
            self.policy.schedule(view, starts);
        }
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        if self.is_worth_a_pass(view) {
            self.policy.schedule_with_reasons(view, starts, probe);
        }
    }

    fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {
        self.newcomer = Some(job.request);
        self.policy.on_submit(job, view);
    }

    forward_events!(|this| this.policy);
    forward_wakeups!(|this| this.policy);
}
