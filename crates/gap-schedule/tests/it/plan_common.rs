//! Small world around a plan: jobs arrive, end early, late or as expected, and the plan is compared with its twin after
//! every event.

use crate::grid_common::sites;
use crate::plan_twin::{ObviousMachine, ObviousPlan};
use gap_schedule::{Edf, EgEdf, EgTies, GapBound, Plan, PlanJob, PlannedJob, RunningJob, Tabu, TabuChoice, TabuMemory};
use proptest::prelude::*;
use sim_core::{JobId, SiteId, SiteSet, Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Job of the small world: the plan's part of it, and its actual end, in seconds after (or before) the estimated one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) job: PlanJob,
    pub(crate) late_by: i64,
}

/// Outage of the small world.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    down: Time,
    lasts: Span,
    /// Expected length, if any.
    expected: Option<Span>,
    machine: prop::sample::Index,
}

/// Strategy for short outages, some of no length. A machine that is down does not fail.
pub(crate) fn failures() -> impl Strategy<Value = Vec<Failure>> {
    let span = |longest: u64| (0..longest).prop_map(Span::from_secs);
    let failure = (span(10), span(12), prop::option::of(span(8)), any::<prop::sample::Index>());
    prop::collection::vec(failure, 0..12).prop_map(|failures| {
        let mut down = Time::ZERO;
        let timed = failures.into_iter().map(|(gap, lasts, expected, machine)| {
            down += gap;
            Failure { down, lasts, expected, machine }
        });
        timed.collect()
    })
}

/// Strategy with few instants, lengths and widths, so that ties are common. A third of the jobs has no deadline, some
/// cannot meet theirs; a sixth may not run everywhere.
pub(crate) fn arrivals(widest: u32, inexact: bool) -> impl Strategy<Value = Vec<Arrival>> {
    let late_by = if inexact { prop_oneof![Just(0), -8..8_i64].boxed() } else { Just(0).boxed() };
    let deadline = prop_oneof![1 => Just(None), 2 => (0..30_u64).prop_map(Some)];
    let sites = prop_oneof![5 => Just(SiteSet::ALL), 1 => (1..32_u8).prop_map(sites)];
    let job = (0..4_u64, 1..=widest, 1..6_u64, deadline, late_by, sites);
    prop::collection::vec(job, 1..40).prop_map(|jobs| {
        let mut submit = Time::ZERO;
        let number = |id: usize| JobId(u32::try_from(id).expect("few jobs"));
        jobs.into_iter()
            .enumerate()
            .map(|(id, (gap, processors, halves, margin, late_by, sites))| {
                submit += Span::from_secs(gap / 2);
                let estimate = Span::from_secs(4 * halves);
                let deadline = margin.map(|margin| submit + estimate + Span::from_secs(margin));
                let job = PlanJob { id: number(id), processors, estimate, submit, deadline, sites };
                Arrival { job, late_by }
            })
            .collect()
    })
}

/// Strategy for one to five machines, several of one kind.
pub(crate) fn machines() -> impl Strategy<Value = Vec<(u32, f64)>> {
    prop::collection::vec((prop_oneof![Just(1), 2..6_u32], prop_oneof![Just(0.5), Just(1.0), Just(2.0)]), 1..6)
}

impl ObviousPlan {
    pub(crate) fn new(machines: &[(u32, f64)]) -> Self {
        let machine = |(site, &(processors, speed)): (u32, &(u32, f64))| ObviousMachine {
            site: SiteId(site),
            processors,
            speed,
            running: Vec::new(),
            planned: Vec::new(),
        };
        Self { machines: (0..).zip(machines).map(machine).collect(), ended_in_time: 0 }
    }

    /// Starts the jobs that are due.
    pub(crate) fn start_due(&mut self, now: Time) {
        for machine in &mut self.machines {
            let due: Vec<PlannedJob> =
                machine.laid_out(now).into_iter().take_while(|planned| planned.start == now).collect();
            machine.planned.drain(..due.len());
            machine.running.extend(due);
        }
    }

