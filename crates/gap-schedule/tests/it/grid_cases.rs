//! Several machines: cases small enough to check by hand.

use crate::common::{job, panics};
use crate::flexible_twin::Obvious;
use crate::grid_common::{PASSES, starts, transcript};
use gap_schedule::{
    BackfillReadings, BackfillRule, Backfilling, Depth, EgEdf, Fcfs, FlexibleBackfill, Machine, MultiCluster,
    OrderedBackfill, Passes, Placement, Planner, Policy, QueuedJob, Starts, Tabu, View,
};
use sim_core::{Fact, Job, JobId, Rejection, Request, Sim, SiteId, Time};

const FAST: Machine = Machine { processors: 2, speed: 2.0 };
const SLOW: Machine = Machine { processors: 4, speed: 0.5 };

/// Returns EASY and its exhaustive twin.
fn easy() -> [Box<dyn Policy>; 2] {
    easy_read_as(Placement::Fastest, BackfillRule::MachineAware)
}

fn easy_read_as(placement: Placement, rule: BackfillRule) -> [Box<dyn Policy>; 2] {
    let readings = BackfillReadings { placement, rule };
    [Box::new(Obvious::easy(readings)), Box::new(OrderedBackfill::easy(readings))]
}

#[track_caller]
fn check(
    machines: &[Machine],
    schedulers: impl IntoIterator<Item = Box<dyn Policy>>,
    jobs: &[Job],
    expected: &[(f64, u32)],
) {
    for scheduler in schedulers {
        assert_eq!(starts(machines, scheduler, jobs), expected);
    }
}

#[test]
fn a_job_takes_its_runtime_divided_by_the_speed_of_its_machine() {
    let jobs = [job(0, 0, 1, 100), job(1, 0, 4, 100)];
    let told = transcript(&[FAST, SLOW], Fcfs::default(), Passes::PerInstant, &jobs);
    let finished: Vec<_> = told.iter().filter(|(_, fact)| matches!(fact, Fact::Finished { .. })).collect();
    assert_eq!(
        finished,
        [
            &(Time::from_secs(50), Fact::Finished { job: JobId(0) }),
            &(Time::from_secs(200), Fact::Finished { job: JobId(1) }),
        ]
    );
}

#[test]
fn fcfs_takes_the_first_machine_by_index_and_blocks() {
    // Job 2 finds no room, and job 3 waits behind it although a processor is free.
    let jobs = [job(0, 0, 2, 100), job(1, 0, 2, 100), job(2, 1, 3, 10), job(3, 2, 1, 10)];
    assert_eq!(starts(&[SLOW, FAST], Fcfs::default(), &jobs), [(0., 0), (0., 0), (200., 0), (200., 0)]);
    assert_eq!(starts(&[FAST, SLOW], Fcfs::default(), &jobs), [(0., 0), (0., 1), (200., 1), (200., 0)]);
}

#[test]
fn easy_takes_the_fastest_machine_or_the_first_that_fits() {
    let jobs = [job(0, 0, 1, 100), job(1, 0, 2, 100), job(2, 0, 1, 100)];
    check(&[SLOW, FAST], easy(), &jobs, &[(0., 1), (0., 0), (0., 1)]);
    let first_fit = || easy_read_as(Placement::FirstFit, BackfillRule::MachineAware);
    check(&[SLOW, FAST], first_fit(), &jobs, &[(0., 0), (0., 0), (0., 0)]);
    // Of equally fast ones, the one of lowest index.
    check(&[Machine::new(2), Machine::new(2)], easy(), &jobs, &[(0., 0), (0., 1), (0., 0)]);
}

