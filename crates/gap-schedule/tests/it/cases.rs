//! Cases small enough to check by hand.

use crate::common::{job, starts, transcript};
use gap_schedule::{
    Easy, Event, Fcfs, Machine, MultiCluster, Passes, Policy, PolicyError, Queue, QueuedJob, Running, Starts, View,
    reference,
};
use sim_core::{Fact, Job, JobId, JobLog, Rejection, Sim, Span, Time};

#[track_caller]
fn check(processors: u32, jobs: &[Job], fcfs: &[f64], easy: &[f64]) {
    assert_eq!(starts(processors, Fcfs::default(), jobs), fcfs, "FCFS");
    assert_eq!(starts(processors, Easy::default(), jobs), easy, "EASY");
    assert_eq!(
        starts(processors, reference::OrderedBackfill::default(), jobs),
        easy,
        "EASY as plainly as it can be written"
    );
}

fn estimated(mut job: Job, estimate: u64) -> Job {
    job.request.estimate = Some(Span::from_secs(estimate));
    job
}

fn unestimated(mut job: Job) -> Job {
    job.request.estimate = None;
    job
}

#[test]
fn a_job_passes_the_head_if_it_ends_by_its_start_or_uses_extra_processors() {
    let jobs = [job(0, 0, 3, 100), job(1, 1, 4, 10), job(2, 2, 1, 50), job(3, 3, 1, 200)];
    check(4, &jobs, &[0., 100., 110., 110.], &[0., 100., 2., 110.]);
    // A job that ends at the very start of the head goes first.
    let jobs = [job(0, 0, 3, 100), job(1, 1, 4, 10), job(2, 2, 1, 98)];
    check(4, &jobs, &[0., 100., 110.], &[0., 100., 2.]);
    let longer = [jobs[0], jobs[1], job(2, 2, 1, 99)];
    check(4, &longer, &[0., 100., 110.], &[0., 100., 110.]);
    // At 100 s six are free and the head takes four: two are extra. Three long jobs of one processor compete for them.
    let jobs = [job(0, 0, 3, 100), job(1, 1, 4, 50), job(2, 2, 1, 500), job(3, 2, 1, 500), job(4, 2, 1, 500)];
    check(6, &jobs, &[0., 100., 100., 100., 150.], &[0., 100., 2., 2., 150.]);
    // Two jobs end at 100 s; the first alone would leave nothing extra.
    let jobs = [job(0, 0, 2, 100), job(1, 0, 2, 100), job(2, 1, 3, 50), job(3, 2, 1, 500), job(4, 2, 1, 500)];
    check(5, &jobs, &[0., 0., 100., 100., 100.], &[0., 0., 100., 2., 100.]);
    // At 10 s, jobs 1 and 2 start together; job 3 must wait for both, until 40 s.
    let jobs = [job(0, 0, 4, 10), job(1, 1, 1, 30), job(2, 1, 2, 20), job(3, 1, 4, 5), job(4, 1, 1, 30)];
    check(4, &jobs, &[0., 10., 10., 40., 45.], &[0., 10., 10., 40., 10.]);
    let longer = [jobs[0], jobs[1], jobs[2], jobs[3], job(4, 1, 1, 31)];
    check(4, &longer, &[0., 10., 10., 40., 45.], &[0., 10., 10., 40., 45.]);
    // Jobs of no length pass through.
    let jobs = [job(0, 0, 4, 0), job(1, 0, 4, 0), job(2, 0, 4, 10), job(3, 0, 1, 0)];
    check(4, &jobs, &[0., 0., 0., 10.], &[0., 0., 0., 10.]);
}

#[test]
fn estimates_may_be_too_long_too_short_or_missing() {
    let jobs = [estimated(job(0, 0, 3, 20), 100), job(1, 1, 4, 10), job(2, 2, 1, 50)];
    // By the estimates the backfilled job was harmless; in truth it delays the head.
    check(4, &jobs, &[0., 20., 30.], &[0., 52., 2.]);
    // From 10 s on, job 0 may end at any moment: a job of any length would delay the head, so job 2 waits, and job 3
    // takes the extra processor.
    let jobs = [estimated(job(0, 0, 2, 100), 10), job(1, 20, 3, 10), job(2, 21, 2, 5), job(3, 22, 1, 500)];
    check(4, &jobs, &[0., 100., 110., 110.], &[0., 100., 110., 22.]);
    // A job without an estimate starts in its turn, or on extra processors.
    let jobs = [job(0, 0, 3, 100), job(1, 1, 4, 10), unestimated(job(2, 2, 1, 50))];
    check(4, &jobs, &[0., 100., 110.], &[0., 100., 110.]);
    let with_extra = [job(0, 0, 3, 100), job(1, 1, 3, 10), unestimated(job(2, 2, 1, 50))];
    check(4, &with_extra, &[0., 100., 100.], &[0., 100., 2.]);
    let first = [unestimated(job(0, 0, 3, 100)), job(1, 1, 4, 10), job(2, 2, 1, 50), unestimated(job(3, 3, 1, 50))];
    check(4, &first, &[0., 100., 110., 110.], &[0., 100., 2., 110.]);
    // All arrive at once: the head waits for a job without an estimate that was started in this very pass. Its
    // reservation is at the end of time; job 2 is done by then, and job 3 might not be.
    let jobs = [unestimated(job(0, 0, 3, 100)), job(1, 0, 4, 10), job(2, 0, 1, 50), unestimated(job(3, 0, 1, 50))];
    check(4, &jobs, &[0., 100., 110., 110.], &[0., 100., 0., 110.]);
    // The head leaves one processor over, for one of two such jobs.
    let jobs = [jobs[0], jobs[1], unestimated(jobs[2]), jobs[3]];
    check(5, &jobs, &[0., 100., 100., 110.], &[0., 100., 0., 50.]);
}

