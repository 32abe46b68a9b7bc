//! Jobs per second of whole runs.
//!
//! `cargo bench -p metasched`. On the paper's platform TAT and PTT simulate three clusters for each job; the target is 100 000 jobs
//! per second. On more clusters under the same load the cost of a job may grow with their number,
//! since each is examined, and grows less as long as few must be simulated. A longer run costs no more per job. FFIT and
//! RR are measured without forecasts: predictions of jobs behind a long queue simulate the whole queue.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use metasched::config::Forecasts;
use metasched::{Cluster, Config, Ffit, MetaLoras, Ptt, Readings, Rr, SelectCluster, Submission, Tat, Weights};
use sim_core::{Sim, Streams};

#[path = "../tests/it/generator.rs"]
mod generator;
use generator::Load;

fn run(config: &Config, policy: impl SelectCluster, jobs: Vec<Submission>) -> usize {
    let world =
        MetaLoras::new(config.clone(), policy, jobs.into_iter(), Vec::new(), &Streams::new(1, 0)).expect("valid");
    Sim::new(world, ()).run().0.outcomes().len()
}

fn jobs(copies: usize, interarrival: f64) -> Vec<Submission> {
    Load { copies, interarrival, ..Load::OF_THE_PAPER }.submissions(&Streams::new(1, 0))
}

fn paper(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("three clusters of five");
    let readings = Readings::default();
    let config = Config { forecasts: Forecasts::AsThePolicyAsks, ..Config::of_the_paper(1) };
    for (copies, interarrival) in [(1000, 40.0), (1000, 60.0), (4000, 60.0)] {
        let jobs = jobs(copies, interarrival);
        group.throughput(Throughput::Elements(jobs.len() as u64));
        let mut bench = |name: &str, run: &dyn Fn(Vec<Submission>) -> usize| {
            let id = BenchmarkId::new(name, format!("{} jobs, one every {interarrival} s", jobs.len()));
            group.bench_function(id, |bencher| bencher.iter_batched(|| jobs.clone(), run, BatchSize::LargeInput));
        };
        bench("FFIT", &|jobs| run(&config, Ffit::new(&readings), jobs));
        bench("RR", &|jobs| run(&config, Rr::new(&readings), jobs));
        bench("TAT", &|jobs| run(&config, Tat::new(&readings), jobs));
        bench("PTT", &|jobs| run(&config, Ptt::new(&readings, Weights::Same(0.5)), jobs));
    }
    group.finish();
}

fn clusters(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("clusters of 64 nodes at load 0.6");
    let readings = Readings::default();
    for clusters in [10_u32, 100, 1000] {
        // On 15 nodes a job every 43.7 s requires all of the CPU.
        let jobs = jobs(500, 43.7 / 0.6 * 15.0 / (64.0 * f64::from(clusters)));
        group.throughput(Throughput::Elements(jobs.len() as u64));
        let mut config = Config::of_the_paper(0);
        config.clusters = vec![Cluster { nodes: 64, speed: 1.0, memory: 1 << 20 }; clusters as usize];
        config.local.clusters = clusters * 3 / 10;
        group.bench_function(BenchmarkId::new("TAT", clusters), |bencher| {
            bencher.iter_batched(
                || jobs.clone(),
                |jobs| run(&config, Tat::new(&readings), jobs),
                BatchSize::LargeInput,
            );
        });
        group.bench_function(BenchmarkId::new("PTT", clusters), |bencher| {
            let ptt = || Ptt::new(&readings, Weights::Same(0.5));
            bencher.iter_batched(|| jobs.clone(), |jobs| run(&config, ptt(), jobs), BatchSize::LargeInput);
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = paper, clusters
}
criterion_main!(benches);
