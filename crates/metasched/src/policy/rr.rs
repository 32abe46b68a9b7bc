//! Round robin.

use super::{Choice, SelectCluster, View};
use crate::config::{Cycle, Readings};

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
        let in_turn = |view: &View<'_>| view.sites().cycle().skip(next).take(view.clusters().len());
        let startable = match self.cycle {
            Cycle::Strict => None,
            Cycle::SkipBusy => in_turn(view).find(|&site| view.can_start(site)),
        };
        let cluster = startable.or_else(|| in_turn(view).find(|&site| view.fits(site)))?;
        self.next = (cluster.0 + 1) % u32::try_from(view.clusters().len()).expect("clusters are numbered by u32");
        Some(Choice::of(cluster))
    }
}
