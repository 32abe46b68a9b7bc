//! Jobs per second of a whole run.
//!
//! `cargo bench -p gang-grid`. The figures of interest: the paper's setting with its bookkeeping (`JobLog`) and without; and the
//! same load per site on two sites and on a thousand. There a job costs a few times as much, since 16 000 pending
//! events exceed the fast caches; a cost that grew with the number of sites would be hundreds of times as much.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gang_grid::{Approach, Config, Grid, Submission};
use sim_core::{JobLog, JobRecord, Probe, Sim, Streams};
use std::hint::black_box;

#[path = "../tests/it/generator.rs"]
mod generator;
use generator::Load;

const JOBS: u32 = 40_000;

fn run<P: Probe>(config: &Config, submissions: Vec<Submission>, probe: P) -> u64 {
    let grid = Grid::new(config.clone(), submissions.into_iter(), &Streams::new(2010, 0)).expect("valid");
    let (grid, probe) = Sim::new(grid, probe).run();
    black_box(probe);
    grid.completed()
}

/// Probe that assembles records, as in an experiment.
fn log() -> impl Probe {
    JobLog::new(|record: JobRecord| {
        black_box(record.response());
    })
}

fn paper(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("two sites of 16");
    group.throughput(Throughput::Elements(JOBS.into()));
    for (name, approach) in [("1", Approach::One), ("2", Approach::Two), ("3", Approach::Three)] {
        for rate in [12.5, 10.0, 8.333] {
            let submissions: Vec<_> = Load::of_the_paper(rate).submissions(JOBS, &Streams::new(2010, 0)).collect();
            let config = Config::uniform(2, 16, approach);
            for (kind, with_log) in [("log", true), ("no probe", false)] {
                let id = BenchmarkId::new(format!("approach {name}, {kind}"), rate);
                group.bench_function(id, |bencher| {
                    let setup = || submissions.clone();
                    if with_log {
                        bencher.iter_batched(setup, |jobs| run(&config, jobs, log()), BatchSize::LargeInput);
                    } else {
                        bencher.iter_batched(setup, |jobs| run(&config, jobs, ()), BatchSize::LargeInput);
                    }
                });
            }
        }
    }
    group.finish();
}

fn sites(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ten locals a second per site of 16");
    // Gangs of 20 find no room inside one site.
    for (name, sizes) in [("inside sites", &[2, 4, 8, 16][..]), ("some span sites", &[2, 4, 8, 16, 20][..])] {
        for sites in [2_u16, 1000] {
            let jobs = JOBS * 5;
            group.throughput(Throughput::Elements(jobs.into()));
            let load = Load { sites: sites.into(), locals: 10.0, gangs: 0.25 * f64::from(sites), sizes };
            let submissions: Vec<_> = load.submissions(jobs, &Streams::new(2010, 0)).collect();
            let config = Config::uniform(sites.into(), 16, Approach::Two);
            group.bench_function(BenchmarkId::new(name, sites), |bencher| {
                bencher.iter_batched(|| submissions.clone(), |jobs| run(&config, jobs, log()), BatchSize::LargeInput);
            });
        }
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = paper, sites
}
criterion_main!(benches);
