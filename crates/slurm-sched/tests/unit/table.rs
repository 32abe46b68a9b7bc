//! Table of planned use, compared with a grid of seconds and nodes.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_table_says_of_every_second_what_a_grid_of_seconds_and_nodes_says(
        plans in prop::collection::vec((0_i64..50, 1_i64..30, prop::collection::vec(0_usize..70, 1..9)), 0..25),
    ) {
        const NODES: usize = 70;
        let mut table = NodeSpace::new(0, 60, NODES);
        let mut grid = vec![NodeSet::full(NODES); 60];
        for (begin, length, members) in plans {
            let nodes = NodeSet::of(NODES, members);
            let seconds = || usize::try_from(begin).expect("small")..usize::try_from((begin + length).min(60)).expect("small");
            let is_taken = grid[seconds()].iter().any(|free| !nodes.is_within(free));
            prop_assert_eq!(table.clashes(begin, begin + length, &nodes), is_taken);
            let before = table.records.len();
            table.reserve(begin, begin + length, &nodes);
            grid[seconds()].iter_mut().for_each(|free| free.subtract(&nodes));
            prop_assert!(table.records.len() <= before + 2);
            for pair in table.records.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].begin);
            }
            for (second, free) in (0..).zip(&grid) {
                let of_second = table.records.iter().find(|record| (record.begin..record.end).contains(&second));
                prop_assert_eq!(&of_second.expect("covered").free, free);
            }
        }
    }
}
