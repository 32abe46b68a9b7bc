//! Shortcuts against the same model without them.

use crate::common::{Small, Transcript, finish, small};
use hier_grid::grid::view::{ChannelView, SchedulerView};
use hier_grid::{Bag, Grid, Kind, System};
use proptest::prelude::*;
use sim_core::Sim;
use std::collections::BTreeMap;

fn without_shortcuts(small: &Small) -> (Grid, Transcript) {
    finish(Sim::new(small.grid(()).without_shortcuts(), Transcript::new()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn counted_resubmissions_are_those_that_would_have_been_in_vain(mut small in small()) {
        small.config.system = System::P2p;
        let (grid, told) = small.finish((), Transcript::new());
        let (slow, slowly_told) = without_shortcuts(&small);
        prop_assert_eq!(told, slowly_told);
        prop_assert_eq!(grid.counts(), slow.counts());
    }

    /// The runs may differ: events of the same nanosecond happen in another order, and latencies are sums of a
    /// few numbers. The result of a discovery is the same.
    #[test]
    fn a_discovery_that_finds_nothing_new_need_not_go_through_all_schedulers(mut small in small()) {
        if small.config.system == System::P2p {
            small.config.system = System::Trees(1);
        }
        small.config.experiment.changes = None;
        let (grid, _) = small.finish((), ());
        let (slow, _) = without_shortcuts(&small);
        for grid in [&grid, &slow] {
            let trees: Vec<u32> = grid.schedulers().map(|scheduler| scheduler.tree).collect();
            let channels: Vec<_> = grid.schedulers().map(|scheduler| bags(&scheduler.channels)).collect();
            for scheduler in grid.schedulers() {
                let sum = channels_below(grid, &scheduler, &channels);
                prop_assert_eq!(&channels[scheduler.id.index()], &sum, "{:?}", scheduler);
            }
            let edges = |tree: u32| trees.iter().filter(|of| **of == tree).count() as u64 - 1;
            if small.config.system == System::Trees(1) {
                let messages = edges(0) * grid.counts().discoveries;
                prop_assert_eq!(grid.counts().messages(Kind::Discover), messages);
                prop_assert_eq!(grid.counts().messages(Kind::Bags), messages);
            }
        }
        let left = |grid: &Grid| bags(&grid.schedulers().next().expect("a root").channels);
        if small.config.system == System::Trees(1) {
            prop_assert_eq!(left(&grid), left(&slow));
        }
    }
}

fn bags(channels: &[ChannelView]) -> BTreeMap<Bag, u64> {
    channels.iter().map(|channel| (channel.bag, channel.power)).collect()
}

/// Expected channels of a scheduler: those of its children, added up; at an LGS those of its servers.
fn channels_below(grid: &Grid, scheduler: &SchedulerView, channels: &[BTreeMap<Bag, u64>]) -> BTreeMap<Bag, u64> {
    let children: Vec<_> = grid.schedulers().filter(|child| child.parent == Some(scheduler.id)).collect();
    if children.is_empty() {
        return channels[scheduler.id.index()].clone();
    }
    let mut sum = BTreeMap::new();
    for child in children {
        for (bag, power) in &channels[child.id.index()] {
            *sum.entry(*bag).or_insert(0) += power;
        }
    }
    sum
}
