//! The paper's world, and the checks of the specification that need it.

use crate::common::Transcript;
use hier_grid::config::{ServerDraw, Sizes, SubmissionRule};
use hier_grid::{Config, Experiment, Grid, System, World};
use sim_core::{Fact, JobId, JobLog, JobRecord, Sim, SiteId, Span, Streams};
use std::collections::BTreeMap;

const SYSTEMS: [System; 4] = [System::P2p, System::Trees(1), System::Trees(4), System::Trees(16)];

fn records(config: &Config, streams: Streams) -> Vec<JobRecord> {
    let grid = Grid::new(config.clone(), &streams, ()).expect("a valid configuration");
    let (grid, log) = Sim::new(grid, JobLog::collecting()).run();
    assert_eq!(grid.is_at_rest(), Ok(()));
    log.into_sink()
}

fn mean_wait(records: &[JobRecord]) -> f64 {
    let waits: f64 = records.iter().map(|record| record.wait().as_secs_f64()).sum();
    waits / f64::from(u32::try_from(records.len()).expect("few"))
}

#[test]
fn the_world_has_160_sites_520_servers_and_1880_work_stations() {
    let config = Config::of_the_paper(System::P2p, 520, 1.0);
    let world = World::draw(&config, &Streams::new(1, 0)).expect("a valid configuration");
    assert_eq!((world.sites(), world.servers().len(), world.stations()), (160, 520, 1880));
    for site in (0..160).map(SiteId) {
        let servers = world.servers_at(site).len();
        assert!((2..=6).contains(&servers));
        assert_eq!(world.stations_at(site).len(), 15 - servers);
    }
    let types: u32 =
        config.grid.server_nodes.iter().zip(&config.grid.server_cpus).map(|(nodes, cpus)| nodes * cpus).sum();
    assert_eq!(types, 11_844);
}

#[test]
fn servers_are_the_same_in_all_replications_unless_redrawn() {
    let mut config = Config::of_the_paper(System::P2p, 520, 1.0);
    let world = |config: &Config, replication| World::draw(config, &Streams::new(7, replication)).expect("valid");
    assert_eq!(world(&config, 0), world(&config, 5));
    config.readings.servers = ServerDraw::Redrawn;
    assert_ne!(world(&config, 0), world(&config, 5));
}

#[test]
fn trees_are_cut_as_the_paper_does() {
    let schedulers = |trees| {
        let config = Config::of_the_paper(System::Trees(trees), 1, 1.0);
        let grid = Grid::new(config, &Streams::new(1, 0), ()).expect("valid");
        let mut levels: BTreeMap<u32, usize> = BTreeMap::new();
        for scheduler in grid.schedulers() {
            *levels.entry(scheduler.level).or_default() += 1;
        }
        levels.into_values().collect::<Vec<_>>()
    };
    assert_eq!(schedulers(1), [1, 4, 16, 32, 160]);
    assert_eq!(schedulers(4), [4, 16, 32, 160]);
    assert_eq!(schedulers(16), [16, 32, 160]);
    // Any number: seven trees of two or three nets each, with a root above them.
    assert_eq!(schedulers(7), [7, 16, 32, 160]);
    assert_eq!(schedulers(160), [160, 160]);
}

#[test]
fn one_job_on_an_idle_grid_waits_for_latency_only() {
    for system in SYSTEMS {
        let records = records(&Config::of_the_paper(system, 1, 1.0), Streams::new(3, 0));
        let wait = records[0].wait();
        assert!(wait > Span::ZERO && wait < Span::from_secs_f64(0.1), "{system:?}: {wait} s");
    }
}

#[test]
fn all_systems_meet_the_same_jobs() {
    let jobs = |system| {
        let grid = Grid::new(Config::of_the_paper(system, 2000, 1.0), &Streams::new(3, 1), ()).expect("valid");
        let (_, told) = Sim::new(grid, Transcript::new()).run();
        let runtimes = told.into_iter().filter_map(|(_, fact)| match fact {
            Fact::Submitted(job) => Some((job.id, job.runtime)),
            _ => None,
        });
        runtimes.collect::<BTreeMap<JobId, Span>>()
    };
    let first = jobs(System::P2p);
    assert_eq!(first.len(), 2000);
    for system in &SYSTEMS[1..] {
        assert_eq!(jobs(*system), first, "{system:?}");
    }
}

#[test]
fn every_system_finishes_every_experiment() {
    let thinking = |means, chance| Experiment { submission: SubmissionRule::Thinking { means, chance }, changes: None };
    let second = thinking(vec![600.0, 18_000.0, 604_800.0], Some([0.01, 1.0]));
    // Servers change their operating system after 1 to 180 days.
    let changes = Some([1.0, 7.0, 30.0, 180.0].map(|days| days * 86_400.0).to_vec());
    let fourth = Experiment { changes, ..Experiment::first() };
    let experiments = [Experiment::first(), second, thinking(vec![3600.0], None), fourth];
    for system in SYSTEMS {
        for experiment in &experiments {
            let config = Config { experiment: experiment.clone(), ..Config::of_the_paper(system, 1040, 10.0) };
            assert_eq!(records(&config, Streams::new(5, 0)).len(), 1040);
        }
    }
}

/// In experiment 1 all times except latencies are proportional to the jobs': ten times the work, ten times the wait.
#[test]
fn in_experiment_1_times_scale_with_job_size() {
    for system in SYSTEMS {
        let wait = |mean_input| {
            let mut config = Config::of_the_paper(system, 3000, mean_input);
            // Sizes of the same draws, instead of a Poisson variable whose spread shrinks with its mean.
            config.readings.sizes = Sizes::Exponential;
            mean_wait(&records(&config, Streams::new(11, 0)))
        };
        let ratio = wait(1000.0) / wait(100.0);
        assert!((9.7..10.3).contains(&ratio), "{system:?}: {ratio}");
    }
}

/// The first draws are part of the format of every published result: if this test fails, all numbers move.
#[test]
fn value_stability() {
    let config = Config::of_the_paper(System::Trees(1), 3, 1.0);
    let world = World::draw(&config, &Streams::new(42, 0)).expect("valid");
    let servers: Vec<_> =
        world.servers().iter().take(4).map(|server| (server.site.0, server.cpus, server.systems)).collect();
    assert_eq!(servers, [(0, 1152, 2), (0, 2944, 1), (1, 1152, 2), (1, 256, 4)]);
    let records = records(&config, Streams::new(42, 0));
    let runtimes: Vec<_> = records.iter().map(|record| record.job.runtime.as_nanos()).collect();
    assert_eq!(runtimes, [5_907_867_869_413, 4_809_378_556_863, 5_772_708_322_626]);
}
