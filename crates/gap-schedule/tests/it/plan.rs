//! Plans, gaps and EG-EDF.

use crate::plan_common::{Arrival, Beside, Readings, arrivals, bounds, failures, machines, readings};
use gap_schedule::{
    Edf, EgEdf, EgTies, Found, GapBound, Plan, PlanJob, PlannedJob, RunningJob, TabuChoice, TabuMemory,
};
use proptest::prelude::*;
use sim_core::{JobId, SiteId, SiteSet, Span, Time};
use std::collections::BTreeMap;

pub(crate) const DEFAULTS: Readings = Readings {
    bound: GapBound::LastStart,
    ties: EgTies::StartThenFastest,
    edf: Edf::Shifts,
    choice: TabuChoice::LastLate,
    limits: (10, 10),
    memory: TabuMemory::Cleared,
};

fn job(id: u32, submit: u64, processors: u32, estimate: u64, deadline: Option<u64>) -> PlanJob {
    let (submit, estimate) = (Time::from_secs(submit), Span::from_secs(estimate));
    PlanJob {
        id: JobId(id),
        processors,
        estimate,
        submit,
        deadline: deadline.map(Time::from_secs),
        sites: SiteSet::ALL,
    }
}

#[test]
fn the_same_job_appended_shifts_no_other() {
    let mut plan = Plan::new([(4, 1.0)]);
    let mut rule = EgEdf::default();
    rule.edf = Edf::Appends;
    let jobs = [job(0, 0, 3, 100, None), job(1, 0, 4, 10, None), job(3, 0, 1, 200, Some(250))];
    let placed = jobs.map(|job| rule.place(&mut plan, job, Time::ZERO).expect("wide enough"));
    assert_eq!(placed.map(|placed| placed.start), [0, 100, 110].map(Time::from_secs));
    assert_eq!(placed.map(|placed| placed.found), [Found::Edf; 3]);
}

#[test]
fn a_job_goes_to_the_fastest_of_the_machines_where_it_can_start_at_once() {
    let mut plan = Plan::new([(4, 1.0), (1, 3.0), (4, 2.0), (4, 2.0)]);
    let mut rule = EgEdf::default();
    let mut place = |id, processors| rule.place(&mut plan, job(id, 0, processors, 100, Some(100)), Time::ZERO);
    let machines: Vec<u32> = (0..4).map(|id| place(id, 3).expect("wide enough").machine.0).collect();
    // The first decides the makespan, 50 s; for the third, waiting and extending it cost the same.
    assert_eq!(machines[..2], [2, 3]);
    assert_eq!(place(9, 5), None, "no machine is wide enough");
}

#[test]
fn operations_of_a_placement_by_deadline_can_be_counted_by_hand() {
    let mut plan = Plan::new([(1, 1.0), (1, 1.0)]);
    for (machine, id) in [(0, 0), (1, 2)] {
        plan.insert(SiteId(machine), 0, job(id, 0, 1, 10, Some(20)), Time::ZERO);
        plan.insert(SiteId(machine), 1, job(id + 1, 0, 1, 100, Some(1_000)), Time::ZERO);
    }
    let mut rule = EgEdf::default();
    let placed = rule.place(&mut plan, job(4, 0, 1, 10, Some(50)), Time::ZERO).expect("wide enough");
    assert_eq!((placed.machine, placed.start, placed.found), (SiteId(0), Time::from_secs(10), Found::Edf));
    // Each machine is visited for a gap and for a position. On the first, both jobs are laid out again. On the second,
    // which may keep the makespan, the one in front is visited for the start, and then both.
    assert_eq!(rule.operations, 2 + 2 + 2 + (1 + 2));
}

#[test]
#[should_panic(expected = "job 1 is due on 2 processors where 0 are free")]
fn an_unreported_overrun_is_noticed() {
    let mut plan = Plan::new([(4, 1.0)]);
    plan.insert(SiteId(0), 0, job(0, 0, 4, 100, None), Time::ZERO);
    plan.insert(SiteId(0), 1, job(1, 0, 2, 10, None), Time::ZERO);
    plan.start_due(Time::ZERO, &mut Vec::new());
    plan.start_due(Time::from_secs(100), &mut Vec::new());
}

#[test]
#[should_panic(expected = "job 0 was planned for 0 s, but it is already 1 s")]
fn a_missed_start_is_noticed() {
    let mut plan = Plan::new([(4, 1.0)]);
    plan.insert(SiteId(0), 0, job(0, 0, 4, 100, None), Time::ZERO);
    plan.start_due(Time::from_secs(1), &mut Vec::new());
}

