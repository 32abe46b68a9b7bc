//! Planner in its most obvious form: lists of jobs without starts. Every query is computed from the lists, by definition;
//! every trial is made on a copy of everything.

use crate::grid_common::{Both, PASSES, estimated};
use gap_schedule::testkit::Scene;
use gap_schedule::{
    Edf, EgEdf, EgTies, GapBound, Machine, Passes, Planner, Policy, QueuedJob, RunningJob, Starts, Tabu, TabuChoice,
    TabuMemory, View,
};
use proptest::prelude::*;
use proptest::sample::select;
use sim_core::{AvailabilityProfile, JobId, SiteId, SiteSet, Span, Time};

/// Part of a job that a plan knows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PlanJob {
    id: JobId,
    processors: u32,
    estimate: Span,
    deadline: Option<Time>,
    sites: SiteSet,
}

/// Job on a machine, planned or running, with its expected end.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PlannedJob {
    job: PlanJob,
    start: Time,
    end: Time,
}

impl PlanJob {
    fn is_met_by(&self, end: Time) -> bool {
        self.deadline.is_none_or(|deadline| end <= deadline)
    }
}

impl PlannedJob {
    fn is_on_time(&self) -> bool {
        self.job.is_met_by(self.end)
    }
}

/// Makespan, and number of jobs in time.
#[derive(Clone, Copy, Debug)]
struct Score {
    makespan: Time,
    in_time: u64,
}

impl Score {
    /// Eq. (1): the sum of both relative gains.
    fn weight_over(&self, old: &Self) -> f64 {
        let gain = old.makespan.saturating_since(self.makespan).as_secs_f64();
        let loss = self.makespan.saturating_since(old.makespan).as_secs_f64();
        let jobs =
            f64::from(u32::try_from(self.in_time).expect("few")) - f64::from(u32::try_from(old.in_time).expect("few"));
        (gain - loss) / old.makespan.as_secs_f64().max(1.0)
            + jobs / f64::from(u32::try_from(old.in_time).expect("few")).max(1.0)
    }
}

#[derive(Clone, Default)]
struct ObviousPlan {
    machines: Vec<ObviousMachine>,
    ended_in_time: u64,
}

#[derive(Clone, Debug)]
struct ObviousMachine {
    site: SiteId,
    processors: u32,
    speed: f64,
    running: Vec<PlannedJob>,
    planned: Vec<PlanJob>,
}

/// Position of a job, and the weight of the plan with it.
#[derive(Clone, Copy)]
struct Choice {
    machine: usize,
    start: Time,
    end: Time,
    weight: f64,
}

impl ObviousMachine {
    fn span(&self, job: &PlanJob) -> Span {
        job.estimate.scaled(1.0 / self.speed).max(Span::from_nanos(1))
    }

    /// Lays out every planned job at the earliest instant, not before its predecessor's start, at which enough processors are free.
    fn laid_out(&self, now: Time) -> Vec<PlannedJob> {
        let mut profile = AvailabilityProfile::new(self.processors);
        for running in &self.running {
            profile.reserve(now, running.end.saturating_since(now), running.job.processors);
        }
        let mut previous = now;
        let place = |job: &PlanJob| {
            let span = self.span(job);
            let start = profile.earliest(previous, span, job.processors).expect("no job is wider than its machine");
            profile.reserve(start, span, job.processors);
            previous = start;
            PlannedJob { job: *job, start, end: start + span }
        };
        self.planned.iter().map(place).collect()
    }

    fn late(&self, now: Time) -> usize {
        self.laid_out(now).iter().filter(|planned| !planned.is_on_time()).count()
    }

    /// Returns true if the job may run here, and there are enough processors.
    fn may_hold(&self, job: &PlanJob) -> bool {
        job.processors <= self.processors && job.sites.contains(self.site)
    }

    /// Returns the earliest gap, over all positions, where no other job moves. Of equal starts, the last position.
    fn gap(&self, job: &PlanJob, now: Time, makespan: Time, bound: GapBound) -> Option<(usize, Time)> {
        if !self.may_hold(job) {
            return None;
        }
        let before = self.laid_out(now);
        let bound = match bound {
            GapBound::LastStart => before.last()?.start,
            GapBound::LastCompletion => before.iter().map(|planned| planned.end).max()?,
            GapBound::Makespan => makespan,
            GapBound::Unbounded => Time::MAX,
        };
        let gaps = (0..=self.planned.len()).filter_map(|position| {
            let mut tried = self.clone();
            tried.planned.insert(position, *job);
            let mut after = tried.laid_out(now);
            let start = after.remove(position).start;
            (after == before && start < bound).then_some((position, start))
        });
        gaps.min_by_key(|(position, start)| (*start, std::cmp::Reverse(*position)))
    }

    fn edf_position(&self, deadline: Option<Time>) -> usize {
        let due = |deadline: Option<Time>| deadline.unwrap_or(Time::MAX);
        let later = self.planned.iter().position(|planned| due(planned.deadline) > due(deadline));
        later.unwrap_or(self.planned.len())
    }
}

