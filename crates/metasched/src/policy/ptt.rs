//! Pondered turnaround time.

use super::{CandidateReadings, Choice, Outlook, SelectCluster, View, ties_with};
use crate::config::{Readings, Ties};
use crate::floor::Bound;
use crate::predictor::Prediction;
use sim_core::{SiteId, Span};

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
    order: Vec<(u64, usize)>,
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
            order: Vec::new(),
        }
    }

    /// The same with another meaning of LT.
    #[must_use]
    pub fn with_intrusiveness(self, intrusiveness: Intrusiveness) -> Self {
        Self { intrusiveness, ..self }
    }

    fn local(&self, outlook: &Outlook) -> f64 {
        match self.intrusiveness {
            Intrusiveness::LocalNodes => outlook.local_nodes.into(),
            Intrusiveness::Occupancy => outlook.occupancy,
        }
    }
}

impl SelectCluster for Ptt {
    fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        if self.readings.looks_for_room() {
            candidates.extend(view.sites().filter_map(|site| Some(Candidate::of(view.outlook(site, true)?))));
        }
        if self.readings.takes_any_queue(!candidates.is_empty()) {
            candidates.clear();
            candidates.extend(view.sites_that_fit().map(Candidate::unknown));
            for candidate in &mut candidates {
                candidate.predict(view);
            }
        }
        let mut order = std::mem::take(&mut self.order);
        let choice = self.choose(&mut candidates, &mut order, view);
        (self.candidates, self.order) = (candidates, order);
        choice
    }
}

/// A cluster to choose, and what is known of TR there: bounds, or itself once the cluster has been simulated.
#[derive(Copy, Clone, Debug)]
struct Candidate {
    outlook: Outlook,
    predicted: Option<Prediction>,
}

impl Candidate {
    const fn of(outlook: Outlook) -> Self {
        Self { outlook, predicted: None }
    }

    const fn unknown(cluster: SiteId) -> Self {
        let turnaround = Bound { at_least: Span::ZERO, at_most: Span::MAX };
        Self::of(Outlook { cluster, turnaround, local_nodes: 0, occupancy: 0.0 })
    }

    /// Has the cluster simulated, unless it has been. If no end is in sight there, TR stays beyond all bounds.
    fn predict(&mut self, view: &mut View<'_>) {
        if self.predicted.is_some() {
            return;
        }
        self.predicted = view.predict(self.outlook.cluster);
        self.outlook.turnaround = Bound { at_least: Span::MAX, at_most: Span::MAX };
        if let Some(Prediction { turnaround, local_nodes, occupancy, .. }) = self.predicted {
            let cluster = self.outlook.cluster;
            let turnaround = Bound { at_least: turnaround, at_most: turnaround };
            self.outlook = Outlook { cluster, turnaround, local_nodes, occupancy };
        }
    }
}

impl Ptt {
    /// Has no more clusters simulated than it takes to know which one has the smallest `PTT_k`: first those that may have the
    /// largest TR, which formula (1) needs; then those that may have the smallest `PTT_k`, which grows with `TR_k`.
    ///
    /// `order` is room to sort in: candidates by their position, which is also their order as clusters.
    fn choose(
        &self,
        candidates: &mut [Candidate],
        order: &mut Vec<(u64, usize)>,
        view: &mut View<'_>,
    ) -> Option<Choice> {
        let mut max_tr = Span::from_nanos(1);
        if candidates.iter().any(|candidate| self.weights.of(candidate.outlook.cluster) > 0.0) {
            let at_most = |candidate: &Candidate| candidate.outlook.turnaround.at_most.as_nanos();
            sort(order, candidates, at_most);
            for &(at_most, i) in order.iter().rev() {
                if at_most <= max_tr.as_nanos() {
                    break;
                }
                candidates[i].predict(view);
                max_tr = candidates[i].predicted.map_or(max_tr, |prediction| max_tr.max(prediction.turnaround));
            }
        }
        let max_lt = candidates.iter().map(|candidate| self.local(&candidate.outlook)).fold(0.0, f64::max);
        // "To prevent a division by 0, MaxLT is set to 1 when there is no local activity at all" (§2.3).
        let max_lt = if max_lt > 0.0 { max_lt } else { 1.0 };
        let score = |outlook: &Outlook, turnaround: Span| {
            if outlook.turnaround.at_least == Span::MAX {
                // No end in sight: worse than all others, and if there are no others, any place in a queue will do.
                return f64::INFINITY;
            }
            let (weight, tr) = (self.weights.of(outlook.cluster), turnaround.as_secs_f64());
            // Equation (1).
            tr * (weight * tr / max_tr.as_secs_f64() + (1.0 - weight) * self.local(outlook) / max_lt)
        };

        // Scores are not negative, and the bits of such numbers are in their order.
        sort(order, candidates, |Candidate { outlook, .. }| score(outlook, outlook.turnaround.at_least).to_bits());
        let (mut smallest, mut looked_at) = (f64::INFINITY, 0);
        for (bits, i) in &mut *order {
            let least = f64::from_bits(*bits);
            if !ties_with(least, smallest) {
                break;
            }
            let candidate = &mut candidates[*i];
            // Where W and LT are 0, PTT is 0, whatever TR is.
            if score(&candidate.outlook, candidate.outlook.turnaround.at_most) > least {
                candidate.predict(view);
                *bits = score(&candidate.outlook, candidate.outlook.turnaround.at_least).to_bits();
            }
            smallest = smallest.min(f64::from_bits(*bits));
            looked_at += 1;
        }
        let tied = order[..looked_at].iter().filter(|(bits, _)| ties_with(f64::from_bits(*bits), smallest));
        let chosen = match self.ties {
            Ties::FirstCluster => tied.map(|&(_, i)| i).min(),
            Ties::SmallestTr => {
                let predicted = tied.map(|&(_, i)| {
                    candidates[i].predict(view);
                    (candidates[i].outlook.turnaround.at_least, i)
                });
                predicted.min().map(|(_, i)| i)
            }
        };
        let chosen = &mut candidates[chosen?];
        chosen.predict(view);
        Some(Choice { cluster: chosen.outlook.cluster, prediction: chosen.predicted })
    }
}

/// The positions of `candidates` by `key`, smallest first.
fn sort(order: &mut Vec<(u64, usize)>, candidates: &[Candidate], key: impl Fn(&Candidate) -> u64) {
    order.clear();
    order.extend(candidates.iter().map(key).zip(0..));
    order.sort_unstable();
}
