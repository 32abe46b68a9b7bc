//! Three ways to place gangs on two sites.
//!
//! Scenario: §4.2 of the paper at medium load: two sites of 16 processors, ten locals a second at each, and a gang of
//! 2, 4, 8 or 16 tasks every other second.
//!
//! Shows:
//! - the construction of a stream of submissions without the rest of the workspace,
//! - the end of a run after a number of jobs,
//! - that a gang of 16 rarely finds room inside one site.
//!
//! Run it: `cargo run --release --package gang-grid --example approaches`

use gang_grid::{Approach, Config, Grid, Submission};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1};
use sim_core::record::Sink;
use sim_core::{JobId, JobLog, JobRecord, Purpose, Sim, SiteId, Span, Streams, Time};

const SITES: u32 = 2;

fn main() {
    println!("approach    gangs completed    utilization    mean response of locals");
    for (name, approach) in [("1", Approach::One), ("2", Approach::Two), ("3", Approach::Three)] {
        // The same streams for each approach: the policies get the same jobs.
        let streams = Streams::new(2010, 0);
        let config = Config::uniform(SITES as usize, 16, approach);
        let grid = Grid::new(config, submissions(streams), &streams).expect("a valid configuration");
        let mut sim = Sim::new(grid, JobLog::new(Locals::default()));
        sim.run_while(|grid| grid.completed() < 40_000);

        let (grid, locals) = (sim.model(), sim.probe().sink());
        println!(
            "{name:8} {:>10} of {:>4} {:>12.1} % {:>24.3} s",
            grid.counts().gangs_completed,
            grid.counts().gangs_arrived,
            100.0 * grid.utilization(sim.now()),
            locals.response / f64::from(locals.count)
        );
    }
}

/// Totals over finished locals.
#[derive(Default)]
struct Locals {
    response: f64,
    count: u32,
}

impl Sink for Locals {
    fn take_in(&mut self, record: JobRecord) {
        if record.job.origin.is_some() {
            self.response += record.response().as_secs_f64();
            self.count += 1;
        }
    }
}

/// Locals at each site and gangs at the grid scheduler, in order of submission.
fn submissions(streams: Streams) -> impl Iterator<Item = Submission> {
    let mut draws = streams.stream(Purpose("everything"), 0);
    let mut next: Vec<Time> = (0..=SITES).map(|source| Time::ZERO + gap(source, &mut draws)).collect();
    (0..).map(JobId).map(move |id| {
        let source = (0..=SITES).min_by_key(|source| next[*source as usize]).expect("three sources");
        let submit = next[source as usize];
        next[source as usize] = submit + gap(source, &mut draws);
        if source < SITES {
            Submission::local(id, submit, SiteId(source), exponential(1.0, &mut draws))
        } else {
            let size = 2_usize << draws.random_range(0..4_u32);
            Submission::gang(id, submit, (0..size).map(|_| exponential(1.0, &mut draws)).collect::<Vec<_>>())
        }
    })
}

fn gap(source: u32, draws: &mut impl Rng) -> Span {
    exponential(if source < SITES { 0.1 } else { 2.0 }, draws)
}

fn exponential(mean: f64, draws: &mut impl Rng) -> Span {
    let draw: f64 = Exp1.sample(draws);
    Span::from_secs_f64(mean * draw)
}