impl ObviousPlan {
    fn score(&self, now: Time) -> Score {
        let jobs =
            || self.machines.iter().flat_map(|machine| [machine.running.clone(), machine.laid_out(now)].concat());
        let makespan = jobs().map(|job| job.end).max().unwrap_or(Time::ZERO);
        let in_time = jobs().filter(PlannedJob::is_on_time).count() as u64;
        Score { makespan, in_time: self.ended_in_time + in_time }
    }

    /// Returns the plan with one job more, and its weight against `old`.
    fn with(&self, machine: usize, position: usize, job: &PlanJob, old: &Score, now: Time) -> (Self, Choice) {
        let mut plan = self.clone();
        plan.machines[machine].planned.insert(position, *job);
        let PlannedJob { start, end, .. } = plan.machines[machine].laid_out(now)[position];
        let weight = plan.score(now).weight_over(old);
        (plan, Choice { machine, start, end, weight })
    }

    /// Applies EG-EDF by trying everything. Returns `None` if no machine may hold the job.
    fn eg_edf(&mut self, job: &PlanJob, now: Time, (bound, ties, edf): (GapBound, EgTies, Edf)) -> Option<Choice> {
        let old = self.score(now);
        let all = || self.machines.iter().enumerate();
        let gaps = all().filter_map(|(index, machine)| Some((index, machine.gap(job, now, old.makespan, bound)?.0)));
        let mut places: Vec<(usize, usize)> = gaps.collect();
        if places.is_empty() {
            let wide_enough = all().filter(|(_, machine)| machine.may_hold(job));
            places = wide_enough
                .map(|(index, machine)| match edf {
                    Edf::Shifts => (index, machine.edf_position(job.deadline)),
                    Edf::Appends => (index, machine.planned.len()),
                })
                .collect();
        }
        let tried = places.into_iter().map(|(machine, position)| self.with(machine, position, job, &old, now));
        let (plan, best) = tried.reduce(|best, next| {
            let [a, b] = [&next.1, &best.1];
            let faster = self.machines[b.machine].speed.total_cmp(&self.machines[a.machine].speed);
            let tie = match ties {
                EgTies::StartThenFastest => a.start.cmp(&b.start).then(faster),
                EgTies::First => std::cmp::Ordering::Equal,
                EgTies::EarliestFinish => a.end.cmp(&b.end),
                EgTies::Fastest => faster,
            };
            if b.weight.total_cmp(&a.weight).then(tie).is_lt() { next } else { best }
        })?;
        *self = plan;
        Some(best)
    }

    /// Runs Tabu search by trying everything on copies. Returns the weights of all moves that were tried; only those
    /// above zero were made.
    fn tabu(
        &mut self,
        now: Time,
        (bound, choice): (GapBound, TabuChoice),
        (iterations, length): (u32, usize),
        list: &mut Vec<JobId>,
    ) -> Vec<f64> {
        let mut tried = Vec::new();
        for _ in 0..iterations {
            let late: Vec<usize> = self.machines.iter().map(|machine| machine.late(now)).collect();
            let mut order: Vec<usize> = (0..late.len()).filter(|index| late[*index] > 0).collect();
            order.sort_by_key(|index| std::cmp::Reverse(late[*index]));
            let last = |index: &usize| {
                let may_move = |planned: &PlannedJob| {
                    (choice == TabuChoice::Last || !planned.is_on_time()) && !list.contains(&planned.job.id)
                };
                Some((*index, self.machines[*index].laid_out(now).iter().rposition(may_move)?))
            };
            let Some((machine, position)) = order.iter().find_map(last) else { break };
            let old = self.score(now);
            let mut without = self.clone();
            let job = without.machines[machine].planned.remove(position);
            list.push(job.id);
            list.drain(..list.len().saturating_sub(length));
            let makespan = without.score(now).makespan;
            for (index, other) in without.machines.iter().enumerate() {
                let Some((position, _)) = other.gap(&job, now, makespan, bound) else { continue };
                let (plan, moved) = without.with(index, position, &job, &old, now);
                tried.push(moved.weight);
                if moved.weight > 0.0 {
                    *self = plan;
                    break;
                }
            }
        }
        tried
    }
}

/// Planner with its readings, and the weights that its search has seen.
struct ObviousPlanner {
    plan: ObviousPlan,
    readings: Readings,
    list: Vec<JobId>,
    tried: Vec<f64>,
}

/// Readings of the paper; without iterations, there is no search.
#[derive(Clone, Copy, Debug)]
struct Readings {
    eg_edf: (GapBound, EgTies, Edf),
    choice: TabuChoice,
    memory: TabuMemory,
    /// Iterations, and length of the list.
    limits: (u32, usize),
}