#[test]
fn easy_reserves_the_machine_that_is_free_first_and_delays_no_head() {
    // The head could start at 40 s on machine 1 or at 50 s on machine 0. Job 3 would end at 41 s on machine 1, so it
    // waits there, and starts on machine 0, where nothing is reserved.
    let two = [Machine::new(2), Machine::new(2)];
    let jobs = [job(0, 0, 1, 50), job(1, 0, 2, 40), job(2, 1, 2, 10), job(3, 2, 1, 500)];
    check(&two, easy(), &jobs, &[(0., 0), (0., 1), (40., 1), (2., 0)]);
    // Job 1 is the head, and gets machine 0 at 100 s, with one processor left over for job 2. Job 3 would need another one,
    // and job 4 ends in time.
    let machines = [Machine::new(5)];
    let jobs = [job(0, 0, 3, 100), job(1, 1, 4, 10), job(2, 2, 1, 500), job(3, 2, 1, 500), job(4, 2, 1, 98)];
    check(&machines, easy(), &jobs, &[(0., 0), (100., 0), (2., 0), (110., 0), (2., 0)]);
    // Strictly, no job may stay beside the head.
    let strict = || easy_read_as(Placement::Fastest, BackfillRule::Strict);
    check(&machines, strict(), &jobs, &[(0., 0), (100., 0), (100., 0), (110., 0), (2., 0)]);
    // The head gets machine 1 at 100 s. By then job 3 would have ended on the fast machine 0, but not on the slow one 2.
    let machines = [FAST, Machine::new(3), SLOW];
    let jobs = [job(0, 0, 2, 1_000), job(1, 0, 3, 100), job(2, 0, 3, 1_000), job(3, 1, 3, 10), job(4, 2, 1, 100)];
    check(&machines, easy(), &jobs, &[(0., 0), (0., 1), (0., 2), (100., 1), (2., 2)]);
    let strict = || easy_read_as(Placement::Fastest, BackfillRule::Strict);
    check(&machines, strict(), &jobs, &[(0., 0), (0., 1), (0., 2), (100., 1), (100., 2)]);
    let short = [jobs[0], jobs[1], jobs[2], jobs[3], job(4, 2, 1, 49)];
    check(&machines, strict(), &short, &[(0., 0), (0., 1), (0., 2), (100., 1), (2., 2)]);
}

#[test]
fn under_flexible_backfilling_a_job_near_its_deadline_goes_first() {
    // At 100 s, job 1 is older, but job 2 can still meet its deadline, which is near.
    let due = |mut job: Job, deadline| {
        job.request.deadline = Some(Time::from_secs(deadline));
        job
    };
    // Job 1 got the reservation when it was alone in the queue, and keeps it.
    let jobs = [job(0, 0, 4, 100), job(1, 1, 4, 50), due(job(2, 2, 4, 50), 160)];
    let machine = [Machine::new(4)];
    assert_eq!(starts(&machine, FlexibleBackfill::default(), &jobs), [(0., 0), (100., 0), (150., 0)]);
    // Without a reservation before it, it is first.
    let jobs = [job(0, 0, 4, 100), job(1, 1, 4, 20), job(2, 2, 4, 50), due(job(3, 3, 4, 50), 180)];
    let expected = [(0., 0), (100., 0), (170., 0), (120., 0)];
    assert_eq!(starts(&machine, FlexibleBackfill::default(), &jobs), expected);
    // A deadline that cannot be met adds no priority.
    let jobs = [jobs[0], jobs[1], jobs[2], due(jobs[3], 149)];
    let expected = [(0., 0), (100., 0), (120., 0), (170., 0)];
    assert_eq!(starts(&machine, FlexibleBackfill::default(), &jobs), expected);
}

/// Job 0 runs, job 1 is the head, and all others are too long to overtake it: both rules count the same operations.
#[test]
fn a_look_behind_the_head_counts_under_either_rule() {
    let mut jobs = vec![job(0, 0, 3, 1_000), job(1, 1, 4, 10)];
    jobs.extend((2..12).map(|other| job(other, other.into(), 1, 10_000)));
    let [aware, strict] = [BackfillRule::MachineAware, BackfillRule::Strict].map(|rule| {
        let mut policy = OrderedBackfill::easy(BackfillReadings { placement: Placement::Fastest, rule });
        starts(&[Machine::new(4)], &mut policy, &jobs);
        policy.operations()
    });
    assert_eq!(aware, strict);
}

/// Plan in its simplest form: each job starts 10 s after its arrival.
#[derive(Clone, Debug, Default)]
struct Patient {
    planned: Vec<(Time, JobId)>,
    asked: Vec<Time>,
}

impl Policy for Patient {
    fn on_submit(&mut self, job: &QueuedJob, _: &View<'_>) {
        self.planned.push((job.submit + sim_core::Span::from_secs(10), job.job));
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.asked.push(view.now);
        while let Some((_, job)) = self.planned.first().copied().filter(|(at, _)| *at <= view.now) {
            starts.push((job, SiteId(0)));
            self.planned.remove(0);
        }
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.planned.first().map(|(at, _)| *at)
    }
}

