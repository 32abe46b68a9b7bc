//! Choice of whole nodes.

use crate::cluster::nodes::NodeSet;

/// CPUs and weights of the nodes, by index in configuration order.
#[derive(Clone, Debug)]
pub(crate) struct Machine(pub Vec<(u32, u64)>);

/// Resources of whole nodes that a job needs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Need {
    pub nodes: usize,
    /// Least number of CPUs.
    pub cpus: u64,
}

/// Consecutive candidates of one weight.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: usize,
    last: usize,
    /// Number of CPUs of the nodes that are not required.
    cpus: u64,
    weight: u64,
    /// First required node of the run.
    required: Option<usize>,
}

impl Machine {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn cpus(&self, nodes: &NodeSet) -> u64 {
        nodes.iter().map(|node| u64::from(self.0[node].0)).sum()
    }

    /// Chooses nodes among the candidates; `None` if they do not suffice.
    ///
    /// SPEC 6.1, 6.2: runs of consecutive candidates are taken one after the other, lightest first. Among runs of one
    /// weight, the smallest run that suffices precedes the largest that does not. Required nodes are taken beforehand;
    /// the run with the first of them gives nodes upwards from it, and then downwards.
    pub(crate) fn choose(&self, candidates: &NodeSet, need: Need, required: Option<&NodeSet>) -> Option<NodeSet> {
        if candidates.len() < need.nodes || required.is_some_and(|nodes| !nodes.is_within(candidates)) {
            return None;
        }
        let mut chosen = required.cloned().unwrap_or_else(|| NodeSet::empty(self.len()));
        let mut runs = self.runs(candidates, &chosen);
        let (mut taken, mut cpus) = (chosen.len(), self.cpus(&chosen));
        while taken < need.nodes || cpus < need.cpus {
            let fits = |run: &Run| taken + run.last + 1 - run.first >= need.nodes && cpus + run.cpus >= need.cpus;
            let (mut best, mut best_fits) = (0, fits(runs.first()?));
            // In order, so that an equal run replaces none, and a smaller one also replaces a run with a required node.
            for (at, run) in runs.iter().enumerate().skip(1) {
                let (run_fits, other) = (fits(run), &runs[best]);
                let is_better_size =
                    if run_fits { !best_fits || run.cpus < other.cpus } else { !best_fits && run.cpus > other.cpus };
                let is_first_required = run.required.is_some() && other.required.is_none();
                if run.weight < other.weight || (run.weight == other.weight && (is_better_size || is_first_required)) {
                    (best, best_fits) = (at, run_fits);
                }
            }
            let run = runs.remove(best);
            let from = run.required.unwrap_or(run.first);
            for node in (from..run.last + 1).chain((run.first..from).rev()) {
                if chosen.contains(node) {
                    continue;
                }
                if taken >= need.nodes {
                    break;
                }
                chosen.insert(node);
                taken += 1;
                cpus += u64::from(self.0[node].0);
            }
            if taken >= need.nodes && cpus < need.cpus {
                return None;
            }
        }
        Some(chosen)
    }

    /// Returns the runs of consecutive candidates of one weight, in configuration order.
    fn runs(&self, candidates: &NodeSet, required: &NodeSet) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::with_capacity(32);
        for node in candidates.iter() {
            let (cpus, weight) = self.0[node];
            if runs.last().is_none_or(|run| run.last + 1 != node || run.weight != weight) {
                runs.push(Run { first: node, last: node, cpus: 0, weight, required: None });
            }
            let Some(run) = runs.last_mut() else { continue };
            run.last = node;
            if required.contains(node) {
                run.required.get_or_insert(node);
            } else {
                run.cpus += u64::from(cpus);
            }
        }
        runs
    }
}