impl ObviousPlanner {
    fn plan(&mut self, job: &PlanJob, now: Time) {
        self.expect_overdue(now);
        let Readings { eg_edf, choice, memory, limits } = self.readings;
        self.plan.eg_edf(job, now, eg_edf).expect("some machine suits the job");
        if memory == TabuMemory::Cleared {
            self.list.clear();
        }
        self.tried.extend(self.plan.tabu(now, (eg_edf.0, choice), limits, &mut self.list));
    }

    /// Expects what has outlived its expected end to take as long again.
    fn expect_overdue(&mut self, now: Time) {
        let running = self.plan.machines.iter_mut().flat_map(|machine| &mut machine.running);
        for overdue in running.filter(|running| running.end <= now) {
            overdue.end = now + now.since(overdue.start).max(Span::from_nanos(1));
        }
    }

    fn running(&mut self, machine: SiteId, job: JobId) -> &mut PlannedJob {
        let running = &mut self.plan.machines[machine.index()].running;
        running.iter_mut().find(|running| running.job.id == job).expect("it runs")
    }
}

impl Policy for ObviousPlanner {
    fn begin(&mut self, view: &View<'_>) {
        let machine = |(site, machine): (u32, &Machine)| ObviousMachine {
            site: SiteId(site),
            processors: machine.processors,
            speed: machine.speed,
            running: Vec::new(),
            planned: Vec::new(),
        };
        self.plan.machines = (0..).zip(view.machines).map(machine).collect();
    }

    fn on_submit(&mut self, QueuedJob { job: id, request, .. }: &QueuedJob, view: &View<'_>) {
        let estimate = request.estimate.expect("every job has one");
        let (processors, deadline, sites) = (request.processors, request.deadline, request.sites);
        self.plan(&PlanJob { id: *id, processors, estimate, deadline, sites }, view.now);
    }

    fn on_completion(&mut self, job: &RunningJob, machine: SiteId, view: &View<'_>) {
        let ended = *self.running(machine, job.job);
        self.plan.ended_in_time += u64::from(ended.job.is_met_by(view.now));
        self.plan.machines[machine.index()].running.retain(|running| running.job.id != job.job);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        let due = |planned: &PlannedJob| planned.start <= view.now;
        if self.plan.machines.iter().any(|machine| machine.laid_out(view.now).first().is_some_and(due)) {
            self.expect_overdue(view.now);
        }
        for machine in &mut self.plan.machines {
            let due: Vec<PlannedJob> = machine.laid_out(view.now).into_iter().take_while(due).collect();
            starts.extend(due.iter().map(|planned| (planned.job.id, machine.site)));
            machine.planned.drain(..due.len());
            machine.running.extend(due);
        }
    }
}

fn readings() -> impl Strategy<Value = Readings> {
    use EgTies::{EarliestFinish, Fastest, First, StartThenFastest};
    use GapBound::{LastCompletion, LastStart, Makespan, Unbounded};
    let bound = select(vec![LastStart, LastStart, LastStart, LastCompletion, Makespan, Unbounded]);
    let ties = select(vec![StartThenFastest, StartThenFastest, StartThenFastest, First, EarliestFinish, Fastest]);
    let edf = select(vec![Edf::Shifts, Edf::Shifts, Edf::Shifts, Edf::Appends]);
    let choice = select(vec![TabuChoice::LastLate, TabuChoice::LastLate, TabuChoice::Last]);
    let limits = prop_oneof![Just((0, 0)), Just((10, 10)), (1..20_u32, 0..5_usize)];
    let memory = select(vec![TabuMemory::Cleared, TabuMemory::Kept]);
    (bound, ties, edf, choice, memory, limits).prop_map(|(bound, ties, edf, choice, memory, limits)| Readings {
        eg_edf: (bound, ties, edf),
        choice,
        memory,
        limits,
    })
}

/// Compares the starts at each pass, and the moves that the search has tried and accepted.
fn check(readings: Readings, scene: &Scene, passes: Passes) -> Result<(), TestCaseError> {
    let (mut rule, mut tabu) = (EgEdf::default(), Tabu::default());
    (rule.bound, rule.ties, rule.edf) = readings.eg_edf;
    (tabu.bound, tabu.choice, tabu.memory) = (rule.bound, readings.choice, readings.memory);
    (tabu.iterations, tabu.length) = readings.limits;
    let (list, tried) = (Vec::new(), Vec::new());
    let mut twin = ObviousPlanner { plan: ObviousPlan::default(), readings, list, tried };
    let mut planner = Planner::new(rule, Some(tabu));
    scene.transcript(Both(&mut planner, &mut twin), passes);
    let counts = planner.tabu_counts().expect("there is a search");
    let accepted = twin.tried.iter().filter(|weight| **weight > 0.0).count() as u64;
    prop_assert_eq!((counts.tried, counts.accepted), (twin.tried.len() as u64, accepted));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Under all readings, with jobs that end early, late and in time.
    #[test]
    fn the_planner_starts_at_all_times_what_its_twin_computes_from_scratch(
        scene in estimated(), readings in readings(), passes in select(PASSES.to_vec()),
    ) {
        check(readings, &scene, passes)?;
    }
}
