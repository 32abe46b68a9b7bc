//! Plan of all jobs on all machines: a value, without a clock.

mod eg_edf;
mod gaps;
mod idle;
mod job;
mod machine_plan;
mod score;
mod tabu;

pub use eg_edf::{Edf, EgEdf, EgTies, Found, Placed};
pub use gaps::GapBound;
pub use idle::Gap;
pub use job::{PlanJob, PlannedJob};
pub use score::Score;
pub use tabu::{Tabu, TabuChoice, TabuCounts, TabuMemory};

use crate::view::{RunningJob, site};
use gaps::Gaps;
use machine_plan::{MachinePlan, MachineSummary};
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
///
/// ```
/// use gap_schedule::{GapBound, Plan, PlanJob};
/// use sim_core::{JobId, SiteId, SiteSet, Span, Time};
///
/// let job = |id, processors, estimate| PlanJob {
///     id: JobId(id),
///     processors,
///     estimate: Span::from_secs(estimate),
///     submit: Time::ZERO,
///     deadline: None,
///     sites: SiteSet::ALL,
/// };
/// let (now, machine) = (Time::ZERO, SiteId(0));
/// let mut plan = Plan::new([(4, 1.0)]); // one machine of four processors at reference speed
/// plan.insert(machine, 0, job(0, 3, 100), now);
/// plan.insert(machine, 1, job(1, 4, 10), now);
/// assert_eq!(plan.find(JobId(1)).map(|(_, planned)| planned.start), Some(Time::from_secs(100)));
///
/// // One processor is idle until then.
/// let gap = plan.gap(machine, &job(2, 1, 50), now, GapBound::LastStart).expect("50 s are less than 100 s");
/// assert_eq!(gap.start, now);
/// assert!(plan.gap(machine, &job(3, 1, 200), now, GapBound::LastStart).is_none());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    machines: Vec<MachinePlan>,
    /// Data of each machine that are queried often, kept together for locality.
    summaries: Vec<MachineSummary>,
    /// For each width from 1 (the last stands for all beyond), the machines by index: the longest stretch of this
    /// number of idle processors that begins before the machine's last planned start. Rules out most gaps without a
    /// search. Empty if there is one machine only.
    reach: Vec<Span>,
    nondelayed: u64,
}

/// Job taken out of the plan, with the state that undoes the removal.
#[derive(Clone, Debug)]
struct Taken {
    job: PlanJob,
    machine: usize,
    /// Machine's part of the plan with the job.
    before: MachinePlan,
    nondelayed: u64,
}

impl Plan {
    /// Returns an empty plan for machines, each with its processors and its speed; a job takes estimate / speed.
    ///
    /// # Panics
    ///
    /// If a machine has no processors, or its speed is not a positive number.
    pub fn new(machines: impl IntoIterator<Item = (u32, f64)>) -> Self {
        let mut machines: Vec<MachinePlan> =
            machines.into_iter().map(|(processors, speed)| MachinePlan::new(processors, speed)).collect();
        let mut speeds: Vec<f64> = machines.iter().map(|machine| machine.speed).collect();
        speeds.sort_unstable_by(f64::total_cmp);
        let is_one_of_many = machines.len() > 1;
        for machine in &mut machines {
            machine.is_one_of_many = is_one_of_many;
            let faster = speeds.iter().filter(|speed| **speed > machine.speed).count();
            machine.faster = u32::try_from(faster).expect("fewer than 2^32 machines");
        }
        let summaries = machines.iter().map(MachinePlan::summary).collect();
        let widest = machines.iter().map(|machine| machine.idle.reach().len()).max().filter(|_| is_one_of_many);
        let reach = vec![Span::ZERO; widest.unwrap_or(0) * machines.len()];
        Self { machines, summaries, reach, nondelayed: 0 }
    }

    /// Returns the machines, by index.
    pub fn machines(&self) -> impl ExactSizeIterator<Item = SiteId> + use<> {
        (0..self.machines.len()).map(site)
    }

    /// Running jobs of the machine with their expected ends, in no particular order.
    pub fn running(&self, machine: SiteId) -> &[PlannedJob] {
        &self.machines[machine.index()].running
    }

    /// Planned jobs of the machine, in order.
    pub fn planned(&self, machine: SiteId) -> impl ExactSizeIterator<Item = &PlannedJob> {
        self.machines[machine.index()].planned.iter()
    }

