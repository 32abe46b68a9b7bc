//! Pondered turnaround time.

use super::{CandidateReadings, Choice, Estimate, SelectCluster, View, ties_with};
use crate::cluster_state::TurnaroundBounds;
use crate::config::{Readings, Ties};
use crate::predictor::Prediction;
use sim_core::{SiteId, Span};
use std::cmp::Reverse;

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
}

/// W: weight of the turnaround, between 0 and 1; 1 − W is the weight of the local users.
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

/// Measure of LT_k.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Intrusiveness {
    /// The nodes given to the job that have local users (§2.3).
    #[default]
    LocalNodes,
    /// CPU and memory in use on the nodes given to the job, by jobs and users: `PTT-occ`, which the paper leaves for the future
    /// (§4), so that clusters can be distinguished that all have local users. See [`Prediction::occupancy`].
    Occupancy,
}

impl Ptt {
    /// Creates the policy under readings R4, R5 and R6.
    ///
    /// # Panics
    ///
    /// Panics if a weight is not between 0 and 1. While it runs: if there is no weight for one of the clusters.
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
        let mut candidates: Vec<Candidate> = Vec::new();
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
        self.choose(&mut candidates, view)
    }
}

/// A cluster to choose, and the knowledge of TR there: bounds, or the value once the cluster has been simulated.
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

    /// Simulates the cluster, unless it has been. If no end is in sight there, TR stays beyond all bounds.
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
    /// Simulates only as many clusters as are needed to find the one with the smallest `PTT_k`.
    fn choose(&self, candidates: &mut [Candidate], view: &mut View<'_>) -> Option<Choice> {
        let max_lt = candidates.iter().map(|candidate| self.local(&candidate.estimate)).fold(0.0, f64::max);
        // "To prevent a division by 0, MaxLT is set to 1 when there is no local activity at all" (§2.3).
        let max_lt = if max_lt > 0.0 { max_lt } else { 1.0 };
        let max_tr = self.max_turnaround(candidates, view).as_secs_f64();
        let tied = self.smallest(candidates, view, max_tr, max_lt);
        let chosen = match self.ties {
            Ties::FirstCluster => tied.into_iter().min(),
            Ties::SmallestTr => tied.into_iter().min_by_key(|&i| {
                candidates[i].predict(view);
                (candidates[i].estimate.turnaround.at_least, i)
            }),
        };
        let chosen = &mut candidates[chosen?];
        chosen.predict(view);
        Some(Choice { cluster: chosen.estimate.cluster, prediction: chosen.predicted })
    }

    /// MaxTR: clusters that may have it are simulated, the likeliest first. One nanosecond if all weights are 0.
    fn max_turnaround(&self, candidates: &mut [Candidate], view: &mut View<'_>) -> Span {
        let mut max_tr = Span::from_nanos(1);
        if candidates.iter().any(|candidate| self.weights.of(candidate.estimate.cluster) > 0.0) {
            let mut order: Vec<usize> = (0..candidates.len()).collect();
            order.sort_by_key(|&i| Reverse(candidates[i].estimate.turnaround.at_most));
            for i in order {
                if candidates[i].estimate.turnaround.at_most <= max_tr {
                    break;
                }
                candidates[i].predict(view);
                max_tr = candidates[i].predicted.map_or(max_tr, |prediction| max_tr.max(prediction.turnaround));
            }
        }
        max_tr
    }

    /// Positions of the clusters with the smallest `PTT_k`, ties included. Clusters that may be among them are simulated, since
    /// `PTT_k` grows with `TR_k`.
    fn smallest(&self, candidates: &mut [Candidate], view: &mut View<'_>, max_tr: f64, max_lt: f64) -> Vec<usize> {
        let score = |estimate: &Estimate, turnaround: Span| {
            if estimate.turnaround.at_least == Span::MAX {
                // No end in sight: worse than all others; if there are no others, any queue is equally good.
                return f64::INFINITY;
            }
            let (weight, tr) = (self.weights.of(estimate.cluster), turnaround.as_secs_f64());
            // Equation (1).
            tr * (weight * tr / max_tr + (1.0 - weight) * self.local(estimate) / max_lt)
        };
        let least = |Candidate { estimate, .. }: &Candidate| score(estimate, estimate.turnaround.at_least);
        let mut order: Vec<(f64, usize)> = candidates.iter().map(least).zip(0..).collect();
        order.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let (mut smallest, mut scores) = (f64::INFINITY, Vec::new());
        for (at_least, i) in order {
            if !ties_with(at_least, smallest) {
                break;
            }
            let candidate = &mut candidates[i];
            let mut found = at_least;
            // If W and LT are 0, PTT is 0 for any TR.
            if score(&candidate.estimate, candidate.estimate.turnaround.at_most) > at_least {
                candidate.predict(view);
                found = least(candidate);
            }
            smallest = smallest.min(found);
            scores.push((found, i));
        }
        scores.into_iter().filter(|(found, _)| ties_with(*found, smallest)).map(|(_, i)| i).collect()
    }
}
