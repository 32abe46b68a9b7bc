//! Best Gap, BGT and Swift Gap on availability profiles: their guarantees, and cases worked by hand.

use crate::common::job;
use crate::grid_common::{Noting, WIDEST, bounded, machines, starts};
use gap_schedule::{GapFilling, Machine, MultiCluster, Placement};
use proptest::prelude::*;
use sim_core::{Job, JobLog, Purpose, Sim, Span, Stream, Streams, Time};

fn stream(seed: u64) -> Stream {
    Streams::new(seed, 0).stream(Purpose("search"), 0)
}

/// Assigns the jobs to three users and to none.
pub(crate) fn shared(mut jobs: Vec<Job>) -> Vec<Job> {
    for job in &mut jobs {
        job.request.user = Some(job.id.0 % 4).filter(|user| *user < 3);
    }
    jobs
}

fn swift_gap(seed: u64) -> GapFilling {
    GapFilling::swift_gap(Placement::Fastest, stream(seed)).with_period(Span::from_secs(5))
}

/// Strategy for all of them; those with a search run it often.
pub(crate) fn policies() -> impl Strategy<Value = GapFilling> {
    (0..3_u8, any::<u64>()).prop_map(|(kind, seed)| {
        let policy = match kind {
            0 => GapFilling::best_gap(Placement::Fastest),
            1 => GapFilling::bgt(Placement::Fastest, stream(seed)),
            _ => GapFilling::swift_gap(Placement::Fastest, stream(seed)),
        };
        policy.with_period(Span::from_secs(5))
    })
}

/// Returns the planned starts of each job, the last of which is its actual start.
fn watch(policy: GapFilling, machines: &[Machine], jobs: &[Job]) -> Vec<Vec<Time>> {
    let mut watched = Noting::new(policy, jobs, |policy, job, view, _| {
        let (start, _) = policy.planned(job).expect("every job is planned");
        assert!(start > view.now);
        Some(start)
    });
    let grid = MultiCluster::new(machines.to_vec(), &mut watched, jobs.iter().copied());
    let (_, log) = Sim::new(grid, JobLog::collecting()).run();
    for record in log.into_sink() {
        watched.noted[record.job.id.index()].push(record.start);
    }
    watched.noted
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn under_best_gap_every_job_starts_as_planned(machines in machines(WIDEST), jobs in bounded().prop_map(shared)) {
        for planned in watch(GapFilling::best_gap(Placement::Fastest), &machines, &jobs) {
            prop_assert!(planned.iter().all(|start| Some(start) == planned.first()), "{planned:?}");
        }
    }

    /// On machines of one speed, a job that completes earlier starts earlier.
    #[test]
    fn under_swift_gap_no_job_is_ever_delayed(
        widths in prop::collection::vec(1..=WIDEST, 1..5), jobs in bounded().prop_map(shared), seed in any::<u64>(),
    ) {
        let machines: Vec<Machine> = widths.into_iter().map(Machine::new).collect();
        for planned in watch(swift_gap(seed), &machines, &jobs) {
            prop_assert!(planned.is_sorted_by(|earlier, later| later <= earlier), "{planned:?}");
        }
    }
}

/// Job 0 is expected until 100 s, and ends at 10 s. Best Gap keeps its plan, and later arrivals fill the gap.
#[test]
fn best_gap_compresses_nothing_and_fills_gaps() {
    let mut jobs = [job(0, 0, 2, 10), job(1, 1, 2, 10), job(2, 20, 2, 50), job(3, 21, 1, 40)];
    jobs[0].request.estimate = Some(Span::from_secs(100));
    let machine = [Machine::new(2)];
    let best_gap = GapFilling::best_gap(Placement::Fastest);
    assert_eq!(starts(&machine, best_gap, &jobs), [(0., 0), (100., 0), (20., 0), (110., 0)]);
    let swift_gap = GapFilling::swift_gap(Placement::Fastest, stream(1));
    assert_eq!(starts(&machine, swift_gap, &jobs), [(0., 0), (10., 0), (20., 0), (70., 0)]);
}

/// By its completion, job 1 does better to wait 10 s for the fast machine than to start at once.
#[test]
fn of_the_earliest_gaps_swift_gap_takes_the_one_that_completes_first() {
    let machines = [Machine { processors: 2, speed: 4.0 }, Machine::new(2)];
    let jobs = [job(0, 0, 2, 40), job(1, 0, 2, 40)];
    assert_eq!(starts(&machines, swift_gap(1), &jobs), [(0., 0), (10., 0)]);
}

/// Without moves, the tests above would not cover the search: the stream decides about nothing else.
#[test]
fn the_search_moves_jobs() {
    let heavy: Vec<Job> =
        (0..40).map(|id| job(id, u64::from(id), 1 + id % 3, 100 + u64::from(id * 37 % 200))).collect();
    let machines = [Machine { processors: 4, speed: 1.0 }, Machine { processors: 3, speed: 2.0 }];
    let heavy = shared(heavy);
    let bgt = |seed| GapFilling::bgt(Placement::Fastest, stream(seed)).with_period(Span::from_secs(5));
    assert_ne!(watch(bgt(1), &machines, &heavy), watch(bgt(2), &machines, &heavy));
}
