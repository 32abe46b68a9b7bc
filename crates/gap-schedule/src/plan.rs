//! Plan of all jobs on all machines: a value, without a clock.

mod eg_edf;
mod gaps;
mod idle;
mod job;
mod machine_plan;
mod tabu;

pub use eg_edf::{Edf, EgEdf, EgTies};
pub use gaps::GapBound;
pub use tabu::{Tabu, TabuChoice, TabuCounts, TabuMemory};

pub(crate) use job::PlannedJob;

use crate::queue::QueuedJob;
use crate::view::Machine;
use job::Score;
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
    /// Number of jobs that ended in time.
    ended_on_time: u64,
}

impl Plan {
    /// Returns an empty plan.
    pub(crate) fn new(machines: &[Machine]) -> Self {
        let is_one_of_many = machines.len() > 1;
        let plan = |machine: &Machine| {
            let faster = machines.iter().filter(|other| other.speed > machine.speed).count();
            MachinePlan::new(*machine, faster, is_one_of_many)
        };
        Self { machines: machines.iter().map(plan).collect(), ended_on_time: 0 }
    }

    /// Measures by which the plan is judged.
    fn score(&self) -> Score {
        let start = Score { makespan: Time::ZERO, nondelayed: self.ended_on_time };
        self.machines.iter().fold(start, |score, machine| Score {
            makespan: score.makespan.max(machine.completion),
            nondelayed: score.nondelayed + u64::from(machine.on_time),
        })
    }

    /// Start of the next planned job.
    pub(crate) fn next_start(&self) -> Option<Time> {
        self.machines.iter().filter_map(MachinePlan::next_start).min()
    }

    /// Ends a running job. If it ends earlier than expected, planned jobs move up: the plan is compressed.
    pub(crate) fn finish(&mut self, machine: SiteId, job: JobId, now: Time) {
        let ended = self.machines[machine.index()].finish(job, now);
        self.ended_on_time += u64::from(ended.is_met_by(now));
    }

    /// Expects jobs, and outages, that still run at their expected ends to take as long again as they have run so far.
    pub(crate) fn expect_overdue(&mut self, now: Time) {
        for machine in &mut self.machines {
            while let Some(PlannedJob { job, start, .. }) = machine.overdue(now) {
                let longer = now.since(start).max(Span::from_nanos(1));
                machine.expect(job.job, now + longer, now);
            }
        }
    }

    /// Takes every planned job out of the plan, to plan all of them again. Returns them in order of their starts, then
    /// by machine and in order.
    pub(crate) fn take_planned(&mut self, now: Time) -> Vec<QueuedJob> {
        let mut all: Vec<PlannedJob> = self.machines.iter_mut().flat_map(|machine| machine.clear(now)).collect();
        all.sort_by_key(|planned| planned.start);
        all.into_iter().map(|planned| planned.job).collect()
    }
}
