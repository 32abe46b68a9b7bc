//! EASY against its slow and obvious twin.

use crate::common::transcript;
use crate::grid_common::Both;
use gap_schedule::{Easy, Passes, reference};
use proptest::prelude::*;
use sim_core::testkit::workload;
use sim_core::{Job, Span, Time};

/// Estimates that are wrong in both directions or missing, and some jobs of no length.
fn misjudged(widest: u32) -> impl Strategy<Value = Vec<Job>> {
    (workload(widest), prop::collection::vec((1..15_u64, 0..6_u64), 60)).prop_map(|(mut jobs, wrong)| {
        for (job, (estimate, fate)) in jobs.iter_mut().zip(wrong) {
            job.request.estimate = (fate != 1).then_some(Span::from_secs(estimate));
            if fate == 0 {
                job.runtime = Span::ZERO;
            }
        }
        jobs
    })
}

fn check(processors: u32, jobs: &[Job]) -> Result<(), TestCaseError> {
    for passes in [Passes::PerInstant, Passes::PerEvent] {
        let fast = transcript(processors, Easy::default(), passes, jobs);
        let slow = transcript(processors, reference::Easy, passes, jobs);
        prop_assert_eq!(&fast, &slow);
        prop_assert_eq!(transcript(processors, Both::new(Easy::default(), reference::Easy), passes, jobs), fast);
    }
    Ok(())
}

/// The instants of a workload divided by four: an overloaded pool, on which most jobs wait.
fn hurried(mut jobs: Vec<Job>) -> Vec<Job> {
    for job in &mut jobs {
        job.submit = Time::from_secs(job.submit.as_nanos() / 4_000_000_000);
    }
    jobs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn easy_equals_its_twin(jobs in workload(8)) {
        check(8, &jobs)?;
    }

    #[test]
    fn easy_equals_its_twin_on_an_overloaded_pool(jobs in workload(16).prop_map(hurried)) {
        check(20, &jobs)?;
    }

    #[test]
    fn easy_equals_its_twin_whatever_the_estimates(jobs in misjudged(8).prop_map(hurried)) {
        check(10, &jobs)?;
    }
}
