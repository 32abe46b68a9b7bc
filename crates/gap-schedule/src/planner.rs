//! Schedule-based policy: [`Planner`].

use crate::plan::{EgEdf, Plan, Tabu, TabuCounts};
use crate::policy::Policy;
use crate::queue::QueuedJob;
use crate::view::{RunningJob, Starts, View, site};
use sim_core::{SiteId, Time};

/// Schedule-based scheduling (§3.2, §3.3): each job is planned when it arrives, by [`EgEdf`]; [`Tabu`] search may then
/// improve the plan; jobs start at their planned starts.
///
/// A job that ends early compresses the plan of its machine. A job that outlives its estimate is repeatedly expected to
/// take as long again as it has run so far; the jobs planned behind it move.
///
/// When a machine fails, the jobs planned there, in order, and then those lost there are planned again, as if they had
/// just arrived: on other machines, or on the same one after its expected repair, which is trusted like an estimate. If
/// the repair time of a machine is unknown, no job is planned on it, and a job that only such machines suit is not
/// planned yet. Their repair plans all planned jobs again, in order of starts, and then those without a plan. A search
/// follows each failure and each repair.
#[derive(Clone, Debug)]
pub struct Planner {
    plan: Plan,
    rule: EgEdf,
    search: Option<Tabu>,
    /// Jobs that cannot be planned anywhere yet, in order.
    stranded: Vec<QueuedJob>,
}

impl Planner {
    /// Returns a planner that plans by `rule`, and improves the plan by `search`, if any, after each arrival.
    pub fn new(rule: EgEdf, search: Option<Tabu>) -> Self {
        Self { plan: Plan::new(&[]), rule, search, stranded: Vec::new() }
    }

    /// Counts of Tabu search, if there is one.
    pub fn tabu_counts(&self) -> Option<TabuCounts> {
        self.search.as_ref().map(|search| search.counts)
    }

    /// Number of elementary operations so far: those of [`EgEdf::operations`] and [`TabuCounts::operations`].
    pub fn operations(&self) -> u64 {
        self.rule.operations + self.tabu_counts().map_or(0, |counts| counts.operations)
    }

    /// Plans the jobs, one after the other.
    fn plan_all(&mut self, jobs: impl IntoIterator<Item = QueuedJob>, now: Time) {
        self.plan.expect_overdue(now);
        for job in jobs {
            if !self.rule.place(&mut self.plan, job, now) {
                self.stranded.push(job);
            }
        }
        if let Some(search) = &mut self.search {
            search.improve(&mut self.plan, now);
        }
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
        self.plan_all([*job], view.now);
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.plan.finish(machine, job.job, view.now);
    }

    fn on_expiry(&mut self, _: &RunningJob, after: &RunningJob, machine: SiteId, view: &View<'_>) {
        self.plan.machines[machine.index()].expect(after.job, after.expected_end, view.now);
    }

    fn on_failure(&mut self, machine: SiteId, _: &[RunningJob], view: &View<'_>) {
        let outage = view.running[machine.index()].iter().next().expect("an outage holds a machine that is down");
        let planned = self.plan.machines[machine.index()].fail(outage.expected_end, view.now);
        self.plan_all(planned.into_iter().map(|planned| planned.job), view.now);
    }

    fn on_repair(&mut self, machine: SiteId, view: &View<'_>) {
        let is_news = self.plan.machines[machine.index()].end_outage(view.now) == Time::MAX;
        let mut jobs = if is_news { self.plan.take_planned(view.now) } else { Vec::new() };
        jobs.append(&mut self.stranded);
        self.plan_all(jobs, view.now);
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
