//! The summary of any run, against a twin over the collected records.

use crate::twin;
use metrics::{Better, Blocks, Metric, MetricSummary, OwnMetric, QuantileSketch, Summary, Totals, catalogue, job};
use proptest::prelude::*;
use sim_core::testkit::{self, Fcfs};
use sim_core::{Job, JobId, JobLog, JobRecord, Sim, SiteId, Span, Time};
use std::collections::BTreeSet;

const CAPACITY: u32 = 8;

/// Runs the jobs first come first served, once into a summary and once into a list.
fn run(jobs: &[Job]) -> (Summary, Vec<JobRecord>) {
    let model = Fcfs::new(CAPACITY, jobs.iter().copied());
    let (_, probe) = Sim::new(model, (JobLog::new(Summary::default()), JobLog::collecting())).run();
    (probe.0.into_sink(), probe.1.into_sink())
}

/// Gives every second job a deadline that some of them miss.
fn with_deadlines(mut jobs: Vec<Job>) -> Vec<Job> {
    for job in jobs.iter_mut().step_by(2) {
        job.request.deadline = Some(job.submit + job.runtime + Span::from_secs(3));
    }
    jobs
}

fn check(streamed: &MetricSummary, values: &[f64], weights: &[f64]) {
    assert_eq!(streamed.count(), values.len() as u64);
    let Some(mean) = streamed.mean() else {
        assert!(values.is_empty());
        return;
    };
    assert!(twin::close(mean, twin::mean(values)));
    assert!(twin::close(streamed.weighted_mean().unwrap(), twin::weighted_mean(values, weights)));
    assert_eq!(streamed.max(), values.iter().copied().reduce(f64::max));
    for (p, thousandths) in [(0.5, 500), (0.95, 950), (0.99, 990)] {
        let exact = twin::nearest_rank(values, thousandths);
        assert!((streamed.quantile(p).unwrap() - exact).abs() <= QuantileSketch::RELATIVE_ERROR * exact);
    }
}

proptest! {
    #[test]
    fn streaming_equals_collecting(jobs in testkit::workload(CAPACITY).prop_map(with_deadlines)) {
        let (summary, records) = run(&jobs);
        let weights: Vec<f64> = records.iter().map(|record| f64::from(record.processors)).collect();
        let of = |metric: fn(&JobRecord) -> f64| records.iter().map(metric).collect::<Vec<_>>();
        check(&summary.wait, &of(|record| record.wait().as_secs_f64()), &weights);
        check(&summary.response, &of(|record| record.response().as_secs_f64()), &weights);
        check(&summary.slowdown, &of(job::slowdown), &weights);
        check(&summary.bounded_slowdown, &of(|record| job::bounded_slowdown(record, Summary::THRESHOLD)), &weights);

        let (tardiness, weights): (Vec<f64>, Vec<f64>) = records
            .iter()
            .filter_map(|record| Some((job::tardiness(record)?.as_secs_f64(), f64::from(record.processors))))
            .unzip();
        check(&summary.tardiness, &tardiness, &weights);

        prop_assert_eq!(summary.jobs, records.len() as u64);
        let work: u64 = jobs.iter().map(|job| job.runtime.as_nanos() * u64::from(job.request.processors)).sum();
        prop_assert_eq!(summary.work().to_bits(), (work as f64 / 1e9).to_bits()); // summed in integers: no tolerance
    }

    #[test]
    fn estimates_over_blocks_are_means_over_jobs(mut jobs in testkit::workload(CAPACITY)) {
        // Eight jobs every four days, so that some wait.
        (0..).zip(&mut jobs).for_each(|(i, job)| job.submit += Span::from_secs(345_600 * (i / 8)));
        let records = run(&with_deadlines(jobs)).1;
        let of = |records: &[JobRecord]| {
            let mut blocks = Blocks::default();
            records.iter().for_each(|record| blocks.note_submission(record.job.submit, true));
            records.iter().for_each(|record| blocks.add(record));
            (blocks, totals(records))
        };
        let ((all, of_all), (half, of_half)) = (of(&records), of(&records[records.len() / 2..]));
        let estimates = |name| [all.mean(None, name), half.mean(None, name), all.difference(&half, None, name, 0.95)];
        for name in Blocks::METRICS {
            let [all, half] = [&of_all, &of_half].map(|totals| totals.value(name));
            let expected = [all, half, all.zip(half).map(|(all, half)| all - half)];
            for (found, expected) in estimates(name).into_iter().zip(expected) {
                let found = found.map(|estimate| estimate.mean);
                let is_near = |(found, expected): (f64, f64)| (found - expected).abs() < 1e-9 * expected.abs().max(1.0);
                let agrees = found.zip(expected).map_or(found == expected, is_near);
                prop_assert!(agrees, "{}: {:?} is not {:?}", name, found, expected);
            }
        }
    }

    #[test]
    fn bounded_slowdown_is_never_below_one(jobs in testkit::workload(CAPACITY), threshold in 1..100_u64) {
        for record in run(&jobs).1 {
            let bounded = job::bounded_slowdown(&record, Span::from_secs(threshold));
            prop_assert!(bounded >= 1.0);
            prop_assert!(bounded <= job::slowdown(&record), "a floor under the runtime only lowers it");
        }
    }

    #[test]
    fn utilization_never_exceeds_one(jobs in testkit::workload(CAPACITY)) {
        let (summary, _) = run(&jobs);
        match summary.utilization(CAPACITY) {
            Some(utilization) => prop_assert!(utilization > 0.0 && utilization <= 1.0),
            None => prop_assert!(jobs.is_empty()),
        }
    }

    #[test]
    fn the_order_of_records_moves_no_quantile_and_no_total(jobs in testkit::workload(CAPACITY)) {
        let (forward, records) = run(&jobs);
        let backward = summary(records.iter().rev());
        prop_assert_eq!(forward.makespan(), backward.makespan());
        prop_assert_eq!(forward.work().to_bits(), backward.work().to_bits());
        prop_assert_eq!(forward.wait.mean(), backward.wait.mean()); // whole seconds: summed exactly
        prop_assert_eq!(forward.slowdown.quantile(0.95), backward.slowdown.quantile(0.95));
    }
}