#[test]
fn a_scheduler_that_plans_is_woken_when_it_wishes() {
    let jobs = [job(0, 0, 1, 2), job(1, 4, 1, 100), job(2, 10, 1, 1)];
    for passes in PASSES {
        let grid = MultiCluster::new(vec![Machine::new(4)], Patient::default(), jobs.into_iter()).with_passes(passes);
        let (grid, told) = Sim::new(grid, crate::common::Transcript::new()).run();
        let started = |fact: &Fact| matches!(fact, Fact::Started { .. });
        let at: Vec<Time> = told.iter().filter(|(_, fact)| started(fact)).map(|(at, _)| *at).collect();
        assert_eq!(at, [10, 14, 20].map(Time::from_secs));
        // At 10 s the wakeup coincides with an arrival, and one pass serves both.
        assert_eq!(grid.policy().asked, [0, 4, 10, 12, 14, 20].map(Time::from_secs));
    }
}

struct Overeager(SiteId);

impl Policy for Overeager {
    fn schedule(&mut self, _: &View<'_>, starts: &mut Starts) {
        starts.extend([(JobId(0), self.0), (JobId(1), self.0)]);
    }
}

/// Restricts the job to these machines.
fn only(job: Job, machines: &[u32]) -> Job {
    let sites = machines.iter().copied().map(SiteId).collect();
    Job { request: Request { sites, ..job.request }, ..job }
}

#[test]
fn machines_without_processors_or_speed_and_starts_where_there_is_no_room_are_refused() {
    let still = Machine { processors: 1, speed: 0.0 };
    for (machines, second, message) in [
        ([FAST, Machine::new(0)], job(1, 0, 3, 10), "machine 1 has no processors"),
        ([FAST, still], job(1, 0, 3, 10), "machine 1 has speed 0; a speed is above 0"),
        ([FAST, SLOW], job(1, 0, 3, 10), "the policy started job 1 on 3 processors of machine 1, where 2 are free"),
        ([FAST, SLOW], only(job(1, 0, 1, 10), &[0]), "the policy started job 1 on machine 1, which it may not use"),
    ] {
        panics(move || starts(&machines, Overeager(SiteId(1)), &[job(0, 0, 2, 10), second]), message);
    }
}

/// Job 1 waits for machine 0, because it may not use the idle machine 1. Job 2 may, and job 3 would delay job 1.
#[test]
fn a_job_waits_for_a_machine_that_it_may_use() {
    let machines = [Machine::new(4), Machine::new(4)];
    let jobs =
        [only(job(0, 0, 3, 100), &[0]), only(job(1, 1, 4, 10), &[0]), job(2, 2, 4, 200), only(job(3, 3, 1, 200), &[0])];
    let backfilled = [(0., 0), (100., 0), (2., 1), (110., 0)];
    check(&machines, easy(), &jobs, &backfilled);
    let others: [Box<dyn Policy>; 4] = [
        Box::new(FlexibleBackfill::default()),
        Box::new(OrderedBackfill::new(Backfilling { reserve: Depth::All, ..Backfilling::default() })),
        Box::new(Planner::new(EgEdf::default(), None)),
        Box::new(Planner::new(EgEdf::default(), Some(Tabu::default()))),
    ];
    check(&machines, others, &jobs, &backfilled);
    assert_eq!(starts(&machines, Fcfs::default(), &jobs), [(0., 0), (100., 0), (100., 1), (110., 0)]);
}

#[test]
fn a_job_that_no_machine_suits_is_rejected() {
    // The second machine is wide enough, but job 0 may not use it; there is no third.
    let jobs = [only(job(0, 0, 3, 10), &[0]), only(job(1, 0, 1, 10), &[2]), job(2, 0, 3, 10)];
    let told = transcript(&[FAST, SLOW], Fcfs::default(), Passes::PerInstant, &jobs);
    let rejected: Vec<Fact> =
        told.iter().map(|(_, fact)| *fact).filter(|fact| matches!(fact, Fact::Rejected { .. })).collect();
    assert_eq!(rejected, [0, 1].map(|id| Fact::Rejected { job: JobId(id), reason: Rejection::TooWide }));
}
