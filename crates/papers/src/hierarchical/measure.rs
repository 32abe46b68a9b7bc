//! What is measured in one run: equations (3) to (5), and what was counted.

use hier_grid::config::GridConfig;
use hier_grid::world::Distance;
use hier_grid::{GridCounts, Kind, World};
use sim_core::record::Sink;
use sim_core::{Fact, JobLog, JobRecord, Probe, Time};

/// Listens to a run and keeps the sums that the metrics need.
pub(super) struct Measure {
    log: JobLog<Sums>,
}

#[derive(Default)]
struct Sums {
    jobs: u64,
    wait: f64,
    execution: f64,
    first: Option<Time>,
    last: Time,
}

impl Default for Measure {
    fn default() -> Self {
        Self { log: JobLog::new(Sums::default()) }
    }
}

/// How far from its work station a job ran, in words.
pub(super) const DISTANCES: [&str; 4] = ["same site", "same net", "same backbone", "another backbone"];

const FAR: [Distance; 4] = [Distance::SameSite, Distance::SameNet, Distance::SameBackbone, Distance::Across];

/// The metrics of [`Measure::results`], and behind them those of [`server_types`].
pub(super) fn names(grid: &GridConfig) -> Vec<String> {
    let fixed = [
        "awt",
        "aet",
        "trt",
        "jobs_lost",
        "messages",
        "moves",
        "moves_butterfly",
        "moves_load_balance",
        "moves_fallback",
        "discoveries",
        "changes",
        "unanswered",
        "resubmitted",
        "events",
        SPREAD,
    ];
    let names = fixed.into_iter().map(str::to_owned);
    let kinds = Kind::ALL.iter().map(|kind| messages_of(*kind));
    let distances = (0..FAR.len()).map(ran_at);
    names.chain(kinds).chain(distances).chain((0..grid.server_nodes.len()).map(servers_of_type)).collect()
}

/// Name of the difference between the AWT of the worst and the best of several runs, in percent of the best.
pub(super) const SPREAD: &str = "awt_spread_percent";

/// Name of the control messages of one kind, per job.
pub(super) fn messages_of(kind: Kind) -> String {
    format!("messages_{}", word(kind))
}

/// A kind of message as transcripts write it.
pub(super) fn word(kind: Kind) -> String {
    serde_json::to_value(kind).ok().and_then(|value| value.as_str().map(str::to_owned)).expect("kinds are words")
}

/// Name of the share of jobs, in percent, that ran as far away as `DISTANCES[distance]`.
pub(super) fn ran_at(distance: usize) -> String {
    format!("percent_{}", DISTANCES[distance].replace(' ', "_"))
}

/// Name of the number of servers that are of one type of Table 1, counted from 0.
pub(super) fn servers_of_type(kind: usize) -> String {
    format!("servers_of_type_{}", kind + 1)
}

impl Measure {
    /// A value for each of the first [`names`]; the spread of one run is not a number.
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    pub(super) fn results(&self, counts: &GridCounts, events: u64) -> Vec<f64> {
        let Sums { jobs, wait, execution, first, last } = self.log.sink();
        let jobs = *jobs as f64;
        let per_job = |count: u64| count as f64 / jobs;
        let mut results = vec![
            wait / jobs,
            execution / jobs,
            first.map_or(f64::NAN, |first| last.since(first).as_secs_f64()),
            counts.submitted as f64 - counts.completed as f64,
            per_job(counts.all_messages()),
            per_job(counts.moves()),
            per_job(counts.butterfly),
            per_job(counts.load_balance),
            per_job(counts.fallback),
            counts.discoveries as f64,
            counts.changes as f64,
            per_job(counts.unanswered),
            per_job(counts.resubmitted),
            per_job(events),
            f64::NAN,
        ];
        results.extend(Kind::ALL.iter().map(|kind| per_job(counts.messages(*kind))));
        results.extend(FAR.iter().map(|distance| 100.0 * per_job(counts.jobs_at(*distance))));
        results
    }
}

/// How many servers of a world are of each type of Table 1.
#[expect(clippy::cast_precision_loss, reason = "counts")]
pub(super) fn server_types(grid: &GridConfig, world: &World) -> Vec<f64> {
    let cpus = grid.server_nodes.iter().zip(&grid.server_cpus).map(|(nodes, cpus)| nodes * cpus);
    cpus.map(|cpus| world.servers().iter().filter(|server| server.cpus == cpus).count() as f64).collect()
}

/// The means of several runs, and how far the AWT of the worst lies above that of the best.
#[expect(clippy::cast_precision_loss, reason = "few runs")]
pub(super) fn of_several(runs: &[Vec<f64>]) -> Vec<f64> {
    let mut means: Vec<f64> =
        (0..runs[0].len()).map(|i| runs.iter().map(|run| run[i]).sum::<f64>() / runs.len() as f64).collect();
    let waits = || runs.iter().map(|run| run[0]);
    let (worst, best) = (waits().fold(f64::MIN, f64::max), waits().fold(f64::MAX, f64::min));
    means[14] = 100.0 * (worst - best) / best;
    means
}

impl Probe for Measure {
    fn observe(&mut self, now: Time, fact: &Fact) {
        self.log.observe(now, fact);
    }
}

impl Sink for Sums {
    fn take_in(&mut self, record: JobRecord) {
        self.jobs += 1;
        self.wait += record.wait().as_secs_f64();
        self.execution += record.finish.since(record.start).as_secs_f64();
        self.first = Some(self.first.map_or(record.job.submit, |first| first.min(record.job.submit)));
        self.last = self.last.max(record.finish);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_has_a_name_and_the_spread_is_that_of_the_waits() {
        let grid = GridConfig::of_the_paper();
        let run = Measure::default().results(&GridCounts::default(), 0);
        assert_eq!(run.len() + grid.server_nodes.len(), names(&grid).len());
        let several: Vec<Vec<f64>> = [2.0, 3.0].map(|wait| [vec![wait], run[1..].to_vec()].concat()).to_vec();
        let means = of_several(&several);
        let at = names(&grid).iter().position(|name| name == SPREAD).expect("a name");
        assert_eq!((means[0].to_bits(), means[at].to_bits()), (2.5_f64.to_bits(), 50.0_f64.to_bits()));
    }
}
