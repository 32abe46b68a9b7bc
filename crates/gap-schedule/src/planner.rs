//! A scheduler that plans: [`Planner`].

use crate::grid::{GridView, Scheduler};
use crate::plan::{EgEdf, Plan, PlanJob, PlannedJob, Tabu, TabuCounts};
use crate::queue::Waiting;
use crate::running::RunningJob;
use sim_core::{JobId, SiteId, Span, Time};

/// Schedule-based scheduling (§3.2, §3.3): each job is planned when it arrives, by [`EgEdf`], the plan may then be improved
/// by [`Tabu`] search, and jobs start when the plan says so.
///
/// A job that ends early compresses the plan of its machine. One that outlives its estimate is expected to take as long
/// again as it has taken, again and again; what is planned behind it moves.
///
/// It counts the operations of [`EgEdf::operations`] and [`TabuCounts::operations`].
#[derive(Clone, Debug)]
pub struct Planner {
    plan: Plan,
    rule: EgEdf,
    search: Option<Tabu>,
    /// Kept for its memory only.
    due: Vec<(SiteId, PlannedJob)>,
    /// Kept for its memory only.
    overdue: Vec<(JobId, Time)>,
}

impl Planner {
    /// Plans by `rule`, and improves the plan by `search` after each arrival, if there is one.
    pub fn new(rule: EgEdf, search: Option<Tabu>) -> Self {
        Self { plan: Plan::new([]), rule, search, due: Vec::new(), overdue: Vec::new() }
    }

    /// The plan as it stands.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What Tabu search has done so far, if there is one.
    pub fn tabu_counts(&self) -> Option<TabuCounts> {
        self.search.as_ref().map(Tabu::counts)
    }

    /// Believes anew when jobs will end that still run at their expected ends.
    fn expect_overdue(&mut self, now: Time) {
        for machine in self.plan.machines() {
            let overdue = self.plan.running(machine).iter().filter(|running| running.end <= now);
            self.overdue.extend(overdue.map(|running| (running.job.id, running.start)));
            for (job, start) in self.overdue.drain(..) {
                let longer = now.since(start).max(Span::from_nanos(1));
                self.plan.overrun(machine, job, now + longer, now);
            }
        }
    }
}

impl Scheduler for Planner {
    fn begin(&mut self, view: &GridView<'_>) {
        self.plan = Plan::new(view.machines.iter().map(|machine| (machine.processors, machine.speed)));
    }

    /// # Panics
    ///
    /// If the job has no estimate: then nothing can be planned.
    fn arrive(&mut self, job: &Waiting, submit: Time, view: &GridView<'_>) {
        let estimate = job.request.estimate.unwrap_or_else(|| panic!("job {} has no estimate to plan with", job.job));
        let job = PlanJob {
            id: job.job,
            processors: job.request.processors,
            estimate,
            submit,
            deadline: job.request.deadline,
        };
        self.expect_overdue(view.now);
        self.rule
            .place(&mut self.plan, job, view.now)
            .expect("the grid admits no job that is wider than every machine");
        if let Some(search) = &mut self.search {
            search.improve(&mut self.plan, view.now);
        }
    }

    fn finish(&mut self, job: &RunningJob, machine: SiteId, view: &GridView<'_>) {
        self.plan.finish(machine, job.job, view.now);
    }

    fn pass(&mut self, view: &GridView<'_>, starts: &mut Vec<(JobId, SiteId)>) {
        if self.plan.next_start().is_some_and(|start| start <= view.now) {
            self.expect_overdue(view.now);
            self.plan.start_due(view.now, &mut self.due);
            starts.extend(self.due.drain(..).map(|(machine, planned)| (planned.job.id, machine)));
        }
    }

    fn wake(&self) -> Option<Time> {
        self.plan.next_start()
    }

    fn operations(&self) -> u64 {
        self.rule.operations() + self.tabu_counts().map_or(0, |counts| counts.operations)
    }
}
