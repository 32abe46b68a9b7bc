//! Pondered turnaround time.

use super::{CandidateReadings, Choice, Estimate, SelectCluster, View, ties_with};
use crate::cluster_state::TurnaroundBounds;
use crate::config::{Readings, Ties};
use crate::predictor::Prediction;
use sim_core::{SiteId, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// PTT (§2.3): the candidate k with the smallest
/// `PTT_k = TR_k (W TR_k / MaxTR + (1 − W) LT_k / MaxLT)` (1, 2).
///
/// MaxTR and MaxLT are over the candidates; MaxLT is 1 if no candidate has local users.
#[derive(Clone, Debug)]
pub struct Ptt {
    readings: CandidateReadings,
    ties: Ties,
    weights: Weights,
    intrusiveness: Intrusiveness,
    candidates: Vec<Candidate>,
    order: Order,
    looked_at: Vec<(u64, usize)>,
}

/// W: how much the turnaround counts, between 0 and 1; 1 − W is how much the local users count.
#[derive(Clone, Debug, PartialEq)]
pub enum Weights {
    /// The same on every cluster.
    Same(f64),
    /// One for each cluster (§2.3, last paragraph).
    PerCluster(Vec<f64>),
}

impl Weights {
    fn of(&self, cluster: SiteId) -> f64 {
        match self {
            Self::Same(weight) => *weight,
            Self::PerCluster(weights) => weights[cluster.index()],
        }
    }
}

/// What LT_k measures.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Intrusiveness {
    /// The nodes given to the job that have local users (§2.3).
    #[default]
    LocalNodes,
    /// CPU and memory in use on the nodes given to the job, by whomever: `PTT-occ`, which the paper leaves for the future
    /// (§4), so that clusters can be distinguished that all have local users. See [`Prediction::occupancy`].
    Occupancy,
}

impl Ptt {
    /// Under readings R4, R5 and R6.
    ///
    /// # Panics
    ///
    /// If a weight is not between 0 and 1. While it runs: if there is no weight for one of the clusters.
    pub fn new(readings: &Readings, weights: Weights) -> Self {
        let all = match &weights {
            Weights::Same(weight) => std::slice::from_ref(weight),
            Weights::PerCluster(weights) => weights,
        };
        for weight in all {
            assert!((0.0..=1.0).contains(weight), "a weight lies between 0 and 1, and {weight} does not");
        }
        Self {
            readings: CandidateReadings::of(readings),
            ties: readings.ties,
            weights,
            intrusiveness: Intrusiveness::default(),
            candidates: Vec::new(),
            order: Order::default(),
            looked_at: Vec::new(),
        }
    }

    /// The same with another meaning of LT.
    #[must_use]
    pub fn with_intrusiveness(self, intrusiveness: Intrusiveness) -> Self {
        Self { intrusiveness, ..self }
    }

    fn local(&self, estimate: &Estimate) -> f64 {
        match self.intrusiveness {
            Intrusiveness::LocalNodes => estimate.local_nodes.into(),
            Intrusiveness::Occupancy => estimate.occupancy,
        }
    }
}

impl SelectCluster for Ptt {
    fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        if self.readings.looks_for_room() {
            candidates.extend(view.sites().filter_map(|site| Some(Candidate::of(view.estimate(site, true)?))));
        }
        if self.readings.takes_any_queue(!candidates.is_empty()) {
            candidates.clear();
            candidates.extend(view.sites_that_fit().map(Candidate::unknown));
            for candidate in &mut candidates {
                candidate.predict(view);
            }
        }
        let mut order = std::mem::take(&mut self.order);
        let mut looked_at = std::mem::take(&mut self.looked_at);
        let choice = self.choose(&mut candidates, &mut order, &mut looked_at, view);
        (self.candidates, self.order, self.looked_at) = (candidates, order, looked_at);
        choice
    }
}

/// A cluster to choose, and what is known of TR there: bounds, or itself once the cluster has been simulated.
#[derive(Copy, Clone, Debug)]
struct Candidate {
    estimate: Estimate,
    predicted: Option<Prediction>,
}

impl Candidate {
    const fn of(estimate: Estimate) -> Self {
        Self { estimate, predicted: None }
    }

    const fn unknown(cluster: SiteId) -> Self {
        let turnaround = TurnaroundBounds { at_least: Span::ZERO, at_most: Span::MAX };
        Self::of(Estimate { cluster, turnaround, local_nodes: 0, occupancy: 0.0 })
    }

    /// Has the cluster simulated, unless it has been. If no end is in sight there, TR stays beyond all bounds.
    fn predict(&mut self, view: &mut View<'_>) {
        if self.predicted.is_some() {
            return;
        }
        self.predicted = view.predict(self.estimate.cluster);
        self.estimate.turnaround = TurnaroundBounds { at_least: Span::MAX, at_most: Span::MAX };
        if let Some(Prediction { turnaround, local_nodes, occupancy, .. }) = self.predicted {
            let cluster = self.estimate.cluster;
            let turnaround = TurnaroundBounds { at_least: turnaround, at_most: turnaround };
            self.estimate = Estimate { cluster, turnaround, local_nodes, occupancy };
        }
    }
}

