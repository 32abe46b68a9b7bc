//! The will-run test against a walk over the running jobs one by one.

use super::*;
use proptest::prelude::*;

/// Lets the running jobs end one by one (SPEC 5.6).
fn walk(own: &WillRun<'_>, usable: &NodeSet, need: Need, (from, until): (i64, i64)) -> Option<(i64, NodeSet)> {
    let ExpectedEnds { ends, nodes, released, .. } = own.releases;
    let mut next = ends.iter().filter(|end| from > own.now && **end < from).count();
    if let Some(nodes) = own.machine.choose(&released[next].intersection(usable), need, None) {
        return Some((from.max(own.now), nodes));
    }
    let (mut base, mut width) = (None, FIRST_WIDTH);
    loop {
        let (mut last, mut members) = (None, 0);
        while next < ends.len() && !(own.is_bounded && ends[next] > until) {
            next += 1;
            if !nodes[next - 1].meets(usable) {
                continue;
            }
            if ends[next - 1] > until {
                return None;
            }
            let base = *base.get_or_insert((ends[next - 1] / FIRST_WIDTH + 1) * FIRST_WIDTH);
            (last, members) = (Some(ends[next - 1]), members + 1);
            if members > GROUP_JOBS || ends.get(next).is_some_and(|next| *next > base + width) {
                break;
            }
        }
        let last = last?;
        if let Some(nodes) = own.machine.choose(&released[next].intersection(usable), need, None) {
            return Some((last, nodes));
        }
        let (next, base) = (ends.get(next)?, base?);
        while *next > base + width {
            width += if own.window_linear > 0 { own.window_linear } else { width };
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_will_run_test_finds_what_a_walk_over_the_running_jobs_finds(
        running in prop::collection::vec((0_i64..3000, 1_usize..4), 0..300),
        (spread, window_linear, wide) in (1_i64..40, prop::sample::select(vec![0_i64, 60]), 1_usize..60),
        (lacking, from, until, is_bounded) in (prop::collection::vec(0_usize..640, 0..600), -50_i64..300, 0_i64..3000, any::<bool>()),
    ) {
        let now = 1_700_000_000;
        let nodes: usize = running.iter().map(|job| job.1).sum::<usize>() + 5;
        let mut node = 0;
        let mut sets: Vec<(i64, NodeSet)> = running.iter().map(|(end, width)| {
            node += width;
            (now + 1 + end * end / 1000 * spread, NodeSet::of(nodes, node - width..node))
        }).collect();
        sets.sort_by_key(|(end, _)| *end);
        let ends: Vec<(i64, i64, &NodeSet)> = sets.iter().map(|(end, nodes)| (*end, *end, nodes)).collect();
        let releases = ExpectedEnds::new(&NodeSet::of(nodes, node..nodes), &ends);
        let machine = Machine(vec![(2, 1); nodes]);
        let own = WillRun { machine: &machine, releases: &releases, now, window_linear, is_bounded };
        let mut usable = NodeSet::full(nodes);
        usable.subtract(&NodeSet::of(nodes, lacking.into_iter().filter(|node| *node < nodes)));
        let from = if is_bounded { now + from.max(0) * spread } else { now };
        let slot = (from, from + 1 + until * spread);
        let need = Need { nodes: wide, cpus: 1 };
        prop_assert_eq!(own.test(&usable, need, None, slot), walk(&own, &usable, need, slot));
    }
}
