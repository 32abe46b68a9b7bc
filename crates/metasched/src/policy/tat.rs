//! Turnaround time.

use super::{CandidateReadings, Choice, SelectCluster, View, ties_with};
use crate::config::{Readings, SeesUsers};
use crate::predictor::Prediction;
use sim_core::{SiteId, Span};

/// TAT (§3): the candidate with the smallest predicted turnaround; the first of several.
#[derive(Clone, Debug)]
pub struct Tat {
    readings: CandidateReadings,
    sees_users: bool,
    candidates: Vec<SiteId>,
    predicted: Vec<(SiteId, Prediction)>,
}

impl Tat {
    /// Under readings R4, R5 and R9.
    pub const fn new(readings: &Readings) -> Self {
        Self {
            readings: CandidateReadings::of(readings),
            sees_users: matches!(readings.tat_sees_users, SeesUsers::Yes),
            candidates: Vec::new(),
            predicted: Vec::new(),
        }
    }
}

impl SelectCluster for Tat {
    fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
        let Self { readings, sees_users, candidates, predicted } = self;
        view.candidates(*readings, candidates);
        predicted.clear();
        // Clusters that cannot come within a tie of the best so far need not be simulated to the end, and none can be
        // better than one that runs the job as if it were alone on the fastest cluster.
        let mut best = Span::MAX;
        for &cluster in &*candidates {
            let tie = Span::from_nanos(best.as_nanos() / 1_000_000_000 + 1);
            let limit = if best == Span::MAX { best } else { best + tie };
            if let Some(prediction) = view.predict_within(cluster, *sees_users, limit) {
                best = best.min(prediction.turnaround);
                predicted.push((cluster, prediction));
                if best <= view.shortest_turnaround() {
                    break;
                }
            }
        }
        let tie = |(_, prediction): &&(SiteId, Prediction)| {
            ties_with(prediction.turnaround.as_secs_f64(), best.as_secs_f64())
        };
        let chosen = predicted.iter().find(tie).map(|&(cluster, prediction)| Choice { cluster, prediction: Some(prediction) });
        // Where no end is in sight anywhere, any place in a queue is as good as another.
        chosen.or_else(|| candidates.first().copied().map(Choice::of))
    }
}