fn summary<'a>(records: impl IntoIterator<Item = &'a JobRecord>) -> Summary {
    let mut summary = Summary::default();
    records.into_iter().for_each(|record| summary.add(record));
    summary
}

/// One job: submit, wait, runtime in seconds; processors; deadline.
fn record(submit: u64, wait: u64, runtime: u64, processors: u32, deadline: Option<u64>) -> JobRecord {
    let mut job = Job::new(JobId(0), Time::from_secs(submit), processors, Span::from_secs(runtime));
    job.request.deadline = deadline.map(Time::from_secs);
    let start = job.submit + Span::from_secs(wait);
    JobRecord { job, start, finish: start + job.runtime, site: SiteId(0), processors }
}

#[test]
fn slowdowns_are_response_over_run_time_or_their_limit() {
    for (wait, runtime, plain, bounded) in [
        (30, 10, 4.0, 4.0),
        (60, 20, 4.0, 4.0),
        (19, 1, 20.0, 2.0),
        (0, 1, 1.0, 1.0), // bounded: 1 / 10, raised to 1
        (25, 0, f64::INFINITY, 2.5),
        (0, 0, 1.0, 1.0),
    ] {
        let record = record(100, wait, runtime, 4, None);
        let found = (job::slowdown(&record), job::bounded_slowdown(&record, Span::from_secs(10)));
        assert_eq!(found, (plain, bounded), "{wait} s of wait, {runtime} s of run time");
    }
}

#[test]
#[should_panic(expected = "longer than zero")]
fn a_zero_threshold_is_refused() {
    job::bounded_slowdown(&record(0, 1, 1, 4, None), Span::ZERO);
}

fn totals(records: &[JobRecord]) -> Totals {
    let mut totals = Totals::new(4, &[]);
    records.iter().for_each(|record| totals.add(record));
    totals
}

#[test]
fn four_jobs_by_hand() {
    let totals = totals(&[
        record(100, 0, 100, 2, Some(250)), // finishes at 200 s, on time
        record(110, 90, 50, 4, Some(225)), // finishes at 250 s, 25 s late
        record(120, 130, 5, 1, None),      // finishes at 255 s
        record(130, 120, 0, 1, None),      // takes no time at all
    ]);
    for (column, expected) in [
        ("jobs", 4.0),
        ("zero_runtime", 1.0),
        ("wait_mean", 85.0),
        ("wait_median", 90.0), // nearest rank: the lower of 90 and 120
        ("wait_max", 130.0),
        ("wait_weighted_mean", 76.25), // (0·2 + 90·4 + 130 + 120) / 8
        ("response_mean", 123.75),
        ("slowdown_mean", (1.0 + 2.8 + 27.0) / 3.0),
        ("slowdown_max", 27.0),
        ("bounded_slowdown_mean", (1.0 + 2.8 + 13.5 + 12.0) / 4.0),
        ("tardiness_mean", 12.5),
        ("tardiness_max", 25.0),
        ("tardiness_weighted_mean", 100.0 / 6.0),
        ("late_percent", 50.0),
        ("makespan", 155.0),
        ("work", 405.0),
        ("utilization", 405.0 / 620.0),
    ] {
        let seen = totals.value(column).unwrap_or_else(|| panic!("{column} is empty"));
        let bound =
            if column.ends_with("median") { expected * QuantileSketch::RELATIVE_ERROR } else { 1e-12 * expected };
        assert!((seen - expected).abs() <= bound, "{column}: {seen}, not {expected}");
    }
}

