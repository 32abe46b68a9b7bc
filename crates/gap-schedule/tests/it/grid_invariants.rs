//! Several machines: invariants of every workload.

use crate::backfill::depths;
use crate::grid_common::{
    Noting, PASSES, WIDEST, choosy, estimated, hurried, jobs, machines, readings, records, with_deadlines,
};
use crate::ordered::rules;
use crate::planner::planners;
use crate::{backfill, conservative, flexible, gap_filling};
use gap_schedule::testkit::{Scene, assert_feasible, assert_same_starts, conformance_scenes, scenes};
use gap_schedule::{
    BackfillReadings, BackfillRule, Backfilling, CompressOrder, Conservative, Depth, Easy, EgEdf, Fcfs,
    FlexibleBackfill, FlexibleConfig, Machine, OrderedBackfill, Passes, Placement, Planner, Policy, Priority,
    QueuedJob, Starts, Tabu, View, reference,
};
use proptest::prelude::*;
use rand_distr::{Distribution, Uniform};
use sim_core::testkit::{self, workload};
use sim_core::{AvailabilityProfile, Job, JobId, JobLog, Purpose, Sim, Span, Streams, Time};
use std::collections::BTreeMap;

/// Returns the reservation of `job` after a pass if it is the head of the queue.
fn promise<P>(_: &P, job: JobId, view: &View<'_>, starts: &Starts) -> Option<Time> {
    let is_waiting = |job: &&QueuedJob| starts.iter().all(|(started, _)| *started != job.job);
    let head = view.queue.iter().find(is_waiting).filter(|head| head.job == job)?;
    let mut plans: Vec<AvailabilityProfile> =
        view.machines.iter().map(|machine| AvailabilityProfile::new(machine.processors)).collect();
    for (plan, running) in plans.iter_mut().zip(view.running) {
        for job in running.iter() {
            plan.reserve(view.now, job.expected_end.since(view.now), job.processors);
        }
    }
    for (started, machine) in starts {
        let job = view.queue.iter().find(|job| job.job == *started).expect("it waits");
        let span = view.machines[machine.index()].expects(&job.request);
        plans[machine.index()].reserve(view.now, span, job.request.processors);
    }
    let suits = (0..plans.len()).filter(|machine| view.suits(*machine, &head.request));
    let earliest = |machine: usize| plans[machine].earliest(view.now, Span::from_nanos(1), head.request.processors);
    Some(suits.filter_map(earliest).min().expect("some machine suits it"))
}

/// Asserts that no head starts later than any of its reservations; on one machine, with `exact` estimates, none starts earlier.
fn check_promises<S: Policy>(policy: S, exact: bool, machines: &[Machine], jobs: &[Job]) -> Result<(), TestCaseError> {
    let mut policy = Noting::new(policy, jobs, promise);
    let starts: BTreeMap<JobId, Time> =
        records(machines, &mut policy, jobs).iter().map(|record| (record.job.id, record.start)).collect();
    for (head, promises) in (0..).map(JobId).zip(policy.noted) {
        let Some(last) = promises.last() else { continue };
        prop_assert!(promises.is_sorted_by(|earlier, later| later <= earlier), "job {head}: {promises:?}");
        prop_assert!(starts[&head] <= *last, "job {head}: {promises:?}");
        prop_assert!(!exact || promises[0] == starts[&head], "job {head}: {promises:?}");
    }
    Ok(())
}

#[test]
fn the_policies_start_the_jobs_of_their_references_on_the_conformance_workloads() {
    for (_, scene) in conformance_scenes() {
        assert_same_starts(Easy::default(), reference::OrderedBackfill::default(), &scene, Passes::PerInstant);
        scene.transcript(conservative::both(CompressOrder::Arrival, Priority::default()), Passes::PerInstant);
    }
}

