//! Queues in any order, compared with slow and obvious twins and with the policies in order of arrival; starvation.

use crate::backfill::{self, depths, placements};
use crate::common::{self, job};
use crate::conservative;
use crate::grid_common::{Both, PASSES, WIDEST, bounded, hurried, machines, readings, records, transcript};
use gap_schedule::testkit::{assert_pure, scenes};
use gap_schedule::{
    Backfilling, CompressOrder, Conservative, Depth, Easy, Fcfs, Keyed, Machine, Order, OrderedBackfill, Passes,
    Placement, Policy, Priority, QueuedJob, reference,
};
use proptest::prelude::*;
use sim_core::testkit::workload;
use sim_core::{Job, Span, Time};

fn orders() -> impl Strategy<Value = Order> {
    prop::sample::select(Order::ALL.to_vec())
}

fn thresholds() -> impl Strategy<Value = Option<Span>> {
    prop::option::of((0..60_u64).prop_map(Span::from_secs))
}

pub(crate) fn rules() -> impl Strategy<Value = Backfilling> {
    (orders(), orders(), any::<bool>(), depths(), thresholds(), placements()).prop_map(
        |(order, other, same, reserve, threshold, placement)| {
            let backfill = if same { order } else { other };
            Backfilling { order, backfill, reserve, threshold, placement }
        },
    )
}

fn priorities() -> impl Strategy<Value = Priority> {
    (orders(), thresholds()).prop_map(|(order, threshold)| Priority { order, threshold })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// On one machine and on several, with estimates of every kind.
    #[test]
    fn backfilling_in_any_order_equals_its_twin(scene in scenes(WIDEST), rule in rules()) {
        for passes in PASSES {
            scene.transcript(backfill::both(rule), passes);
        }
    }

    #[test]
    fn backfilling_in_any_order_equals_its_twin_on_a_crowded_machine(
        jobs in workload(WIDEST).prop_map(|jobs| hurried(jobs, 6)), rule in rules(),
    ) {
        for passes in PASSES {
            common::transcript(WIDEST + 3, backfill::both(rule), passes, &jobs);
        }
    }

    #[test]
    fn blocking_in_any_order_equals_its_twin(scene in scenes(WIDEST), priority in priorities()) {
        for passes in PASSES {
            scene.transcript(Both(Fcfs::in_order(priority), reference::Fcfs(priority)), passes);
        }
    }

    #[test]
    fn conserving_in_any_order_equals_its_twin(scene in scenes(WIDEST), priority in priorities()) {
        for passes in PASSES {
            scene.transcript(conservative::both(CompressOrder::Arrival, priority), passes);
        }
    }
}

proptest! {
    #[test]
    fn in_order_of_arrival_they_are_the_policies_in_the_literature(scene in scenes(WIDEST)) {
        let never = Priority { threshold: Some(Span::MAX), ..Priority::default() };
        for passes in PASSES {
            let easy = scene.transcript(Easy::default(), passes);
            prop_assert_eq!(scene.transcript(OrderedBackfill::default(), passes), easy);
            let fcfs = scene.transcript(Fcfs::default(), passes);
            prop_assert_eq!(scene.transcript(Fcfs::in_order(never), passes), fcfs);
            let cons = scene.transcript(Conservative::default(), passes);
            let ordered = Conservative::new(Placement::Fastest, CompressOrder::Arrival, Priority::default());
            prop_assert_eq!(scene.transcript(ordered, passes), cons);
        }
    }

    #[test]
    fn a_policy_that_claims_to_be_pure_needs_the_view_alone(scene in scenes(WIDEST), readings in readings()) {
        for passes in PASSES {
            assert_pure(Fcfs::default(), &scene, passes);
            assert_pure(OrderedBackfill::easy(readings), &scene, passes);
        }
    }

    #[test]
    fn an_order_by_a_function_is_the_order_of_that_key(scene in scenes(WIDEST), rule in rules()) {
        let narrow = Order::Keyed(Keyed::new("narrow", |job, _| f64::from(job.request.processors)));
        let waited = |job: &QueuedJob, now: Time| -now.saturating_since(job.submit).as_secs_f64();
        let waited = Order::Keyed(Keyed::new("waited", waited));
        let by = |order| Backfilling { order, ..rule };
        for passes in PASSES {
            let told = scene.transcript(OrderedBackfill::new(by(Order::Narrow)), passes);
            prop_assert_eq!(scene.transcript(OrderedBackfill::new(by(narrow)), passes), told);
            scene.transcript(backfill::both(by(waited)), passes);
        }
    }

    #[test]
    fn every_job_has_waited_for_a_threshold_of_zero(machines in machines(WIDEST), jobs in bounded(), rule in rules()) {
        // A threshold that every job has reached makes every order that of arrival; one that no job reaches makes no difference.
        let transcript = |rule| transcript(&machines, OrderedBackfill::new(rule), Passes::PerInstant, &jobs);
        let arrival = Backfilling { order: Order::Fcfs, backfill: Order::Fcfs, threshold: None, ..rule };
        prop_assert_eq!(transcript(Backfilling { threshold: Some(Span::ZERO), ..rule }), transcript(arrival));
        let never = transcript(Backfilling { threshold: Some(Span::MAX), ..rule });
        prop_assert_eq!(transcript(Backfilling { threshold: None, ..rule }), never);
    }

    #[test]
    fn as_long_as_no_job_ends_early_the_order_of_a_compression_makes_no_difference(
        machines in machines(WIDEST), jobs in bounded(), priority in priorities(),
    ) {
        let mut jobs = jobs;
        jobs.iter_mut().for_each(|job| job.request.estimate = Some(job.runtime));
        let transcript = |policy| transcript(&machines, policy, Passes::PerInstant, &jobs);
        let ordered = Conservative::new(Placement::Fastest, CompressOrder::Arrival, priority);
        prop_assert_eq!(transcript(ordered), transcript(Conservative::default()));
    }
}