#[test]
fn late_jobs_are_counted_in_percent_of_those_with_a_deadline() {
    let jobs = [
        record(0, 0, 10, 1, Some(4)),  // 6 s late
        record(0, 0, 10, 1, Some(9)),  // 1 s late
        record(0, 5, 10, 1, Some(14)), // 1 s late
        record(0, 0, 10, 1, Some(10)), // at the deadline: on time
        record(0, 0, 10, 1, Some(99)), // on time
        record(0, 90, 10, 1, None),    // cannot be late
    ];
    let summary = summary(&jobs);
    assert_eq!(summary.tardiness.count(), 5);
    assert_eq!(summary.late_percent(), Some(60.0));
}

#[test]
fn what_does_not_exist_is_an_empty_cell() {
    let one = totals(&[record(0, 0, 1, 1, None)]);
    assert_eq!((one.value("late_percent"), one.value("tardiness_p95"), one.value("user_wait_max")), (None, None, None));
    let row = totals(&[]).row().into_iter();
    let names: Vec<_> = row.filter_map(|(metric, value)| value.map(|_| metric.name())).collect();
    assert_eq!(names, ["jobs", "zero_runtime", "work", "rejected"]);
    let timeless = summary(&[record(5, 0, 0, 1, None)]);
    assert_eq!((timeless.makespan(), timeless.utilization(4)), (Some(Span::ZERO), None));
}

/// User scripts read these names: a change here is a breaking change.
#[test]
fn the_columns_keep_their_names_and_order() {
    let mut expected = vec!["jobs".to_owned(), "zero_runtime".to_owned()];
    for metric in ["wait", "response", "slowdown", "bounded_slowdown", "tardiness"] {
        for statistic in ["mean", "median", "p95", "p99", "max", "weighted_mean"] {
            expected.push(format!("{metric}_{statistic}"));
        }
    }
    let later = ["late_percent", "makespan", "work", "utilization", "area_weighted_response", "rejected"];
    expected.extend(later.map(str::to_owned));
    let names: Vec<_> = totals(&[]).row().into_iter().map(|(metric, _)| metric.name()).collect();
    assert_eq!(names[..expected.len()], expected);
}

#[test]
fn names_are_unique_and_blocks_measure_metrics_of_the_catalogue() {
    let names: BTreeSet<_> = catalogue().iter().map(Metric::name).collect();
    assert_eq!(names.len(), catalogue().len());
    assert!(Blocks::METRICS.iter().all(|name| names.contains(name)));
}

#[test]
fn users_count_alike_however_many_jobs_they_have() {
    // User 1 waits 0 and 40 s, user 2 100 s, user 3 200 s; jobs of 20 s.
    let of_user = |user: u32, wait: u64| {
        let mut record = record(0, wait, 20, 1, None);
        record.job.request.user = Some(user);
        record
    };
    let mut all =
        totals(&[of_user(1, 0), of_user(1, 40), of_user(2, 100), of_user(3, 200), record(0, 9_999, 20, 1, None)]);
    let slowdowns = [2.0, 6.0, 11.0];
    for (column, expected) in [
        ("user_wait_median", 100.0),
        ("user_wait_max", 200.0),
        ("user_bounded_slowdown_median", 6.0),
        ("user_bounded_slowdown_max", 11.0),
        ("user_bounded_slowdown_jain", 19.0 * 19.0 / (3.0 * slowdowns.map(|x| x * x).iter().sum::<f64>())),
    ] {
        let seen = all.value(column).unwrap_or_else(|| panic!("{column} is empty"));
        assert!((seen - expected).abs() < 1e-12, "{column}: {seen}, not {expected}");
    }
    assert_eq!(all.value("offered_load"), None);
    all.count("offered_load", Some(0.5));
    assert_eq!(all.value("offered_load"), Some(0.5));
}

#[test]
fn a_metric_of_a_program_sees_the_jobs_in_order_of_submission() {
    let first = OwnMetric::new("first_wait", "wait of the first job", Better::Smaller, |jobs| {
        jobs.first().map_or(f64::NAN, |job| job.wait().as_secs_f64())
    });
    let mut totals = Totals::new(4, &[first]);
    assert_eq!(totals.value("first_wait"), None);
    [record(50, 1, 1, 1, None), record(10, 90, 1, 1, None)].iter().for_each(|record| totals.add(record));
    assert_eq!(totals.value("first_wait"), Some(90.0));
}

#[test]
#[should_panic(expected = "is built in")]
fn a_metric_of_a_program_has_a_name_of_its_own() {
    let _ = OwnMetric::new("wait_mean", "", Better::Smaller, |_| 0.0);
}

#[test]
#[should_panic(expected = "without processors")]
fn a_system_has_processors() {
    let _ = Summary::default().utilization(0);
}
