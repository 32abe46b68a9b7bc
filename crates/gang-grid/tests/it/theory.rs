//! Comparisons with queueing theory. Tolerances come from the sample: four standard errors over 20 replications.

use crate::generator::Load;
use gang_grid::config::ShortestQueue;
use gang_grid::{Approach, Config, Grid};
use sim_core::testkit::mean_and_stderr;
use sim_core::{JobLog, JobRecord, Sim, Span, Streams, Time};

const PROCESSORS: u32 = 16;

/// Two sites of 16 with locals alone.
fn locals_alone(rate: f64) -> Load {
    Load { gangs: 0.0, ..Load::of_the_paper(rate) }
}

fn routed_by(shortest_queue: ShortestQueue) -> Config {
    let mut config = Config::uniform(2, PROCESSORS, Approach::One);
    config.readings.shortest_queue = shortest_queue;
    config
}

/// Mean response over 20 replications, and its standard error. The first fifth of each is warm-up: the grid starts empty.
fn mean_response(config: &Config, load: Load, jobs: u32) -> (f64, f64) {
    let runs: Vec<f64> = (0..20)
        .map(|replication| {
            let streams = Streams::new(2010, replication);
            let grid = Grid::new(config.clone(), load.submissions(jobs, &streams), &streams).expect("valid");
            let (mut sum, mut count) = (0.0, 0_u32);
            let log = JobLog::new(|record: JobRecord| {
                if record.job.id.0 >= jobs / 5 {
                    sum += record.response().as_secs_f64();
                    count += 1;
                }
            });
            Sim::new(grid, log).run();
            sum / f64::from(count)
        })
        .collect();
    mean_and_stderr(&runs)
}

/// M/M/c with service rate 1: E\[T\] = 1 + C(c, a) / (c − a), with C Erlang's delay formula.
fn erlang_c_response(servers: u32, load: f64) -> f64 {
    let blocking = (1..=servers).map(f64::from).fold(1.0, |b, c| load * b / (c + load * b));
    let c = f64::from(servers);
    let delayed = c * blocking / (c - load * (1.0 - blocking));
    1.0 + delayed / (c - load)
}

/// A Poisson stream split at random is Poisson: each processor is a queue M/M/1, E\[T\] = 1 / (1 − λ / 16).
#[test]
fn random_routing_makes_each_processor_a_queue_mm1() {
    for rate in [8.0, 10.0, 12.5] {
        let theory = 1.0 / (1.0 - rate / f64::from(PROCESSORS));
        let (mean, stderr) = mean_response(&routed_by(ShortestQueue::Random), locals_alone(rate), 50_000);
        assert!((mean - theory).abs() < 4.0 * stderr, "λ = {rate}: {mean} ± {stderr}, theory says {theory}");
    }
}

/// No rule that commits a job to a queue beats one queue for all; a rule that uses the state beats a random choice.
#[test]
fn the_shortest_queue_lies_between_one_queue_for_all_and_chance() {
    for rate in [10.0, 12.5] {
        let (best, chance) = (erlang_c_response(PROCESSORS, rate), 1.0 / (1.0 - rate / f64::from(PROCESSORS)));
        let (by_jobs, stderr) = mean_response(&routed_by(ShortestQueue::Jobs), locals_alone(rate), 50_000);
        assert!(best + 4.0 * stderr < by_jobs, "λ = {rate}: {by_jobs} ± {stderr}, M/M/16 has {best}");
        assert!(by_jobs + 4.0 * stderr < chance, "λ = {rate}: {by_jobs} ± {stderr}, M/M/1 has {chance}");
    }
}

/// Joining the queue with the least work left is equivalent to one queue for all, first come, first served: M/M/16 exactly.
#[test]
fn the_least_work_left_equals_one_queue_for_all() {
    for rate in [10.0, 14.0] {
        let theory = erlang_c_response(PROCESSORS, rate);
        let (mean, stderr) = mean_response(&routed_by(ShortestQueue::Work), locals_alone(rate), 50_000);
        assert!((mean - theory).abs() < 4.0 * stderr, "λ = {rate}: {mean} ± {stderr}, theory says {theory}");
    }
}

#[test]
fn utilization_equals_the_offered_load() {
    let (warm, end) = (Time::from_secs(100), Time::from_secs(1500));
    for shortest_queue in [ShortestQueue::Jobs, ShortestQueue::Random] {
        let runs: Vec<f64> = (0..20)
            .map(|replication| {
                let streams = Streams::new(2010, replication);
                let submissions = locals_alone(10.0).submissions(40_000, &streams);
                let mut sim = Sim::new(Grid::new(routed_by(shortest_queue), submissions, &streams).expect("valid"), ());
                sim.run_until(warm);
                let before = sim.model().utilization(warm) * warm.as_secs_f64();
                sim.run_until(end);
                (sim.model().utilization(end) * end.as_secs_f64() - before) / end.since(warm).as_secs_f64()
            })
            .collect();
        let (mean, stderr) = mean_and_stderr(&runs);
        assert!((mean - 10.0 / 16.0).abs() < 4.0 * stderr, "{shortest_queue:?}: utilization {mean} ± {stderr}");
    }
}

/// Gangs of 16 on 16 processors run one after the other: M/G/1, the service time S the longest of 16 tasks, times the
/// overhead. E\[T\] = E\[S\] + λ E\[S²\] / (2 (1 − λ E\[S\])) (Pollaczek–Khinchine), in any order of the queue.
/// E\[S\] = Σ 1/k and Var S = Σ 1/k², k = 1 … 16. The grid is one site, or two that are each too small for a gang.
#[test]
fn gangs_that_need_the_whole_grid_make_it_a_queue_mg1() {
    let rate = 0.15;
    let sum = |power| (1..=PROCESSORS).map(|k| f64::from(k).powi(power)).sum::<f64>();
    let grids =
        [(1, Approach::One, 1.0), (1, Approach::Three, 1.0), (2, Approach::Two, 1.1), (2, Approach::Three, 1.1)];
    for (sites, approach, overhead) in grids {
        let mut config = Config::uniform(sites, PROCESSORS / u32::try_from(sites).expect("few"), approach);
        config.threshold = Span::from_secs(1); // no job is there to use it
        let load = Load { sites: 1, locals: 0.0, gangs: rate, sizes: &[16] };
        let (mean, stderr) = mean_response(&config, load, 10_000);
        let service = overhead * sum(-1);
        let squared = overhead * overhead * (sum(-2) + sum(-1) * sum(-1));
        let theory = service + rate * squared / (2.0 * (1.0 - rate * service));
        assert!(
            (mean - theory).abs() < 4.0 * stderr,
            "{approach:?} on {sites} sites: {mean} ± {stderr}, theory says {theory}"
        );
    }
}
