//! Tabu search: guarantees of every move.

use crate::plan::DEFAULTS;
use crate::plan_common::{Beside, Readings, arrivals, bounds, machines};
use gap_schedule::{EgEdf, Plan, PlanJob, Tabu, TabuChoice, TabuMemory};
use proptest::prelude::*;
use sim_core::{JobId, SiteId, SiteSet, Span, Time};

proptest! {
    #[test]
    fn an_accepted_move_has_a_weight_above_zero_and_a_rejected_one_leaves_no_trace(
        machines in machines(),
        arrivals in arrivals(5, true),
        bound in bounds(),
        choice in prop_oneof![Just(TabuChoice::LastLate), Just(TabuChoice::Last)],
    ) {
        // The plans of EG-EDF alone leave more to improve.
        let readings = Readings { limits: (0, 0), ..DEFAULTS };
        Beside::new(&machines, readings).run(&arrivals, |beside, now| {
            let mut plan = beside.plan.clone();
            let mut tabu = Tabu::default();
            (tabu.bound, tabu.choice, tabu.memory, tabu.iterations) = (bound, choice, TabuMemory::Kept, 1);
            for _ in 0..10 {
                let (before, counts) = (plan.clone(), tabu.counts);
                tabu.improve(&mut plan, now);
                if tabu.counts.accepted > counts.accepted {
                    let weight = plan.score().weight_over(&before.score());
                    prop_assert!(weight > 0.0, "{weight}");
                } else {
                    prop_assert_eq!(&plan, &before);
                }
                prop_assert!(tabu.counts.iterations <= counts.iterations + 1);
            }
            Ok(())
        })?;
    }
}

/// Two machines; the second has a gap that its list was too crowded to show when job 2 arrived.
fn crowded() -> Plan {
    let job = |id, processors, estimate, deadline: Option<u64>| PlanJob {
        id: JobId(id),
        processors,
        estimate: Span::from_secs(estimate),
        submit: Time::ZERO,
        deadline: deadline.map(Time::from_secs),
        sites: SiteSet::ALL,
    };
    let mut plan = Plan::new([(2, 1.0), (2, 1.0)]);
    plan.insert(SiteId(0), 0, job(0, 2, 100, None), Time::ZERO);
    plan.insert(SiteId(0), 1, job(1, 1, 20, Some(50)), Time::ZERO);
    plan.insert(SiteId(1), 0, job(2, 1, 60, None), Time::ZERO);
    plan.insert(SiteId(1), 1, job(3, 2, 60, None), Time::ZERO);
    plan
}

#[test]
fn a_late_job_moves_into_a_gap_of_another_machine() {
    let mut plan = crowded();
    assert_eq!((plan.late(SiteId(0)), plan.score().nondelayed), (1, 3));
    let mut tabu = Tabu::default();
    tabu.improve(&mut plan, Time::ZERO);
    let (machine, moved) = plan.find(JobId(1)).expect("still planned");
    assert_eq!((machine, moved.start), (SiteId(1), Time::ZERO));
    assert_eq!((plan.score().nondelayed, plan.makespan()), (4, Time::from_secs(120)));
    let counts = tabu.counts;
    assert_eq!((counts.iterations, counts.tried, counts.accepted), (1, 1, 1));
    // The job is the last of its list, of which two entries are visited to remove it; then two machines.
    assert_eq!(counts.operations, 1 + 2 + 2);
}

#[test]
fn operations_are_counted_the_same_each_time() {
    let count = || {
        let (mut plan, mut rule, mut tabu) = (crowded(), EgEdf::default(), Tabu::default());
        let (_, planned) = plan.find(JobId(1)).expect("planned");
        let job = PlanJob { id: JobId(4), ..planned.job };
        rule.place(&mut plan, job, Time::ZERO);
        tabu.improve(&mut plan, Time::ZERO);
        (rule.operations, tabu.counts)
    };
    let (operations, counts) = count();
    assert!(operations > 0 && counts.operations > 0);
    assert_eq!(count(), (operations, counts));
}
