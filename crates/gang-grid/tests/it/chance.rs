//! Equal probabilities of all outcomes of a random choice.
//!
//! The twin shows that no forbidden outcome occurs; here each allowed one occurs with its frequency.

use crate::common::World;
use gang_grid::config::{Placement, ShortestQueue, SiteOrder, Startable};
use gang_grid::{Approach, Config, Readings, Submission};
use sim_core::{Fact, JobId, ProcId, SiteId, Span, Time};
use std::collections::BTreeMap;

const SEEDS: u32 = 4000;

fn local(id: u32, service: u64) -> Submission {
    Submission::local(JobId(id), Time::ZERO, SiteId(0), Span::from_secs(service))
}

fn gang(id: u32, tasks: &[u64]) -> Submission {
    Submission::gang(JobId(id), Time::ZERO, tasks.iter().copied().map(Span::from_secs))
}

/// On `sites` sites of four processors, the processors of the last submission, task by task, must be each of `expected`
/// ordered choices equally often: within 4.5 standard deviations, over independent seeds.
fn check(sites: usize, readings: Readings, submissions: &[Submission], expected: usize) {
    let config = Config { readings, ..Config::uniform(sites, 4, Approach::One) };
    let last = submissions.last().expect("a job").job.id;
    let mut seen: BTreeMap<Vec<ProcId>, u32> = BTreeMap::new();
    for seed in 0..u64::from(SEEDS) {
        let world = World { config: config.clone(), submissions: submissions.to_vec(), seed };
        let seized = world.transcript().into_iter().filter_map(|(_, fact)| match fact {
            Fact::Seized { job, processor } if job == last => Some(processor),
            _ => None,
        });
        *seen.entry(seized.collect()).or_default() += 1;
    }
    assert_eq!(seen.len(), expected, "{seen:?}");
    let probability = 1.0 / f64::from(u32::try_from(expected).expect("few"));
    let (mean, variance) = (f64::from(SEEDS) * probability, f64::from(SEEDS) * probability * (1.0 - probability));
    for (choice, count) in seen {
        let off = (f64::from(count) - mean).abs();
        assert!(off <= 4.5 * variance.sqrt(), "{choice:?} came {count} times, {mean} were due");
    }
}

/// Gangs fill processors from the lowest index on, so that only locals draw.
const FILLED: Placement = Placement::LowestIndex;

#[test]
fn a_local_goes_to_any_idle_processor() {
    check(1, Readings::default(), &[local(0, 1)], 4);
    check(1, Readings { placement: FILLED, ..Readings::default() }, &[gang(0, &[9]), local(1, 1)], 3);
}

/// Gang 1 waits at processors 0, 1 and 2 until 9 s. When local 2 arrives at 2 s, 0 and 1 are held, and 3 is idle.
#[test]
fn a_local_goes_to_any_processor_that_can_start_it() {
    let mut jobs = [gang(0, &[0, 0, 9, 1]), gang(1, &[1, 1, 1]), local(2, 7)];
    jobs[2].job.submit = Time::from_secs(2);
    for (startable, expected) in [(Startable::Random, 3), (Startable::PreferEmpty, 1), (Startable::PreferReserved, 2)] {
        check(1, Readings { startable, placement: FILLED, ..Readings::default() }, &jobs, expected);
    }
    // One more second would delay the gang.
    jobs[2].job.runtime = Span::from_secs(8);
    jobs[2].job.request.estimate = Some(Span::from_secs(8));
    for startable in [Startable::Random, Startable::PreferEmpty, Startable::PreferReserved] {
        check(1, Readings { startable, placement: FILLED, ..Readings::default() }, &jobs, 1);
    }
}

#[test]
fn a_local_goes_to_any_of_the_shortest_queues() {
    for shortest_queue in [ShortestQueue::Jobs, ShortestQueue::Waiting, ShortestQueue::Work, ShortestQueue::Random] {
        check(1, Readings { shortest_queue, ..Readings::default() }, &[gang(0, &[9; 4]), local(1, 1)], 4);
    }
}

/// 4 × 3 ordered pairs.
#[test]
fn the_tasks_of_a_gang_go_to_any_idle_processors() {
    for placement in [Placement::IdleFirst, Placement::Random] {
        check(1, Readings { placement, ..Readings::default() }, &[gang(0, &[1, 1])], 12);
    }
}

/// The one idle processor takes the first task, any of the three busy ones the second.
#[test]
fn what_idle_processors_do_not_take_goes_to_any_busy_ones() {
    let jobs = [gang(0, &[9]), gang(1, &[9]), gang(2, &[9]), gang(3, &[1, 1])];
    check(1, Readings::default(), &jobs, 12);
}

/// Either site, and there any of the four.
#[test]
fn in_random_order_either_site_comes_first() {
    check(2, Readings { site_order: SiteOrder::Random, ..Readings::default() }, &[gang(0, &[1])], 8);
    check(2, Readings::default(), &[gang(0, &[1])], 4);
}