impl Ptt {
    /// Has no more clusters simulated than it takes to know which one has the smallest `PTT_k`.
    ///
    /// MaxTR, times `PTT_k`, is `W TR² + (1 − W) TR LT MaxTR / MaxLT`. It grows with MaxTR, but not where `(1 − W) LT` is zero. So if
    /// only such clusters come first under a MaxTR that is too small, only they do under the true one, which is not needed
    /// then: a cluster that may have the largest TR need not be simulated.
    ///
    /// `order` and `looked_at` are room: for candidates by their position, which is also their order as clusters.
    fn choose(
        &self,
        candidates: &mut [Candidate],
        order: &mut Order,
        looked_at: &mut Vec<(u64, usize)>,
        view: &mut View<'_>,
    ) -> Option<Choice> {
        let max_lt = candidates.iter().map(|candidate| self.local(&candidate.estimate)).fold(0.0, f64::max);
        // "To prevent a division by 0, MaxLT is set to 1 when there is no local activity at all" (§2.3).
        let max_lt = if max_lt > 0.0 { max_lt } else { 1.0 };
        let known = candidates.iter().map(|candidate| candidate.estimate.turnaround.at_least);
        let too_small = known.filter(|&at_least| at_least < Span::MAX).max().unwrap_or_default();
        let mut smallest = self.rank(candidates, order, looked_at, view, too_small, max_lt);
        let disturbs = |candidate: &Candidate| {
            (1.0 - self.weights.of(candidate.estimate.cluster)) * self.local(&candidate.estimate) > 0.0
        };
        if first_of(looked_at, smallest).any(|i| disturbs(&candidates[i])) {
            let max_tr = self.max_turnaround(candidates, order, view);
            smallest = self.rank(candidates, order, looked_at, view, max_tr, max_lt);
        }
        let chosen = match self.ties {
            Ties::FirstCluster => first_of(looked_at, smallest).min(),
            Ties::SmallestTr => {
                let predicted = first_of(looked_at, smallest).map(|i| {
                    candidates[i].predict(view);
                    (candidates[i].estimate.turnaround.at_least, i)
                });
                predicted.min().map(|(_, i)| i)
            }
        };
        let chosen = &mut candidates[chosen?];
        chosen.predict(view);
        Some(Choice { cluster: chosen.estimate.cluster, prediction: chosen.predicted })
    }

    /// MaxTR: those that may have it are simulated, the likeliest first. A nanosecond where no weight asks for it.
    fn max_turnaround(&self, candidates: &mut [Candidate], order: &mut Order, view: &mut View<'_>) -> Span {
        let mut max_tr = Span::from_nanos(1);
        if candidates.iter().any(|candidate| self.weights.of(candidate.estimate.cluster) > 0.0) {
            // The largest first: a key is what is missing to the largest number.
            order.fill(candidates, |candidate| u64::MAX - candidate.estimate.turnaround.at_most.as_nanos());
            while let Some((missing, i)) = order.next() {
                if u64::MAX - missing <= max_tr.as_nanos() {
                    break;
                }
                candidates[i].predict(view);
                max_tr = candidates[i].predicted.map_or(max_tr, |prediction| max_tr.max(prediction.turnaround));
            }
        }
        max_tr
    }

    /// The smallest `PTT_k` for this MaxTR and MaxLT. Those that may have it, or tie with it, are simulated, since `PTT_k` grows with
    /// `TR_k`; `looked_at` is left with them and the bits of their `PTT_k`.
    fn rank(
        &self,
        candidates: &mut [Candidate],
        order: &mut Order,
        looked_at: &mut Vec<(u64, usize)>,
        view: &mut View<'_>,
        max_tr: Span,
        max_lt: f64,
    ) -> f64 {
        let max_tr = max_tr.max(Span::from_nanos(1)).as_secs_f64();
        let score = |estimate: &Estimate, turnaround: Span| {
            if estimate.turnaround.at_least == Span::MAX {
                // No end in sight: worse than all others, and if there are no others, any place in a queue will do.
                return f64::INFINITY;
            }
            let (weight, tr) = (self.weights.of(estimate.cluster), turnaround.as_secs_f64());
            // Equation (1).
            tr * (weight * tr / max_tr + (1.0 - weight) * self.local(estimate) / max_lt)
        };
        // Scores are not negative, and the bits of such numbers are in their order.
        order.fill(candidates, |Candidate { estimate, .. }| score(estimate, estimate.turnaround.at_least).to_bits());
        let mut smallest = f64::INFINITY;
        looked_at.clear();
        while let Some((mut bits, i)) = order.next() {
            let least = f64::from_bits(bits);
            if !ties_with(least, smallest) {
                break;
            }
            let candidate = &mut candidates[i];
            // Where W and LT are 0, PTT is 0, whatever TR is.
            if score(&candidate.estimate, candidate.estimate.turnaround.at_most) > least {
                candidate.predict(view);
                bits = score(&candidate.estimate, candidate.estimate.turnaround.at_least).to_bits();
            }
            smallest = smallest.min(f64::from_bits(bits));
            looked_at.push((bits, i));
        }
        smallest
    }
}

/// The positions of those that tie with the smallest.
fn first_of(looked_at: &[(u64, usize)], smallest: f64) -> impl Iterator<Item = usize> {
    looked_at.iter().filter(move |(bits, _)| ties_with(f64::from_bits(*bits), smallest)).map(|&(_, i)| i)
}

/// Candidates by a key, the smallest first; few of many are asked for.
#[derive(Clone, Debug, Default)]
struct Order(BinaryHeap<Reverse<(u64, usize)>>);

impl Order {
    fn fill(&mut self, candidates: &[Candidate], key: impl Fn(&Candidate) -> u64) {
        let mut room = std::mem::take(&mut self.0).into_vec();
        room.clear();
        room.extend(candidates.iter().map(key).zip(0..).map(Reverse));
        self.0 = room.into();
    }

    fn next(&mut self) -> Option<(u64, usize)> {
        self.0.pop().map(|Reverse(first)| first)
    }
}
