//! First fit, round robin, and turnaround time.

use super::{Choice, SelectCluster, View, best, candidates};
use crate::config::{Cycle, EnoughResources, Readings, SeesUsers};

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

/// RR (§3): clusters in turn. Clusters that would be too small for the job even if they were empty are skipped.
#[derive(Copy, Clone, Debug, Default)]
pub struct Rr {
    cycle: Cycle,
    next: u32,
}

impl Rr {
    /// Creates the policy under reading R3; the first job goes to the first cluster.
    pub const fn new(readings: &Readings) -> Self {
        Self { cycle: readings.cycle, next: 0 }
    }
}

impl SelectCluster for Rr {
    fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
        let next = self.next as usize;
        let in_turn = |view: &View<'_>| view.sites().cycle().skip(next).take(view.clusters.len());
        let startable = match self.cycle {
            Cycle::Strict => None,
            Cycle::SkipBusy => in_turn(view).find(|&site| view.can_start(site)),
        };
        let cluster = startable.or_else(|| in_turn(view).find(|&site| view.fits(site)))?;
        self.next = (cluster.0 + 1) % u32::try_from(view.clusters.len()).expect("clusters are numbered by u32");
        Some(Choice::of(cluster))
    }
}

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
        let candidates = candidates(&self.readings, view, self.readings.tat_sees_users == SeesUsers::Yes);
        best(&candidates, |_, prediction| prediction.turnaround.as_secs_f64()).next()
    }
}
