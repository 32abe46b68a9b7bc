//! Experiments 1 and 3 of the paper with a few replications.
//!
//! Scenario: the paper's world, jobs of 1 GB, the four systems side by side.
//!
//! Shows:
//! - the set-up and measurement of an experiment without the rest of the workspace,
//! - the wait time in a tree, which is shorter than among peers, and much shorter on an idle grid,
//! - its cost in messages.
//!
//! Run it: `cargo run --release --package hier-grid --example claims -- [EXPERIMENT] [MEAN_INPUT] [REPLICATIONS]`, where
//! EXPERIMENT is 1, or the mean interval of experiment 3 in seconds; add `off` to switch off butterfly and load-balance,
//! `bare` to switch off all three algorithms.

use hier_grid::config::SubmissionRule;
use hier_grid::world::Distance;
use hier_grid::{Algorithms, Config, Experiment, Grid, GridCounts, System};
use sim_core::record::Sink;
use sim_core::{JobLog, JobRecord, Sim, Streams, Time};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, or: f64| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(or);
    let experiment = match number(0, 1.0) {
        1.0 => Experiment::first(),
        mean => Experiment { submission: SubmissionRule::Thinking { means: vec![mean], chance: None }, changes: None },
    };
    let mean_input = number(1, 1.0);
    let replications = 1..=arguments.get(2).and_then(|text| text.parse::<u32>().ok()).unwrap_or(3);
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let rescheduling = !has("off") && !has("bare");
    let algorithms = Algorithms { butterfly: rescheduling, fallback: !has("bare"), load_balance: rescheduling };

    println!(
        "  jobs  system   AWT s (worst/best)    AET s     TRT s   messages   moves   same site, net, backbone, across"
    );
    for count in [520, 1040, 1560, 3000, 10_000] {
        let systems =
            [("P2P", System::P2p), ("1T", System::Trees(1)), ("4T", System::Trees(4)), ("16T", System::Trees(16))];
        for (name, system) in systems {
            let mut config = Config::of_the_paper(system, count, mean_input);
            (config.experiment, config.algorithms) = (experiment.clone(), algorithms);
            let runs: Vec<(Sums, GridCounts)> =
                replications.clone().map(|replication| simulate(&config, Streams::new(2007, replication))).collect();
            print(count, name, &runs);
        }
    }
}

fn simulate(config: &Config, streams: Streams) -> (Sums, GridCounts) {
    let grid = Grid::new(config.clone(), &streams, ()).expect("a valid configuration");
    let (grid, log) = Sim::new(grid, JobLog::new(Sums::default())).run();
    (log.into_sink(), grid.counts().clone())
}

/// Equations (3) to (5), as sums.
#[derive(Default)]
struct Sums {
    wait: f64,
    execution: f64,
    first: Option<Time>,
    last: Time,
}

impl Sink for Sums {
    fn take_in(&mut self, record: JobRecord) {
        self.wait += record.wait().as_secs_f64();
        self.execution += record.finish.since(record.start).as_secs_f64();
        self.first = Some(self.first.map_or(record.job.submit, |first| first.min(record.job.submit)));
        self.last = self.last.max(record.finish);
    }
}

fn print(count: u32, name: &str, runs: &[(Sums, GridCounts)]) {
    let jobs = f64::from(count);
    let mean = |of: &dyn Fn(&(Sums, GridCounts)) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
    let wait = |(sums, _): &(Sums, GridCounts)| sums.wait / jobs;
    let (worst, best) = (runs.iter().map(wait).fold(0.0, f64::max), runs.iter().map(wait).fold(f64::MAX, f64::min));
    let total = |(sums, _): &(Sums, GridCounts)| sums.last.since(sums.first.expect("jobs")).as_secs_f64();
    let share = |distance| 100.0 * mean(&|(_, counts)| counts.jobs_at(distance) as f64 / jobs);
    let [site, net, backbone, across] =
        [Distance::SameSite, Distance::SameNet, Distance::SameBackbone, Distance::Across].map(share);
    println!(
        "{count:6}  {name:6} {:10.1} ({:7.3}) {:10.1} {:10.1} {:10.1} {:7.3}   {site:3.0} {net:3.0} {backbone:3.0} {across:3.0} %",
        mean(&wait),
        worst / best,
        mean(&|(sums, _)| sums.execution / jobs),
        mean(&total),
        mean(&|(_, counts)| counts.all_messages() as f64 / jobs),
        mean(&|(_, counts)| counts.moves() as f64 / jobs),
    );
}
