//! The trait of a policy; and the policies, one per file.

mod conservative;
mod easy;
mod fcfs;
mod flexible;
mod free_processor_tree;
mod gap_filling;
mod held_reservations;
mod if_newcomer_fits;
mod machine_profiles;
mod ordered_backfill;
mod ordered_queue;
mod pass;
mod readings;
mod reservations;
mod reserving;

pub use conservative::Conservative;
pub use easy::Easy;
pub use fcfs::Fcfs;
pub use flexible::{FlexibleBackfill, FlexibleConfig, Minext};
pub use gap_filling::{Completion, GapFilling, Moves, Weight};
pub use if_newcomer_fits::IfNewcomerFits;
pub use ordered_backfill::{Backfilling, OrderedBackfill};
pub use readings::{BackfillReadings, BackfillRule, CompressOrder, Placement};
pub use reserving::Depth;

use crate::queue::QueuedJob;
use crate::reason::ReasonProbe;
use crate::running::RunningJob;
use crate::view::{Starts, View};
use sim_core::{SiteId, Time};

/// Decides which waiting jobs start now, and on which machine.
///
/// A policy looks and answers; the world acts. [`schedule`](Self::schedule) is all that a policy must have: it is shown the jobs that
/// wait, those that run, and what is free. One that keeps more than a [`View`] holds (a plan, what users have had, predictions)
/// also has methods for what happens, when it happens, and one that plans ahead says when it wants to be called next even if
/// nothing happens until then ([`next_wakeup`](Self::next_wakeup)).
///
/// The order of calls at one instant is: [`on_expiry`](Self::on_expiry) for each job that has outlived its prediction,
/// [`on_completion`](Self::on_completion) for each job that ends,
/// [`on_repair`](Self::on_repair) for each machine that has been repaired, [`on_failure`](Self::on_failure) for each that fails,
/// with `on_submit` for each job that ran there, [`on_submit`](Self::on_submit) for each job that comes, one `schedule`,
/// [`on_start`](Self::on_start) for each job that it starts, one `next_wakeup`.
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
pub trait Policy {
    /// Appends to `starts` the jobs to start at `view.now` and their machines, in starting order. They fit together into
    /// what is free. Called only while jobs wait, unless the policy [wants every event](Self::wants_every_event).
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts);

    /// The same decisions, and why: `probe` observes [reasons](crate::Reason) as they are made, in a pass in which it
    /// [listens](ReasonProbe::listens). A policy that leaves this out reports none.
    ///
    /// The cost of a pass may differ from that of `schedule`; the starts may not. The policies of
    /// this crate are written once, over a probe, and `schedule` gives them `()`.
    fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
        let _ = probe;
        self.schedule(view, starts);
    }

    /// Called once, before anything happens.
    fn begin(&mut self, view: &View<'_>) {
        let _ = view;
    }

    /// A job has come, or has lost its processors to a failure, and waits from now on: it is the last of the view's queue.
    /// Some machine suits it.
    fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {
        let _ = (job, view);
    }

    /// A job that waited has started on `machine`, on this policy's answer. The view has it among those that run. Called once
    /// for each start, in order, after the [`schedule`](Self::schedule) that answered with it.
    fn on_start(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        let _ = (job, machine, view);
    }

    /// A job has ended on `machine`. The view no longer has it; `job.expected_end` lies after `view.now` if it ended
    /// before its time.
    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        let _ = (job, machine, view);
    }

    /// A job on `machine` has outlived its prediction, which was `before.expected_end`, and is now expected to end at
    /// `after.expected_end`, which lies ahead. The view has it as `after`.
    ///
    /// A policy that reads the view at each pass need not know; one that keeps a plan of its own must.
    fn on_expiry(&mut self, before: &RunningJob, after: &RunningJob, machine: SiteId, view: &View<'_>) {
        let _ = (before, after, machine, view);
    }

    /// The machine has failed: it has no processors until its [repair](Self::on_repair). The view no longer has the jobs in
    /// `lost`, which ran there, by id: each of them is submitted again, next. In their stead it has one entry, of all processors,
    /// with the id [`RunningJob::OUTAGE`] and the expected repair as its expected end.
    fn on_failure(&mut self, machine: SiteId, lost: &[RunningJob], view: &View<'_>) {
        let _ = (machine, lost, view);
    }

    /// The machine has been repaired, and is idle.
    fn on_repair(&mut self, machine: SiteId, view: &View<'_>) {
        let _ = (machine, view);
    }

    /// The next instant, after the present one, at which it wants to be called even if nothing happens. It is asked for
    /// this after each [`schedule`](Self::schedule), and the latest answer holds.
    fn next_wakeup(&self) -> Option<Time> {
        None
    }

    /// Whether it is called at instants at which something happens and no job waits, too.
    fn wants_every_event(&self) -> bool {
        false
    }

    /// Whether the answer of [`schedule`](Self::schedule) follows from the view alone, for the machines of
    /// [`begin`](Self::begin): such a policy can be called at any instant, in any state of the world, without the calls for what
    /// happened before. A policy whose answers depend on earlier calls returns `false`, the default.
    fn is_pure(&self) -> bool {
        false
    }
}

