//! Scenario: a thousand clusters of 64 nodes, local users in 300 of them, 100 000 jobs of the paper's mix.
//!
//! Shows: the cost of a metascheduler that predicts on each cluster (run it under `time`), and its benefit.
//!
//! `cargo run --release -p metasched --example thousand_clusters [load] [policy] [jobs]`

use metasched::config::Forecasts;
use metasched::{Cluster, Config, Ffit, MetaLoras, Ptt, Rr, SelectCluster, Tat, Weights};
use sim_core::{Sim, Streams};

#[path = "../tests/it/generator.rs"]
mod generator;
use generator::Load;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let load: f64 = arguments.next().map_or(0.6, |text| text.parse().expect("a load, as 0.6"));
    let policy = arguments.next().unwrap_or_else(|| "tat".to_owned());
    let jobs: usize = arguments.next().map_or(2000, |text| text.parse().expect("a number of jobs"));

    let mut config = Config::of_the_paper(0);
    config.clusters = vec![Cluster { nodes: 64, speed: 1.0, memory: 1 << 20 }; 1000];
    config.local.clusters = 300;
    config.forecasts = Forecasts::AsThePolicyAsks;
    let readings = &config.readings;
    let policy: Box<dyn SelectCluster> = match policy.as_str() {
        "ffit" => Box::new(Ffit::new(readings)),
        "rr" => Box::new(Rr::new(readings)),
        "tat" => Box::new(Tat::new(readings)),
        _ => Box::new(Ptt::new(readings, Weights::Same(policy.parse().expect("ffit, rr, tat, or a weight")))),
    };

    // Mean CPU seconds of a job over the mix; load 1 requires all of the CPU.
    let cpu_secs = (240.0 * 0.7 + 120.0 * 0.45 + 180.0 * 0.75 + 480.0 * 0.9) / 4.0 * (2.0 + 4.0 + 5.0) / 3.0;
    let interarrival = cpu_secs / (load * 64_000.0);
    let load = Load { copies: jobs.div_ceil(12), interarrival, ..Load::OF_THE_PAPER };
    let jobs = load.submissions(&Streams::new(1, 0));
    let world = MetaLoras::new(config, policy, jobs.into_iter(), Vec::new(), &Streams::new(1, 0)).expect("valid");
    let (world, ()) = Sim::new(world, ()).run();
    let turnaround: f64 = world.outcomes().iter().map(|outcome| outcome.turnaround().as_secs_f64()).sum();
    let finished = world.outcomes().len();
    println!("{finished} jobs, mean turnaround {:.1} s", turnaround / finished as f64);
}
