//! Plans in the world: cases worked by hand.

use crate::common::{job, starts};
use crate::grid_outages::runs;
use gap_schedule::testkit::{Scene, outage};
use gap_schedule::{EgEdf, Machine, MultiCluster, Planner, Tabu};
use sim_core::{Job, Sim, Span, Time};

pub(crate) fn planners() -> [Planner; 2] {
    [Planner::new(EgEdf::default(), None), Planner::new(EgEdf::default(), Some(Tabu::default()))]
}

/// Compares the starts on one machine of four processors, in seconds.
#[track_caller]
fn check_starts(jobs: &[Job], expected: &[f64]) {
    for planner in planners() {
        assert_eq!(starts(4, planner, jobs), expected);
    }
}

/// The second job will be late in every position: the search removes it and puts it back.
#[test]
fn the_work_of_a_search_is_reported_and_counted() {
    let mut late = job(1, 1, 4, 10);
    late.request.deadline = Some(Time::from_secs(50));
    let jobs = [job(0, 0, 4, 100), late];
    let [plain, searching] = planners();
    let done = |planner: Planner| {
        let grid = MultiCluster::new(vec![Machine::new(4)], planner, jobs.into_iter());
        let (grid, ()) = Sim::new(grid, ()).run();
        (grid.policy().tabu_counts(), grid.policy().operations())
    };
    let ((none, alone), (counts, together)) = (done(plain), done(searching));
    let counts = counts.expect("there is a search");
    assert_eq!((none, together), (None, alone + counts.operations));
    // For each job, the machine is visited for a gap and for a position; then the steps at the end of its idle processors,
    // of which the second job finds two, and the jobs there.
    assert_eq!(alone, (1 + 1 + 1) + (1 + 1 + 2 + 1));
    // The late job is looked up among the planned ones, and removed beside the running one; the machine is visited, and has no
    // gap. The second look finds it tabu.
    assert_eq!((counts.iterations, counts.tried, counts.accepted, counts.operations), (1, 0, 0, 1 + 2 + 1 + 1));
}

#[test]
fn a_job_takes_a_gap_or_goes_by_its_deadline_and_the_plan_follows_the_ends() {
    // One machine of 4 processors, no deadlines: the third job fits the gap before the second, the fourth is too long.
    let jobs = [job(0, 0, 3, 100), job(1, 1, 4, 10), job(2, 2, 1, 50), job(3, 3, 1, 200)];
    check_starts(&jobs, &[0., 100., 2., 110.]);
    // The last job is too long for the gap, but has a deadline: it goes before the second, which has none and moves.
    let mut due = job(2, 3, 1, 200);
    due.request.deadline = Some(Time::from_secs(250));
    check_starts(&[job(0, 0, 3, 100), job(1, 1, 4, 10), due], &[0., 203., 3.]);
    // The second job ends long before its estimate: the jobs planned behind it move up.
    let mut early = job(0, 0, 4, 10);
    early.request.estimate = Some(Span::from_secs(100));
    check_starts(&[early, job(1, 1, 4, 10)], &[0., 10.]);
    // The first job takes four times its estimate: the plan behind it moves, and no job starts too early.
    let mut late = job(0, 0, 4, 40);
    late.request.estimate = Some(Span::from_secs(10));
    check_starts(&[late, job(1, 1, 4, 10)], &[0., 40.]);
}

/// Checks the runs `(job, machine, from, to)` of three jobs on two machines of two processors, the first of which fails
/// at 20 s. Repairs are expected to take `said`, or for ever.
#[track_caller]
fn check_runs(up: u32, said: Option<u64>, expected: &[(u32, u32, f64, f64)]) {
    let jobs = [job(0, 0, 2, 80), job(1, 0, 2, 90), job(2, 1, 2, 10)];
    let (outages, repair_expected) = (vec![outage(0, 20, up.into())], said.map_or(Span::MAX, Span::from_secs));
    let scene = Scene { outages, repair_expected, ..Scene::new(&[Machine::new(2); 2], &jobs) };
    for planner in planners() {
        assert_eq!(runs(&scene, planner), expected);
    }
}

#[test]
fn jobs_are_planned_again_after_failures_and_repairs() {
    // Job 2, planned on machine 0 at 80 s, goes behind job 1 on machine 1 at 90 s, and job 0, which was lost, behind job 2.
    check_runs(2_000, None, &[(0, 0, 0., 20.), (1, 1, 0., 90.), (2, 1, 90., 100.), (0, 1, 100., 180.)]);
    // The same, but the machine is repaired unexpectedly at 40 s: every job is planned again, in order of starts.
    check_runs(40, None, &[(0, 0, 0., 20.), (2, 0, 40., 50.), (1, 1, 0., 90.), (0, 0, 50., 130.)]);
    // The repair is expected at 40 s, and happens at 30, at 40 or, after it was expected at 60 s and at 100 s, at 70 s.
    for up in [30, 40, 70] {
        let at = f64::from(up);
        check_runs(up, Some(20), &[(0, 0, 0., 20.), (2, 0, at, at + 10.), (1, 1, 0., 90.), (0, 0, at + 10., at + 90.)]);
    }
}

/// The only machine that is wide enough is down for an unknown time when job 1 arrives.
#[test]
fn a_job_that_cannot_be_planned_is_planned_when_its_machine_is_back() {
    let machines = [Machine::new(1), Machine::new(2)];
    let outages = vec![outage(1, 5, 50), outage(0, 6, 45)];
    let jobs = [job(0, 0, 2, 10), job(1, 7, 2, 10), job(2, 8, 1, 10)];
    let scene = Scene { outages, ..Scene::new(&machines, &jobs) };
    for planner in planners() {
        let starts: Vec<f64> = runs(&scene, planner).iter().map(|run| run.2).collect();
        assert_eq!(starts, [0., 45., 50., 60.]);
    }
}