#[test]
fn a_machine_that_fails_is_held_until_its_expected_repair() {
    let mut plan = Plan::new([(4, 1.0), (2, 1.0)]);
    let mut rule = EgEdf::default();
    let machine = SiteId(0);
    plan.insert(machine, 0, job(0, 0, 4, 100, Some(100)), Time::ZERO);
    plan.insert(machine, 1, job(1, 0, 4, 10, None), Time::ZERO);
    plan.start_due(Time::ZERO, &mut Vec::new());
    let now = Time::from_secs(40);
    assert!(plan.makespan() > Time::ZERO);
    let planned = plan.down(machine, Time::from_secs(70), now);
    assert_eq!(planned.iter().map(|job| job.id).collect::<Vec<_>>(), [JobId(1)]);
    // The jobs that ran there are dropped, and an outage is no job.
    assert!(plan.is_down(machine));
    assert_eq!((plan.score().nondelayed, plan.makespan()), (0, Time::ZERO));
    let mut place = |plan: &mut Plan, id, processors| rule.place(plan, job(id, 0, processors, 10, None), now);
    let start = |placed: Option<gap_schedule::Placed>| placed.map(|placed| (placed.machine.0, placed.start));
    assert_eq!(start(place(&mut plan, 1, 4)), Some((0, Time::from_secs(70))));
    assert_eq!(start(place(&mut plan, 2, 2)), Some((1, now)));
    assert_eq!((plan.score().nondelayed, plan.makespan()), (2, Time::from_secs(80)));

    let mut early = plan.clone();
    early.up(machine, Time::from_secs(60));
    assert_eq!(early.find(JobId(1)).map(|(_, planned)| planned.start), Some(Time::from_secs(60)));
    assert!(!early.is_down(machine));
    plan.overrun(machine, RunningJob::OUTAGE, Time::from_secs(90), Time::from_secs(70));
    assert_eq!(plan.find(JobId(1)).map(|(_, planned)| planned.start), Some(Time::from_secs(90)));
}

#[test]
fn nothing_is_planned_where_a_repair_is_unknown() {
    let mut plan = Plan::new([(4, 1.0), (2, 1.0)]);
    let mut rule = EgEdf::default();
    rule.bound = GapBound::Unbounded;
    assert!(plan.down(SiteId(0), Time::MAX, Time::ZERO).is_empty());
    let wide = job(0, 0, 4, 10, None);
    let before = plan.clone();
    assert_eq!(rule.place(&mut plan, wide, Time::ZERO), None);
    assert_eq!(plan, before);
    let narrow = rule.place(&mut plan, job(1, 0, 2, 10, None), Time::ZERO).expect("a machine is up");
    assert_eq!(narrow.machine, SiteId(1));
    plan.up(SiteId(0), Time::from_secs(5));
    let placed = rule.place(&mut plan, wide, Time::from_secs(5)).expect("wide enough");
    assert_eq!((placed.machine, placed.start), (SiteId(0), Time::from_secs(5)));
}

#[test]
#[should_panic(expected = "machine 0 fails at 2 s, but is down already")]
fn a_machine_that_is_down_does_not_fail() {
    let mut plan = Plan::new([(4, 1.0)]);
    plan.down(SiteId(0), Time::MAX, Time::from_secs(1));
    plan.down(SiteId(0), Time::MAX, Time::from_secs(2));
}

fn all_planned(plan: &Plan) -> BTreeMap<JobId, PlannedJob> {
    plan.machines().flat_map(|machine| plan.planned(machine)).map(|planned| (planned.job.id, *planned)).collect()
}

