//! Flexible backfilling with any number of reservations: what it must have in common with its relatives.

use crate::backfill::{depths, placements};
use crate::grid_books::{self, scenes};
use gap_schedule::{
    Backfill, BackfillReadings, DeepFlexibleBackfill, Depth, FlexibleBackfill, FlexibleConfig, Passes, Placement,
};
use proptest::prelude::*;

const WIDEST: u32 = 6;
const PASSES: [Passes; 2] = [Passes::PerInstant, Passes::PerEvent];

fn deep(config: FlexibleConfig, placement: Placement, depth: Depth) -> DeepFlexibleBackfill {
    DeepFlexibleBackfill::new(config, placement, depth)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn one_reservation_is_flexible_backfilling(scene in scenes(WIDEST), placement in placements()) {
        let config = FlexibleConfig::default();
        let readings = BackfillReadings { placement, ..BackfillReadings::default() };
        for passes in PASSES {
            let one = scene.transcript(deep(config, placement, Depth::Jobs(1)), passes);
            prop_assert_eq!(one, scene.transcript(FlexibleBackfill::new(config, readings), passes));
        }
    }

    #[test]
    fn where_all_have_the_same_priority_it_is_backfilling_in_order_of_arrival(
        scene in scenes(WIDEST), placement in placements(), depth in depths(),
    ) {
        let indifferent = FlexibleConfig { age_factor: 0.0, max: 0.1, min: 0.1, boost: 0.0, ..FlexibleConfig::default() };
        for passes in PASSES {
            let flexible = scene.transcript(deep(indifferent, placement, depth), passes);
            prop_assert_eq!(flexible, scene.transcript(Backfill::new(depth, placement), passes));
        }
    }

    #[test]
    fn it_keeps_the_books(scene in scenes(WIDEST), depth in depths(), branch in 0..150_usize) {
        for passes in PASSES {
            let policy = deep(FlexibleConfig::default(), Placement::Fastest, depth);
            grid_books::check_policy(policy, &scene, passes, branch)?;
        }
    }
}
