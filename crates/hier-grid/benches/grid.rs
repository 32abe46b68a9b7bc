//! Jobs and events per second of whole runs.
//!
//! `cargo bench -p hier-grid`. The figures of interest: the hierarchical system with 10 000 jobs (the target is 150 000 jobs per second
//! and a million events), the other systems beside it, and the cost of an observer. `events` counts events instead of jobs. `sites`
//! runs the same load per site in larger worlds: a cost per job that grows with the world is due to its depth and to cache misses.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hier_grid::config::SubmissionRule;
use hier_grid::{Config, Experiment, Grid, Message, MessageObserver, System};
use sim_core::{JobLog, JobRecord, Probe, Sim, Streams};
use std::hint::black_box;

const JOBS: u32 = 10_000;

fn run<W: MessageObserver, P: Probe>(grid: Grid<W>, probe: P) -> u64 {
    let (grid, probe) = Sim::new(grid, probe).run();
    black_box(probe);
    grid.counts().completed
}

/// Probe that assembles records, as in an experiment.
fn log() -> impl Probe {
    JobLog::new(|record: JobRecord| {
        black_box(record.response());
    })
}

fn grid<W: MessageObserver>(config: &Config, observer: W) -> Grid<W> {
    Grid::new(config.clone(), &Streams::new(2007, 0), observer).expect("a valid configuration")
}

fn paper(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("the paper's world");
    group.throughput(Throughput::Elements(JOBS.into()));
    let systems =
        [("P2P", System::P2p), ("1T", System::Trees(1)), ("4T", System::Trees(4)), ("16T", System::Trees(16))];
    for (name, system) in systems {
        let means = vec![600.0, 1800.0, 3600.0, 18_000.0, 86_400.0, 604_800.0];
        let second = SubmissionRule::Thinking { means, chance: Some([0.01, 1.0]) };
        let second = Experiment { submission: second, changes: None };
        for (experiment, of) in [(1, Experiment::first()), (2, second)] {
            let config = Config { experiment: of, ..Config::of_the_paper(system, JOBS, 1.0) };
            group.bench_function(BenchmarkId::new(name, experiment), |bencher| {
                bencher.iter_batched(|| grid(&config, ()), |grid| run(grid, log()), BatchSize::LargeInput);
            });
        }
    }
    let config = Config::of_the_paper(System::Trees(1), JOBS, 1.0);
    group.bench_function("1T, with an observer", |bencher| {
        let setup = || grid(&config, Vec::<Message>::new());
        bencher.iter_batched(setup, |grid| run(grid, log()), BatchSize::LargeInput);
    });
    group.finish();
}

fn events(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("events, 10 000 jobs");
    for (name, system) in [("P2P", System::P2p), ("1T", System::Trees(1)), ("16T", System::Trees(16))] {
        let config = Config::of_the_paper(system, JOBS, 1.0);
        let mut sim = Sim::new(grid(&config, ()), ());
        let mut events = 0;
        while sim.step() {
            events += 1;
        }
        group.throughput(Throughput::Elements(events));
        group.bench_function(name, |bencher| {
            bencher.iter_batched(|| grid(&config, ()), |grid| run(grid, ()), BatchSize::LargeInput);
        });
    }
    group.finish();
}

fn sites(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("1T, five jobs a server");
    for backbones in [1_u32, 10, 40] {
        let mut config = Config::of_the_paper(System::Trees(1), 650 * backbones, 1.0);
        (config.grid.backbones, config.grid.servers, config.grid.tree[0]) = (backbones, 130 * backbones, backbones);
        group.throughput(Throughput::Elements(config.jobs.count.into()));
        group.bench_function(BenchmarkId::from_parameter(40 * backbones), |bencher| {
            bencher.iter_batched(|| grid(&config, ()), |grid| run(grid, log()), BatchSize::LargeInput);
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = paper, events, sites
}
criterion_main!(benches);
