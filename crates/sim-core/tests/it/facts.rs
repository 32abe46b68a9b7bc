//! Records, and what is true of every finite run.

use proptest::prelude::*;
use sim_core::testkit::{Fcfs, workload};
use sim_core::{Fact, Gauge, JobLog, Pool, Probe, Sim, Time};

/// ∫ N(t) dt of jobs in the system, and the sum of their response times.
struct InSystem {
    present: Gauge,
    last: Time,
}

impl Probe for InSystem {
    fn hear(&mut self, now: Time, fact: &Fact) {
        match fact {
            Fact::Submitted(_) => self.present.raise(now, 1),
            Fact::Finished { .. } => self.present.lower(now, 1),
            _ => {}
        }
        self.last = now;
    }
}

proptest! {
    /// ∫ N(t) dt = Σ response times: exact on every finite run that ends empty.
    #[test]
    fn littles_law_holds_on_every_sample_path(jobs in workload(8)) {
        let probe = (InSystem { present: Gauge::new(Time::ZERO, 0), last: Time::ZERO }, JobLog::collecting());
        let (_, (seen, log)) = Sim::new(Fcfs::new(Pool::new(8), jobs.into_iter()), probe).run();
        let responses: u128 = log.sink().iter().map(|record| u128::from(record.response().as_nanos())).sum();
        prop_assert_eq!(seen.present.area(seen.last), responses); // integers: no tolerance
    }

    #[test]
    fn every_submitted_job_is_finished_rejected_or_present(jobs in workload(8), steps in 0..150_usize) {
        let mut sim = Sim::new(Fcfs::new(Pool::new(8), jobs.into_iter()), JobLog::collecting());
        for _ in 0..steps {
            sim.step();
        }
        let (log, tally) = (sim.probe(), sim.probe().tally());
        prop_assert_eq!(tally.submitted, tally.finished + tally.rejected + log.present() as u64);
        for record in log.sink() {
            prop_assert!(record.start >= record.job.submit);
            prop_assert_eq!(record.finish, record.start + record.job.runtime);
        }
    }
}
