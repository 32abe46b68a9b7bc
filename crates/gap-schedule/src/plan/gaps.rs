//! Gaps, in which a job could run without delaying a planned job: the search, and its bound.

use super::Plan;
use super::job::PlanJob;
use super::machine_plan::MachinePlan;
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
    job: &'a PlanJob,
    now: Time,
    bound: GapBound,
    /// Makespan of all machines, if the bound needs it.
    makespan: Time,
    /// Reach by machine, if the bound is the one for which it was measured.
    reach: Option<&'a [Span]>,
}

impl<'a> Gaps<'a> {
    pub(super) fn new(plan: &'a Plan, job: &'a PlanJob, now: Time, bound: GapBound) -> Self {
        let machines = plan.machines.len();
        let width = job.processors.max(1) as usize - 1;
        let widths = plan.reach.len().checked_div(machines).unwrap_or(0);
        let reach = (bound == GapBound::LastStart && widths > 0).then(|| {
            let row = width.min(widths - 1);
            &plan.reach[row * machines..][..machines]
        });
        let makespan = if bound == GapBound::Makespan { plan.makespan() } else { Time::MAX };
        Self { plan, job, now, bound, makespan, reach }
    }

    /// Returns the time that the job takes on the machine; `None` if it certainly has no gap there.
    #[inline]
    pub(super) fn span(&self, machine: usize) -> Option<Span> {
        if !self.job.sites.contains(site(machine)) {
            return None;
        }
        match self.reach {
            Some(reach) if reach[machine].is_zero() => None,
            Some(reach) => Some(self.plan.span_at(machine, self.job)).filter(|span| *span <= reach[machine]),
            None => Some(self.plan.span_at(machine, self.job)),
        }
    }

    /// Returns the start of the machine's earliest gap, if it is not after `latest`. `operations` counts the steps visited.
    pub(super) fn start(&self, machine: usize, span: Span, latest: Time, operations: &mut u64) -> Option<Time> {
        let machine = &self.plan.machines[machine];
        let latest = latest.min(self.bound.latest_start(machine, self.makespan)?);
        machine.idle.earliest(self.now, span, self.job.processors, latest, operations)
    }
}
