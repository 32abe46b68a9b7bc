//! Flexible backfilling with any number of reservations, compared with its slow and obvious twin and with related policies; EASY.

use crate::backfill::{depths, placements, reserving};
use crate::flexible_twin::{Obvious, indifferent};
use crate::grid_common::{Both, PASSES, WIDEST, jobs, machines, readings};
use gap_schedule::testkit::{Scene, scenes};
use gap_schedule::{
    BackfillReadings, Depth, FlexibleBackfill, FlexibleConfig, Minext, OrderedBackfill, Passes, Policy,
};
use proptest::prelude::*;

/// The paper's constants, and others that weigh the three heuristics differently or make priorities equal.
fn configs() -> impl Strategy<Value = FlexibleConfig> {
    let minext = prop::sample::select(vec![Minext::Queue, Minext::Job]);
    let constants = (0..3_u8, 0..3_u8, 0..3_u8, 0..3_u8);
    (constants, minext, any::<bool>()).prop_map(|((age, k, max, boost), minext, papers)| {
        let [age_factor, k, max, boost] = [age, k, max, boost].map(f64::from);
        let others = FlexibleConfig { age_factor, k: k + 0.5, max: 4.0 * max, min: 0.1, boost, minext };
        if papers { FlexibleConfig { minext, ..FlexibleConfig::default() } } else { others }
    })
}

/// Calls both at every pass, and runs the first alone.
fn check_twins(both: Both<impl Policy + Clone, impl Policy>, scene: &Scene, passes: Passes) {
    let alone = scene.transcript(both.0.clone(), passes);
    assert!(scene.transcript(both, passes) == alone, "a twin beside it changes nothing");
}

/// Compares EASY and Flexible backfilling with their twins.
pub(crate) fn check(config: FlexibleConfig, readings: BackfillReadings, depth: Depth, scene: &Scene, passes: Passes) {
    check_twins(Both(OrderedBackfill::easy(readings), Obvious::easy(readings)), scene, passes);
    let flexible = FlexibleBackfill::new(config, readings).with_reserve(depth);
    check_twins(Both(flexible, Obvious::new(config, readings, depth)), scene, passes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn easy_and_flexible_backfilling_equal_their_twins(
        scene in scenes(WIDEST), machines in machines(WIDEST), jobs in jobs(), config in configs(),
        readings in readings(), depth in depths(),
    ) {
        for passes in PASSES {
            for depth in [Depth::default(), depth] {
                check(config, readings, depth, &scene, passes);
                check(config, readings, depth, &Scene::new(&machines, &jobs), passes);
            }
        }
    }

    #[test]
    fn where_all_have_the_same_priority_it_is_backfilling_in_order_of_arrival(
        scene in scenes(WIDEST), placement in placements(), depth in depths(),
    ) {
        let readings = BackfillReadings { placement, ..BackfillReadings::default() };
        for passes in PASSES {
            let flexible = FlexibleBackfill::new(indifferent(), readings).with_reserve(depth);
            prop_assert_eq!(scene.transcript(flexible, passes), scene.transcript(reserving(depth, placement), passes));
        }
    }
}
