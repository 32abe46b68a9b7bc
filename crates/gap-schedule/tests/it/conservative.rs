//! Conservative backfilling that keeps its reservations: its guarantees, its slow and obvious twin, and a case worked by hand.

use crate::backfill::{placements, reserving};
use crate::common::job;
use crate::grid_common::{Both, PASSES, WIDEST, bounded, machines, starts, with_deadlines};
use gap_schedule::testkit::{Scene, scenes};
use gap_schedule::{CompressOrder, Conservative, Depth, Machine, Passes, Placement, Priority, reference};
use proptest::prelude::*;
use sim_core::{Job, Span};

fn orders() -> impl Strategy<Value = CompressOrder> {
    prop::sample::select(vec![CompressOrder::Arrival, CompressOrder::Reserved])
}

/// Returns the policy and its twin.
pub(crate) fn both(order: CompressOrder, turns: Priority) -> Both<Conservative, reference::Conservative> {
    Both(Conservative::new(Placement::Fastest, order, turns), reference::Conservative::new(order, turns))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn without_early_ends_it_equals_backfilling_that_recomputes_reservations(
        machines in machines(WIDEST), jobs in bounded(), placement in placements(), order in orders(),
    ) {
        let scene = Scene::new(&machines, &with_deadlines(jobs));
        let again = scene.transcript(reserving(Depth::All, placement), Passes::PerInstant);
        let policy = Conservative::new(placement, order, Priority::default());
        prop_assert_eq!(scene.transcript(policy, Passes::PerInstant), again);
    }

    #[test]
    fn it_equals_its_twin(machines in machines(WIDEST), jobs in bounded(), order in orders()) {
        for passes in PASSES {
            Scene::new(&machines, &jobs).transcript(both(order, Priority::default()), passes);
        }
    }

    #[test]
    fn it_equals_its_twin_whatever_goes_wrong(scene in scenes(WIDEST), order in orders()) {
        for passes in PASSES {
            scene.transcript(both(order, Priority::default()), passes);
        }
    }

    /// On one machine with a long queue.
    #[test]
    fn it_equals_its_twin_in_a_long_queue(
        jobs in prop::collection::vec((1..=4_u32, 1..40_u64, 1..8_u64, 0..6_u64), 1..60),
        order in orders(),
    ) {
        let mut submit = 0;
        let jobs: Vec<Job> = (0..).zip(jobs).map(|(id, (processors, runtime, factor, gap))| {
            submit += gap;
            let mut next = job(id, submit, processors, runtime);
            next.request.estimate = Some(Span::from_secs(runtime * factor));
            next
        }).collect();
        for passes in PASSES {
            Scene::new(&[Machine::new(4)], &jobs).transcript(both(order, Priority::default()), passes);
        }
    }
}

#[test]
fn the_order_of_compression_decides_who_gets_the_room_that_an_early_end_leaves() {
    // At 1 s, jobs 2, 3 and 4 have reservations at 20 s, 10 s and 30 s. At 4 s, job 0 ends 16 s early. In order of arrival,
    // job 2 cannot move: job 3 has its turn later, and still blocks it. It moves to 4 s, and then job 4 takes 10 s to 20 s.
    // In order of reserved starts, job 3 moves first, job 2 follows it to 14 s, and leaves job 4 no room before its own end.
    let mut jobs = [job(0, 0, 2, 4), job(1, 0, 2, 10), job(2, 1, 3, 10), job(3, 1, 2, 10), job(4, 1, 2, 10)];
    jobs[0].request.estimate = Some(Span::from_secs(20));
    let machine = [Machine::new(4)];
    let found = |order| starts(&machine, Conservative::new(Placement::Fastest, order, Priority::default()), &jobs);
    assert_eq!(found(CompressOrder::Arrival), [(0., 0), (0., 0), (20., 0), (4., 0), (10., 0)]);
    assert_eq!(found(CompressOrder::Reserved), [(0., 0), (0., 0), (14., 0), (4., 0), (24., 0)]);
}

#[test]
fn a_job_moves_to_another_machine_only_to_start_earlier() {
    // Job 2 has a reservation at 10 s on machine 1. Job 0 ends at 5 s, so that it can start at once on machine 0.
    let mut jobs = [job(0, 0, 2, 5), job(1, 0, 2, 10), job(2, 1, 2, 10), job(3, 2, 1, 10)];
    jobs[0].request.estimate = Some(Span::from_secs(30));
    let machines = [Machine::new(2), Machine::new(2)];
    assert_eq!(starts(&machines, Conservative::default(), &jobs), [(0., 0), (0., 1), (5., 0), (10., 1)]);
}
