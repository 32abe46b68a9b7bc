//! Schedule-based policy, [`Planner`], and its plan of all jobs on all machines: a value, without a clock.

mod eg_edf;
mod idle;
mod machine_plan;
mod tabu;

pub use eg_edf::{Edf, EgEdf, EgTies};
pub use tabu::{Tabu, TabuChoice, TabuCounts, TabuMemory};

use crate::policy::Policy;
use crate::queue::QueuedJob;
use crate::view::{Machine, RunningJob, Starts, View, site};
use machine_plan::MachinePlan;
use sim_core::{JobId, SiteId, Span, Time};

/// Schedule-based scheduling (§3.2, §3.3): each job is planned when it arrives, by [`EgEdf`]; [`Tabu`] search may then
/// improve the plan; jobs start at their planned starts.
///
/// A job that ends early compresses the plan of its machine. A job that outlives its estimate is repeatedly expected to
/// take as long again as it has run so far; the jobs planned behind it move.
#[derive(Clone, Debug)]
pub struct Planner {
    plan: Plan,
    rule: EgEdf,
    search: Option<Tabu>,
}

impl Planner {
    /// Returns a planner that plans by `rule`, and improves the plan by `search`, if any, after each arrival.
    pub fn new(rule: EgEdf, search: Option<Tabu>) -> Self {
        Self { plan: Plan::new(&[]), rule, search }
    }

    /// Counts of Tabu search, if there is one.
    pub fn tabu_counts(&self) -> Option<TabuCounts> {
        self.search.as_ref().map(|search| search.counts)
    }

    /// Number of elementary operations so far: those of [`EgEdf::operations`] and [`TabuCounts::operations`].
    pub fn operations(&self) -> u64 {
        self.rule.operations + self.tabu_counts().map_or(0, |counts| counts.operations)
    }
}

impl Policy for Planner {
    fn begin(&mut self, view: &View<'_>) {
        self.plan = Plan::new(view.machines);
    }

    /// # Panics
    ///
    /// If the job has no estimate, because it cannot be planned then.
    fn on_submit(&mut self, job: &QueuedJob, view: &View<'_>) {
        assert!(job.request.estimate.is_some(), "job {} has no estimate to plan with", job.job);
        self.plan.expect_overdue(view.now);
        self.rule.place(&mut self.plan, *job, view.now);
        if let Some(search) = &mut self.search {
            search.improve(&mut self.plan, view.now);
        }
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.plan.finish(machine, job.job, view.now);
    }

    fn on_expiry(&mut self, _: &RunningJob, after: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.plan.machines[machine.index()].expect(after.job, after.expected_end, view.now);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let is_due = |start: Option<Time>| start.is_some_and(|start| start <= view.now);
        if is_due(self.plan.next_start()) {
            self.plan.expect_overdue(view.now);
            for (index, machine) in self.plan.machines.iter_mut().enumerate() {
                if is_due(machine.next_start()) {
                    machine.start_due(view.now, |job| starts.push((job, site(index))));
                }
            }
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.plan.next_start()
    }
}

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
struct Plan {
    machines: Vec<MachinePlan>,
    ended_on_time: u64,
}

impl Plan {
    fn new(machines: &[Machine]) -> Self {
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

    fn next_start(&self) -> Option<Time> {
        self.machines.iter().filter_map(MachinePlan::next_start).min()
    }

    /// Ends a running job. If it ends earlier than expected, planned jobs move up: the plan is compressed.
    fn finish(&mut self, machine: SiteId, job: JobId, now: Time) {
        let ended = self.machines[machine.index()].finish(job, now);
        self.ended_on_time += u64::from(ended.is_met_by(now));
    }

    /// Expects jobs that still run at their expected ends to take as long again as they have run so far.
    fn expect_overdue(&mut self, now: Time) {
        for machine in &mut self.machines {
            // The last of the list ends first.
            while let Some(&PlannedJob { job, start, .. }) = machine.running.last().filter(|last| last.end <= now) {
                let longer = now.since(start).max(Span::from_nanos(1));
                machine.expect(job.job, now + longer, now);
            }
        }
    }
}

/// Job on a machine, planned or running, with its expected end.
#[derive(Copy, Clone, Debug)]
struct PlannedJob {
    job: QueuedJob,
    start: Time,
    end: Time,
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

/// Search for one job's gaps, machine by machine.
struct Gaps<'a> {
    plan: &'a Plan,
    job: &'a QueuedJob,
    now: Time,
    bound: GapBound,
    /// Makespan of all machines, if the bound needs it.
    makespan: Time,
}

impl<'a> Gaps<'a> {
    fn new(plan: &'a Plan, job: &'a QueuedJob, now: Time, bound: GapBound) -> Self {
        let makespan = if bound == GapBound::Makespan { plan.score().makespan } else { Time::MAX };
        Self { plan, job, now, bound, makespan }
    }

    /// Returns the time that the job takes on the machine; `None` if it certainly has no gap there.
    #[inline]
    fn span(&self, machine: usize) -> Option<Span> {
        let part = &self.plan.machines[machine];
        let is_measured = self.bound == GapBound::LastStart && part.is_one_of_many;
        let reach = if is_measured { part.idle.reach(self.job.request.processors) } else { Span::MAX };
        // Most machines have no gap of this width at all.
        let may_fit = !reach.is_zero() && self.job.request.sites.contains(site(machine));
        may_fit.then(|| part.span(self.job)).filter(|span| *span <= reach)
    }

    /// Returns the start of the machine's earliest gap, if it is not after `latest`. `operations` counts the steps visited.
    fn start(&self, machine: usize, span: Span, latest: Time, operations: &mut u64) -> Option<Time> {
        let machine = &self.plan.machines[machine];
        let bound = match self.bound {
            GapBound::LastStart => machine.planned.back()?.start,
            GapBound::LastCompletion => machine.planned.iter().map(|planned| planned.end).max()?,
            GapBound::Makespan => self.makespan,
            GapBound::Unbounded => Time::MAX,
        };
        let latest = latest.min(bound.as_nanos().checked_sub(1).map(Time::from_nanos)?);
        machine.idle.earliest(self.now, span, self.job.request.processors, latest, operations)
    }
}
