//! Shared set-up: small worlds with any shape, servers, readings and switches.

use hier_grid::config::{Sizes, SubmissionRule};
use hier_grid::{Algorithms, Config, Experiment, Grid, MessageObserver, Places, Readings, Shape, System, World};
use proptest::prelude::*;
use proptest::sample::select;
use sim_core::{Fact, JobId, Probe, ProcId, Sim, Streams, Time, testkit};
use std::collections::BTreeMap;

/// Facts, in order.
pub(crate) type Transcript = Vec<(Time, Fact)>;

/// A world, its configuration, and its seed.
#[derive(Clone, Debug)]
pub(crate) struct Small {
    pub(crate) config: Config,
    pub(crate) world: World,
    pub(crate) seed: u64,
}

impl Small {
    pub(crate) fn grid<W: MessageObserver>(&self, observer: W) -> Grid<W> {
        let streams = Streams::new(self.seed, 0);
        Grid::in_world(self.config.clone(), self.world.clone(), &streams, observer).expect("a valid configuration")
    }

    pub(crate) fn start<W: MessageObserver, P: Probe>(&self, observer: W, probe: P) -> Sim<Grid<W>, P> {
        Sim::new(self.grid(observer), probe)
    }

    pub(crate) fn finish<W: MessageObserver, P: Probe>(&self, observer: W, probe: P) -> (Grid<W>, P) {
        finish(self.start(observer, probe))
    }
}

/// Runs to the end; panics in a livelock, after 3 000 000 events.
pub(crate) fn finish<W: MessageObserver, P: Probe>(mut sim: Sim<Grid<W>, P>) -> (Grid<W>, P) {
    for _ in 0..3_000_000 {
        if !sim.step() {
            return sim.into_parts();
        }
    }
    let grid = sim.model();
    panic!("no end after 3 million events at {} s: {:?}", sim.now(), grid.counts());
}

/// Up to 12 sites in nets and backbones.
fn places() -> impl Strategy<Value = Places> {
    (1..=2_u32, 1..=2_u32, 1..=3_u32).prop_map(|(backbones, nets, sites)| Places { backbones, nets, sites })
}

/// Any tree over `sites` sites: a random composition of them, level after level.
fn shape(sites: usize, cuts: &[u8]) -> Shape {
    let mut parts: Vec<Shape> = vec![Shape::site(); sites];
    for cut in cuts {
        let mut above = Vec::new();
        let mut group = Vec::new();
        for (i, part) in parts.into_iter().enumerate() {
            group.push(part);
            if (cut >> (i % 8)) & 1 == 1 {
                above.push(if group.len() == 1 { group.remove(0) } else { Shape::over(std::mem::take(&mut group)) });
            }
        }
        above.append(&mut group);
        parts = above;
    }
    Shape::over(parts)
}

pub(crate) fn readings() -> impl Strategy<Value = Readings> {
    testkit::answers(Readings::LIST).prop_map(|lines| toml::from_str(&lines).expect("they are answers"))
}

/// Servers of equal order of magnitude (otherwise R2's mean server never meets a deadline), each operating system offered.
fn world() -> impl Strategy<Value = World> {
    places().prop_flat_map(|places| {
        let sites = (places.backbones * places.nets * places.sites) as usize;
        let server = (select(vec![64_u32, 96, 128]), 1..8_u32);
        let site = (prop::collection::vec(server, 0..=3), 0..=3_u32);
        let sites_of = prop::collection::vec(site, sites);
        (Just(places), 1..=3_u32, sites_of, prop::collection::vec(any::<u8>(), 0..3)).prop_map(
            move |(places, systems, sites_of, cuts)| {
                let all = (1 << systems) - 1;
                let (mut servers, mut stations): (Vec<_>, Vec<_>) = sites_of.into_iter().unzip();
                for offered in servers.iter_mut().flatten() {
                    offered.1 = (offered.1 & all).max(1);
                }
                if servers.iter().all(Vec::is_empty) {
                    servers[0].push((128, all));
                }
                servers.iter_mut().flatten().next().expect("there is one").1 = all;
                if stations.iter().all(|stations| *stations == 0) {
                    stations[sites / 2] = 2;
                }
                World::explicit(places, &servers, &stations, shape(sites, &cuts)).expect("a valid world")
            },
        )
    })
}