/// The methods of a [`Policy`] by which one that wraps others passes on what happens, all but `on_submit`. `|this| this.policy`
/// names the other.
macro_rules! forward_events {
    (|$this:ident| $($inner:expr),+) => {
        fn begin(&mut self, view: &$crate::View<'_>) {
            let $this = self;
            $($inner.begin(view);)+
        }

        fn on_start(&mut self, job: &$crate::RunningJob, machine: sim_core::SiteId, view: &$crate::View<'_>) {
            let $this = self;
            $($inner.on_start(job, machine, view);)+
        }

        fn on_completion(&mut self, job: &$crate::RunningJob, machine: sim_core::SiteId, view: &$crate::View<'_>) {
            let $this = self;
            $($inner.on_completion(job, machine, view);)+
        }

        fn on_expiry(
            &mut self,
            before: &$crate::RunningJob,
            after: &$crate::RunningJob,
            machine: sim_core::SiteId,
            view: &$crate::View<'_>,
        ) {
            let $this = self;
            $($inner.on_expiry(before, after, machine, view);)+
        }

        fn on_failure(&mut self, machine: sim_core::SiteId, lost: &[$crate::RunningJob], view: &$crate::View<'_>) {
            let $this = self;
            $($inner.on_failure(machine, lost, view);)+
        }

        fn on_repair(&mut self, machine: sim_core::SiteId, view: &$crate::View<'_>) {
            let $this = self;
            $($inner.on_repair(machine, view);)+
        }
    };
}

/// The methods by which a policy that wraps another asks to be called.
macro_rules! forward_wakeups {
    (|$this:ident| $inner:expr) => {
        fn next_wakeup(&self) -> Option<sim_core::Time> {
            let $this = self;
            $inner.next_wakeup()
        }

        fn wants_every_event(&self) -> bool {
            let $this = self;
            $inner.wants_every_event()
        }
    };
}

pub(crate) use forward_events;
pub(crate) use forward_wakeups;

/// Pointers to a policy are policies.
macro_rules! forward {
    ($pointer:ty) => {
        impl<P: Policy + ?Sized> Policy for $pointer {
            fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
                (**self).schedule(view, starts);
            }

            fn schedule_with_reasons(&mut self, view: &View<'_>, starts: &mut Starts, probe: &mut dyn ReasonProbe) {
                (**self).schedule_with_reasons(view, starts, probe);
            }

            fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {
                (**self).on_submit(job, view);
            }

            fn is_pure(&self) -> bool {
                (**self).is_pure()
            }

            forward_events!(|this| (**this));
            forward_wakeups!(|this| (**this));
        }
    };
}

forward!(Box<P>);
forward!(&mut P);
