//! Best Gap and the policies built on it: [`GapFilling`].

use crate::clock::Clock;
use crate::comparator::{ListComparator, ListCost, Ranks};
use crate::cons::COMPRESSION_THRESHOLD;
use crate::job::JobIndex;
use crate::plan::{ListPlan, PlanView};
use crate::readings::{Compression, Moves, Readings, Rounds, Suitability};
use crate::schedule::ClusterSchedule;
use crate::search::ListSearch;
use crate::state::GridState;
use crate::usage::UserLedger;
use crate::world::Policy;
use sim_core::{SiteId, Span, Stream};

/// Gap filling: each arriving job is tried in the earliest gap of every suitable cluster, and the resulting plans are
/// compared. The first is taken, and a later one if it is better. A search may improve the plan.
#[derive(Clone, Debug)]
pub struct GapFilling {
    plan: ListPlan,
    usage: UserLedger,
    comparator: ListComparator,
    search: Option<ListSearch>,
    /// Readings; those of Best Gap and BGT state their rules.
    readings: Readings,
    /// Best schedule so far and the tried one; scratch buffers, reused across calls.
    best: ClusterSchedule,
    tried: ClusterSchedule,
    /// Costs of plans with these, if the comparator uses single jobs by their ranks.
    least: ListCost,
    cost: ListCost,
    ranks: Ranks,
}

/// Period of the search.
const PERIOD: Span = Span::from_secs(300);

impl GapFilling {
    /// Returns Best Gap: plans are compared by 10 × fairness + response + wait + slowdown, each as a relative gain.
    /// Early ends compress nothing.
    pub fn best_gap() -> Self {
        Self {
            plan: ListPlan::default(),
            usage: UserLedger::default(),
            comparator: ListComparator::Decision,
            search: None,
            readings: Readings { moves: Moves::Any, compression: Compression::Off, ..Readings::default() },
            best: ClusterSchedule::default(),
            tried: ClusterSchedule::default(),
            least: ListCost::default(),
            cost: ListCost::default(),
            ranks: Ranks::default(),
        }
    }

    /// Returns BGT: Best Gap, and every 300 s a Tabu search with the same comparator, bounded by rounds. It draws from `stream`.
    pub fn bgt(stream: Stream) -> Self {
        let best_gap = Self::best_gap();
        Self { search: Some(ListSearch::new(best_gap.readings, stream)), ..best_gap }
    }

    /// Returns Swift Gap under `readings`. It draws from `stream`.
    pub fn swift_gap(readings: Readings, stream: Stream) -> Self {
        Self {
            comparator: ListComparator::Completion(readings.completion, readings.weight),
            search: Some(ListSearch::new(readings, stream)),
            readings,
            ..Self::best_gap()
        }
    }

    fn improve(&mut self, now: Clock, state: &GridState) {
        if let Some(search) = &mut self.search {
            search.improve(&mut self.plan, self.comparator, &mut self.usage, now, state);
        }
    }
}

impl Policy for GapFilling {
    fn submit(&mut self, job: JobIndex, now: Clock, state: &GridState) {
        self.plan.open(state);
        self.usage.submit(job, state);
        self.plan.update(now, state);
        if self.comparator.needs_ranks() {
            self.ranks.rank(self.plan.jobs().chain([job]));
        }
        let keeps_to_suitable = matches!(self.readings.suitability, Suitability::Checked | Suitability::NotInSearch);
        let mut best: Option<SiteId> = None;
        for cluster in state.cluster_ids() {
            let suits = if keeps_to_suitable { state.suits(cluster, job) } else { state.is_wide_enough(cluster, job) };
            if !suits {
                continue;
            }
            let place = self.plan.schedule(cluster).earliest_place(state.request(job));
            self.tried.become_with(self.plan.schedule(cluster), place, job, state);
            self.tried.update_starts(cluster, now, state);
            let view = PlanView::of(&self.plan).with(cluster, &self.tried);
            self.comparator.assess(&mut self.cost, &view, &self.ranks, &mut self.usage, state);
            if best.is_none() || self.comparator.prefers(&self.cost, &self.least) {
                best = Some(cluster);
                std::mem::swap(&mut self.best, &mut self.tried);
                std::mem::swap(&mut self.least, &mut self.cost);
            }
        }
        let cluster = best.expect("only a job that some cluster suits comes in");
        std::mem::swap(self.plan.schedule_mut(cluster), &mut self.best);
        self.plan.update(now, state);
        if self.readings.rounds == Rounds::PerArrival {
            self.improve(now, state);
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
        self.plan.invalidate(cluster);
        self.usage.start(job, cluster, now, state);
    }

    fn finish(&mut self, job: JobIndex, cluster: SiteId, start: Clock, now: Clock, state: &GridState) {
        self.plan.invalidate(cluster);
        self.usage.finish(job, cluster, start, now, state);
        let earliness = self.plan.earliness(job, cluster, start.time, now.time, state);
        if self.readings.compression == Compression::On && earliness > COMPRESSION_THRESHOLD {
            self.plan.schedule_mut(cluster).compress(cluster, now, state);
        }
        if self.readings.rounds == Rounds::EarlyEnds && earliness > COMPRESSION_THRESHOLD {
            self.improve(now, state);
        }
    }

    fn period(&self) -> Option<Span> {
        let is_periodic = matches!(self.readings.rounds, Rounds::FourTimes | Rounds::UntilNoGain);
        (self.search.is_some() && is_periodic).then_some(PERIOD)
    }

    fn search(&mut self, now: Clock, state: &GridState) {
        self.improve(now, state);
    }
}
