//! Metrics of one run and their measurement: equations (3) to (5), and counters.

use hier_grid::config::GridConfig;
use hier_grid::world::Distance;
use hier_grid::{GridCounts, Kind, World};
use lab::metric::{Metric as _, Values};
use sim_core::record::Sink;
use sim_core::{JobRecord, Time};

/// Distance of a job from its work station, in words.
pub(super) const DISTANCES: [&str; 4] = ["same site", "same net", "same backbone", "another backbone"];

lab::metrics! {
    pub(crate) struct Measured of Metric {
        /// Mean time from request to offer, equation (4).
        awt: "average waiting time" ("s") smaller,
        /// Mean time from offer to output, equation (5).
        aet: "average execution time" ("s") smaller,
        /// From the first request to the last output, equation (3).
        trt: "total response time" ("s") smaller,
        /// Jobs submitted that did not complete.
        jobs_lost: "jobs lost" smaller zero,
        /// Control messages of all kinds.
        messages: "control messages per job" smaller,
        /// Moves of a job by butterfly, load-balance or fallback.
        moves: "moves per job",
        /// Moves of a job by butterfly.
        moves_butterfly: "moves by butterfly, per job",
        /// Moves of a job by load-balance.
        moves_load_balance: "moves by load-balance, per job",
        /// Moves of a job by fallback.
        moves_fallback: "moves by fallback, per job",
        /// Discoveries of the nodes below a scheduler.
        discoveries: "discoveries" zero,
        /// Changes of a server's operating system.
        changes: "changes of resources" zero,
        /// Requests that got no offer.
        unanswered: "requests without an offer, per job" smaller,
        /// Resubmissions of a job.
        resubmitted: "resubmissions per job" smaller,
        /// Events of the simulation.
        events: "events per job",
        /// Excess of the worst AWT of several runs over the best, in percent of the best; undefined for one run.
        awt_spread_percent: "worst above best" ("%") smaller,
        /// Control messages of one kind.
        messages_of(Kind, kind => format!("messages_{}", word(kind))): "control messages of a kind, per job",
        /// Jobs that ran at this distance from their work station.
        percent_at(usize, distance => format!("percent_{}", DISTANCES[distance].replace(' ', "_"))): "jobs" ("%"),
        /// Servers in the world that are of one type of Table 1.
        servers_of_type(usize, kind => format!("servers_of_type_{}", kind + 1)): "servers in the world" zero,
    }
}

/// Returns the name of a kind of message in transcripts.
pub(super) fn word(kind: Kind) -> String {
    serde_json::to_value(kind).ok().and_then(|value| value.as_str().map(str::to_owned)).expect("kinds are words")
}

#[derive(Default)]
pub(super) struct RunSums {
    jobs: u64,
    wait: f64,
    execution: f64,
    first: Option<Time>,
    last: Time,
}

const FAR: [Distance; 4] = [Distance::SameSite, Distance::SameNet, Distance::SameBackbone, Distance::Across];

impl RunSums {
    /// Returns the metrics of a run in a world with `servers` of each type; the spread of one run is NaN.
    pub(super) fn results(&self, counts: &GridCounts, events: u64, servers: Vec<(usize, f64)>) -> Measured {
        let Self { jobs, wait, execution, first, last } = *self;
        let jobs = jobs as f64;
        let per_job = |count: u64| count as f64 / jobs;
        Measured {
            awt: wait / jobs,
            aet: execution / jobs,
            trt: first.map_or(f64::NAN, |first| last.since(first).as_secs_f64()),
            jobs_lost: counts.submitted as f64 - counts.completed as f64,
            messages: per_job(counts.all_messages()),
            moves: per_job(counts.moves()),
            moves_butterfly: per_job(counts.butterfly),
            moves_load_balance: per_job(counts.load_balance),
            moves_fallback: per_job(counts.fallback),
            discoveries: counts.discoveries as f64,
            changes: counts.changes as f64,
            unanswered: per_job(counts.unanswered),
            resubmitted: per_job(counts.resubmitted),
            events: per_job(events),
            awt_spread_percent: f64::NAN,
            messages_of: Kind::ALL.iter().map(|kind| (*kind, per_job(counts.messages(*kind)))).collect(),
            percent_at: FAR.iter().map(|distance| 100.0 * per_job(counts.jobs_at(*distance))).enumerate().collect(),
            servers_of_type: servers,
        }
    }
}

pub(super) fn all(grid: &GridConfig) -> Vec<Metric> {
    let kinds = Kind::ALL.iter().map(|kind| Metric::messages_of(*kind));
    let distances = (0..FAR.len()).map(Metric::percent_at);
    let types = (0..grid.server_nodes.len()).map(Metric::servers_of_type);
    Metric::list().into_iter().chain(kinds).chain(distances).chain(types).collect()
}

/// Counts the servers of each type of Table 1 in a world; types are numbered from 0.
pub(super) fn server_types(grid: &GridConfig, world: &World) -> Vec<(usize, f64)> {
    let cpus = grid.server_nodes.iter().zip(&grid.server_cpus).map(|(nodes, cpus)| nodes * cpus);
    let of_type = |cpus| world.servers().iter().filter(|server| server.cpus == cpus).count() as f64;
    cpus.map(of_type).enumerate().collect()
}

/// Returns the means of several runs, and the relative difference between the worst and the best AWT.
pub(super) fn of_several(runs: &[Values<Metric>]) -> Values<Metric> {
    let waits = || runs.iter().filter_map(|run| run.of(Metric::awt));
    let (worst, best) = (waits().fold(f64::MIN, f64::max), waits().fold(f64::MAX, f64::min));
    Values::mean_of(runs).with(Metric::awt_spread_percent, 100.0 * (worst - best) / best)
}

impl Sink for RunSums {
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
    fn every_result_is_listed_and_the_spread_is_that_of_the_waits() {
        let grid = GridConfig::of_the_paper();
        let servers = (0..grid.server_nodes.len()).map(|kind| (kind, 0.0)).collect();
        let run: Values<Metric> = RunSums::default().results(&GridCounts::default(), 0, servers).into();
        let metrics = all(&grid);
        assert_eq!(run.in_order(&metrics).len(), metrics.len());
        let several = of_several(&[2.0, 3.0].map(|wait| run.clone().with(Metric::awt, wait)));
        let found = [Metric::awt, Metric::awt_spread_percent].map(|metric| several.of(metric).expect("measured"));
        assert_eq!(found.map(f64::to_bits), [2.5, 50.0].map(f64::to_bits));
    }
}
