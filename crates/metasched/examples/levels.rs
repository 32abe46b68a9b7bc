//! Scenario: the paper's platform and workload; six policies; local users in 0, 1, 2 and 3 of the three clusters.
//!
//! Shows: turnaround, makespan and the local users' slowdown, as in figures 3 to 5, and the accuracy of predictions.
//!
//! `cargo run --release -p metasched --example levels [replications] [reading-b]`

use metasched::{Config, Ffit, MetaLoras, Outcome, Ptt, Readings, Rr, SelectCluster, Tat, Weights};
use sim_core::{Sim, Span, Streams};

#[path = "../tests/it/generator.rs"]
mod generator;
use generator::Load;

const POLICIES: [&str; 6] = ["FFIT", "RR", "TAT", "PTT W=0", "PTT W=0.5", "PTT W=1"];
const LEVELS: [u32; 4] = [0, 30, 60, 100];

struct Run {
    outcomes: Vec<Outcome>,
    makespan: Span,
    disturbance: Option<f64>,
}

fn run(config: &Config, policy: impl SelectCluster, streams: &Streams) -> Run {
    let jobs = Load::OF_THE_PAPER.submissions(streams).into_iter();
    let world = MetaLoras::new(config.clone(), policy, jobs, Vec::new(), streams).expect("a valid configuration");
    let (world, ()) = Sim::new(world, ()).run();
    let disturbance = world.disturbance().map(|(seconds, nodes)| seconds / f64::from(nodes));
    Run { outcomes: world.outcomes().clone(), makespan: world.makespan(), disturbance }
}

fn all(config: &Config, streams: &Streams) -> [Run; 6] {
    let readings = &config.readings;
    let ptt = |weight| run(config, Ptt::new(readings, Weights::Same(weight)), streams);
    [
        run(config, Ffit::new(readings), streams),
        run(config, Rr::new(readings), streams),
        run(config, Tat::new(readings), streams),
        ptt(0.0),
        ptt(0.5),
        ptt(1.0),
    ]
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let replications: u32 = arguments.next().map_or(5, |text| text.parse().expect("a number of replications"));
    let readings = if arguments.next().is_some() { Readings::reading_b() } else { Readings::default() };
    // For each level, policy and replication: turnaround, makespan, slowdown, prediction error.
    let mut rows = Vec::new();
    for (level, occupied) in LEVELS.into_iter().zip(0..) {
        let config = Config { readings, ..Config::of_the_paper(occupied) };
        let mut sums = [[0.0; 4]; 6];
        for replication in 0..replications {
            let runs = all(&config, &Streams::new(2006, replication));
            let window = runs.iter().map(|run| run.makespan).max().expect("six runs");
            for (sum, run) in sums.iter_mut().zip(&runs) {
                sum[0] += mean(run.outcomes.iter().map(|outcome| outcome.turnaround().as_secs_f64()));
                sum[1] += run.makespan.as_secs_f64();
                sum[2] += run.disturbance.map_or(f64::NAN, |disturbance| 1.0 + disturbance / window.as_secs_f64());
                sum[3] += 100.0 * mean(run.outcomes.iter().filter_map(Outcome::prediction_error));
            }
        }
        rows.push((level, sums.map(|sum| sum.map(|sum| sum / f64::from(replications)))));
    }
    for (metric, name) in
        ["turnaround (s)", "makespan (s)", "local slowdown", "prediction error (%)"].iter().enumerate()
    {
        println!("{name}");
        println!("{:>6}  {}", "local", POLICIES.map(|policy| format!("{policy:>9}")).join(" "));
        for (level, cells) in &rows {
            let digits = if metric == 2 { 3 } else { 1 };
            let cells = cells.map(|cell| format!("{:9.digits$}", cell[metric]));
            println!("{level:>4} %  {}", cells.join(" "));
        }
    }
}
