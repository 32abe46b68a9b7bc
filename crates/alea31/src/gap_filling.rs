//! Best Gap and the policies built on it: [`GapFilling`].

mod comparator;
mod search;

use crate::gap_filling::comparator::{Incumbent, ListComparator};
use crate::gap_filling::search::ListSearch;
use crate::plan::ListPlan;
use crate::plan::schedule::ClusterSchedule;
use crate::plan::usage::UserLedger;
use crate::readings::{Compression, Moves, Readings, Rounds, Suitability};
use crate::state::{Clock, GridState, JobIndex};
use crate::world::Policy;
use sim_core::{SiteId, Span, Stream};

/// Gap filling: each arriving job is tried in the earliest gap of every suitable cluster, and the resulting plans are
/// compared. The first is taken, and a later one if it is better. A search may improve the plan.
#[derive(Clone, Debug)]
pub struct GapFilling {
    plan: ListPlan,
    usage: UserLedger,
    incumbent: Incumbent,
    search: Option<ListSearch>,
    /// Readings; those of Best Gap and BGT state their rules.
    readings: Readings,
    /// Best schedule so far and the tried one; scratch buffers, reused across calls.
    best: ClusterSchedule,
    tried: ClusterSchedule,
}

/// Period of the search.
const PERIOD: Span = Span::from_secs(300);

impl GapFilling {
    /// Returns Best Gap: plans are compared by 10 × fairness + response + wait + slowdown, each as a relative gain.
    /// Early ends compress nothing.
    pub fn best_gap() -> Self {
        let readings = Readings { moves: Moves::Any, compression: Compression::Off, ..Readings::default() };
        Self::new(ListComparator::Decision, readings, None)
    }

    /// Returns BGT: Best Gap, and every 300 s a Tabu search with the same comparator, bounded by rounds. It draws from `stream`.
    pub fn bgt(stream: Stream) -> Self {
        Self::new(ListComparator::Decision, Self::best_gap().readings, Some(stream))
    }

    /// Returns Swift Gap under `readings`. It draws from `stream`.
    pub fn swift_gap(readings: Readings, stream: Stream) -> Self {
        Self::new(ListComparator::Completion(readings.completion, readings.weight), readings, Some(stream))
    }

    fn new(comparator: ListComparator, readings: Readings, stream: Option<Stream>) -> Self {
        Self {
            plan: ListPlan::default(),
            usage: UserLedger::default(),
            incumbent: Incumbent::new(comparator),
            search: stream.map(|stream| ListSearch::new(comparator, readings, stream)),
            readings,
            best: ClusterSchedule::default(),
            tried: ClusterSchedule::default(),
        }
    }
}

impl Policy for GapFilling {
    fn submit(&mut self, job: JobIndex, now: Clock, state: &GridState) {
        self.plan.open(state);
        self.usage.submit(job, state);
        self.plan.update(now, state);
        self.incumbent.restart();
        let keeps_to_suitable = matches!(self.readings.suitability, Suitability::Checked | Suitability::NotInSearch);
        let mut best: Option<SiteId> = None;
        for cluster in state.cluster_ids() {
            if !state.suits(cluster, job) && (keeps_to_suitable || !state.is_wide_enough(cluster, job)) {
                continue;
            }
            let place = self.plan.schedule(cluster).earliest_place(state.request(job));
            self.tried.copy(self.plan.schedule(cluster), place);
            self.tried.insert(place, job, state);
            self.tried.update_starts(cluster, now, state);
            self.plan.swap(cluster, &mut self.tried);
            let is_better = self.incumbent.is_worse_than(&self.plan, &mut self.usage, state);
            self.plan.swap(cluster, &mut self.tried);
            if is_better {
                best = Some(cluster);
                std::mem::swap(&mut self.best, &mut self.tried);
            }
        }
        let cluster = best.expect("only a job that some cluster suits comes in");
        self.plan.swap(cluster, &mut self.best);
        self.plan.update(now, state);
        if self.readings.rounds == Rounds::PerArrival {
            self.search(now, state);
        }
    }

    /// Sends the first job of every cluster that has room for it: Best Gap sends to all clusters at once, where CONS
    /// sends one job (`BestGap.selectJob`).
    fn select(&mut self, _: Clock, state: &GridState, sent: &mut Vec<(JobIndex, SiteId)>) {
        for cluster in state.cluster_ids() {
            if let Some(job) = self.plan.take_first(cluster, state) {
                self.usage.send(job, cluster, state);
                sent.push((job, cluster));
            }
        }
    }

    fn start(&mut self, job: JobIndex, cluster: SiteId, now: Clock, state: &GridState) {
        self.plan.schedule_mut(cluster).invalidate();
        self.usage.start(job, cluster, now, state);
    }

    fn finish(&mut self, job: JobIndex, cluster: SiteId, start: Clock, now: Clock, state: &GridState) {
        self.usage.finish(job, cluster, start, now, state);
        let is_early = self.plan.finish(job, cluster, start, now, state);
        if is_early && self.readings.compression == Compression::On {
            self.plan.schedule_mut(cluster).compress(cluster, now, state);
        }
        if is_early && self.readings.rounds == Rounds::EarlyEnds {
            self.search(now, state);
        }
    }

    fn period(&self) -> Option<Span> {
        let is_periodic = matches!(self.readings.rounds, Rounds::FourTimes | Rounds::UntilNoGain);
        (self.search.is_some() && is_periodic).then_some(PERIOD)
    }

    fn search(&mut self, now: Clock, state: &GridState) {
        if let Some(search) = &mut self.search {
            search.improve(&mut self.plan, &mut self.usage, now, state);
        }
    }
}
