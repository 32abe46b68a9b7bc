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

pub(crate) use job::{PlanJob, PlannedJob};

use crate::view::{Machine, RunningJob, site};
use job::Score;
use machine_plan::MachinePlan;
use sim_core::{JobId, SiteId, SiteSet, Span, Time};

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
    machines: Vec<MachinePlan>,
    /// Number of jobs in time: ended, running and planned ones.
    nondelayed: u64,
}

/// Job taken out of the plan, with the state that undoes the removal.
struct Taken {
    job: PlanJob,
    machine: usize,
    /// Machine's part of the plan with the job.
    before: MachinePlan,
    nondelayed: u64,
}

impl Plan {
    /// Returns an empty plan.
    pub(crate) fn new(machines: &[Machine]) -> Self {
        let is_one_of_many = machines.len() > 1;
        let plan = |machine: &Machine| {
            let faster = machines.iter().filter(|other| other.speed > machine.speed).count();
            MachinePlan::new(*machine, faster, is_one_of_many)
        };
        Self { machines: machines.iter().map(plan).collect(), nondelayed: 0 }
    }

    /// Measures by which the plan is judged.
    fn score(&self) -> Score {
        let makespan = self.machines.iter().map(|machine| machine.completion).max();
        Score { makespan: makespan.unwrap_or(Time::ZERO), nondelayed: self.nondelayed }
    }

    /// Start of the next planned job.
    pub(crate) fn next_start(&self) -> Option<Time> {
        self.machines.iter().filter_map(MachinePlan::next_start).min()
    }

    /// Plans the job on the machine at index `position` of the list. Jobs behind it may shift to later starts; those
    /// before it stay.
    fn insert(&mut self, machine: usize, position: usize, job: PlanJob, now: Time) {
        self.change(machine, |machine| machine.insert(position, job, now));
    }

    /// Plans the job in the gap that begins at `start`. No other start moves.
    fn fill(&mut self, machine: usize, start: Time, job: PlanJob, now: Time) {
        self.change(machine, |machine| machine.fill(start, job, now));
    }

    /// Starts every job that is planned to start at `now`, machine by machine, and counts it as running.
    pub(crate) fn start_due(&mut self, now: Time, mut started: impl FnMut(JobId, SiteId)) {
        for index in 0..self.machines.len() {
            if self.machines[index].next_start().is_some_and(|start| start <= now) {
                self.change(index, |machine| machine.start_due(now, |job| started(job, site(index))));
            }
        }
    }

    /// Ends a running job. If it ends earlier than expected, planned jobs move up: the plan is compressed.
    pub(crate) fn finish(&mut self, machine: SiteId, job: JobId, now: Time) {
        let ended = self.change(machine.index(), |machine| machine.finish(job, now));
        // Jobs that ended in time stay counted.
        self.nondelayed += u64::from(ended.is_met_by(now));
    }

    /// Moves the expected end of a running job. Later starts move.
    pub(crate) fn expect(&mut self, machine: SiteId, job: JobId, expected_end: Time, now: Time) {
        self.change(machine.index(), |machine| machine.expect(job, expected_end, now));
    }

    /// Expects jobs, and outages, that still run at their expected ends to take as long again as they have run so far.
    pub(crate) fn expect_overdue(&mut self, now: Time) {
        for index in 0..self.machines.len() {
            while let Some(PlannedJob { job, start, .. }) = self.machines[index].overdue(now) {
                let longer = now.since(start).max(Span::from_nanos(1));
                self.expect(site(index), job.id, now + longer, now);
            }
        }
    }

    /// Fails the machine. Until it is [`up`](Self::up) again, an outage with the id [`RunningJob::OUTAGE`] runs there
    /// and holds all of its processors. It is expected to end at `until`, [`Time::MAX`] if unknown, but not before it
    /// lasts 1 ns. The jobs that ran there are dropped. Returns the jobs that were planned there, in order.
    ///
    /// A machine whose repair time is unknown has no gap and cannot be planned on.
    pub(crate) fn down(&mut self, machine: SiteId, until: Time, now: Time) -> Vec<PlanJob> {
        let until = until.max(now.saturating_add(Span::from_nanos(1)));
        self.change(machine.index(), |machine| {
            let planned = machine.planned.drain(..).map(|planned| planned.job).collect();
            // With a deadline that cannot be met, it never counts as a job in time.
            let deadline = Some(Time::ZERO);
            let (id, processors, estimate) = (RunningJob::OUTAGE, machine.processors, until.since(now));
            let outage = PlanJob { id, processors, estimate, deadline, sites: SiteSet::ALL };
            machine.running.clear();
            machine.running.push(PlannedJob { job: outage, start: now, end: until });
            machine.restart_at(now);
            planned
        })
    }

    /// Ends the outage of the machine, and returns its expected end. If it ends earlier, planned jobs move up.
    pub(crate) fn up(&mut self, machine: SiteId, now: Time) -> Time {
        self.change(machine.index(), |machine| machine.end_outage(now))
    }

    /// Takes every planned job out of the plan, to plan all of them again. Returns them in order of their starts, then
    /// by machine and in order.
    pub(crate) fn take_planned(&mut self, now: Time) -> Vec<PlanJob> {
        let mut all: Vec<PlannedJob> = Vec::new();
        for machine in 0..self.machines.len() {
            self.change(machine, |machine| {
                all.extend(machine.planned.drain(..));
                machine.restart_at(now);
            });
        }
        all.sort_by_key(|planned| planned.start);
        all.into_iter().map(|planned| planned.job).collect()
    }

    /// Applies `change` to one machine and updates the number of jobs in time.
    fn change<T>(&mut self, machine: usize, change: impl FnOnce(&mut MachinePlan) -> T) -> T {
        let part = &mut self.machines[machine];
        self.nondelayed -= u64::from(part.on_time);
        let answer = change(part);
        self.nondelayed += u64::from(part.on_time);
        answer
    }

    /// Removes the planned job at `position`, such that [`put_back`](Self::put_back) restores the plan exactly.
    fn take(&mut self, machine: usize, position: usize, now: Time) -> Taken {
        let (before, nondelayed) = (self.machines[machine].clone(), self.nondelayed);
        let job = self.change(machine, |machine| machine.remove(position, now));
        Taken { job, machine, before, nondelayed }
    }

    /// Undoes [`take`](Self::take).
    fn put_back(&mut self, Taken { machine, before, nondelayed, .. }: Taken) {
        self.machines[machine] = before;
        self.nondelayed = nondelayed;
    }
}
