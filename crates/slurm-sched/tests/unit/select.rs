//! Runs of nodes, compared with a walk node by node.

use super::*;
use proptest::prelude::*;

/// Returns the runs of a machine, node by node: first, last, nodes, CPUs that are not required, weight, first required node.
fn slow_runs(machine: &Machine, candidates: &NodeSet, required: &NodeSet) -> Vec<[usize; 6]> {
    let mut runs: Vec<[usize; 6]> = Vec::new();
    for node in candidates.iter() {
        let weight = usize::try_from(machine.weights[node]).expect("small");
        if runs.last().is_none_or(|run| run[1] + 1 != node || run[4] != weight) {
            runs.push([node, node, 0, 0, weight, usize::MAX]);
        }
        let run = runs.last_mut().expect("one is there");
        run[1] = node;
        run[2] += 1;
        if required.contains(node) {
            run[5] = run[5].min(node);
        } else {
            run[3] += machine.cpus[node] as usize;
        }
    }
    runs
}

proptest! {
    #[test]
    fn runs_are_those_that_a_walk_over_the_nodes_finds(
        nodes in prop::collection::vec((1_u32..9, 0_u64..2, prop::bool::weighted(0.8), prop::bool::weighted(0.1)), 1..200),
    ) {
        let machine = Machine::new(nodes.iter().map(|node| node.0).collect(), nodes.iter().map(|node| node.1).collect());
        let set = |is_in: &dyn Fn(usize) -> bool| NodeSet::of(nodes.len(), (0..nodes.len()).filter(|node| is_in(*node)));
        let (candidates, required) = (set(&|node| nodes[node].2), set(&|node| nodes[node].2 && nodes[node].3));
        let fast: Vec<[usize; 6]> = machine.runs(&candidates, &required).into_iter().map(|run| {
            let small = |number: u64| usize::try_from(number).expect("small");
            let Run { first, last, nodes, cpus, weight, required } = run;
            [first, last, nodes, small(cpus), small(weight), required.unwrap_or(usize::MAX)]
        }).collect();
        prop_assert_eq!(fast, slow_runs(&machine, &candidates, &required));
    }
}
