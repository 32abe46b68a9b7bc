//! Pondered turnaround time.

use super::{Choice, SelectCluster, View, best, candidates};
use crate::config::{Readings, Ties};
use crate::loras::predictor::Prediction;
use sim_core::{SiteId, Span};

/// PTT (§2.3): the candidate k with the smallest
/// `PTT_k = TR_k (W TR_k / MaxTR + (1 − W) LT_k / MaxLT)` (1, 2).
///
/// MaxTR and MaxLT are over the candidates; MaxLT is 1 if no candidate has local users.
#[derive(Clone, Debug)]
pub struct Ptt {
    readings: Readings,
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
        Self { readings: *readings, weights, intrusiveness: Intrusiveness::default() }
    }

    /// The same with another meaning of LT.
    #[must_use]
    pub fn with_intrusiveness(self, intrusiveness: Intrusiveness) -> Self {
        Self { intrusiveness, ..self }
    }

    fn local(&self, prediction: &Prediction) -> f64 {
        match self.intrusiveness {
            Intrusiveness::LocalNodes => prediction.local_nodes.into(),
            Intrusiveness::Occupancy => prediction.occupancy,
        }
    }
}

impl SelectCluster for Ptt {
    fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
        let candidates = candidates(&self.readings, view, true);
        let predicted = || candidates.iter().filter_map(|candidate| candidate.prediction.as_ref());
        let max_lt = predicted().map(|prediction| self.local(prediction)).fold(0.0, f64::max);
        // "To prevent a division by 0, MaxLT is set to 1 when there is no local activity at all" (§2.3).
        let max_lt = if max_lt > 0.0 { max_lt } else { 1.0 };
        let max_tr = predicted().map(|prediction| prediction.turnaround).max().unwrap_or(Span::MAX).as_secs_f64();
        let mut best = best(&candidates, |cluster, prediction| {
            let (weight, tr) = (self.weights.of(cluster), prediction.turnaround.as_secs_f64());
            // Equation (1).
            tr * (weight * tr / max_tr + (1.0 - weight) * self.local(prediction) / max_lt)
        });
        match self.readings.ties {
            Ties::FirstCluster => best.next(),
            Ties::SmallestTr => {
                best.min_by_key(|choice| choice.prediction.map_or(Span::MAX, |prediction| prediction.turnaround))
            }
        }
    }
}
