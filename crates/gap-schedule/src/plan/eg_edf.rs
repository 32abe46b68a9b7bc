//! Dispatching rule EG-EDF: the earliest gap, else by the deadline.

use super::machine_plan::{Insertion, MachinePlan, Releases};
use super::{GapBound, Gaps, Plan, Score};
use crate::order::ascending;
use crate::queue::QueuedJob;
use crate::view::site;
use sim_core::{Span, Time};
use std::cmp::Reverse;

/// Earliest Gap, else Earliest Deadline First: the dispatching rule of §3.2, which plans each job on its arrival.
///
/// The rule searches every machine for the earliest gap for the job. The job takes the gap with the highest
/// weight; a gap delays no job. If there is none, the job is tried on every machine before the
/// first planned job with a later deadline, which shifts later jobs, and the highest weight wins.
///
/// Candidates are compared by bounds first (no job starts earlier than its predecessor, no insertion makes another job
/// early), and only those that may still win are laid out. The result equals that of trying them all.
#[derive(Clone, Debug, Default)]
pub struct EgEdf {
    /// Latest start of a gap: reading R8.
    pub bound: GapBound,
    /// Choice among machines of equal weight: reading R9.
    pub ties: EgTies,
    /// Position of a job without a gap: reading R10.
    pub edf: Edf,
    /// Number of elementary operations so far: visits of planned or running jobs, of steps of idle processors, and of machines.
    pub operations: u64,
    releases: Releases,
    /// Scratch buffer, reused across jobs.
    upper_bounds: Vec<UpperBound>,
}

sim_core::answers! {
    /// Choice among machines of equal weight: reading R9. Remaining ties go to the lower index.
    pub enum EgTies {
        /// The earliest start, then the fastest machine.
        StartThenFastest,
        /// The first machine by index.
        First,
        /// The earliest end of the job.
        EarliestFinish,
        /// The fastest machine.
        Fastest,
    }
}

sim_core::answers! {
    /// Position of a job without a gap: reading R10.
    pub enum Edf {
        /// Before the first planned job with a later deadline; that job and all behind it shift.
        Shifts,
        /// Behind all planned jobs.
        Appends,
    }
}

/// Candidate machine for a job, with the result of planning it there.
#[derive(Copy, Clone, Debug)]
struct EdfCandidate {
    rank: EdfStanding,
    machine: usize,
    faster: u32,
    position: usize,
    start: Time,
    end: Time,
    score: Score,
}

/// Candidate machine for a job, with an upper bound of the result.
#[derive(Copy, Clone, Debug)]
struct UpperBound {
    best: EdfStanding,
    machine: usize,
    position: usize,
    /// True if the start is known; false if it is only a lower bound.
    start_is_known: bool,
}

/// Standing of a candidate: the greatest wins. No two are equal, for no machine has two. The weight comes first, as an
/// integer of the same order, then the tie and the index of the machine, the less the better.
type EdfStanding = (u64, Reverse<((u64, u32), usize)>);

fn standing(weight: f64, tie: (u64, u32), machine: usize) -> EdfStanding {
    (ascending(weight), Reverse((tie, machine)))
}

impl EgTies {
    fn key(self, start: Time, end: Time, faster: u32) -> (u64, u32) {
        match self {
            Self::StartThenFastest => (start.as_nanos(), faster),
            Self::First => (0, 0),
            Self::EarliestFinish => (end.as_nanos(), 0),
            Self::Fastest => (0, faster),
        }
    }

    /// Returns the latest start with which a machine of higher index and equal weight could still beat `best`.
    fn latest_start(self, best: &EdfCandidate, span: Span, faster: u32) -> Option<Time> {
        let before = |at: Time, span: Span| at.as_nanos().checked_sub(span.as_nanos()).map(Time::from_nanos);
        let one = Span::from_nanos(1);
        match self {
            Self::StartThenFastest if faster < best.faster => Some(best.start),
            Self::StartThenFastest => before(best.start, one),
            Self::EarliestFinish => before(best.end, span + one),
            Self::Fastest if faster < best.faster => Some(Time::MAX),
            Self::First | Self::Fastest => None,
        }
    }
}

impl EgEdf {
    /// Plans the job, which has just arrived and which some machine suits.
    pub(super) fn place(&mut self, plan: &mut Plan, job: QueuedJob, now: Time) {
        let old = plan.score();
        if let Some(gap) = self.best_gap(plan, &job, now, &old) {
            plan.machines[gap.machine].fill(gap.start, job, now);
        } else {
            let best = self.best_by_deadline(plan, &job, now, &old).expect("some machine suits the job");
            plan.machines[best.machine].insert(best.position, job, now);
        }
    }

    fn best_gap(&mut self, plan: &Plan, job: &QueuedJob, now: Time, old: &Score) -> Option<EdfCandidate> {
        let gaps = Gaps::new(plan, job, now, self.bound);
        let mut best: Option<EdfCandidate> = None;
        self.operations += plan.machines.len() as u64;
        for index in 0..plan.machines.len() {
            let Some(span) = gaps.span(index) else { continue };
            let faster = plan.machines[index].faster;
            let mut latest = Time::MAX;
            if let Some(best) = &best {
                // Not even a gap at `now` could weigh more: only the tie can still be won.
                let soonest = now + span;
                let upper = old.with(soonest, job.is_met_by(soonest));
                if best.score.makespan <= upper.makespan && best.score.nondelayed >= upper.nondelayed {
                    let Some(start) = self.ties.latest_start(best, span, faster) else { continue };
                    latest = start;
                }
            }
            let Some(start) = gaps.start(index, span, latest, &mut self.operations) else { continue };
            let end = start + span;
            let score = old.with(end, job.is_met_by(end));
            let rank = standing(score.weight_over(old), self.ties.key(start, end, faster), index);
            if best.as_ref().is_none_or(|best| rank > best.rank) {
                best = Some(EdfCandidate { rank, machine: index, faster, position: 0, start, end, score });
            }
        }
        best
    }

