//! The policy under the test kit of gap-schedule.

use crate::my_sjf::MySjf;
use gap_schedule::testkit::proptest::prelude::*;
use gap_schedule::testkit::{Scene, assert_feasible, assert_pure, assert_same_starts, conformance_scenes, scenes};
use gap_schedule::{Backfilling, Depth, Order, Passes, Placement, reference};

proptest! {
    #[test]
    fn it_schedules_every_scene(scene in scenes(8)) {
        assert_feasible(MySjf::default(), &scene, Passes::PerInstant);
        assert_pure(MySjf::default(), &scene, Passes::PerInstant);
    }

    #[test]
    fn it_starts_the_jobs_of_its_reference(scene in scenes(8)) {
        compare(&scene);
    }
}

#[test]
fn it_starts_the_jobs_of_its_reference_on_the_conformance_workloads() {
    conformance_scenes().for_each(|(_, scene)| compare(&scene));
}

/// The reference is backfilling without a reservation, in the same order.
fn compare(scene: &Scene) {
    let (order, placement) = (Order::Sjf, Placement::FirstFit);
    let rule = Backfilling { order, backfill: order, reserve: Depth::Jobs(0), placement, threshold: None };
    assert_same_starts(MySjf::default(), reference::OrderedBackfill(rule), scene, Passes::PerInstant);
}