fn algorithms() -> impl Strategy<Value = Algorithms> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(butterfly, fallback, load_balance)| Algorithms {
        butterfly,
        fallback,
        load_balance,
    })
}

/// Experiments in which a job takes from a tenth of a second to a day, as long as messages or much longer; servers change
/// many times during a job, or hardly ever.
fn experiment(mean_input: f64) -> impl Strategy<Value = Experiment> {
    // Time that a gigabyte takes on 100 CPUs.
    let day = 1e5 * mean_input;
    let thinking = |means: Vec<f64>, chance| SubmissionRule::Thinking { means, chance };
    let submission = prop_oneof![
        Just(SubmissionRule::OneAfterAnother),
        Just(thinking(vec![0.001 * day, day], Some([0.2, 1.0]))),
        Just(thinking(vec![0.05 * day], None)),
    ];
    let changes = prop_oneof![2 => Just(None), 1 => Just(Some(vec![0.03 * day, 0.2 * day])), 1 => Just(Some(vec![day, 9.0 * day]))];
    (submission, changes).prop_map(|(submission, changes)| Experiment { submission, changes })
}

/// Any small world under any system.
pub(crate) fn small() -> impl Strategy<Value = Small> {
    let system = prop_oneof![1 => Just(0_u32), 2 => Just(1), 2 => 2..=4_u32];
    let jobs = (1..60_u32, select(vec![1e-6, 1e-3, 1.0]));
    let jobs = jobs.prop_flat_map(|(count, mean_input)| (Just(count), Just(mean_input), experiment(mean_input)));
    (world(), system, jobs, algorithms(), readings(), any::<u64>()).prop_map(
        |(world, trees, (count, mean_input, experiment), algorithms, mut readings, seed)| {
            // In whole gigabytes, one job of a small mean would be a million times as long as the others, and servers would
            // change throughout.
            if mean_input < 1.0 && readings.sizes == Sizes::PoissonGb {
                readings.sizes = Sizes::PoissonMb;
            }
            // The times of `experiment` are those of this speed.
            readings.bytes_per_cpu_second = Readings::default().bytes_per_cpu_second;
            let mut config = Config::of_the_paper(System::P2p, count, mean_input);
            config.system = if trees == 0 { System::P2p } else { System::Trees(trees.min(world.sites())) };
            (config.experiment, config.algorithms, config.readings) = (experiment, algorithms, readings);
            Small { config, world, seed }
        },
    )
}

/// One job's history, read from a transcript.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) submitted: Option<Time>,
    pub(crate) started: Option<Time>,
    pub(crate) seized: Option<(ProcId, Time)>,
    pub(crate) released: Option<Time>,
    pub(crate) finished: Option<Time>,
}

/// History of each job, by id. Panics if a job does anything twice.
pub(crate) fn histories(transcript: &Transcript) -> BTreeMap<JobId, History> {
    let mut all: BTreeMap<JobId, History> = BTreeMap::new();
    for (now, fact) in transcript {
        let once = |slot: &mut Option<Time>| assert!(slot.replace(*now).is_none(), "{fact:?} twice");
        match fact {
            Fact::Submitted(job) => once(&mut all.entry(job.id).or_default().submitted),
            Fact::Started { job, .. } => once(&mut all.entry(*job).or_default().started),
            Fact::Finished { job } => once(&mut all.entry(*job).or_default().finished),
            Fact::Released { job, .. } => once(&mut all.entry(*job).or_default().released),
            Fact::Seized { job, processor } => {
                let slot = &mut all.entry(*job).or_default().seized;
                assert!(slot.replace((*processor, *now)).is_none(), "{fact:?} twice");
            }
            Fact::Rejected { .. } => panic!("{fact:?}"),
        }
    }
    all
}
