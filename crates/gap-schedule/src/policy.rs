//! Trait of a policy; and the policies, one per file.

mod conservative;
mod fcfs;
mod flexible;
mod gap_filling;
mod machine_profiles;
mod ordered_backfill;
mod pass;
mod readings;
mod reservations;
mod reserving;

pub use conservative::Conservative;
pub use fcfs::Fcfs;
pub use flexible::{FlexibleBackfill, FlexibleConfig, Minext};
pub use gap_filling::GapFilling;
pub use ordered_backfill::{Backfilling, Easy, OrderedBackfill};
pub use readings::{BackfillReadings, BackfillRule, CompressOrder, Placement};
pub use reserving::Depth;

use crate::queue::QueuedJob;
use crate::reason::ReasonProbe;
use crate::view::{RunningJob, Starts, View};
use dyn_clone::DynClone;
use sim_core::{SiteId, Time};
use std::error::Error;
use std::ops::DerefMut;
use std::sync::Arc;

/// Error that keeps a policy from deciding, such as a program that does not answer.
pub type PolicyError = Arc<dyn Error + Send + Sync>;

/// Decides which waiting jobs start now, and on which machine.
///
/// A policy decides; the world acts. [`schedule`](Self::schedule) is the only required method: it sees the waiting and
/// running jobs and the free processors. A policy that keeps more state than a [`View`] holds (a plan, past usage,
/// predictions) also implements methods for events. A policy that plans ahead requests its next call by
/// [`next_wakeup`](Self::next_wakeup).
///
/// The calls at one instant, in order: [`on_expiry`](Self::on_expiry) for each job that has outlived its prediction,
/// [`on_completion`](Self::on_completion) for each job that ends, [`on_submit`](Self::on_submit) for each job that arrives,
/// one `schedule`, [`on_start`](Self::on_start) for each job that it starts, one `next_wakeup`.
///
/// The trait is object-safe, and pointers to policies are policies.
///
/// ```
/// use gap_schedule::{Machine, MultiCluster, Policy, Starts, View};
/// use sim_core::{Job, JobId, JobLog, Sim, SiteId, Span, Time};
///
/// /// Shortest job first, on one machine, without reservations.
/// struct ShortestFirst;
///
/// impl Policy for ShortestFirst {
///     fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
///         let mut queue: Vec<_> = view.queue.iter().collect();
///         queue.sort_by_key(|queued| (queued.request.estimate, queued.submit));
///         let mut free = view.free[0];
///         for queued in queue {
///             if queued.request.processors <= free {
///                 free -= queued.request.processors;
///                 starts.push((queued.job, SiteId(0)));
///             }
///         }
///     }
/// }
///
/// let job = |id, runtime| Job::new(JobId(id), Time::ZERO, 4, Span::from_secs(runtime));
/// let world = MultiCluster::new(vec![Machine::new(4)], ShortestFirst, [job(0, 50), job(1, 20)].into_iter());
/// let (_, log) = Sim::new(world, JobLog::collecting()).run();
/// assert_eq!(log.sink()[0].job.id, JobId(1)); // it has finished first
/// ```
#[expect(unused_variables, reason = "a method with a default body documents its arguments")]
pub trait Policy {
    /// Appends to `starts` the jobs to start at `view.now` and their machines, in starting order. Together they fit into the
    /// free processors. Called only while jobs wait, unless the policy [wants every event](Self::wants_every_event).
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts);

    /// Makes the same decisions, and reports [reasons](crate::Reason) to `probe` as they are made, in a pass in which
    /// it [listens](ReasonProbe::listens). The default reports none.
    ///
    /// The cost of a pass may differ from that of `schedule`; the starts may not. The `schedule` of the policies of this
    /// crate passes `()`, which observes nothing.
    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        self.schedule(view, starts);
    }

    /// Called once, before any event.
    fn begin(&mut self, view: &View<'_>) {}

    /// Called for each job that arrives, or that lost its processors to a failure and waits again: it is the last of
    /// the view's queue. Some machine suits it.
    fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {}

    /// Called for each job that has started on `machine` by the decision of this policy, in order, after the
    /// [`schedule`](Self::schedule) that returned it. The view lists it as running.
    fn on_start(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {}

    /// Called for each job that has ended on `machine`. The view no longer has it; `job.expected_end` is later than
    /// `view.now` if it ended early.
    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {}

    /// Called for each job on `machine` that has outlived its prediction, `before.expected_end`. Its end is now
    /// expected at `after.expected_end`, which is in the future. The view has it as `after`.
    ///
    /// Needed only by policies that keep a plan of their own; others read the view at each pass.
    fn on_expiry(&mut self, before: &RunningJob, after: &RunningJob, machine: SiteId, view: &View<'_>) {}

    /// Returns the next instant, after the present one, at which the policy must be called even without an event.
    /// Called after each [`schedule`](Self::schedule); the latest result holds.
    fn next_wakeup(&self) -> Option<Time> {
        None
    }

    /// Returns the error that keeps the policy from deciding; the default is none. Called after each
    /// [`schedule`](Self::schedule). With an error the world ignores the starts of that call, takes no further job, starts none, and keeps the
    /// error ([`MultiCluster::error`](crate::MultiCluster::error)).
    fn error(&self) -> Option<PolicyError> {
        None
    }

    /// Returns true if the policy is also called at instants with an event at which no job waits.
    fn wants_every_event(&self) -> bool {
        false
    }

    /// Returns true if the result of [`schedule`](Self::schedule) depends on the view alone, for the machines of
    /// [`begin`](Self::begin). Such a policy can be called at any instant, in any state of the world, without the calls
    /// for earlier events. A policy whose results depend on earlier calls returns `false`, the default.
    fn is_pure(&self) -> bool {
        false
    }
}

/// Policy that can be copied with its state and moved to another thread, such as those that this crate exports.
///
/// A [`Sim`](sim_core::Sim) of a world under a box of it can be [forked](sim_core::Sim::fork).
pub trait ForkablePolicy: Policy + Send + DynClone {}

impl<P: Policy + Send + Clone> ForkablePolicy for P {}

dyn_clone::clone_trait_object!(ForkablePolicy);

/// Implements the methods by which a [`Policy`] that wraps others forwards events. `|this| this.policy` selects the wrapped
/// one.
#[doc(hidden)]
#[macro_export]
macro_rules! forward_events {
    (|$this:ident| $($inner:expr),+) => {
        $crate::forward_events! { @each $this [$($inner),+]
            begin(view: &$crate::View<'_>)
            on_submit(job: &$crate::QueuedJob, view: &$crate::View<'_>)
            on_start(job: &$crate::RunningJob, machine: sim_core::SiteId, view: &$crate::View<'_>)
            on_completion(job: &$crate::RunningJob, machine: sim_core::SiteId, view: &$crate::View<'_>)
            on_expiry(
                before: &$crate::RunningJob,
                after: &$crate::RunningJob,
                machine: sim_core::SiteId,
                view: &$crate::View<'_>
            )
        }
    };
    (@each $this:ident $inner:tt $($name:ident($($argument:ident: $Type:ty),+))+) => {
        $(fn $name(&mut self, $($argument: $Type),+) {
            let $this = self;
            $crate::forward_events!(@call $inner $name($($argument),+));
        })+
    };
    (@call [$($inner:expr),+] $name:ident $arguments:tt) => {
        $($inner.$name $arguments;)+
    };
}

/// Implements the methods by which a wrapping policy answers for its inner policy.
macro_rules! forward_answers {
    (|$this:ident| $inner:expr) => {
        $crate::policy::forward_answers! { @each $this $inner,
            next_wakeup: Option<sim_core::Time>
            wants_every_event: bool
            error: Option<$crate::PolicyError>
            is_pure: bool
        }
    };
    (@each $this:ident $inner:expr, $($name:ident: $Type:ty)+) => {
        $(fn $name(&self) -> $Type {
            let $this = self;
            $inner.$name()
        })+
    };
}

pub(crate) use forward_answers;

impl<T: DerefMut<Target: Policy>> Policy for T {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        (**self).schedule(view, starts);
    }

    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        (**self).schedule_with_reasons(view, starts, probe);
    }

    forward_events!(|this| (**this));
    forward_answers!(|this| (**this));
}

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
