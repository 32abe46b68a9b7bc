//! Conservative backfilling, as Alea has it: [`Cons`].

use super::floor::Floor;
use super::lane::Fit;
use super::plan::Plan;
use super::world::Policy;
use sim_core::{Span, Time};

/// Each job is planned when it comes, in the earliest gap of all suitable clusters; ties go to the first, larger cluster.
///
/// A plan is an order, not a set of promises: a job in a gap of the list may delay those behind it. When a job ends more
/// than a minute before its plan, the jobs that wait for its cluster are taken out and put back in planned order.
#[derive(Clone, Debug, Default)]
pub struct Cons {
    plan: Plan,
}

/// A job that ends earlier than this before its plan compresses it.
pub(super) const EARLY: Span = Span::from_secs(60);

impl Cons {
    /// Jobs that wait, each with its cluster and its planned start, cluster by cluster in planned order; as of the last time
    /// that the plan of the cluster was brought up to date.
    pub fn planned(&self) -> impl Iterator<Item = (usize, usize, Time)> {
        let lanes = self.plan.lanes.iter().enumerate();
        lanes.flat_map(|(cluster, lane)| lane.planned().map(move |(job, start)| (job, cluster, start)))
    }
}

impl Policy for Cons {
    fn arrive(&mut self, job: usize, now: Time, floor: &Floor) {
        self.plan.open(floor);
        self.plan.update(now, floor);
        let mut best: Option<(Fit, usize)> = None;
        for (cluster, lane) in self.plan.lanes.iter().enumerate() {
            if floor.suits(cluster, job) {
                let fit = lane.fit(floor.job(job));
                if best.is_none_or(|(best, _)| fit.start < best.start) {
                    best = Some((fit, cluster));
                }
            }
        }
        let (fit, cluster) = best.expect("only a job that some cluster suits comes in");
        self.plan.lanes[cluster].insert(fit.place, job, floor);
        self.plan.update(now, floor);
    }

    fn select(&mut self, _: Time, floor: &Floor) -> Option<(usize, usize)> {
        let (job, cluster) = self.plan.select(floor)?;
        Some((job, cluster))
    }

    fn begin(&mut self, _: usize, cluster: usize, _: Time, _: &Floor) {
        self.plan.spoil(cluster);
    }

    fn end(&mut self, job: usize, cluster: usize, start: Time, now: Time, floor: &Floor) {
        self.plan.spoil(cluster);
        if self.plan.early(job, cluster, start, now, floor) > EARLY {
            self.plan.lanes[cluster].compress(cluster, now, floor);
        }
    }
}
