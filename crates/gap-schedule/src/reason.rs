//! Reasons for which a policy starts a job at a pass, or does not, as reported to a probe.

use crate::view::{Starts, View};
use serde::Serialize;
use sim_core::{JobId, SiteId, Time};

/// Reason for which a job starts at a pass or does not, as decided by the policy itself. Several may be reported for
/// one job and pass: its turn, the cause that kept it from starting, and its reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The job is the `place`th of those that wait, in the policy's order at this pass; the first is 1. If no turn is
    /// reported, the order is that of arrival.
    Turn {
        /// Position in the order, from 1.
        place: usize,
    },
    /// The job starts.
    Starts {
        /// Machine on which it starts.
        machine: SiteId,
        /// Rule that allows the start.
        right: Right,
        /// Jobs with an earlier turn that still wait, in the order of their turns.
        passed: Vec<JobId>,
    },
    /// No machine that the job may use has room for it now.
    NoRoom {
        /// Machine with the most free processors.
        machine: SiteId,
        /// Processors free there, after those that the pass has started so far.
        free: u32,
    },
    /// The job would fit now, but is expected to run beyond `at`, when reservations leave too few processors.
    Barred {
        /// Machine on which it would fit now; the preferred one of several.
        machine: SiteId,
        /// First instant at which too few processors are left.
        at: Time,
        /// Processors left then, beside running jobs and reservations. Zero where the policy lets no job have them
        /// ([`BackfillRule::Strict`](crate::BackfillRule::Strict)).
        left: u32,
        /// Those reservations, in the order in which they were made.
        by: Vec<ReservedStart>,
    },
    /// The policy stops at `head`, which cannot start.
    Behind {
        /// Job that blocks the queue.
        head: JobId,
    },
    /// The job has a reservation.
    Reserved {
        /// Machine of the reservation.
        machine: SiteId,
        /// Reserved start. [`Time::MAX`] behind a job that is never expected to end; 1 ns ahead behind a job that has
        /// outlived its expected run time and may end at any moment.
        start: Time,
    },
    /// The job is to have a reservation, but by expectations it can never start.
    Hopeless,
    /// Nothing blocks the job any more, but its reservation is recomputed only when a job ends.
    Kept,
}

/// Rule that allows a job to start.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Right {
    /// In its turn: no job before it in the policy's order waits on, or none holds a reservation.
    InTurn,
    /// At its reserved start.
    Reserved,
    /// By backfilling: it overtakes other jobs and delays none of them.
    Backfilled,
}

/// Reservation of a waiting job.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ReservedStart {
    /// Id of the job.
    pub job: JobId,
    /// Reserved start.
    pub start: Time,
    /// Number of processors.
    pub processors: u32,
}

/// Observer of the reasons of a policy. `()` observes nothing.
#[expect(unused_variables, reason = "a method with a default body documents its arguments")]
pub trait ReasonProbe {
    /// Returns true if the probe wants any reason of this pass.
    fn listens(&self) -> bool {
        true
    }

    /// Returns true if the probe wants the reasons of this job.
    fn follows(&self, job: JobId) -> bool {
        true
    }

    /// Observes a reason of a job, when the pass has reached it. `starts` are the jobs that the pass has started before.
    fn observe(&mut self, job: JobId, reason: Reason, starts: &Starts);

    /// Called when a pass ends, with the view that the policy had and the jobs that it starts.
    fn end_pass(&mut self, view: &View<'_>, starts: &Starts) {}
}

impl ReasonProbe for () {
    fn listens(&self) -> bool {
        false
    }

    fn observe(&mut self, _: JobId, _: Reason, _: &Starts) {}
}