    pub(crate) fn finish(&mut self, machine: usize, job: JobId, now: Time) {
        let running = &mut self.machines[machine].running;
        let place = running.iter().position(|running| running.job.id == job).expect("it runs");
        self.ended_in_time += u64::from(running.remove(place).job.is_met_by(now));
    }
}

/// Readings of the paper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Readings {
    pub(crate) bound: GapBound,
    pub(crate) ties: EgTies,
    pub(crate) edf: Edf,
    pub(crate) choice: TabuChoice,
    /// Iterations and length of the list; without iterations, no Tabu search.
    pub(crate) limits: (u32, usize),
    pub(crate) memory: TabuMemory,
}

pub(crate) fn bounds() -> impl Strategy<Value = GapBound> {
    use GapBound::{LastCompletion, LastStart, Makespan, Unbounded};
    prop_oneof![3 => Just(LastStart), 1 => Just(LastCompletion), 1 => Just(Makespan), 1 => Just(Unbounded)]
}

pub(crate) fn readings() -> impl Strategy<Value = Readings> {
    use EgTies::{EarliestFinish, Fastest, First, StartThenFastest};
    let ties =
        prop_oneof![3 => Just(StartThenFastest), 1 => Just(First), 1 => Just(EarliestFinish), 1 => Just(Fastest)];
    let edf = prop_oneof![3 => Just(Edf::Shifts), 1 => Just(Edf::Appends)];
    let choice = prop_oneof![3 => Just(TabuChoice::LastLate), 1 => Just(TabuChoice::Last)];
    let limits = prop_oneof![Just((0, 0)), Just((10, 10)), (1..20_u32, 0..5_usize)];
    let memory = prop_oneof![Just(TabuMemory::Cleared), Just(TabuMemory::Kept)];
    (bounds(), ties, edf, choice, limits, memory).prop_map(|(bound, ties, edf, choice, limits, memory)| Readings {
        bound,
        ties,
        edf,
        choice,
        limits,
        memory,
    })
}

/// Plan, its twin, and the actual events.
pub(crate) struct Beside {
    pub(crate) plan: Plan,
    pub(crate) twin: ObviousPlan,
    pub(crate) eg_edf: EgEdf,
    pub(crate) tabu: Tabu,
    readings: Readings,
    list: Vec<JobId>,
    /// Actual ends of the running jobs.
    ends: BTreeMap<(Time, JobId), SiteId>,
    /// Actual starts.
    pub(crate) starts: BTreeMap<JobId, Time>,
    late_by: BTreeMap<JobId, i64>,
    failures: VecDeque<Failure>,
    repairs: BTreeSet<(Time, SiteId)>,
    /// Jobs that no machine may hold.
    stranded: Vec<Arrival>,
}

impl Beside {
    pub(crate) fn new(machines: &[(u32, f64)], readings: Readings) -> Self {
        let (mut eg_edf, mut tabu) = (EgEdf::default(), Tabu::default());
        (eg_edf.bound, eg_edf.ties, eg_edf.edf) = (readings.bound, readings.ties, readings.edf);
        (tabu.bound, tabu.choice, tabu.memory) = (readings.bound, readings.choice, readings.memory);
        (tabu.iterations, tabu.length) = readings.limits;
        Self {
            plan: Plan::new(machines.iter().copied()),
            twin: ObviousPlan::new(machines),
            eg_edf,
            tabu,
            readings,
            list: Vec::new(),
            ends: BTreeMap::new(),
            starts: BTreeMap::new(),
            late_by: BTreeMap::new(),
            failures: VecDeque::new(),
            repairs: BTreeSet::new(),
            stranded: Vec::new(),
        }
    }

    pub(crate) fn with_failures(self, failures: Vec<Failure>) -> Self {
        Self { failures: failures.into(), ..self }
    }