proptest! {
    #[test]
    fn fcfs_starts_in_order_of_submission(machines in machines(WIDEST), jobs in jobs()) {
        let records = records(&machines, Fcfs::default(), &jobs);
        prop_assert!(records.is_sorted_by_key(|record| record.start));
    }

    #[test]
    fn easy_never_delays_a_promised_start(
        machines in machines(WIDEST), readings in readings(), jobs in workload(WIDEST).prop_map(|jobs| hurried(jobs, 3)).prop_flat_map(choosy),
    ) {
        check_promises(OrderedBackfill::easy(readings), false, &machines, &jobs)?;
        check_promises(OrderedBackfill::easy(readings), true, &machines[..1], &with_deadlines(jobs))?;
    }

    #[test]
    fn on_one_machine_easy_is_the_program_of_its_reference(mut scene in scenes(2 * WIDEST)) {
        scene.machines.truncate(1);
        for passes in PASSES {
            assert_same_starts(Easy::default(), reference::OrderedBackfill::default(), &scene, passes);
        }
    }

    #[test]
    fn on_one_machine_jobs_of_one_processor_are_served_as_by_the_reference_model(jobs in workload(1)) {
        let reference = testkit::Fcfs::new(3, jobs.iter().copied());
        let mut expected = Sim::new(reference, JobLog::collecting()).run().1.into_sink();
        expected.sort_by_key(|record| record.job.id);
        let machine = [Machine::new(3)];
        prop_assert_eq!(&records(&machine, Fcfs::default(), &jobs), &expected);
        prop_assert_eq!(&records(&machine, Easy::default(), &jobs), &expected);
        // With exact estimates and without deadlines, a plan is this queue.
        let exact: Vec<Job> = jobs.iter().map(|job| Job::new(job.id, job.submit, 1, job.runtime)).collect();
        for planner in planners() {
            let planned = records(&machine, planner, &exact).into_iter().map(|record| record.start);
            prop_assert!(planned.eq(expected.iter().map(|record| record.start)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// No invariant breaks under inexact estimates.
    #[test]
    fn every_policy_keeps_the_books(
        scene in scenes(WIDEST), mut estimated in estimated(), readings in readings(), depth in depths(), rule in rules(),
        compress in prop::sample::select(vec![CompressOrder::Arrival, CompressOrder::Reserved]),
        gap_filling in gap_filling::policies(),
    ) {
        estimated.jobs = gap_filling::shared(estimated.jobs);
        let priority = Priority { order: rule.order, threshold: rule.threshold };
        let flexible = FlexibleBackfill::new(FlexibleConfig::default(), readings);
        for passes in PASSES {
            assert_feasible(Fcfs::in_order(priority), &scene, passes);
            assert_feasible(OrderedBackfill::easy(readings), &scene, passes);
            assert_feasible(OrderedBackfill::new(rule), &scene, passes);
            assert_feasible(flexible.clone(), &scene, passes);
            assert_feasible(flexible.clone().with_reserve(depth), &scene, passes);
            assert_feasible(Conservative::new(Placement::Fastest, compress, Priority::default()), &scene, passes);
            assert_feasible(Conservative::new(Placement::Fastest, CompressOrder::Arrival, priority), &scene, passes);
            assert_feasible(Planner::new(EgEdf::default(), None), &estimated, passes);
            assert_feasible(Planner::new(EgEdf::default(), Some(Tabu::default())), &estimated, passes);
            assert_feasible(gap_filling.clone(), &estimated, passes);
        }
    }
}

/// 150 machines of 1 to 16 processors, speeds from 1 to 3, and an overload of jobs.
#[test]
fn backfilling_equals_its_twins_at_the_scale_of_the_paper() {
    let draws = |purpose| Streams::new(7, 0).stream(Purpose(purpose), 0);
    let (mut sizes, mut speeds, mut jobs) = (draws("sizes"), draws("speeds"), draws("jobs"));
    let uniform = |low: f64, high: f64| Uniform::new(low, high).expect("a range");
    let whole = |low: u32, high: u32| Uniform::new_inclusive(low, high).expect("a range");
    let machine =
        |_| Machine { processors: whole(1, 16).sample(&mut sizes), speed: uniform(1.0, 3.0).sample(&mut speeds) };
    let machines: Vec<Machine> = (0..150).map(machine).collect();
    let mut submit = Time::ZERO;
    let jobs: Vec<Job> = (0..1_200)
        .map(|id| {
            submit += Span::from_secs_f64(uniform(0.0, 1.5).sample(&mut jobs));
            let runtime = Span::from_secs_f64(uniform(500.0, 3_000.0).sample(&mut jobs));
            let mut job = Job::new(JobId(id), submit, whole(1, 8).sample(&mut jobs), runtime);
            job.request.estimate = Some(runtime.scaled(uniform(0.9, 2.0).sample(&mut jobs)));
            let due = submit + runtime + Span::from_secs_f64(uniform(30.0, 1_000.0).sample(&mut jobs));
            job.request.deadline = (id % 10 < 7).then_some(due);
            job
        })
        .collect();
    let scene = Scene::new(&machines, &jobs);
    for rule in [BackfillRule::MachineAware, BackfillRule::Strict] {
        let readings = BackfillReadings { rule, ..BackfillReadings::default() };
        flexible::check(FlexibleConfig::default(), readings, Depth::default(), &scene, Passes::PerInstant);
    }
    for reserve in [Depth::Jobs(10), Depth::All] {
        scene.transcript(backfill::both(Backfilling { reserve, ..Backfilling::default() }), Passes::PerInstant);
    }
}