    /// Returns the machine and the entry of a planned job. Searches the whole plan.
    pub fn find(&self, job: JobId) -> Option<(SiteId, &PlannedJob)> {
        self.machines().find_map(|machine| {
            let planned = self.planned(machine).find(|planned| planned.job.id == job)?;
            Some((machine, planned))
        })
    }

    /// Instant at which the last running or planned job ends. [`Time::ZERO`] if there is no such job.
    pub fn makespan(&self) -> Time {
        self.summaries.iter().map(|summary| summary.completion).max().unwrap_or(Time::ZERO)
    }

    /// Measures by which the plan is judged.
    pub fn score(&self) -> Score {
        Score { makespan: self.makespan(), nondelayed: self.nondelayed }
    }

    /// Number of jobs planned on the machine that will miss their deadlines.
    pub fn late(&self, machine: SiteId) -> u32 {
        self.summaries[machine.index()].late
    }

    /// Start of the next planned job.
    pub fn next_start(&self) -> Option<Time> {
        self.summaries.iter().map(|summary| summary.next_start).min().filter(|start| *start < Time::MAX)
    }

    /// Returns the machines with running jobs that were expected to end by `now`.
    pub(crate) fn overdue(&self, now: Time) -> impl Iterator<Item = SiteId> {
        let overdue = (0..).zip(&self.summaries).filter(move |(_, summary)| summary.next_end <= now);
        overdue.map(|(machine, _)| SiteId(machine))
    }

    /// Plans the job on the machine at index `position` of the list. Jobs behind it may shift to later starts; those
    /// before it stay. Returns the job's start.
    ///
    /// # Panics
    ///
    /// If the job is wider than the machine or may not run there, or the list is shorter than `position`.
    pub fn insert(&mut self, machine: SiteId, position: usize, job: PlanJob, now: Time) -> Time {
        assert!(job.sites.contains(machine), "job {} may not run on machine {machine}", job.id);
        self.change(machine.index(), |machine| {
            machine.insert(position, job, now);
            machine.planned[position].start
        })
    }

    /// Returns the earliest gap for the job on the machine, see [`GapBound`].
    ///
    /// Idle processors are a gap if the job can run there from the gap's start to its own end without delaying a planned
    /// job; in the paper's words, "a period of idle CPU time" (§3.2).
    pub fn gap(&self, machine: SiteId, job: &PlanJob, now: Time, bound: GapBound) -> Option<Gap> {
        let gaps = Gaps::new(self, job, now, bound);
        let start = gaps.start(machine.index(), gaps.span(machine.index())?, Time::MAX, &mut 0)?;
        Some(self.machines[machine.index()].gap_at(start, job))
    }

    /// Plans the job in a gap that [`gap`](Self::gap) has found for it; the plan has not changed since. No other start
    /// moves.
    pub fn fill(&mut self, machine: SiteId, gap: &Gap, job: PlanJob, now: Time) {
        self.change(machine.index(), |machine| machine.fill(gap, job, now));
    }

    /// Removes a planned job from the plan. Jobs behind it may move to earlier starts. Returns `None` and changes
    /// nothing if the job is not planned on this machine.
    pub fn remove(&mut self, machine: SiteId, job: JobId, now: Time) -> Option<PlanJob> {
        let position = self.planned(machine).position(|planned| planned.job.id == job)?;
        Some(self.change(machine.index(), |machine| machine.remove(position, now)))
    }

    /// Appends to `started` every job that is planned to start at `now`, machine by machine, and counts it as running.
    ///
    /// # Panics
    ///
    /// If a start was missed, because it was planned before `now`. If a job lacks processors because another has
    /// outlived its expected end without an [`overrun`](Self::overrun).
    pub fn start_due(&mut self, now: Time, started: &mut Vec<(SiteId, PlannedJob)>) {
        for index in 0..self.machines.len() {
            if self.summaries[index].next_start <= now {
                self.change(index, |machine| {
                    machine.start_due(now, |job| started.push((site(index), job)));
                });
            }
        }
    }

