//! Plans in the world: cases worked by hand.

use crate::common::{job, starts};
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
