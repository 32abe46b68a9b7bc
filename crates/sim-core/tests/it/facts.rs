//! Records, and laws that hold for every finite run.

use proptest::prelude::*;
use sim_core::testkit::{Fcfs, workload};
use sim_core::{Fact, Gauge, Job, JobId, JobLog, JobRecord, Probe, Rejection, Sim, SiteId, Span, Time};

/// ∫ N(t) dt of jobs in the system, and the sum of their response times.
struct InSystem {
    present: Gauge,
    last: Time,
}

impl Probe for InSystem {
    fn observe(&mut self, now: Time, fact: &Fact) {
        match fact {
            Fact::Submitted(_) => self.present.raise(now, 1),
            Fact::Finished { .. } => self.present.lower(now, 1),
            _ => {}
        }
        self.last = now;
    }
}

#[test]
fn a_probe_that_is_lent_and_two_at_once_hear_every_fact() {
    let jobs: Vec<Job> = (0..3).map(|id| Job::new(JobId(id), Time::from_secs(1), 5, Span::from_secs(7))).collect();
    let run = || Fcfs::new(8, jobs.clone().into_iter());
    let (_, told) = Sim::new(run(), Vec::new()).run();
    assert_eq!(told.len(), 9, "each is submitted, starts and ends");
    let mut lent: Vec<(Time, Fact)> = Vec::new();
    Sim::new(run(), &mut lent).run();
    assert_eq!(lent, told);
    let (_, (one, two)) = Sim::new(run(), (Vec::new(), Vec::new())).run();
    assert_eq!((&one, &two), (&told, &told));
}

proptest! {
    /// ∫ N(t) dt = Σ response times: exact on every finite run that ends empty.
    #[test]
    fn littles_law_holds_on_every_sample_path(jobs in workload(8)) {
        let probe = (InSystem { present: Gauge::new(Time::ZERO, 0), last: Time::ZERO }, JobLog::collecting());
        let (_, (seen, log)) = Sim::new(Fcfs::new(8, jobs.into_iter()), probe).run();
        let responses: u128 = log.sink().iter().map(|record| u128::from(record.response().as_nanos())).sum();
        prop_assert_eq!(seen.present.area(seen.last), responses); // integers: no tolerance
    }

    #[test]
    fn every_submitted_job_is_finished_rejected_or_present(jobs in workload(8), steps in 0..150_usize) {
        let mut sim = Sim::new(Fcfs::new(8, jobs.into_iter()), JobLog::collecting());
        for _ in 0..steps {
            sim.step();
        }
        let (log, counts) = (sim.probe(), sim.probe().counts());
        prop_assert_eq!(counts.submitted, counts.finished + counts.rejected + log.present() as u64);
        for record in log.sink() {
            prop_assert!(record.start >= record.job.submit);
            prop_assert_eq!(record.finish, record.start + record.job.runtime);
        }
    }
}

/// The log of these facts, posted at 0, 1, 2, … s.
fn log(facts: &[Fact]) -> JobLog<Vec<JobRecord>> {
    let mut log = JobLog::collecting();
    for (now, fact) in (0..).zip(facts) {
        log.observe(Time::from_secs(now), fact);
    }
    log
}

const STARTED: Fact = Fact::Started { job: JobId(0), site: SiteId(0), processors: 2 };
const INTERRUPTED: Fact = Fact::Interrupted { job: JobId(0), site: SiteId(0), processors: 2 };

fn submitted() -> Fact {
    Fact::Submitted(Job::new(JobId(0), Time::ZERO, 2, Span::from_secs(1)))
}

#[test]
fn the_record_of_an_interrupted_job_is_that_of_the_run_that_it_finished() {
    let again = Fact::Started { job: JobId(0), site: SiteId(1), processors: 2 };
    let log = log(&[submitted(), STARTED, INTERRUPTED, STARTED, INTERRUPTED, again, Fact::Finished { job: JobId(0) }]);
    let [record] = log.sink()[..] else { panic!("one job: {:?}", log.sink()) };
    assert_eq!((record.start, record.finish, record.site), (Time::from_secs(5), Time::from_secs(6), SiteId(1)));
    assert_eq!(record.wait(), Span::from_secs(5)); // two of which it spent in runs that were lost
    let counts = log.counts();
    assert_eq!((counts.submitted, counts.interrupted, counts.finished, log.present()), (1, 2, 1, 0));
}

#[test]
fn a_rejected_job_is_counted_and_forgotten() {
    let mut log = log(&[submitted(), Fact::Rejected { job: JobId(0), reason: Rejection::TooWide }]);
    let counts = log.counts();
    assert_eq!((counts.submitted, counts.rejected, counts.finished, log.present()), (1, 1, 0, 0));
    // A later job may reuse the number.
    log.observe(Time::from_secs(2), &submitted());
    assert_eq!((log.counts().submitted, log.present(), log.into_sink().len()), (2, 1, 0));
}

#[test]
#[should_panic(expected = "job 0 was interrupted but did not run")]
fn only_a_run_is_interrupted() {
    log(&[submitted(), INTERRUPTED]);
}
