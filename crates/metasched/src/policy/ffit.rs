//! First fit.

use super::{Choice, SelectCluster, View};
use crate::config::{EnoughResources, Readings};

/// FFIT (§3): the first cluster with enough resources; if none has, the LoRaS queue of the first one where the job fits at
/// all.
#[derive(Copy, Clone, Debug, Default)]
pub struct Ffit {
    enough: EnoughResources,
}

impl Ffit {
    /// Under reading R2.
    pub const fn new(readings: &Readings) -> Self {
        Self { enough: readings.enough_resources }
    }
}

impl SelectCluster for Ffit {
    fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
        let found = match self.enough {
            EnoughResources::CanStartNow => view.sites().find(|&site| view.can_start(site)),
            EnoughResources::StaticFit => None,
        };
        let found = found.or_else(|| view.sites().find(|&site| view.fits(site)));
        found.map(Choice::of)
    }
}
