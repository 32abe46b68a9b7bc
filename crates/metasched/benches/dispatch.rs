//! Jobs per second of whole runs.
//!
//! `cargo bench -p metasched`.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use metasched::{Cluster, Config, Ffit, MetaLoras, Ptt, Readings, Rr, SelectCluster, Submission, Tat, Weights};
use sim_core::{Sim, Streams};

#[path = "../tests/it/generator.rs"]
mod generator;
use generator::Load;

fn run(config: &Config, policy: impl SelectCluster, jobs: Vec<Submission>) -> usize {
    let mut finished = 0;
    let ledger = |_: &metasched::Outcome| finished += 1;
    let world = MetaLoras::new(config.clone(), policy, jobs.into_iter(), ledger, &Streams::new(1, 0)).expect("valid");
    drop(Sim::new(world, ()).run());
    finished
}

fn paper(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("three clusters of five");
    let readings = Readings::default();
    for interarrival in [40.0, 60.0] {
        let jobs = Load { copies: 1000, interarrival, sigma: 0.1 }.submissions(&Streams::new(1, 0));
        group.throughput(Throughput::Elements(jobs.len() as u64));
        let mut bench = |name: &str, run: &dyn Fn(Vec<Submission>) -> usize| {
            group.bench_function(BenchmarkId::new(name, interarrival), |bencher| {
                bencher.iter_batched(|| jobs.clone(), run, BatchSize::LargeInput);
            });
        };
        let config = Config::of_the_paper(1);
        bench("FFIT", &|jobs| run(&config, Ffit::new(&readings), jobs));
        bench("RR", &|jobs| run(&config, Rr::new(&readings), jobs));
        bench("TAT", &|jobs| run(&config, Tat::new(&readings), jobs));
        bench("PTT", &|jobs| run(&config, Ptt::new(&readings, Weights::Same(0.5)), jobs));
    }
    group.finish();
}

fn many(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("1000 clusters of 64");
    let readings = Readings::default();
    for load in [0.3, 0.6, 0.9] {
        let interarrival = 40.0 * 1.0916 / load * 15.0 / 64_000.0;
        let jobs = Load { copies: 1000, interarrival, sigma: 0.1 }.submissions(&Streams::new(1, 0));
        group.throughput(Throughput::Elements(jobs.len() as u64));
        let mut config = Config::of_the_paper(0);
        config.clusters = vec![Cluster { nodes: 64, speed: 1.0, memory: 1 << 20 }; 1000];
        config.local.clusters = 300;
        group.bench_function(BenchmarkId::new("TAT", load), |bencher| {
            bencher.iter_batched(
                || jobs.clone(),
                |jobs| run(&config, Tat::new(&readings), jobs),
                BatchSize::LargeInput,
            );
        });
        group.bench_function(BenchmarkId::new("PTT", load), |bencher| {
            let ptt = || Ptt::new(&readings, Weights::Same(0.5));
            bencher.iter_batched(|| jobs.clone(), |jobs| run(&config, ptt(), jobs), BatchSize::LargeInput);
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = paper, many
}
criterion_main!(benches);
