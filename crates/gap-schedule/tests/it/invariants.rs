//! What holds for every workload.

use crate::common::{records, transcript};
use gap_schedule::{Easy, Fcfs, Passes, Policy, QueuedJob, Starts, View};
use proptest::prelude::*;
use sim_core::testkit::{self, workload};
use sim_core::{AvailabilityProfile, Job, JobId, JobLog, Pool, Sim, Time};
use std::collections::BTreeMap;

const PROCESSORS: u32 = 10;

/// A few of these jobs are wider than the pool.
fn jobs() -> impl Strategy<Value = Vec<Job>> {
    workload(PROCESSORS + 2)
}

/// EASY, with a note of the earliest and the latest start that each head was ever promised.
#[derive(Clone, Default)]
struct Promising {
    easy: Easy,
    promises: BTreeMap<JobId, Vec<Time>>,
}

impl Policy for Promising {
    fn begin(&mut self, view: &View<'_>) {
        self.easy.begin(view);
    }

    fn schedule(&mut self, view: &View<'_>, starts: &mut Starts) {
        self.easy.schedule(view, starts);
        let mut plan = AvailabilityProfile::new(view.machines[0].processors);
        for running in view.running[0].iter() {
            plan.reserve(view.now, running.expected_end.since(view.now), running.processors);
        }
        let has_started = |waiting: &QueuedJob| starts.iter().any(|(job, _)| *job == waiting.job);
        let mut waiting = view.queue.iter().filter(|waiting| !has_started(waiting));
        let Some(head) = waiting.next() else { return };
        // What was started, backfilled or in its turn, is part of what the head will find.
        for started in view.queue.iter().filter(|waiting| has_started(waiting)) {
            plan.reserve(view.now, started.request.estimate.expect("given"), started.request.processors);
        }
        let promise = plan.earliest(view.now, head.request.estimate.expect("given"), head.request.processors);
        self.promises.entry(head.job).or_default().push(promise.expect("not wider than the pool"));
    }
}

proptest! {
    #[test]
    fn fcfs_starts_in_order_of_submission(jobs in jobs()) {
        let records = records(PROCESSORS, Fcfs::new(), &jobs);
        prop_assert!(records.is_sorted_by_key(|record| record.start));
    }

    #[test]
    fn easy_never_delays_a_promised_start(jobs in jobs()) {
        let mut policy = Promising::default();
        let starts: BTreeMap<JobId, Time> =
            records(PROCESSORS, &mut policy, &jobs).iter().map(|record| (record.job.id, record.start)).collect();
        for (head, promises) in policy.promises {
            prop_assert!(promises.is_sorted_by(|earlier, later| later <= earlier), "job {head}: {promises:?}");
            prop_assert!(starts[&head] <= *promises.last().expect("noted"), "job {head}: {promises:?}");
        }
    }

    #[test]
    fn with_exact_estimates_easy_keeps_its_promise_to_the_nanosecond(mut jobs in jobs()) {
        for job in &mut jobs {
            job.request.estimate = Some(job.runtime);
        }
        let mut policy = Promising::default();
        let records = records(PROCESSORS, &mut policy, &jobs);
        for record in records {
            if let Some(promises) = policy.promises.get(&record.job.id) {
                prop_assert!(promises.iter().all(|promise| *promise == record.start), "{record:?}: {promises:?}");
            }
        }
    }

    #[test]
    fn jobs_of_one_processor_are_served_as_by_the_reference_model(jobs in workload(1)) {
        for passes in [Passes::PerInstant, Passes::PerEvent] {
            let reference = testkit::Fcfs::new(Pool::new(3), jobs.iter().copied());
            let mut expected = Sim::new(reference, JobLog::collecting()).run().1.into_sink();
            expected.sort_by_key(|record| record.job.id);
            prop_assert_eq!(&records(3, Fcfs::new(), &jobs), &expected);
            // Nobody can pass a head that fits whenever anybody does.
            prop_assert_eq!(&records(3, Easy::default(), &jobs), &expected);
            let told = transcript(3, Fcfs::new(), passes, &jobs);
            prop_assert_eq!(told.len(), 3 * jobs.len());
        }
    }
}