    /// Ends a running job. If it ends earlier than expected, planned jobs move up: the plan is compressed.
    ///
    /// # Panics
    ///
    /// If the job does not run on this machine.
    pub fn finish(&mut self, machine: SiteId, job: JobId, now: Time) -> PlanJob {
        let ended = self.change(machine.index(), |machine| machine.finish(job, now));
        // Jobs that ended in time stay counted.
        self.nondelayed += u64::from(ended.is_met_by(now));
        ended
    }

    /// Moves the expected end of a running job that has outlived its estimate to `expected_end`. Later starts move.
    ///
    /// # Panics
    ///
    /// If the job does not run on this machine, or `expected_end` is not after `now`.
    pub fn overrun(&mut self, machine: SiteId, job: JobId, expected_end: Time, now: Time) {
        assert!(
            expected_end > now,
            "job {job} still runs at {now} s and cannot be expected to end at {expected_end} s"
        );
        self.change(machine.index(), |machine| machine.expect(job, expected_end, now));
    }

    /// Fails the machine. Until it is [`up`](Self::up) again, an outage with the id [`RunningJob::OUTAGE`] runs there
    /// and holds all of its processors. It is expected to end at `until`, [`Time::MAX`] if unknown, but not before it
    /// lasts 1 ns, and may [`overrun`](Self::overrun) that. The jobs that ran there are dropped. Returns the jobs that
    /// were planned there, in order.
    ///
    /// A machine whose repair time is unknown has no gap and cannot be planned on.
    ///
    /// # Panics
    ///
    /// If the machine is down already.
    pub fn down(&mut self, machine: SiteId, until: Time, now: Time) -> Vec<PlanJob> {
        assert!(!self.is_down(machine), "machine {machine} fails at {now} s, but is down already");
        let until = until.max(now.saturating_add(Span::from_nanos(1)));
        self.change(machine.index(), |machine| {
            let planned = machine.planned.drain(..).map(|planned| planned.job).collect();
            // With a deadline that cannot be met, it never counts as a job in time.
            let deadline = Some(Time::ZERO);
            let (id, processors, estimate) = (RunningJob::OUTAGE, machine.processors, until.since(now));
            let outage = PlanJob { id, processors, estimate, submit: now, deadline, sites: SiteSet::ALL };
            machine.running.clear();
            machine.running.push(PlannedJob { job: outage, start: now, end: until });
            machine.restart_at(now);
            planned
        })
    }

    /// Ends the outage of the machine. If it ends earlier than expected, planned jobs move up.
    ///
    /// # Panics
    ///
    /// If the machine is not down.
    pub fn up(&mut self, machine: SiteId, now: Time) {
        assert!(self.is_down(machine), "machine {machine} has been repaired at {now} s, but was not down");
        self.change(machine.index(), |machine| machine.end_outage(now));
    }

    /// Takes every planned job out of the plan, to plan all of them again. Returns them in order of their starts, then
    /// by machine and in order.
    pub fn take_planned(&mut self, now: Time) -> Vec<PlanJob> {
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

    /// Returns true if the machine is down.
    pub fn is_down(&self, machine: SiteId) -> bool {
        self.running(machine).first().is_some_and(|running| running.job.id == RunningJob::OUTAGE)
    }

    fn span_at(&self, machine: usize, job: &PlanJob) -> Span {
        job.span_at(self.summaries[machine].slowness)
    }

    /// Applies `change` to one machine and updates the sums over all.
    fn change<T>(&mut self, machine: usize, change: impl FnOnce(&mut MachinePlan) -> T) -> T {
        let part = &mut self.machines[machine];
        self.nondelayed -= u64::from(part.on_time);
        let answer = change(part);
        self.nondelayed += u64::from(part.on_time);
        self.look_at(machine);
        answer
    }

    /// Updates the summary and the reach of a machine that has changed.
    fn look_at(&mut self, machine: usize) {
        let part = &self.machines[machine];
        self.summaries[machine] = part.summary();
        if self.is_down(site(machine)) {
            // An outage is not a job: it does not count for the makespan.
            let ends = part.planned.iter().map(|planned| planned.end);
            self.summaries[machine].completion = ends.max().unwrap_or(Time::ZERO);
        }
        let reach = self.reach[machine..].iter_mut().step_by(self.machines.len());
        for (seen, longest) in reach.zip(part.idle.reach()) {
            *seen = *longest;
        }
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
        self.look_at(machine);
        self.nondelayed = nondelayed;
    }
}
