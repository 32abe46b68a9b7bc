//! Machines that fail and are repaired: cases worked by hand, and invariants.

use crate::backfill::{depths, reserving};
use crate::common::{job, panics};
use crate::flexible_twin::Obvious;
use crate::gap_filling;
use crate::grid_common::{Both, PASSES, WIDEST, estimated, readings};
use crate::ordered::rules;
use gap_schedule::testkit::{Scene, assert_feasible, outage, scenes};
use gap_schedule::{
    BackfillReadings, BackfillRule, CompressOrder, Conservative, Depth, Easy, EgEdf, Fcfs, FlexibleBackfill,
    FlexibleConfig, Machine, MultiCluster, OrderedBackfill, Passes, Placement, Planner, Policy, Priority, RunningJob,
    Tabu,
};
use proptest::prelude::*;
use sim_core::{Fact, Job, JobId, JobLog, Outage, Sim, SiteId, Span, Time};

fn policies() -> Vec<Box<dyn Policy>> {
    vec![
        Box::new(Fcfs::default()),
        Box::new(Easy::default()),
        Box::new(reserving(Depth::Jobs(2), Placement::Fastest)),
        Box::new(reserving(Depth::All, Placement::Fastest)),
        Box::new(FlexibleBackfill::default()),
        Box::new(Planner::new(EgEdf::default(), None)),
        Box::new(Planner::new(EgEdf::default(), Some(Tabu::default()))),
    ]
}

/// Returns every run of every job, in order of ends: `(job, machine, from, to)`, in seconds.
pub(crate) fn runs(scene: &Scene, scheduler: impl Policy) -> Vec<(u32, u32, f64, f64)> {
    let told = scene.transcript(scheduler, Passes::PerInstant);
    scene.check_schedule(&told);
    let runs = scene.runs(&told);
    runs.iter().map(|run| (run.job.0, run.site.0, run.start.as_secs_f64(), run.end.as_secs_f64())).collect()
}

fn scene(machines: &[Machine], jobs: &[Job], outages: &[Outage]) -> Scene {
    Scene { outages: outages.to_vec(), ..Scene::new(machines, jobs) }
}

/// Machine 0 fails under job 0, which waits again behind job 2.
#[test]
fn a_job_that_loses_its_machine_waits_again_at_the_end_of_the_queue() {
    let machines = [Machine::new(2), Machine { processors: 2, speed: 2.0 }];
    let jobs = [job(0, 0, 2, 100), job(1, 0, 2, 100), job(2, 1, 1, 10)];
    let scene = scene(&machines, &jobs, &[outage(0, 30, 50)]);
    let told = scene.transcript(Fcfs::default(), Passes::PerInstant);
    let at = |now: u64, fact| (Time::from_secs(now), fact);
    let start = |id, site, processors| Fact::Started { job: JobId(id), site: SiteId(site), processors };
    let expected = [
        at(0, Fact::Submitted(jobs[0])),
        at(0, Fact::Submitted(jobs[1])),
        at(0, start(0, 0, 2)),
        at(0, start(1, 1, 2)),
        at(1, Fact::Submitted(jobs[2])),
        at(30, Fact::Interrupted { job: JobId(0), site: SiteId(0), processors: 2 }),
        at(50, Fact::Finished { job: JobId(1) }),
        at(50, start(2, 0, 1)),
        at(50, start(0, 1, 2)),
        at(60, Fact::Finished { job: JobId(2) }),
        at(100, Fact::Finished { job: JobId(0) }),
    ];
    assert_eq!(told, expected);
}

/// Compares the runs on one machine under every policy.
#[track_caller]
fn check(processors: u32, jobs: &[Job], outages: &[Outage], expected: &[(u32, u32, f64, f64)]) {
    for scheduler in policies() {
        assert_eq!(runs(&scene(&[Machine::new(processors)], jobs, outages), scheduler), expected);
    }
}

