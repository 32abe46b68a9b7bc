//! The summary of any run, against a twin over the collected records.

use crate::twin;
use metrics::{MetricSummary, QuantileSketch, Summary, job};
use proptest::prelude::*;
use sim_core::testkit::{self, Fcfs};
use sim_core::{Job, JobId, JobLog, JobRecord, Pool, Sim, SiteId, Span, Time};

const CAPACITY: u32 = 8;

/// Runs the jobs first come first served, once into a summary and once into a list.
fn run(jobs: &[Job]) -> (Summary, Vec<JobRecord>) {
    let model = Fcfs::new(Pool::new(CAPACITY), jobs.iter().copied());
    let (_, probe) = Sim::new(model, (JobLog::new(Summary::new()), JobLog::collecting())).run();
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
    for (quantile, thousandths) in [(streamed.median(), 500), (streamed.p95(), 950), (streamed.p99(), 990)] {
        let exact = twin::nearest_rank(values, thousandths);
        assert!((quantile.unwrap() - exact).abs() <= QuantileSketch::RELATIVE_ERROR * exact);
    }
}

proptest! {
    #[test]
    fn streaming_equals_collecting(jobs in testkit::workload(CAPACITY).prop_map(with_deadlines)) {
        let (summary, records) = run(&jobs);
        let weights: Vec<f64> = records.iter().map(|record| f64::from(job::weight(record))).collect();
        let of = |metric: fn(&JobRecord) -> f64| records.iter().map(metric).collect::<Vec<_>>();
        check(summary.wait(), &of(|record| job::wait(record).as_secs_f64()), &weights);
        check(summary.response(), &of(|record| job::response(record).as_secs_f64()), &weights);
        check(summary.slowdown(), &of(job::slowdown), &weights);
        check(summary.bounded_slowdown(), &of(|record| job::bounded_slowdown(record, Summary::THRESHOLD)), &weights);

        let (tardiness, weights): (Vec<f64>, Vec<f64>) = records
            .iter()
            .filter_map(|record| Some((job::tardiness(record)?.as_secs_f64(), f64::from(record.processors))))
            .unzip();
        check(summary.tardiness(), &tardiness, &weights);
        prop_assert_eq!(summary.late(), tardiness.iter().filter(|&&tardiness| tardiness > 0.0).count() as u64);

        prop_assert_eq!(summary.jobs(), records.len() as u64);
        let work: u64 = jobs.iter().map(|job| job.runtime.as_nanos() * u64::from(job.request.processors)).sum();
        prop_assert_eq!(summary.work_in_nanos(), u128::from(work)); // integers: no tolerance
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
        let backward: Summary = records.iter().rev().collect();
        prop_assert_eq!(forward.makespan(), backward.makespan());
        prop_assert_eq!(forward.work_in_nanos(), backward.work_in_nanos());
        prop_assert_eq!(forward.wait().mean(), backward.wait().mean()); // whole seconds: summed exactly
        prop_assert_eq!(forward.slowdown().p95(), backward.slowdown().p95());
    }
}

/// One job: submit, wait, runtime in seconds; processors; deadline.
fn record(submit: u64, wait: u64, runtime: u64, processors: u32, deadline: Option<u64>) -> JobRecord {
    let mut job = Job::new(JobId(0), Time::from_secs(submit), processors, Span::from_secs(runtime));
    job.request.deadline = deadline.map(Time::from_secs);
    let start = job.submit + Span::from_secs(wait);
    JobRecord { job, start, finish: start + job.runtime, site: SiteId(0), processors }
}

fn cell(summary: &Summary, column: &str) -> Option<f64> {
    let row = summary.row(4);
    let (_, value) = row.iter().find(|(name, _)| *name == column).unwrap_or_else(|| panic!("no column {column}"));
    *value
}

#[test]
fn four_jobs_by_hand() {
    let summary: Summary = [
        record(100, 0, 100, 2, Some(250)), // finishes at 200 s, on time
        record(110, 90, 50, 4, Some(225)), // finishes at 250 s, 25 s late
        record(120, 130, 5, 1, None),      // finishes at 255 s
        record(130, 120, 0, 1, None),      // takes no time at all
    ]
    .iter()
    .collect();
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
        let seen = cell(&summary, column).unwrap_or_else(|| panic!("{column} is empty"));
        let bound =
            if column.ends_with("median") { expected * QuantileSketch::RELATIVE_ERROR } else { 1e-12 * expected };
        assert!((seen - expected).abs() <= bound, "{column}: {seen}, not {expected}");
    }
}

#[test]
fn late_jobs_are_counted_one_by_one_and_told_in_percent_of_those_with_a_deadline() {
    let summary: Summary = [
        record(0, 0, 10, 1, Some(4)),  // 6 s late
        record(0, 0, 10, 1, Some(9)),  // 1 s late
        record(0, 5, 10, 1, Some(14)), // 1 s late
        record(0, 0, 10, 1, Some(10)), // at the deadline: on time
        record(0, 0, 10, 1, Some(99)), // on time
        record(0, 90, 10, 1, None),    // cannot be late
    ]
    .iter()
    .collect();
    assert_eq!((summary.late(), summary.tardiness().count()), (3, 5));
    assert_eq!(summary.late_percent(), Some(60.0));
    assert_eq!(cell(&summary, "late_percent"), Some(60.0));
}

#[test]
fn what_does_not_exist_is_an_empty_cell() {
    let summary: Summary = [record(0, 0, 1, 1, None)].iter().collect();
    assert_eq!(cell(&summary, "late_percent"), None);
    assert_eq!(cell(&summary, "tardiness_p95"), None);
    let empty: Vec<_> = Summary::new().row(4).into_iter().filter_map(|(name, value)| value.map(|_| name)).collect();
    assert_eq!(empty, ["jobs", "zero_runtime", "work"]);
    let timeless: Summary = [record(5, 0, 0, 1, None)].iter().collect();
    assert_eq!((timeless.makespan(), timeless.utilization(4)), (Some(Span::ZERO), None));
}

/// People's scripts read these names: a change here is a change for the reader.
#[test]
fn the_columns_keep_their_names_and_order() {
    let names: Vec<_> = Summary::new().row(1).into_iter().map(|(name, _)| name).collect();
    let mut expected = vec!["jobs".to_owned(), "zero_runtime".to_owned()];
    for metric in ["wait", "response", "slowdown", "bounded_slowdown", "tardiness"] {
        for statistic in ["mean", "median", "p95", "p99", "max", "weighted_mean"] {
            expected.push(format!("{metric}_{statistic}"));
        }
    }
    expected.extend(["late_percent", "makespan", "work", "utilization"].map(str::to_owned));
    assert_eq!(names, expected);
}

#[test]
fn the_threshold_can_be_chosen() {
    let mut summary = Summary::with_threshold(Span::from_secs(1));
    summary.add(&record(0, 8, 2, 1, None));
    assert_eq!(summary.bounded_slowdown().max(), Some(5.0));
}

#[test]
#[should_panic(expected = "without processors")]
fn a_system_has_processors() {
    let _ = Summary::new().utilization(0);
}
