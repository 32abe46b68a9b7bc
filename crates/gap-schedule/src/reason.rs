//! Why a policy starts a job at a pass, or does not: the decision itself, as a probe hears it.

use crate::view::{Starts, View};
use sim_core::{JobId, SiteId, Time};

/// Why a job starts at a pass or does not, as the policy's own decision has it. Of one job and pass, several may be reported: its
/// turn, what kept it from starting, and what it is promised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is the `place`th of those that wait, in the policy's order at this pass; the first is 1. Where no turn is reported, the
    /// order is that of arrival.
    Turn {
        /// Its place.
        place: usize,
    },
    /// It starts.
    Starts {
        /// The machine.
        machine: SiteId,
        /// By which right.
        right: Right,
        /// The jobs whose turn came before and that wait on, in the order of their turns.
        passed: Vec<JobId>,
    },
    /// No machine that it may use has room for it now.
    NoRoom {
        /// The one that has most room.
        machine: SiteId,
        /// Processors that are free there, after those that the pass has started so far.
        free: u32,
    },
    /// It would fit now, but is expected to run beyond `at`, and jobs with a promised start leave too few processors
    /// then.
    Barred {
        /// The machine on which it would fit now; of several, the preferred one.
        machine: SiteId,
        /// The first instant at which too few are left.
        at: Time,
        /// Processors that are left then, beside what is expected to run and what is promised. Zero where the policy lets
        /// no job have them ([`BackfillRule::Strict`](crate::BackfillRule::Strict)).
        left: u32,
        /// Those promised starts, in the order in which they were made.
        by: Vec<ReservedStart>,
    },
    /// The policy stops at `head`, which cannot start.
    Behind {
        /// The job that blocks the queue.
        head: JobId,
    },
    /// It is promised a start.
    Reserved {
        /// The machine.
        machine: SiteId,
        /// When: [`Time::MAX`] behind a job that is never expected to end; 1 ns ahead behind one that has outlived what was
        /// expected of it, and may end at any moment.
        start: Time,
    },
    /// It is to have a reservation, but by expectations there is no instant at which it could start.
    Hopeless,
    /// Nothing is in its way any more, but what it is promised is looked at again only when a job has ended.
    Kept,
}

/// By which right a job starts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Right {
    /// It was its turn: no job before it in the policy's order waits on, or none holds a reservation.
    InTurn,
    /// Its promised start has come.
    Reserved,
    /// It passes others, and delays none of them.
    Backfilled,
}

/// A promised start.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ReservedStart {
    /// The job.
    pub job: JobId,
    /// Its promised start.
    pub start: Time,
    /// The processors that it needs.
    pub processors: u32,
}

/// Listens to the reasons of a policy. `()` listens to nothing: a policy that is asked without a listener is compiled
/// for it, and pays next to nothing.
pub trait ReasonProbe {
    /// Whether the probe wants any reason of this pass.
    fn listens(&self) -> bool {
        true
    }

    /// Whether the probe wants the reasons of this job.
    fn follows(&self, job: JobId) -> bool {
        let _ = job;
        true
    }

    /// A pass begins.
    fn begin_pass(&mut self, view: &View<'_>) {
        let _ = view;
    }

    /// A reason of a job, when the pass has come to it. `starts` are the jobs that the pass has started before.
    fn observe(&mut self, job: JobId, reason: Reason, starts: &Starts);

    /// The pass is over, and starts these.
    fn end_pass(&mut self, view: &View<'_>, starts: &Starts) {
        let _ = (view, starts);
    }
}

impl ReasonProbe for () {
    #[inline]
    fn listens(&self) -> bool {
        false
    }

    #[inline]
    fn follows(&self, _: JobId) -> bool {
        false
    }

    #[inline]
    fn observe(&mut self, _: JobId, _: Reason, _: &Starts) {}
}