#[test]
fn outages_touch_overlap_and_may_have_no_length() {
    // A job ends as the machine fails, and the machine is repaired as it fails again.
    let jobs = [job(0, 0, 1, 10), job(1, 0, 1, 30)];
    let touching = [outage(0, 10, 20), outage(0, 20, 25)];
    check(2, &jobs, &touching, &[(0, 0, 0., 10.), (1, 0, 0., 10.), (1, 0, 25., 55.)]);
    // A machine that fails while it is down stays down until the later repair.
    let outages = [outage(0, 5, 20), outage(0, 6, 8), outage(0, 15, 40), outage(0, 39, 40), outage(0, 40, 40)];
    check(1, &jobs[..1], &outages, &[(0, 0, 0., 5.), (0, 0, 40., 50.)]);
    // Restart at once: the jobs that run there begin again.
    check(1, &jobs[..1], &[outage(0, 7, 7)], &[(0, 0, 0., 7.), (0, 0, 7., 17.)]);
}

/// The second begins as the first ends; during an outage its expected end stays.
#[test]
fn a_scheduler_sees_an_outage_until_its_expected_repair() {
    let outages = [outage(0, 5, 20), outage(0, 9, 11), outage(0, 20, 40)];
    let mut scene = scene(&[Machine::new(3)], &[job(0, 0, 1, 10)], &outages);
    scene.repair_expected = Span::from_secs(7);
    let mut sim = Sim::new(scene.grid(Fcfs::default(), Passes::PerInstant), ());
    let mut held = |now| {
        sim.run_until(Time::from_secs(now));
        let view = sim.model().view(sim.now());
        assert_eq!(view.free, [0]);
        view.running[0].iter().copied().collect::<Vec<_>>()
    };
    let since = |start, end| RunningJob {
        expected_end: Time::from_secs(end),
        job: RunningJob::OUTAGE,
        processors: 3,
        user: None,
        start: Time::from_secs(start),
    };
    assert_eq!(held(5), [since(5, 12)]);
    assert_eq!(held(19), [since(5, 12)]);
    assert_eq!(held(20), [since(20, 27)]);
}

#[test]
fn jobs_lost_together_wait_again_by_id() {
    // On the fast machine the second ends first, and stands first among those that run.
    let jobs = [job(0, 0, 1, 20), job(1, 0, 1, 10), job(2, 1, 2, 10)];
    let outages = [outage(0, 5, 10)];
    let runs = runs(&scene(&[Machine::new(2)], &jobs, &outages), Fcfs::default());
    assert_eq!(runs, [(0, 0, 0., 5.), (1, 0, 0., 5.), (2, 0, 10., 20.), (1, 0, 20., 30.), (0, 0, 20., 40.)]);
}

fn easy(rule: BackfillRule) -> Both<Easy, Obvious> {
    let readings = BackfillReadings { placement: Placement::Fastest, rule };
    Both(OrderedBackfill::easy(readings), Obvious::easy(readings))
}

/// Job 0 is lost at 10 s and becomes the head. Job 1 is in time for the expected repair at 30 s, job 2 is not.
#[test]
fn easy_believes_the_expected_repair_like_an_estimate() {
    let jobs = [job(0, 0, 4, 100), job(1, 11, 1, 19), job(2, 11, 1, 20)];
    let machines = [Machine::new(4), Machine::new(2)];
    let mut scene = scene(&machines, &jobs, &[outage(0, 10, 40)]);
    let first = (0, 0, 0., 10.);
    let free = [first, (1, 1, 11., 30.), (2, 1, 11., 31.), (0, 0, 40., 140.)];
    scene.repair_expected = Span::from_secs(20);
    assert_eq!(runs(&scene, easy(BackfillRule::MachineAware)), free);
    // By the strict rule, job 2 waits for the head. At 30 s the repair is overdue, and may come at any moment.
    let strict = [first, (1, 1, 11., 30.), (2, 1, 40., 60.), (0, 0, 40., 140.)];
    assert_eq!(runs(&scene, easy(BackfillRule::Strict)), strict);
    // An unknown repair: the head waits for ever, and every job that ends at all is in time.
    scene.repair_expected = Span::MAX;
    assert_eq!(runs(&scene, easy(BackfillRule::Strict)), free);
}

