//! First fit.

use super::{Choice, SelectCluster, View};
use crate::config::{EnoughResources, Readings};

/// FFIT (§3): the first cluster with enough resources; without one, the LoRaS queue of the first cluster that the job fits on.
#[derive(Copy, Clone, Debug, Default)]
pub struct Ffit {
    enough: EnoughResources,
}

impl Ffit {
    /// Creates the policy under reading R2.
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
