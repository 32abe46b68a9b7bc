//! Plan of all jobs on all machines: a value, without a clock.

mod eg_edf;
mod gaps;
mod idle;
mod machine_plan;
mod tabu;

pub use eg_edf::{Edf, EgEdf, EgTies};
pub use gaps::GapBound;
pub use tabu::{Tabu, TabuChoice, TabuCounts, TabuMemory};

use crate::queue::QueuedJob;
use crate::view::Machine;
use machine_plan::MachinePlan;
use sim_core::{JobId, SiteId, Span, Time};

/// Expected future of every machine: the running jobs, with their expected ends, and an ordered list of planned jobs,
/// each with its start.
///
/// A job starts as early as the order allows: at the earliest instant, not before its predecessor's start, at which
/// enough processors are free, given the running jobs and its predecessors. So starts never decrease along a list. No
/// job earlier in the list begins after it, so the processors free at its start stay free for it.
///
/// The plan has no clock. Its user passes the time (`now`, never going back), starts the jobs that are due, and reports
/// the jobs that have ended. As long as no job outlives its expected end, planned starts only move to earlier instants,
/// or by an insertion.
///
/// Source: Klusáček, Rudová, Baraglia, Pasquali & Capannini, "Comparison of multi-criteria scheduling techniques", 2008, §3.2
/// and §3.3. The paper does not state how its schedule gives jobs their starts; the rule above is our reading.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) machines: Vec<MachinePlan>,
    ended_on_time: u64,
}

impl Plan {
    pub(crate) fn new(machines: &[Machine]) -> Self {
        let is_one_of_many = machines.len() > 1;
        let plan = |machine: &Machine| {
            let faster = machines.iter().filter(|other| other.speed > machine.speed).count();
            MachinePlan::new(*machine, faster, is_one_of_many)
        };
        Self { machines: machines.iter().map(plan).collect(), ended_on_time: 0 }
    }

    fn score(&self) -> Score {
        let start = Score { makespan: Time::ZERO, nondelayed: self.ended_on_time };
        self.machines.iter().fold(start, |score, machine| Score {
            makespan: score.makespan.max(machine.completion),
            nondelayed: score.nondelayed + u64::from(machine.on_time),
        })
    }

    pub(crate) fn next_start(&self) -> Option<Time> {
        self.machines.iter().filter_map(MachinePlan::next_start).min()
    }

    /// Ends a running job. If it ends earlier than expected, planned jobs move up: the plan is compressed.
    pub(crate) fn finish(&mut self, machine: SiteId, job: JobId, now: Time) {
        let ended = self.machines[machine.index()].finish(job, now);
        self.ended_on_time += u64::from(ended.is_met_by(now));
    }

    /// Expects jobs that still run at their expected ends to take as long again as they have run so far.
    pub(crate) fn expect_overdue(&mut self, now: Time) {
        for machine in &mut self.machines {
            while let Some(PlannedJob { job, start, .. }) = machine.overdue(now) {
                let longer = now.since(start).max(Span::from_nanos(1));
                machine.expect(job.job, now + longer, now);
            }
        }
    }
}

/// Job on a machine, planned or running, with its expected end.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PlannedJob {
    pub(crate) job: QueuedJob,
    pub(crate) start: Time,
    pub(crate) end: Time,
}

impl QueuedJob {
    /// Returns true if an end at this instant meets the deadline. Without a deadline every end does.
    fn is_met_by(&self, end: Time) -> bool {
        self.request.deadline.is_none_or(|deadline| end <= deadline)
    }
}

impl PlannedJob {
    fn is_on_time(&self) -> bool {
        self.job.is_met_by(self.end)
    }
}

/// Measures by which a plan is judged.
#[derive(Copy, Clone, Debug)]
struct Score {
    /// End of the last running or planned job.
    makespan: Time,
    /// Number of jobs in time: those that finished by their deadlines, run and are expected to, or are planned to.
    nondelayed: u64,
}

impl Score {
    /// Gain of the plan over `old`, eq. (1) of §3.2:
    ///
    /// (makespan_old − makespan) / makespan_old + (nondelayed − nondelayed_old) / nondelayed_old.
    ///
    /// Dimensionless. Neither divisor is below 1 (one second, one job): at the start of a run both are zero, a case that the
    /// paper does not cover. Never decreases when the makespan falls or more jobs are in time, rounding included.
    fn weight_over(&self, old: &Self) -> f64 {
        let least = old.makespan.as_secs_f64().max(1.0);
        let excess = |of: Time, over: Time| of.saturating_since(over).as_secs_f64();
        let makespan = (excess(old.makespan, self.makespan) - excess(self.makespan, old.makespan)) / least;
        let more = self.nondelayed.saturating_sub(old.nondelayed) as f64;
        let fewer = old.nondelayed.saturating_sub(self.nondelayed) as f64;
        makespan + (more - fewer) / (old.nondelayed as f64).max(1.0)
    }

    /// Returns the score after planning one more job in a gap, where it delays no job.
    fn with(self, end: Time, on_time: bool) -> Self {
        Self { makespan: self.makespan.max(end), nondelayed: self.nondelayed + u64::from(on_time) }
    }
}