/// Endless outages on one machine: it works for 7 s, then is down for 3.
#[test]
fn a_run_ends_though_failures_never_do() {
    let all = (0..).map(|number| outage(0, 10 * number + 7, 10 * number + 10));
    for scheduler in policies() {
        // The third must start again, the last arrives after a long time without jobs.
        let jobs = [job(0, 0, 1, 5), job(1, 1, 1, 2), job(2, 5, 1, 5), job(3, 1_000, 1, 4)];
        let grid = MultiCluster::new(vec![Machine::new(1)], scheduler, jobs.into_iter()).with_outages(all.clone());
        let (_, log) = Sim::new(grid, JobLog::collecting()).run();
        let starts: Vec<u64> = log.sink().iter().map(|record| record.start.as_nanos() / 1_000_000_000).collect();
        assert_eq!((starts, log.counts().interrupted), (vec![0, 5, 10, 1_000], 0));
    }
}

#[test]
fn outages_are_drawn_one_at_a_time() {
    let asked = std::cell::Cell::new(0);
    let all = (0..1_000).map(|number| {
        asked.set(asked.get() + 1);
        outage(0, 10 * number + 7, 10 * number + 10)
    });
    let jobs = [job(0, 100, 1, 5)];
    let grid = MultiCluster::new(vec![Machine::new(1)], Fcfs::default(), jobs.into_iter()).with_outages(all);
    let mut sim = Sim::new(grid, ());
    sim.run_until(Time::from_secs(50));
    assert_eq!(asked.get(), 6);
    sim.run();
    assert_eq!(asked.get(), 11, "no more than one after the last job has left");
}

/// Job 1 can run on no other machine.
#[test]
fn a_run_ends_though_a_machine_never_comes_back() {
    let for_ever = Outage { up: Time::MAX, ..outage(0, 5, 5) };
    let jobs = [job(0, 0, 1, 10), job(1, 0, 2, 10), job(2, 6, 1, 10)];
    let machines = [Machine::new(2), Machine::new(1)];
    for (scheduler, ran) in policies().into_iter().zip([0, 2, 2, 2, 2, 2, 2, 2]) {
        // FCFS: job 0 is lost on machine 0, and waits behind job 1, which blocks.
        let scene = scene(&machines, &jobs, &[for_ever]);
        let (grid, log) = Sim::new(scene.grid(scheduler, Passes::PerInstant), JobLog::collecting()).run();
        assert_eq!((grid.view(Time::MAX).queue.len(), log.sink().len()), (3 - ran, ran));
    }
}

#[test]
fn outages_that_no_machine_can_have_are_refused() {
    for (outages, message) in [
        ([outage(0, 7, 9), outage(0, 5, 6)], "outages are out of order: machine 0 fails at 5 s, but it is already 7 s"),
        ([outage(1, 7, 9); 2], "machine 1 fails at 7 s, but there are 1, counted from 0"),
        ([outage(0, 7, 6); 2], "machine 0 fails at 7 s and cannot be repaired at 6 s"),
    ] {
        let scene = scene(&[Machine::new(1)], &[job(0, 0, 1, 50)], &outages);
        panics(|| scene.transcript(Fcfs::default(), Passes::PerInstant), message);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// No invariant breaks under failures and inexact estimates in any of these cases.
    #[test]
    fn every_policy_keeps_the_books(
        scene in scenes(WIDEST), mut estimated in estimated(), readings in readings(), depth in depths(), rule in rules(),
        compress in prop::sample::select(vec![CompressOrder::Arrival, CompressOrder::Reserved]),
        gap_filling in gap_filling::policies(),
    ) {
        estimated.jobs = gap_filling::shared(estimated.jobs);
        let priority = Priority { order: rule.order, threshold: rule.threshold };
        let flexible = FlexibleBackfill::new(FlexibleConfig::default(), readings);
        for passes in PASSES {
            assert_feasible(Fcfs::in_order(priority), &scene, passes);
            assert_feasible(OrderedBackfill::easy(readings), &scene, passes);
            assert_feasible(OrderedBackfill::new(rule), &scene, passes);
            assert_feasible(flexible.clone(), &scene, passes);
            assert_feasible(flexible.clone().with_reserve(depth), &scene, passes);
            assert_feasible(Conservative::new(Placement::Fastest, compress, Priority::default()), &scene, passes);
            assert_feasible(Conservative::new(Placement::Fastest, CompressOrder::Arrival, priority), &scene, passes);
            assert_feasible(Planner::new(EgEdf::default(), None), &estimated, passes);
            assert_feasible(Planner::new(EgEdf::default(), Some(Tabu::default())), &estimated, passes);
            assert_feasible(gap_filling.clone(), &estimated, passes);
        }
    }
}
