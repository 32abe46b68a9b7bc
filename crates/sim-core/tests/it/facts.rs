//! Records, and laws that hold for every finite run.

use proptest::prelude::*;
use sim_core::testkit::{Fcfs, workload};
use sim_core::{Fact, Gauge, Job, JobId, JobLog, JobRecord, Probe, Rejection, Sim, Span, Time};

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
fn a_probe_and_two_at_once_hear_every_fact() {
    let jobs: Vec<Job> = (0..3).map(|id| Job::new(JobId(id), Time::from_secs(1), 5, Span::from_secs(7))).collect();
    let run = || Fcfs::new(8, jobs.clone().into_iter());
    let (_, told) = Sim::new(run(), Vec::new()).run();
    assert_eq!(told.len(), 9, "each is submitted, starts and ends");
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

fn submitted() -> Fact {
    Fact::Submitted(Job::new(JobId(0), Time::ZERO, 2, Span::from_secs(1)))
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
