//! Backfilling in order of arrival with any number of reservations: cases worked by hand.

use crate::common::{job, starts};
use crate::grid_common::Both;
use gap_schedule::{Backfilling, Depth, OrderedBackfill, Placement, reference};
use proptest::prelude::*;
use sim_core::{Job, Span};

pub(crate) fn depths() -> impl Strategy<Value = Depth> {
    prop_oneof![Just(Depth::All), (0..5_u32).prop_map(Depth::Jobs)]
}

pub(crate) fn placements() -> impl Strategy<Value = Placement> {
    prop::sample::select(vec![Placement::Fastest, Placement::FirstFit])
}

/// Backfilling in order of arrival.
pub(crate) fn reserving(reserve: Depth, placement: Placement) -> OrderedBackfill {
    OrderedBackfill::new(Backfilling { reserve, placement, ..Backfilling::default() })
}

/// Returns the policy and its twin.
pub(crate) fn both(rule: Backfilling) -> Both<OrderedBackfill, reference::OrderedBackfill> {
    Both(OrderedBackfill::new(rule), reference::OrderedBackfill(rule))
}

/// Compares the starts on one machine of four processors, in seconds.
#[track_caller]
fn check(jobs: &[Job], depth: Depth, expected: &[f64]) {
    assert_eq!(starts(4, reserving(depth, Placement::Fastest), jobs), expected, "{depth:?}");
}

#[test]
fn the_deeper_the_reservations_the_fewer_may_pass() {
    // Job 1 needs the whole machine at 10 s, job 2 the whole machine after that. Job 3 could start at once, but would
    // delay both, and job 4 would delay job 2 alone.
    let jobs = [job(0, 0, 3, 10), job(1, 1, 4, 10), job(2, 1, 4, 10), job(3, 2, 1, 20), job(4, 3, 1, 7)];
    check(&jobs, Depth::Jobs(0), &[0., 22., 32., 2., 10.]);
    check(&jobs, Depth::Jobs(1), &[0., 10., 20., 30., 3.]);
    check(&jobs, Depth::All, &[0., 10., 20., 30., 3.]);
    // Job 1 leaves a processor over, which job 2 needs.
    let jobs = [job(0, 0, 3, 10), job(1, 1, 3, 10), job(2, 1, 4, 10), job(3, 2, 1, 30)];
    check(&jobs, Depth::Jobs(0), &[0., 10., 32., 2.]);
    check(&jobs, Depth::Jobs(1), &[0., 10., 32., 2.]);
    check(&jobs, Depth::Jobs(2), &[0., 10., 20., 30.]);
}

#[test]
fn after_an_early_end_reservations_are_recomputed_in_order_of_arrival() {
    // At 1 s, jobs 2 and 3 have reservations at 20 s and 10 s, because job 0 is expected to run until 20 s. It ends at
    // 4 s: job 2 moves ahead to 10 s, into the place of job 3, which then finds none until 20 s.
    let mut jobs = [job(0, 0, 2, 4), job(1, 0, 2, 10), job(2, 1, 3, 10), job(3, 1, 2, 10)];
    jobs[0].request.estimate = Some(Span::from_secs(20));
    check(&jobs, Depth::All, &[0., 0., 10., 20.]);
    check(&jobs, Depth::Jobs(1), &[0., 0., 10., 20.]);
    check(&jobs, Depth::Jobs(0), &[0., 0., 14., 4.]);
    // With an end as expected, it would have kept its place.
    jobs[0].runtime = Span::from_secs(20);
    check(&jobs, Depth::All, &[0., 0., 20., 10.]);
}

#[test]
fn nothing_is_promised_behind_a_job_without_an_estimate() {
    let mut jobs = [job(0, 0, 3, 50), job(1, 1, 4, 10), job(2, 2, 1, 20), job(3, 3, 1, 20)];
    jobs[0].request.estimate = None;
    jobs[3].request.estimate = None;
    // By expectations, job 1 can never start. Job 2 will not delay it; job 3 might, and must wait.
    check(&jobs, Depth::All, &[0., 50., 2., 60.]);
    check(&jobs, Depth::Jobs(1), &[0., 50., 2., 60.]);
    check(&jobs, Depth::Jobs(0), &[0., 50., 2., 22.]);
}
