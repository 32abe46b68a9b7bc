//! Gaps, in which a job could run without delaying a planned job: the search, and its bound.

use super::Plan;
use super::machine_plan::MachinePlan;
use crate::queue::QueuedJob;
use crate::view::site;
use sim_core::{Span, Time};

sim_core::answers! {
    /// Latest start of a gap: reading R8 of the paper, which does not say where the schedule ends.
    pub enum GapBound {
        /// Before the machine's last planned start. A machine without planned jobs has no gap.
        LastStart,
        /// Before the last of the machine's planned jobs ends. A machine without planned jobs has no gap.
        LastCompletion,
        /// Before the last running or planned job of all machines ends.
        Makespan,
        /// At any time: every machine that is wide enough has a gap, and Earliest Deadline First is never used.
        Unbounded,
    }
}

impl GapBound {
    /// Returns the latest instant at which a gap of this machine may start, if there is any.
    fn latest_start(self, machine: &MachinePlan, makespan: Time) -> Option<Time> {
        let bound = match self {
            Self::LastStart => machine.planned.back()?.start,
            Self::LastCompletion => machine.planned.iter().map(|planned| planned.end).max()?,
            Self::Makespan => makespan,
            Self::Unbounded => Time::MAX,
        };
        bound.as_nanos().checked_sub(1).map(Time::from_nanos)
    }
}

/// Search for one job's gaps, machine by machine.
pub(super) struct Gaps<'a> {
    plan: &'a Plan,
    job: &'a QueuedJob,
    now: Time,
    bound: GapBound,
    /// Makespan of all machines, if the bound needs it.
    makespan: Time,
}

impl<'a> Gaps<'a> {
    pub(super) fn new(plan: &'a Plan, job: &'a QueuedJob, now: Time, bound: GapBound) -> Self {
        let makespan = if bound == GapBound::Makespan { plan.score().makespan } else { Time::MAX };
        Self { plan, job, now, bound, makespan }
    }

    /// Returns the time that the job takes on the machine; `None` if it certainly has no gap there.
    #[inline]
    pub(super) fn span(&self, machine: usize) -> Option<Span> {
        let part = &self.plan.machines[machine];
        let is_measured = self.bound == GapBound::LastStart && part.is_one_of_many;
        let reach = if is_measured { part.idle.reach(self.job.request.processors) } else { Span::MAX };
        // Most machines have no gap of this width at all.
        let may_fit = !reach.is_zero() && self.job.request.sites.contains(site(machine));
        may_fit.then(|| part.span(self.job)).filter(|span| *span <= reach)
    }

    /// Returns the start of the machine's earliest gap, if it is not after `latest`. `operations` counts the steps visited.
    pub(super) fn start(&self, machine: usize, span: Span, latest: Time, operations: &mut u64) -> Option<Time> {
        let machine = &self.plan.machines[machine];
        let latest = latest.min(self.bound.latest_start(machine, self.makespan)?);
        machine.idle.earliest(self.now, span, self.job.request.processors, latest, operations)
    }
}
