//! Turnaround time.

use super::{CandidateReadings, Choice, Estimate, SelectCluster, View, ties_with};
use crate::config::{Readings, SeesUsers};
use crate::predictor::Prediction;
use sim_core::{SiteId, Span};

/// TAT (§3): the candidate with the smallest predicted turnaround; the first of several.
#[derive(Copy, Clone, Debug)]
pub struct Tat {
    readings: CandidateReadings,
    sees_users: bool,
}

impl Tat {
    /// Creates the policy under readings R4, R5 and R9.
    pub const fn new(readings: &Readings) -> Self {
        Self {
            readings: CandidateReadings::of(readings),
            sees_users: matches!(readings.tat_sees_users, SeesUsers::Yes),
        }
    }
}

impl SelectCluster for Tat {
    fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
        let Self { readings, sees_users } = *self;
        let mut bounds: Vec<(Span, SiteId)> = Vec::new();
        if readings.looks_for_room() {
            let shortest = view.shortest_turnaround() + Span::from_nanos(1);
            for site in view.sites() {
                let Some(Estimate { turnaround, .. }) = view.estimate(site, sees_users) else { continue };
                bounds.push((turnaround.at_least, site));
                if turnaround.at_most <= shortest {
                    break; // none of the others can be better
                }
            }
        }
        if readings.takes_any_queue(!bounds.is_empty()) {
            bounds.clear();
            bounds.extend(view.sites_that_fit().map(|site| (Span::ZERO, site)));
        }

        // The most promising clusters are simulated first. The others are skipped, or simulated only until they are known to be
        // worse. All clusters within a tie of the best are simulated, so the choice is the same.
        bounds.sort_unstable();
        let mut best = Span::MAX;
        let mut predicted: Vec<(SiteId, Prediction)> = Vec::new();
        for &(at_least, cluster) in &bounds {
            let tie = Span::from_nanos(best.as_nanos() / 1_000_000_000 + 1);
            let limit = if best == Span::MAX { best } else { best + tie };
            if at_least > limit {
                break;
            }
            if let Some(prediction) = view.predict_within(cluster, sees_users, limit) {
                best = best.min(prediction.turnaround);
                predicted.push((cluster, prediction));
            }
        }
        let tie = |(_, prediction): &&(SiteId, Prediction)| {
            ties_with(prediction.turnaround.as_secs_f64(), best.as_secs_f64())
        };
        let chosen = predicted.iter().filter(tie).min_by_key(|(cluster, _)| *cluster);
        let chosen = chosen.map(|&(cluster, prediction)| Choice { cluster, prediction: Some(prediction) });
        // If no end is in sight anywhere, all queues are equally good.
        chosen.or_else(|| bounds.first().map(|&(_, cluster)| Choice::of(cluster)))
    }
}
