//! Shared set-up: small grids with any readings and any workload.

use gang_grid::{Approach, Config, Grid, Readings, Site, Submission};
use proptest::prelude::*;
use proptest::sample::select;
use sim_core::{Fact, JobId, Probe, ProcId, Sim, SiteId, Span, Streams, Time, testkit};

/// Facts, in order.
pub(crate) type Transcript = Vec<(Time, Fact)>;

/// A model of a finite list of submissions.
pub(crate) type ListGrid = Grid<std::vec::IntoIter<Submission>>;

/// A grid, and all its submissions.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) config: Config,
    pub(crate) submissions: Vec<Submission>,
    pub(crate) seed: u64,
}

impl World {
    pub(crate) fn start<P: Probe>(&self, probe: P) -> Sim<ListGrid, P> {
        let streams = Streams::new(self.seed, 0);
        let grid = Grid::new(self.config.clone(), self.submissions.clone().into_iter(), &streams);
        Sim::new(grid.expect("a valid configuration"), probe)
    }

    pub(crate) fn transcript(&self) -> Transcript {
        self.start(Transcript::new()).run().1
    }

    /// Site of a processor: they are numbered site by site.
    pub(crate) fn site_of(&self, processor: ProcId) -> SiteId {
        let mut first = 0;
        for (site, Site { processors, .. }) in (0..).zip(&self.config.sites) {
            first += processors;
            if processor.0 < first {
                return SiteId(site);
            }
        }
        panic!("processor {processor} of {first}");
    }

    /// Applies `change` to the readings.
    pub(crate) fn reading(mut self, change: impl FnOnce(&mut Readings)) -> Self {
        change(&mut self.config.readings);
        self
    }

    /// Makes every estimate exact.
    pub(crate) fn with_exact_estimates(mut self) -> Self {
        for Submission { job, .. } in &mut self.submissions {
            job.request.estimate = Some(job.runtime);
        }
        self
    }
}

fn readings() -> impl Strategy<Value = Readings> {
    testkit::answers(Readings::LIST).prop_map(|lines| toml::from_str(&lines).expect("they are answers"))
}

/// One to three sites of one to six processors, all of speed 1 or of mixed speeds.
fn sites() -> impl Strategy<Value = Vec<Site>> {
    let site =
        |speeds: Vec<f64>| (1..=6_u32, select(speeds)).prop_map(|(processors, speed)| Site { processors, speed });
    prop_oneof![
        prop::collection::vec(site(vec![1.0]), 1..=3),
        prop::collection::vec(site(vec![0.5, 0.7, 1.0, 3.0]), 1..=3),
    ]
}

/// Bodies of submissions, on a grid of whole seconds (ties are common) or on one of nanoseconds (they are rare).
fn submissions(sites: u32) -> impl Strategy<Value = Vec<Submission>> {
    let spans = |most: u64| prop_oneof![Just((most, 1_000_000_000)), Just((most * 1_000_000_000, 1))];
    (spans(6), spans(2)).prop_flat_map(move |((longest, tick), (gap, gap_tick))| {
        let gap = prop_oneof![3 => Just(0), 1 => 0..=gap].prop_map(move |ticks| Span::from_nanos(ticks * gap_tick));
        let task = (0..=longest).prop_map(move |ticks| Span::from_nanos(ticks * tick));
        let local = (0..sites, task.clone(), select(vec![1.0, 1.0, 0.4, 2.5]));
        let body = prop_oneof![
            3 => local.prop_map(Ok),
            1 => prop::collection::vec(task, 1..=6).prop_map(Err),
        ];
        prop::collection::vec((gap, body), 0..60).prop_map(|all| {
            let mut submit = Time::ZERO;
            let numbered = (0..).map(JobId).zip(all);
            let submissions = numbered.map(|(id, (gap, body))| {
                submit += gap;
                match body {
                    Ok((site, service, belief)) => {
                        let mut local = Submission::local(id, submit, SiteId(site), service);
                        local.job.request.estimate = Some(service.scaled(belief));
                        local
                    }
                    Err(tasks) => Submission::gang(id, submit, tasks),
                }
            });
            submissions.collect()
        })
    })
}

/// Any small grid under any approach, threshold, overhead and readings, with any workload. Half of the locals have
/// inexact estimates.
pub(crate) fn world() -> impl Strategy<Value = World> {
    let config = (
        sites(),
        select(vec![Approach::One, Approach::Two, Approach::Three]),
        select(vec![0.0, 0.5, 2.0]),
        select(vec![0.0, 0.1, 0.5]),
        readings(),
    );
    let config = config.prop_map(|(sites, approach, threshold, overhead, readings)| Config {
        sites,
        approach,
        threshold: Span::from_secs_f64(threshold),
        overhead,
        readings,
    });
    config.prop_flat_map(|config| {
        let sites = u32::try_from(config.sites.len()).expect("few sites");
        (Just(config), submissions(sites), any::<u64>()).prop_map(|(config, submissions, seed)| World {
            config,
            submissions,
            seed,
        })
    })
}
