//! Best Gap and what builds on it: [`GapFilling`].

use super::cons::EARLY;
use super::floor::Floor;
use super::judge::{Judge, Value};
use super::lane::Lane;
use super::plan::{Plan, View};
use super::readings::{Compression, Moves, Readings, Rounds, Suitability};
use super::score::Ledger;
use super::search::Search;
use super::world::Policy;
use sim_core::{Span, Stream, Time};

/// Each job is tried in the earliest gap of every suitable cluster when it comes, and the plans that result are compared:
/// the first is taken, a later one if it is better. A search may improve the plan.
#[derive(Clone, Debug)]
pub struct GapFilling {
    plan: Plan,
    ledger: Ledger,
    judge: Judge,
    search: Option<Search>,
    searches: When,
    compression: Compression,
    keeps_to_suitable: bool,
    /// The lanes that are tried, kept for their memory only.
    best: Lane,
    tried: Lane,
}

/// How often the plan is searched.
const PERIOD: Span = Span::from_secs(300);

/// When the plan is searched.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum When {
    Periodically,
    AtArrivals,
    AtEarlyEnds,
}

impl When {
    const fn of(rounds: Rounds) -> Self {
        match rounds {
            Rounds::FourTimes | Rounds::UntilNoGain => Self::Periodically,
            Rounds::PerArrival => Self::AtArrivals,
            Rounds::EarlyEnds => Self::AtEarlyEnds,
        }
    }
}

impl GapFilling {
    /// Best Gap: plans are compared by 10 × fairness + response + wait + slowdown, each as a relative gain. Early ends
    /// compress nothing.
    pub fn best_gap() -> Self {
        Self {
            plan: Plan::default(),
            ledger: Ledger::default(),
            judge: Judge::Decision,
            search: None,
            searches: When::Periodically,
            compression: Compression::Off,
            keeps_to_suitable: true,
            best: Lane::default(),
            tried: Lane::default(),
        }
    }

    /// BGT: Best Gap, and every 300 s a Tabu search with the same eyes, bounded by rounds. It draws from `stream`.
    pub fn bgt(stream: Stream) -> Self {
        let readings = Readings { moves: Moves::Any, ..Readings::default() };
        Self { search: Some(Search::new(&readings, stream)), ..Self::best_gap() }
    }

    /// Swift Gap, as `readings` have it. It draws from `stream`.
    pub fn swift_gap(readings: Readings, stream: Stream) -> Self {
        let Readings { completion, weight, rounds, compression, suitability, .. } = readings;
        Self {
            judge: Judge::Completion(completion, weight),
            search: Some(Search::new(&readings, stream)),
            searches: When::of(rounds),
            compression,
            keeps_to_suitable: matches!(suitability, Suitability::Checked | Suitability::NotInSearch),
            ..Self::best_gap()
        }
    }

    fn improve(&mut self, now: Time, floor: &Floor) {
        if let Some(search) = &mut self.search {
            search.improve(&mut self.plan, self.judge, &mut self.ledger, now, floor);
        }
    }
}

impl Policy for GapFilling {
    fn arrive(&mut self, job: usize, now: Time, floor: &Floor) {
        self.plan.open(floor);
        self.ledger.arrive(job, floor);
        self.plan.update(now, floor);
        let mut best: Option<(usize, Value)> = None;
        for cluster in 0..self.plan.lanes.len() {
            let suits =
                if self.keeps_to_suitable { floor.suits(cluster, job) } else { floor.is_wide_enough(cluster, job) };
            if !suits {
                continue;
            }
            let fit = self.plan.lanes[cluster].fit(floor.job(job));
            self.tried.copy(&self.plan.lanes[cluster]);
            self.tried.insert(fit.place, job, floor);
            self.tried.try_out(cluster, now, floor);
            let value = self.judge.value(&View::of(&self.plan).with(cluster, &self.tried), &mut self.ledger, floor);
            if best.as_ref().is_none_or(|(_, best)| self.judge.prefers(&value, best)) {
                best = Some((cluster, value));
                std::mem::swap(&mut self.best, &mut self.tried);
            }
        }
        let (cluster, _) = best.expect("only a job that some cluster suits comes in");
        std::mem::swap(&mut self.plan.lanes[cluster], &mut self.best);
        self.plan.update(now, floor);
        if self.searches == When::AtArrivals {
            self.improve(now, floor);
        }
    }

    fn select(&mut self, _: Time, floor: &Floor) -> Option<(usize, usize)> {
        self.plan.select(floor)
    }

    fn begin(&mut self, job: usize, cluster: usize, now: Time, floor: &Floor) {
        self.plan.spoil(cluster);
        self.ledger.begin(job, now, floor);
    }

    fn end(&mut self, job: usize, cluster: usize, start: Time, now: Time, floor: &Floor) {
        self.plan.spoil(cluster);
        self.ledger.end(job, start, now, floor);
        let early = self.plan.early(job, cluster, start, now, floor);
        if self.compression == Compression::On && early > EARLY {
            self.plan.lanes[cluster].compress(cluster, now, floor);
        }
        if self.searches == When::AtEarlyEnds && early > EARLY {
            self.improve(now, floor);
        }
    }

    fn period(&self) -> Option<Span> {
        (self.search.is_some() && self.searches == When::Periodically).then_some(PERIOD)
    }

    fn search(&mut self, now: Time, floor: &Floor) {
        self.improve(now, floor);
    }
}
