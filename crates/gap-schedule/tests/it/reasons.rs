//! Reasons of policies: every claim is recomputed from the view of the pass, and no probe changes the schedule.

use crate::backfill::{depths, reserving};
use crate::grid_common::{PASSES, WIDEST, choosy, hurried, machines, readings};
use crate::ordered::rules;
use gap_schedule::testkit::{Judge, Scene, assert_reasons, due, scenes};
use gap_schedule::{
    BackfillReadings, BackfillRule, CompressOrder, Conservative, Easy, Explained, Fcfs, FlexibleBackfill,
    FlexibleConfig, Machine, Order, OrderedBackfill, Passes, Placement, Policy, Priority, Reason, ReasonProbe, Starts,
};
use proptest::prelude::*;
use sim_core::testkit::workload;
use sim_core::{Job, JobId, Span, Time};

/// Checks with passes of both kinds.
fn check(policy: impl Policy + Clone, scene: &Scene, judge: &Judge) {
    for passes in PASSES {
        assert_reasons(policy.clone(), judge, scene, passes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// On one machine and on several, with estimates of every kind.
    #[test]
    fn every_claim_of_a_policy_in_order_of_arrival_holds(
        scene in scenes(WIDEST), readings in readings(), depth in depths(),
    ) {
        let judge = Judge::default();
        let (mut rule, mut keeps) = (judge.clone(), judge.clone());
        (rule.is_strict, keeps.may_keep) = (readings.rule == BackfillRule::Strict, true);
        check(Fcfs::default(), &scene, &judge);
        check(OrderedBackfill::easy(readings), &scene, &rule);
        check(reserving(depth, readings.placement), &scene, &judge);
        check(Conservative::new(readings.placement, CompressOrder::Arrival, Priority::default()), &scene, &keeps);
        check(Conservative::new(Placement::Fastest, CompressOrder::Reserved, Priority::default()), &scene, &keeps);
    }

    #[test]
    fn every_claim_of_a_policy_in_any_order_holds(
        scene in scenes(WIDEST), rule in rules(), order in prop::sample::select(Order::ALL.to_vec()), depth in depths(),
    ) {
        let (judge, mut keeps) = (Judge::default(), Judge::default());
        keeps.may_keep = true;
        check(OrderedBackfill::new(rule), &scene, &judge);
        check(Fcfs::in_order(Priority { order, threshold: rule.threshold }), &scene, &judge);
        check(FlexibleBackfill::default(), &scene, &judge);
        check(FlexibleBackfill::default().with_reserve(depth), &scene, &judge);
        check(Conservative::new(Placement::Fastest, CompressOrder::Arrival, Priority { order, threshold: None }), &scene, &keeps);
    }

    /// Workloads whose estimates are upper bounds.
    #[test]
    fn no_job_is_ever_delayed_beyond_a_start_it_was_promised(
        machines in machines(WIDEST),
        readings in readings(),
        jobs in (workload(WIDEST), 1..6_u64).prop_map(|(jobs, by)| due(hurried(jobs, by))).prop_flat_map(choosy),
    ) {
        fn check(policy: impl Policy, rule: BackfillRule, machines: &[Machine], jobs: &[Job]) {
            let mut judge = Judge::default();
            (judge.is_strict, judge.may_keep) = (rule == BackfillRule::Strict, true);
            let records = crate::grid_common::records(machines, Explained { policy, probe: judge.clone() }, jobs);
            let promised = judge.promised();
            for record in &records {
                let mut starts = promised.get(&record.job.id).cloned().unwrap_or_default();
                starts.push(record.start);
                assert!(starts.is_sorted_by(|earlier, later| later <= earlier), "job {}: {starts:?}", record.job.id);
            }
        }
        let BackfillReadings { placement, rule } = readings;
        check(OrderedBackfill::easy(readings), rule, &machines, &jobs);
        check(FlexibleBackfill::new(FlexibleConfig::default(), readings), rule, &machines, &jobs);
        for order in [CompressOrder::Arrival, CompressOrder::Reserved] {
            check(Conservative::new(placement, order, Priority::default()), BackfillRule::default(), &machines, &jobs);
        }
    }
}

/// A skipped pass reports nothing.
#[test]
fn a_policy_that_makes_no_pass_reports_nothing() {
    struct Silent(usize);
    impl ReasonProbe for Silent {
        fn observe(&mut self, _: JobId, _: Reason, _: &Starts) {
            self.0 += 1;
        }
    }
    let job = |id, processors| Job::new(JobId(id), Time::ZERO, processors, Span::from_secs(10));
    let policy = Explained { policy: Easy::default().if_newcomer_fits(), probe: Silent(0) };
    let world = gap_schedule::MultiCluster::new(vec![Machine::new(4)], policy, [job(0, 4), job(1, 4)].into_iter());
    let mut sim = sim_core::Sim::new(world.with_passes(Passes::Pyss), ());
    // The first has two reasons, its turn and its start; the second does not fit, so that its pass is skipped.
    sim.run_until(Time::from_secs(5));
    let (world, ()) = sim.into_parts();
    assert_eq!(world.policy().probe.0, 2);
}