proptest! {
    /// All combinations: EG-EDF and Tabu under all readings, with jobs that end early, late and in time. The
    /// comparisons are in `Beside`.
    #[test]
    fn the_plan_is_at_all_times_what_its_twin_computes_from_scratch(
        machines in machines(),
        arrivals in arrivals(6, true),
        readings in readings(),
    ) {
        Beside::new(&machines, readings).run(&arrivals, |_, _| Ok(()))?;
    }

    /// The same with failures: jobs that ran or were planned on a failed machine are planned again.
    #[test]
    fn the_plan_is_what_its_twin_computes_while_machines_fail(
        machines in machines(),
        arrivals in arrivals(6, true),
        readings in readings(),
        failures in failures(),
    ) {
        Beside::new(&machines, readings).with_failures(failures).run(&arrivals, |_, _| Ok(()))?;
    }

    #[test]
    fn the_gap_search_finds_what_trying_all_positions_finds(
        machines in machines(),
        arrivals in arrivals(5, true),
        bound in bounds(),
    ) {
        Beside::new(&machines, DEFAULTS).run(&arrivals, |beside, now| {
            for (machine, twin) in beside.plan.machines().zip(&beside.twin.machines) {
                for (processors, estimate) in [(1, 1), (1, 4), (1, 20), (2, 2), (2, 8), (3, 4), (5, 2)] {
                    let job = job(999, 0, processors, estimate, None);
                    let gap = beside.plan.gap(machine, &job, now, bound).map(|gap| (gap.position, gap.start));
                    prop_assert_eq!(gap, twin.gap(&job, now, beside.plan.makespan(), bound));
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn filling_a_gap_moves_no_other_job(machines in machines(), arrivals in arrivals(5, true), bound in bounds()) {
        Beside::new(&machines, DEFAULTS).run(&arrivals, |beside, now| {
            let mut plan = beside.plan.clone();
            for (id, (processors, estimate)) in (900..).zip([(1, 4), (2, 8), (1, 4), (1, 20), (3, 4)]) {
                let job = job(id, 0, processors, estimate, None);
                for machine in plan.machines() {
                    let mut before = all_planned(&plan);
                    if let Some(gap) = plan.gap(machine, &job, now, bound) {
                        plan.fill(machine, &gap, job, now);
                        before.insert(job.id, PlannedJob { job, start: gap.start, end: gap.end });
                        prop_assert_eq!(&all_planned(&plan), &before);
                        break;
                    }
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn a_removed_job_put_back_where_it_was_restores_the_plan(
        machines in machines(),
        arrivals in arrivals(5, false),
    ) {
        Beside::new(&machines, DEFAULTS).run(&arrivals, |beside, now| {
            let before = all_planned(&beside.plan);
            for machine in beside.plan.machines() {
                let mut plan = beside.plan.clone();
                let ids: Vec<JobId> = plan.planned(machine).map(|planned| planned.job.id).collect();
                for (position, id) in ids.into_iter().enumerate() {
                    let removed = plan.remove(machine, id, now).expect("planned here");
                    prop_assert_eq!(plan.remove(machine, id, now), None);
                    for (other, planned) in all_planned(&plan) {
                        prop_assert!(planned.start <= before[&other].start, "removing a job delays no other");
                    }
                    plan.insert(machine, position, removed, now);
                    prop_assert_eq!(&all_planned(&plan), &before);
                    prop_assert_eq!(plan.score(), beside.plan.score());
                }
            }
            Ok(())
        })?;
    }

    /// With exact estimates only insertions and moves change a start. So after the last arrival every job starts as planned.
    #[test]
    fn planned_starts_that_nothing_moves_are_met_exactly(
        machines in machines(),
        arrivals in arrivals(5, false),
        readings in readings(),
    ) {
        let mut promised = BTreeMap::new();
        let last = arrivals.last().expect("at least one").job.id;
        let mut beside = Beside::new(&machines, readings);
        beside.run(&arrivals, |beside, _| {
            if promised.is_empty() && (beside.plan.find(last).is_some() || beside.starts.contains_key(&last)) {
                promised = all_planned(&beside.plan);
            }
            Ok(())
        })?;
        for (job, planned) in promised {
            prop_assert_eq!(beside.starts[&job], planned.start);
        }
    }

    /// One machine of c processors and jobs of one processor without deadlines: first come first served, G/G/c.
    #[test]
    fn jobs_of_one_processor_without_deadlines_are_served_in_order(arrivals in arrivals(1, false)) {
        let processors = 3;
        let arrivals: Vec<Arrival> = arrivals
            .into_iter()
            .map(|arrival| Arrival { job: PlanJob { deadline: None, sites: SiteSet::ALL, ..arrival.job }, ..arrival })
            .collect();
        let mut beside = Beside::new(&[(processors, 1.0)], DEFAULTS);
        beside.run(&arrivals, |_, _| Ok(()))?;
        let mut free = vec![Time::ZERO; processors as usize];
        for arrival in &arrivals {
            let server = free.iter_mut().min().expect("three");
            let start = arrival.job.submit.max(*server);
            *server = start + arrival.job.estimate;
            prop_assert_eq!(beside.starts[&arrival.job.id], start);
        }
    }
}
