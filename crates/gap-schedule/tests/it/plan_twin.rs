//! Obvious plan: lists of jobs without starts. Every query is computed from the lists, by definition; every trial is
//! made on a copy of everything.

use gap_schedule::{Edf, EgTies, GapBound, PlanJob, PlannedJob, RunningJob, Score, TabuChoice};
use sim_core::{AvailabilityProfile, JobId, SiteId, Span, Time};

#[derive(Clone)]
pub(crate) struct ObviousPlan {
    pub(crate) machines: Vec<ObviousMachine>,
    pub(crate) ended_in_time: u64,
}

#[derive(Clone)]
pub(crate) struct ObviousMachine {
    pub(crate) site: SiteId,
    pub(crate) processors: u32,
    pub(crate) speed: f64,
    pub(crate) running: Vec<PlannedJob>,
    pub(crate) planned: Vec<PlanJob>,
}

/// Position of a job, and the weight of the plan with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) machine: usize,
    pub(crate) start: Time,
    end: Time,
    pub(crate) weight: f64,
}

impl ObviousMachine {
    fn span(&self, job: &PlanJob) -> Span {
        job.estimate.scaled(1.0 / self.speed).max(Span::from_nanos(1))
    }

    /// Lays out every planned job at the earliest instant, not before its predecessor's start, at which enough processors are free.
    pub(crate) fn laid_out(&self, now: Time) -> Vec<PlannedJob> {
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

    pub(crate) fn late(&self, now: Time) -> usize {
        self.laid_out(now).iter().filter(|planned| !planned.is_on_time()).count()
    }

    /// Returns true if the job may run here, and there are enough processors.
    pub(crate) fn suits(&self, job: &PlanJob) -> bool {
        job.processors <= self.processors && job.sites.contains(self.site)
    }

    /// Returns true if the job can be planned: the processors are not in an outage for ever.
    fn may_hold(&self, job: &PlanJob) -> bool {
        self.suits(job) && self.running.iter().all(|running| running.end < Time::MAX)
    }

    /// Returns the earliest gap, over all positions, where no other job moves. Of equal starts, the last position.
    pub(crate) fn gap(&self, job: &PlanJob, now: Time, makespan: Time, bound: GapBound) -> Option<(usize, Time)> {
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
    pub(crate) fn score(&self, now: Time) -> Score {
        let jobs =
            || self.machines.iter().flat_map(|machine| [machine.running.clone(), machine.laid_out(now)].concat());
        let is_job = |running: &PlannedJob| running.job.id != RunningJob::OUTAGE;
        let makespan = jobs().filter(is_job).map(|job| job.end).max().unwrap_or(Time::ZERO);
        let in_time = jobs().filter(|job| is_job(job) && job.is_on_time()).count() as u64;
        Score { makespan, nondelayed: self.ended_in_time + in_time }
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
    pub(crate) fn eg_edf(
        &mut self,
        job: &PlanJob,
        now: Time,
        (bound, ties, edf): (GapBound, EgTies, Edf),
    ) -> Option<Choice> {
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
    pub(crate) fn tabu(
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