/// Asserts that no job starts later than a threshold allows.
///
/// A job that has waited for the threshold goes first, by arrival. If it is first and cannot start, it holds a reservation at
/// most one longest estimate ahead, when all running jobs will have ended. So a job starts by the end of its threshold, plus
/// one longest estimate until the next pass, one for each job before it that still waits then, and one more.
fn check_bound(policy: impl Policy, processors: u32, jobs: &[Job], threshold: Span) -> Result<(), TestCaseError> {
    let records = records(&[Machine::new(processors)], policy, jobs);
    let longest = jobs.iter().filter_map(|job| job.request.estimate).max().unwrap_or(Span::ZERO);
    for (number, record) in records.iter().enumerate() {
        let patient_until = record.job.submit + threshold;
        let before = records[..number].iter().filter(|other| other.start > patient_until).count();
        let mut bound = patient_until;
        (0..before + 2).for_each(|_| bound += longest);
        prop_assert!(record.start <= bound, "{record:?} starts after {bound:?}, {before} before it");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_job_starves_with_a_threshold(
        jobs in workload(WIDEST).prop_map(|jobs| hurried(jobs, 5)), threshold in 0..60_u64, rule in rules(),
    ) {
        let threshold = Span::from_secs(threshold);
        let reserve = if rule.reserve == Depth::Jobs(0) { Depth::Jobs(1) } else { rule.reserve };
        let rule = Backfilling { reserve, threshold: Some(threshold), ..rule };
        check_bound(OrderedBackfill::new(rule), WIDEST, &jobs, threshold)?;
        let priority = Priority { order: rule.order, threshold: Some(threshold) };
        check_bound(Fcfs::in_order(priority), WIDEST, &jobs, threshold)?;
    }
}

#[test]
fn a_wide_job_starves_behind_shorter_ones_until_it_has_waited_for_the_threshold() {
    // A job of 10 s on one of two processors every 5 s. Job 0 needs both, for 20 s.
    let mut jobs = vec![job(0, 1, 2, 20), job(1, 0, 1, 10)];
    jobs.extend((2..1_000).map(|id| job(id, 5 * u64::from(id - 1), 1, 10)));
    let start = |rule| {
        let mut jobs = jobs.clone();
        jobs.sort_by_key(|job| job.submit);
        records(&[Machine::new(2)], OrderedBackfill::new(rule), &jobs)[0].start
    };
    let sjf = Backfilling { order: Order::Sjf, backfill: Order::Sjf, ..Backfilling::default() };
    assert!(start(sjf) > Time::from_secs(4_000), "shorter ones never cease to come");
    let threshold = Some(Span::from_secs(100));
    let promised_at_105 = start(Backfilling { threshold, ..sjf });
    assert_eq!(promised_at_105, Time::from_secs(110));
    // Without reservations, being first is of no use.
    assert!(start(Backfilling { threshold, reserve: Depth::Jobs(0), ..sjf }) > Time::from_secs(4_000));
}

/// Compares the starts on one machine of four processors, in seconds.
#[track_caller]
fn check(jobs: &[Job], rule: Backfilling, expected: &[f64]) {
    assert_eq!(common::starts(4, OrderedBackfill::new(rule), jobs), expected, "{rule:?}");
}

#[test]
fn each_order_decides_who_is_promised_the_first_start_and_who_is_backfilled() {
    // The machine is taken for 10 s. Among the waiting jobs, 1 is the widest, 2 the shortest, 3 the longest.
    let jobs = [job(0, 0, 4, 10), job(1, 1, 4, 50), job(2, 2, 3, 20), job(3, 3, 2, 100)];
    let of = |order| Backfilling { order, backfill: order, ..Backfilling::default() };
    check(&jobs, of(Order::Fcfs), &[0., 10., 60., 80.]);
    check(&jobs, of(Order::Sjf), &[0., 30., 10., 80.]);
    check(&jobs, of(Order::Ljf), &[0., 110., 160., 10.]);
    check(&jobs, of(Order::Saf), &[0., 30., 10., 80.]); // 200, 60, 200: a tie, which is job 1's
    check(&jobs, of(Order::Narrow), &[0., 130., 110., 10.]);
    check(&jobs, of(Order::Wide), &[0., 10., 60., 80.]);
    // Job 1 is the head, with a reservation at 20 s. Jobs 2 and 3 would both end in time on the one processor that is
    // free; job 3 is the shorter.
    let jobs = [job(0, 0, 3, 20), job(1, 1, 4, 10), job(2, 2, 1, 15), job(3, 2, 1, 12)];
    let behind = |backfill| Backfilling { backfill, ..Backfilling::default() };
    check(&jobs, behind(Order::Fcfs), &[0., 20., 2., 30.]);
    check(&jobs, behind(Order::Spf), &[0., 20., 30., 2.]);
}
