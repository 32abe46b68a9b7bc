//! Pondered turnaround time.

use super::{CandidateReadings, Choice, SelectCluster, View, ties_with};
use crate::config::{Readings, Ties};
use crate::predictor::Prediction;
use sim_core::SiteId;

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
    candidates: Vec<SiteId>,
    predicted: Vec<(SiteId, Prediction)>,
    scores: Vec<f64>,
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
    /// (§4), so that clusters can be told apart that all have local users. See [`Prediction::occupancy`].
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
            predicted: Vec::new(),
            scores: Vec::new(),
        }
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
        let mut candidates = std::mem::take(&mut self.candidates);
        view.candidates(self.readings, &mut candidates);
        self.predicted.clear();
        self.predicted.extend(candidates.iter().filter_map(|&cluster| Some((cluster, view.predict(cluster)?))));
        let first = candidates.first().copied().map(Choice::of);
        self.candidates = candidates;

        let turnaround = |prediction: &Prediction| prediction.turnaround.as_secs_f64();
        let max_tr = self.predicted.iter().map(|(_, prediction)| turnaround(prediction)).fold(0.0, f64::max);
        let max_lt = self.predicted.iter().map(|(_, prediction)| self.local(prediction)).fold(0.0, f64::max);
        // "To prevent a division by 0, MaxLT is set to 1 when there is no local activity at all" (§2.3).
        let max_lt = if max_lt > 0.0 { max_lt } else { 1.0 };
        let mut scores = std::mem::take(&mut self.scores);
        scores.clear();
        scores.extend(self.predicted.iter().map(|(cluster, prediction)| {
            let (weight, tr) = (self.weights.of(*cluster), turnaround(prediction));
            // Equation (1).
            tr * (weight * tr / max_tr + (1.0 - weight) * self.local(prediction) / max_lt)
        }));
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let mut ties = self.predicted.iter().zip(&scores).filter(|&(_, &score)| ties_with(score, least));
        let chosen = match self.ties {
            Ties::FirstCluster => ties.next(),
            // The first of equals: `min_by_key` keeps it.
            Ties::SmallestTr => ties.min_by_key(|((_, prediction), _)| prediction.turnaround),
        };
        let chosen = chosen.map(|(&(cluster, prediction), _)| Choice { cluster, prediction: Some(prediction) });
        self.scores = scores;
        // Where no end is in sight anywhere, any place in a queue is as good as another.
        chosen.or(first)
    }
}