    /// Returns the best machine for a job without a gap. Lays out only machines whose bound says that they may still win.
    fn best_by_deadline(&mut self, plan: &Plan, job: &QueuedJob, now: Time, old: &Score) -> Option<EdfCandidate> {
        let Self { ties, edf, operations, releases, upper_bounds, .. } = self;
        // Weights of a start that makes no other job late and does not decide the makespan, which is true of most starts.
        let within = [false, true].map(|on_time| old.with(old.makespan, on_time).weight_over(old));
        let search = DeadlineSearch { plan, job, now, old, within, ties: *ties, edf: *edf };
        search.bound_all(upper_bounds, operations);
        // With the most promising machine first, few others can still win.
        let first = (0..upper_bounds.len()).max_by_key(|upper| upper_bounds[*upper].best)?;
        upper_bounds.swap(0, first);
        let mut best: Option<EdfCandidate> = None;
        for &UpperBound { best: upper, machine: index, position, start_is_known } in upper_bounds.iter() {
            if best.as_ref().is_some_and(|best| best.rank > upper) {
                continue;
            }
            let machine = &plan.machines[index];
            let start = machine.try_start(position, job, now, releases);
            if let Some(best) = best.as_ref().filter(|_| !start_is_known) {
                *operations += (machine.running.len() + position) as u64;
                if best.rank > search.at_best(machine, index, start) {
                    continue;
                }
            }
            let hopeless = |trial: &Insertion| {
                let Some(best) = &best else { return false };
                // Most are no worse in both respects, and need no weight.
                let nondelayed = search.nondelayed(machine, trial);
                let worse = trial.completion > best.score.makespan || nondelayed < best.score.nondelayed;
                worse && best.rank > search.judge(machine, index, position, trial).rank
            };
            // A trial counts all of the machine's jobs, although it ends as soon as it is hopeless.
            *operations += (machine.running.len() + machine.planned.len()) as u64;
            if let Some(trial) = machine.try_insert(position, job, start, releases, hopeless) {
                let candidate = search.judge(machine, index, position, &trial);
                if best.as_ref().is_none_or(|best| candidate.rank > best.rank) {
                    best = Some(candidate);
                }
            }
        }
        best
    }
}

/// Search for the machine of a job without a gap.
struct DeadlineSearch<'a> {
    plan: &'a Plan,
    job: &'a QueuedJob,
    now: Time,
    old: &'a Score,
    /// Weights of a plan with the old makespan, the job late or in time.
    within: [f64; 2],
    ties: EgTies,
    edf: Edf,
}

impl DeadlineSearch<'_> {
    /// Returns an upper bound of the standing after a start at `start`.
    #[inline]
    fn at_best(&self, machine: &MachinePlan, index: usize, start: Time) -> EdfStanding {
        let end = start + machine.span(self.job);
        let on_time = self.job.is_met_by(end);
        let weight = if end <= self.old.makespan {
            self.within[usize::from(on_time)]
        } else {
            self.old.with(end, on_time).weight_over(self.old)
        };
        standing(weight, self.ties.key(start, end, machine.faster), index)
    }

    /// Computes an upper bound for each machine that suits the job, without laying anything out.
    #[inline]
    fn bound_all(&self, upper_bounds: &mut Vec<UpperBound>, operations: &mut u64) {
        let Self { plan, job, now, .. } = *self;
        upper_bounds.clear();
        *operations += plan.machines.len() as u64;
        for (index, machine) in plan.machines.iter().enumerate() {
            if job.request.processors > machine.processors || !job.request.sites.contains(site(index)) {
                continue;
            }
            let shifts = self.edf == Edf::Shifts;
            let position = if shifts { machine.edf_position(job) } else { machine.planned.len() };
            let mut start = machine.start_before(position, now);
            let goes_last = position == machine.planned.len();
            if goes_last {
                start = machine.idle.last_start(start, job.request.processors, operations);
            }
            let best = self.at_best(machine, index, start);
            upper_bounds.push(UpperBound { best, machine: index, position, start_is_known: goes_last });
        }
    }

    #[inline]
    fn nondelayed(&self, machine: &MachinePlan, trial: &Insertion) -> u64 {
        self.old.nondelayed - u64::from(machine.on_time) + u64::from(trial.on_time)
    }

    #[inline]
    fn judge(&self, machine: &MachinePlan, index: usize, position: usize, trial: &Insertion) -> EdfCandidate {
        let makespan = self.old.makespan.max(trial.completion);
        let score = Score { makespan, nondelayed: self.nondelayed(machine, trial) };
        let Insertion { start, end, .. } = *trial;
        let rank = standing(score.weight_over(self.old), self.ties.key(start, end, machine.faster), index);
        EdfCandidate { rank, machine: index, faster: machine.faster, position, start, end, score }
    }
}
