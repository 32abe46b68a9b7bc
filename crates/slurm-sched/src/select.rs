//! The choice of whole nodes.

use crate::nodes::NodeSet;

/// The nodes' properties that the choice of whole nodes reads, by index in configuration order.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    cpus: Vec<u32>,
    weights: Vec<u64>,
}

/// Resources of whole nodes that a job needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Need {
    /// Least number of nodes.
    pub nodes: usize,
    /// Greatest number of nodes.
    pub max_nodes: usize,
    /// Least number of CPUs.
    pub cpus: u64,
}

/// Consecutive candidates of one weight.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: usize,
    nodes: usize,
    cpus: u64,
    weight: u64,
}

impl Machine {
    /// Returns the machine of nodes with these CPUs and weights.
    ///
    /// # Panics
    ///
    /// If the lists differ in length.
    pub(crate) fn new(cpus: Vec<u32>, weights: Vec<u64>) -> Self {
        assert_eq!(cpus.len(), weights.len(), "each node has CPUs and a weight");
        Self { cpus, weights }
    }

    /// Returns the number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.cpus.len()
    }

    /// Returns the CPUs of a set of nodes.
    pub(crate) fn cpus(&self, nodes: &NodeSet) -> u64 {
        nodes.iter().map(|node| u64::from(self.cpus[node])).sum()
    }

    /// Returns true if the candidates are enough for `need`.
    pub(crate) fn suffices(&self, candidates: &NodeSet, need: Need) -> bool {
        candidates.len() >= need.nodes && (need.cpus <= need.nodes as u64 || self.choose(candidates, need).is_some())
    }

    /// Chooses nodes among the candidates, or none if they do not suffice.
    ///
    /// SPEC 6.1, 6.2: runs of consecutive candidates are taken one after the other, lightest first. Of one weight, the
    /// smallest run that suffices comes before the largest that does not.
    pub(crate) fn choose(&self, candidates: &NodeSet, need: Need) -> Option<NodeSet> {
        if candidates.len() < need.nodes {
            return None;
        }
        let mut runs = self.runs(candidates);
        let mut chosen = NodeSet::empty(self.len());
        let (mut taken, mut cpus) = (0, 0);
        while taken < need.nodes || cpus < need.cpus {
            let enough = |run: &Run| taken + run.nodes >= need.nodes && cpus + run.cpus >= need.cpus;
            // An equal run does not replace an earlier one.
            let best = runs.iter().enumerate().min_by_key(|(_, run)| {
                let fits = enough(run);
                (run.weight, !fits, if fits { run.cpus } else { u64::MAX - run.cpus })
            });
            let run = runs.remove(best?.0);
            for node in run.first..run.first + run.nodes {
                if (taken >= need.nodes && cpus >= need.cpus) || taken == need.max_nodes {
                    break;
                }
                chosen.insert(node);
                taken += 1;
                cpus += u64::from(self.cpus[node]);
            }
            if taken == need.max_nodes && cpus < need.cpus {
                return None;
            }
        }
        Some(chosen)
    }

    /// Returns the runs of consecutive candidates of one weight, in configuration order.
    fn runs(&self, candidates: &NodeSet) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for node in candidates.iter() {
            let (cpus, weight) = (u64::from(self.cpus[node]), self.weights[node]);
            match runs.last_mut() {
                Some(run) if run.first + run.nodes == node && run.weight == weight => {
                    run.nodes += 1;
                    run.cpus += cpus;
                }
                _ => runs.push(Run { first: node, nodes: 1, cpus, weight }),
            }
        }
        runs
    }
}
