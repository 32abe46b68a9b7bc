//! A habit of the simulator pyss: no pass for a newcomer that does not fit.

use crate::policy::{Policy, forward_events, forward_wakeups};
use crate::queue::QueuedJob;
use crate::reason::ReasonProbe;
use crate::view::{Starts, View};
use sim_core::Request;

/// A policy that makes the pass after a submission only if the job just submitted fits what is free on some machine.
///
/// To EASY this is nearly a shortcut: a job that does not fit cannot start, and blocks the others. Nearly, because the pass may
/// start others because time has passed, or a prediction expired, since the last. The simulator pyss does so, and with it the
/// published results of SC'15: [`Passes::Pyss`](crate::Passes::Pyss), under which every submission is followed by a pass of its
/// own. (Where one pass stands for all that happened at an instant, the last newcomer alone would decide.)
#[derive(Clone, Debug, Default)]
pub struct IfNewcomerFits<P> {
    policy: P,
    /// The job submitted since the last pass.
    newcomer: Option<Request>,
}

impl<P> IfNewcomerFits<P> {
    /// Calls `policy` where the newcomer fits.
    pub const fn new(policy: P) -> Self {
        Self { policy, newcomer: None }
    }

    /// The policy that it calls.
    pub const fn policy(&self) -> &P {
        &self.policy
    }
}

impl<P: Policy> IfNewcomerFits<P> {
    /// Whether a pass is to be made.
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