#[test]
fn a_job_wider_than_the_machine_is_rejected_and_blocks_no_other() {
    let jobs = [job(0, 0, 5, 10), job(1, 0, 4, 10)];
    let told = transcript(4, Fcfs::default(), Passes::PerInstant, &jobs);
    let rejected = Fact::Rejected { job: JobId(0), reason: Rejection::TooWide };
    assert_eq!(told[..2], [(Time::ZERO, Fact::Submitted(jobs[0])), (Time::ZERO, rejected)]);
    assert_eq!(told.len(), 5, "{told:?}");
}

/// FCFS that counts its passes, and fails in the one of a number.
#[derive(Default)]
struct Counting {
    passes: usize,
    fails_in: usize,
}

impl Policy for Counting {
    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.passes += 1;
        Fcfs::default().schedule(view, starts);
    }

    fn error(&self) -> Option<PolicyError> {
        (self.passes == self.fails_in).then(|| PolicyError::from(Box::from("no plan")))
    }
}

#[test]
fn the_policy_is_called_once_per_instant_or_once_per_event() {
    // At 10 s two jobs end and one arrives; another has been waiting.
    let jobs = [job(0, 0, 2, 10), job(1, 0, 2, 10), job(2, 1, 4, 10), job(3, 10, 4, 10)];
    let asked = |passes| {
        let mut policy = Counting::default();
        transcript(4, &mut policy, passes, &jobs);
        policy.passes
    };
    assert_eq!(asked(Passes::PerInstant), 4, "at 0, 1, 10 and 20 s");
    assert_eq!(asked(Passes::PerEvent), 7, "two at 0 s, one at 1 s, three at 10 s, one at 20 s");
}

#[test]
fn passes_per_event_decide_before_the_whole_instant_is_seen() {
    // At 10 s, job 0 ends before job 1. One processor is then free, which job 2, the head, will not need even when job
    // 1 has ended: job 4 takes it. A pass that sees both ends starts job 2, and makes job 3 the head that job 4 must
    // not delay.
    let jobs = [job(0, 0, 1, 10), job(1, 0, 3, 10), job(2, 1, 3, 10), job(3, 2, 4, 10), job(4, 3, 1, 100)];
    let starts = |passes| {
        let cluster = MultiCluster::new(vec![Machine::new(4)], Easy::default(), jobs.into_iter()).with_passes(passes);
        let mut records = Sim::new(cluster, JobLog::collecting()).run().1.into_sink();
        records.sort_by_key(|record| record.job.id);
        records.iter().map(|record| record.start.as_secs_f64()).collect::<Vec<_>>()
    };
    assert_eq!(starts(Passes::PerInstant), [0., 0., 10., 20., 30.]);
    assert_eq!(starts(Passes::PerEvent), [0., 0., 10., 110., 10.]);
}

#[test]
fn jobs_are_pulled_one_at_a_time() {
    let endless = (0..).map(|id| job(id, id.into(), 1, 1));
    let mut sim = Sim::new(MultiCluster::new(vec![Machine::new(4)], Easy::default(), endless), ());
    sim.run_until(Time::from_secs(1_000));
    let view = sim.model().view(sim.now());
    assert_eq!((view.queue.len(), view.running[0].len()), (0, 1));
}

#[test]
fn a_policy_that_fails_starts_no_job_from_then_on_and_the_world_keeps_its_error() {
    let jobs = [job(0, 0, 1, 10), job(1, 1, 1, 10), job(2, 2, 1, 10)];
    let policy = Counting { passes: 0, fails_in: 2 };
    let world = MultiCluster::new(vec![Machine::new(4)], policy, jobs.into_iter());
    let mut sim = Sim::new(world, JobLog::collecting());
    while sim.step() {}
    assert_eq!(sim.model().error().map(|error| error.to_string()), Some("no plan".to_owned()));
    assert_eq!(sim.model().policy().passes, 2);
    assert_eq!(sim.probe().sink().iter().map(|record| record.job.id).collect::<Vec<_>>(), [JobId(0)]);
}

#[test]
fn a_run_takes_one_more_job_from_outside() {
    let world = MultiCluster::new(vec![Machine::new(1)], Fcfs::default(), [job(0, 0, 1, 10)].into_iter());
    let mut sim = Sim::new(world, JobLog::collecting());
    sim.run_until(Time::from_secs(4));
    sim.post_at(Time::from_secs(5), Event::Submit(Box::new(job(1, 5, 1, 10))));
    let (_, log) = sim.run();
    assert_eq!(log.sink().iter().map(|record| record.start).collect::<Vec<_>>(), [Time::ZERO, Time::from_secs(10)]);
}

#[test]
#[should_panic(expected = "job 3 joined a queue in which it waits already")]
fn a_job_waits_once() {
    let mut queue = Queue::default();
    (0..2).for_each(|_| queue.push(QueuedJob::of(&job(3, 0, 1, 1))));
}

#[test]
#[should_panic(expected = "job 2 ended but does not run")]
fn only_a_running_job_ends() {
    let [one, two] = [1, 2].map(|id| Machine::new(4).running(JobId(id), &job(id, 0, 1, 1).request, Time::ZERO));
    let mut running = Running::default();
    running.insert(one);
    running.remove(&two);
}
