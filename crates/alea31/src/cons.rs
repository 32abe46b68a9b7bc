//! Conservative backfilling of Alea: [`Cons`].

use crate::plan::ListPlan;
use crate::state::{Clock, GridState, JobIndex};
use crate::world::Policy;
use sim_core::{SiteId, Span, Time};

/// Conservative backfilling: plans each job on arrival in the earliest gap of all suitable clusters; ties go to the first, larger one.
///
/// A plan is an order, not a set of reservations: a job in a gap of the list may delay those behind it. When a job ends
/// more than a minute before its plan, the waiting jobs of its cluster are removed and inserted again in planned order.
#[derive(Clone, Debug, Default)]
pub struct Cons {
    plan: ListPlan,
}

impl Cons {
    /// Waiting jobs, each with its cluster and its planned start, cluster by cluster in planned order, as of the last
    /// update of the cluster's plan.
    pub fn planned(&self) -> impl Iterator<Item = (JobIndex, SiteId, Time)> {
        let schedules = self.plan.schedules();
        schedules.flat_map(|(cluster, schedule)| {
            schedule.planned().map(move |(job, start)| (job, cluster, Time::ZERO + Span::from_secs_f64(start)))
        })
    }
}

impl Policy for Cons {
    fn submit(&mut self, job: JobIndex, now: Clock, state: &GridState) {
        self.plan.open(state);
        self.plan.update(now, state);
        let suitable = self.plan.schedules().filter(|(cluster, _)| state.suits(*cluster, job));
        let fits = suitable.map(|(cluster, schedule)| (schedule.earliest_fit(state.request(job)), cluster));
        // The first of equal starts.
        let best = fits.min_by(|((_, one), _), ((_, other), _)| one.total_cmp(other));
        let ((place, _), cluster) = best.expect("only a job that some cluster suits comes in");
        self.plan.schedule_mut(cluster).insert(place, job, state);
        self.plan.update(now, state);
    }

    fn select(&mut self, _: Clock, state: &GridState, sent: &mut Vec<(JobIndex, SiteId)>) {
        let mut clusters = state.cluster_ids();
        sent.extend(clusters.find_map(|cluster| Some((self.plan.take_first(cluster, state)?, cluster))));
    }

    fn start(&mut self, _: JobIndex, cluster: SiteId, _: Clock, _: &GridState) {
        self.plan.schedule_mut(cluster).invalidate();
    }

    fn finish(&mut self, job: JobIndex, cluster: SiteId, start: Clock, now: Clock, state: &GridState) {
        if self.plan.finish(job, cluster, start, now, state) {
            self.plan.schedule_mut(cluster).compress(cluster, now, state);
        }
    }
}
