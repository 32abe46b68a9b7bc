//! Turnaround time.

use super::{Choice, SelectCluster, View, candidates, ties_with};
use crate::config::{Readings, SeesUsers};
use crate::predictor::Prediction;
use sim_core::SiteId;

/// TAT (§3): the candidate with the smallest predicted turnaround; the first of several.
#[derive(Copy, Clone, Debug)]
pub struct Tat {
    readings: Readings,
}

impl Tat {
    /// Creates the policy under readings R4, R5 and R9.
    pub const fn new(readings: &Readings) -> Self {
        Self { readings: *readings }
    }
}

impl SelectCluster for Tat {
    fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
        let sites = candidates(&self.readings, view);
        let sees_users = self.readings.tat_sees_users == SeesUsers::Yes;
        let predict = |&cluster: &SiteId| Some((cluster, view.predict_with(cluster, sees_users)?));
        let predicted: Vec<(SiteId, Prediction)> = sites.iter().filter_map(predict).collect();
        let best = predicted.iter().map(|(_, prediction)| prediction.turnaround).min().unwrap_or_default();
        let is_tied = |(_, prediction): &&(SiteId, Prediction)| {
            ties_with(prediction.turnaround.as_secs_f64(), best.as_secs_f64())
        };
        let chosen = predicted.iter().find(is_tied);
        let chosen = chosen.map(|&(cluster, prediction)| Choice { cluster, prediction: Some(prediction) });
        // If no end is in sight anywhere, all queues are equally good.
        chosen.or_else(|| sites.first().copied().map(Choice::of))
    }
}