    /// Runs all arrivals, and all events that follow from them. `look` is called after every event.
    pub(crate) fn run(
        &mut self,
        arrivals: &[Arrival],
        mut look: impl FnMut(&Self, Time) -> Result<(), TestCaseError>,
    ) -> Result<(), TestCaseError> {
        let mut arrivals = arrivals.iter().peekable();
        loop {
            let ends = self.ends.first_key_value().map(|((end, _), _)| *end);
            let expected = self.running().map(|(_, running)| running.end).filter(|end| *end < Time::MAX).min();
            let arrives = arrivals.peek().map(|arrival| arrival.job.submit);
            let fails = self.failures.front().map(|failure| failure.down);
            let repair = self.repairs.first().map(|(at, _)| *at);
            let times = [ends, expected, arrives, fails, repair, self.plan.next_start()];
            let Some(now) = times.into_iter().flatten().min() else { break };
            while let Some(entry) = self.ends.first_entry().filter(|entry| entry.key().0 == now) {
                let ((_, job), machine) = entry.remove_entry();
                self.plan.finish(machine, job, now);
                self.twin.finish(machine.index(), job, now);
                self.check(now)?;
            }
            let overdue: Vec<_> = self.running().filter(|(_, running)| running.end <= now).collect();
            for (machine, running) in overdue {
                let expected = now + Span::from_secs(3);
                self.plan.overrun(machine, running.job.id, expected, now);
                for twin in &mut self.twin.machines[machine.index()].running {
                    if twin.job.id == running.job.id {
                        twin.end = expected;
                    }
                }
                self.check(now)?;
            }
            self.repair_due(now)?;
            while let Some(failure) = self.failures.pop_front_if(|failure| failure.down == now) {
                self.fail(&failure)?;
            }
            self.start_due(now)?;
            while let Some(arrival) = arrivals.next_if(|arrival| arrival.job.submit == now) {
                self.arrive(arrival, now)?;
                look(self, now)?;
                if arrival.job.id.0 % 2 == 0 {
                    self.start_due(now)?;
                }
            }
            self.start_due(now)?;
            look(self, now)?;
        }
        prop_assert!(self.plan.makespan() == Time::ZERO && self.stranded.is_empty());
        Ok(())
    }

    /// Fails a machine; the jobs that were planned or ran there arrive again.
    fn fail(&mut self, failure: &Failure) -> Result<(), TestCaseError> {
        let (now, index) = (failure.down, failure.machine.index(self.twin.machines.len()));
        let machine = SiteId(u32::try_from(index).expect("few machines"));
        if self.plan.is_down(machine) {
            return Ok(());
        }
        let until = failure.expected.map_or(Time::MAX, |expected| now + expected.max(Span::from_nanos(1)));
        let planned = self.plan.down(machine, until, now);
        let twin = &mut self.twin.machines[index];
        prop_assert_eq!(&planned, &twin.planned);
        twin.planned.clear();
        let outage = self.plan.running(machine).to_vec();
        let [PlannedJob { job, start, end }] = outage[..] else { panic!("one outage: {outage:?}") };
        prop_assert_eq!((job.id, job.processors, start, end), (RunningJob::OUTAGE, twin.processors, now, until));
        let lost = std::mem::replace(&mut twin.running, outage);
        self.ends.retain(|_, site| *site != machine);
        self.repairs.insert((now + failure.lasts, machine));
        self.check(now)?;
        for running in &lost {
            self.starts.remove(&running.job.id);
        }
        self.plan_again(planned.into_iter().chain(lost.into_iter().map(|running| running.job)), now)
    }

    fn repair_due(&mut self, now: Time) -> Result<(), TestCaseError> {
        while let Some((_, machine)) = self.repairs.first().copied().filter(|(at, _)| *at == now) {
            self.repairs.pop_first();
            let was_out = self.plan.running(machine)[0].end == Time::MAX;
            self.plan.up(machine, now);
            self.twin.machines[machine.index()].running.clear();
            self.check(now)?;
            let mut again = Vec::new();
            if was_out {
                let mut planned: Vec<PlannedJob> =
                    self.twin.machines.iter().flat_map(|machine| machine.laid_out(now)).collect();
                planned.sort_by_key(|planned| planned.start);
                again = self.plan.take_planned(now);
                prop_assert!(planned.iter().map(|planned| &planned.job).eq(&again));
                self.twin.machines.iter_mut().for_each(|machine| machine.planned.clear());
                self.check(now)?;
            }
            again.extend(self.stranded.drain(..).map(|arrival| arrival.job));
            self.plan_again(again, now)?;
        }
        Ok(())
    }

