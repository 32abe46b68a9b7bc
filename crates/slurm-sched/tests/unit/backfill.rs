//! Quick search of the backfill pass, compared with the search by slots.

use super::*;
use crate::Version;
use crate::cluster::limits::Demand;
use crate::cluster::select::Need;
use crate::site::conf::Conf;
use proptest::prelude::*;
use std::sync::Arc;

/// Width, limit in seconds, true for the upper partition, odd request.
type Wish = (usize, i64, bool, u8);

fn wishes(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Wish>> {
    let limit = prop_oneof![(1_i64..90).prop_map(|minutes| minutes * 60), 1_i64..5000, Just(3600), 5000_i64..40_000];
    prop::collection::vec((1_usize..40, limit, prop::bool::weighted(0.3), 0_u8..24), count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_quick_search_decides_what_the_search_by_slots_decides(
        (nodes, heavy, is_new) in (prop_oneof![4 => 1_usize..150, 1 => 150_usize..400], 0_usize..150, any::<bool>()),
        (resolution, window, linear, size) in (
            prop::sample::select(vec![1_i64, 45, 60, 180]), prop::sample::select(vec![600_i64, 7200, 86_400]),
            prop::sample::select(vec![0_i64, 60]), prop::sample::select(vec![4_usize, 30, 500]),
        ),
        running in wishes(0..40),
        // Long queues make tables of hundreds of records.
        pending in prop_oneof![5 => wishes(1..80), 1 => wishes(200..400)],
        now in 1_700_000_000_i64..1_700_000_400,
    ) {
        let version = if is_new { Version::V24_11 } else { Version::V22_05 };
        let text = format!("NodeName=n[1-{nodes}] CPUs=2\nPartitionName=p Nodes=ALL\nPartitionName=upper Nodes=n[{}-{nodes}]\n", nodes / 2 + 1);
        let mut conf = Conf::read("slurm.conf", &text, version, &[]).unwrap_or_else(|faults| panic!("{faults}"));
        (conf.scheduling.bf_resolution, conf.scheduling.bf_window) = (resolution, window);
        (conf.scheduling.bf_window_linear, conf.scheduling.bf_node_space_size) = (linear, size);
        for (at, node) in conf.nodes.iter_mut().enumerate() {
            (node.cpus, node.weight) = (2 + u32::from(at % 5 == 0), u64::from(at < heavy));
        }
        let site = Site { conf, accounts: Default::default(), version };
        let mut cluster = Cluster::new(Arc::new(site.clone()));
        // Running jobs hold about every other node, some beyond their limits.
        let mut node = 0;
        for (job, (width, limit, ..)) in (1000..).zip(running) {
            let held = NodeSet::of(nodes, (node..node + width).step_by(1 + width % 2).filter(|node| *node < nodes));
            node += width;
            if held.len() > 0 {
                cluster.start(job, now + limit - 60, held, Demand::default());
            }
        }
        let entry = |(job, (width, limit, is_upper, odd)): (u32, Wish)| {
            let most = if is_upper { (nodes - nodes / 2).max(1) } else { nodes };
            let width = width.min(most);
            let named = |kind: u8| (odd == kind).then(|| NodeSet::of(nodes, [nodes - 1 - width % most]));
            let partition = usize::from(is_upper);
            Entry {
                job: if odd == 3 { job / 2 } else { job },
                partition,
                priority: 1,
                submit: now,
                eligible: now,
                need: Need { nodes: width, cpus: if odd == 4 { width as u64 * 3 } else { 1 } },
                limit_min: (odd == 0).then_some(limit / 2),
                required: named(1),
                excluded: named(2),
                demand: Demand { partition, limit, ..Demand::default() },
                ..Entry::default()
            }
        };
        let queue: Vec<Entry> = (1..).zip(pending).map(entry).collect();
        let mut twin = cluster.clone();
        let mut plain = Search { watched: Some(u32::MAX), ..Search::new(&mut twin, now, &site) };
        plain.run(&queue);
        let expected = plain.pass;
        prop_assert_eq!(backfill(&mut cluster, &queue, now, &site, false), expected);
    }
}
