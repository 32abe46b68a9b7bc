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