    fn plan_again(&mut self, jobs: impl IntoIterator<Item = PlanJob>, now: Time) -> Result<(), TestCaseError> {
        for job in jobs {
            self.arrive(&Arrival { job, late_by: self.late_by[&job.id] }, now)?;
        }
        Ok(())
    }

    fn running(&self) -> impl Iterator<Item = (SiteId, PlannedJob)> {
        self.plan.machines().flat_map(|machine| self.plan.running(machine).iter().map(move |job| (machine, *job)))
    }

    fn arrive(&mut self, arrival: &Arrival, now: Time) -> Result<(), TestCaseError> {
        let Readings { bound, ties, edf, choice, limits, memory } = self.readings;
        self.late_by.insert(arrival.job.id, arrival.late_by);
        let placed = self.eg_edf.place(&mut self.plan, arrival.job, now);
        let twin = self.twin.eg_edf(&arrival.job, now, (bound, ties, edf));
        prop_assert_eq!(placed.is_some(), twin.is_some());
        if let (Some(placed), Some(twin)) = (placed, twin) {
            prop_assert_eq!((placed.machine.index(), placed.start), (twin.machine, twin.start));
            prop_assert_eq!(placed.weight.to_bits(), twin.weight.to_bits(), "{} {}", placed.weight, twin.weight);
        } else if self.twin.machines.iter().any(|machine| machine.suits(&arrival.job)) {
            self.stranded.push(*arrival);
        }
        self.check(now)?;

        if memory == TabuMemory::Cleared {
            self.list.clear();
        }
        let counts = self.tabu.counts;
        self.tabu.improve(&mut self.plan, now);
        let tried = self.twin.tabu(now, (bound, choice), limits, &mut self.list);
        prop_assert_eq!(self.tabu.counts.tried - counts.tried, tried.len() as u64);
        let accepted = tried.iter().filter(|weight| **weight > 0.0).count() as u64;
        prop_assert_eq!(self.tabu.counts.accepted - counts.accepted, accepted);
        self.check(now)
    }

    fn start_due(&mut self, now: Time) -> Result<(), TestCaseError> {
        let mut started = Vec::new();
        self.plan.start_due(now, &mut started);
        self.twin.start_due(now);
        for (machine, PlannedJob { job, start, end }) in started {
            prop_assert_eq!(start, now);
            prop_assert!(start >= job.submit);
            prop_assert_eq!(self.starts.insert(job.id, start), None, "job {} started twice", job.id);
            let late_by = self.late_by[&job.id];
            let by = Span::from_secs(late_by.unsigned_abs());
            let early = Span::from_nanos(end.since(start).saturating_sub(by).as_nanos().max(1_000_000_000));
            let end = if late_by < 0 { (start + early).min(end) } else { end + by };
            self.ends.insert((end, job.id), machine);
        }
        self.check(now)
    }

    /// Compares every property of the plan with that computed by the twin from scratch.
    fn check(&self, now: Time) -> Result<(), TestCaseError> {
        for (machine, twin) in self.plan.machines().zip(&self.twin.machines) {
            let planned: Vec<PlannedJob> = self.plan.planned(machine).copied().collect();
            prop_assert_eq!(&planned, &twin.laid_out(now), "machine {} at {} s", machine, now);
            prop_assert_eq!(self.plan.late(machine) as usize, twin.late(now));
            prop_assert!(planned.is_sorted_by_key(|planned| planned.start));
            let busy: u32 = self.plan.running(machine).iter().map(|running| running.job.processors).sum();
            prop_assert!(busy <= twin.processors);
        }
        prop_assert_eq!(self.plan.score(), self.twin.score(now));
        let next = self.plan.machines().filter_map(|machine| Some(self.plan.planned(machine).next()?.start)).min();
        prop_assert_eq!(self.plan.next_start(), next);
        Ok(())
    }
}
