//! Policy with a probe for its reasons.

use crate::policy::{Policy, forward_answers, forward_events};
use crate::reason::ReasonProbe;
use crate::view::{Starts, View};

/// Policy with a probe that receives its reasons. The schedule is that of the policy alone.
///
/// ```
/// use gap_schedule::{Easy, Explained, Machine, MultiCluster, Reason, ReasonProbe, Starts};
/// use sim_core::{Job, JobId, JobLog, Sim, Span, Time};
///
/// /// Keeps the reasons of one job.
/// struct Why(JobId, Vec<Reason>);
///
/// impl ReasonProbe for Why {
///     fn follows(&self, job: JobId) -> bool {
///         job == self.0
///     }
///
///     fn observe(&mut self, _: JobId, reason: Reason, _: &Starts) {
///         self.1.push(reason);
///     }
/// }
///
/// // The second needs the whole machine. The third fits beside the first, but would run for longer.
/// let job = |id, submit, processors, runtime| {
///     Job::new(JobId(id), Time::from_secs(submit), processors, Span::from_secs(runtime))
/// };
/// let jobs = [job(0, 0, 3, 100), job(1, 1, 4, 10), job(2, 2, 1, 200)];
/// let policy = Explained { policy: Easy::default(), probe: Why(JobId(2), Vec::new()) };
/// let (world, _) = Sim::new(MultiCluster::new(vec![Machine::new(4)], policy, jobs.into_iter()), JobLog::collecting()).run();
/// let Why(_, reasons) = &world.policy().probe;
/// assert_eq!(reasons[0], Reason::Turn { place: 2 });
/// let Reason::Barred { at, left: 0, by, .. } = &reasons[1] else { panic!("it was barred") };
/// assert_eq!((*at, by[0].job), (Time::from_secs(100), JobId(1)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Explained<P, R> {
    /// Policy.
    pub policy: P,
    /// Probe, with its observations so far.
    pub probe: R,
}

impl<P: Policy, R: ReasonProbe> Policy for Explained<P, R> {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        if self.probe.listens() {
            self.policy.schedule_with_reasons(view, starts, &mut self.probe);
        } else {
            self.policy.schedule(view, starts);
        }
        self.probe.end_pass(view, starts);
    }

    forward_events!(|this| this.policy);
    forward_answers!(|this| this.policy);
}
