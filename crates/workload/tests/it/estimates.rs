//! Estimates of run times that policies see: the f-model's draws, predictions from a user's past, and their parsing.

use crate::data::{check_sample, line, reader};
use proptest::option;
use proptest::prelude::*;
use sim_core::Span;
use sim_core::testkit::mean_and_stderr;
use workload::TextError;
use workload::{Estimates, Intake, LogJob, Options, Rule, SwfRecord, SwfWriter};

fn take_in(log: impl Into<Vec<u8>>, options: Options) -> (Vec<LogJob>, Intake) {
    let mut intake = Intake::new(reader(log).expect("a log"), options);
    let jobs = intake.by_ref().collect::<Result<_, _>>().expect("no faulty line");
    (jobs, intake)
}

fn with(estimates: Estimates) -> Options {
    Options { estimates, ..Options::default() }
}

fn estimate(job: &LogJob) -> Span {
    job.job.request.estimate.expect("every job of a log has an estimate")
}

/// Returns a thousand jobs of 100 s, with users' estimates of 60 s.
fn hundreds(jobs: u64) -> String {
    (1..=jobs).map(|number| line(number, "0", "100", "1", "1", "60")).collect()
}

#[test]
fn the_f_model_draws_uniformly_between_the_run_time_and_f_plus_1_times_it() {
    let (jobs, intake) = take_in(hundreds(20_000), with(Estimates::FModel(4.0)));
    assert!(intake.repairs().is_empty(), "no job is cut");
    let factors: Vec<f64> =
        jobs.iter().map(|job| estimate(job).as_secs_f64() / job.job.runtime.as_secs_f64()).collect();
    assert!(factors.iter().all(|factor| (1.0..=5.0).contains(factor)));
    let (mean, stderr) = mean_and_stderr(&factors);
    assert!((mean - 3.0).abs() < 4.0 * stderr, "{mean} ± {stderr}");
    check_sample("factors", factors, |factor| (factor - 1.0) / 4.0);
}

/// The first draws are part of every published result: if this test fails, all numbers move.
#[test]
fn value_stability() {
    let (jobs, _) = take_in(hundreds(3), Options { seed: 42, ..with(Estimates::FModel(4.0)) });
    let first: Vec<_> = jobs.iter().map(|job| estimate(job).as_nanos()).collect();
    assert_eq!(first, [422_055_815_767, 112_391_125_082, 302_453_390_859]);
}

#[test]
fn an_estimate_of_the_f_model_depends_on_job_number_and_seed_alone() {
    let of = |log: String, seed| {
        let (jobs, _) = take_in(log, Options { seed, ..with(Estimates::FModel(9.0)) });
        jobs.iter().map(|job| (job.record.number, estimate(job))).collect::<Vec<_>>()
    };
    let all = of(hundreds(50), 1);
    assert_eq!(all[40..], of(hundreds(50).lines().skip(40).map(|line| format!("{line}\n")).collect(), 1));
    assert_ne!(all, of(hundreds(50), 2));
    assert_eq!(of(hundreds(3), 0), {
        let (jobs, _) = take_in(hundreds(3), with(Estimates::FModel(9.0)));
        jobs.iter().map(|job| (job.record.number, estimate(job))).collect::<Vec<_>>()
    });
}

#[test]
fn an_f_of_0_is_exact() {
    let (jobs, _) = take_in(hundreds(3), with(Estimates::FModel(0.0)));
    assert!(jobs.iter().all(|job| estimate(job) == Span::from_secs(100)));
}

type Applied = Vec<(&'static str, u64)>;

/// Returns a line of user `user` with the estimate `limit`.
fn of_user(number: u64, user: &str, submit: u64, wait: &str, runtime: u64, limit: &str) -> String {
    format!("{number} {submit} {wait} {runtime} 1 -1 -1 1 {limit} -1 1 {user} 1 -1 2 3 -1 -1\n")
}

/// Returns run time and prediction of each job, in seconds, and the number of applications of each rule.
fn predictions(log: &str, jobs: u32) -> (Vec<(u64, u64)>, Applied) {
    let (jobs, intake) = take_in(log, with(Estimates::MeanOfUser(jobs)));
    let seconds = |span: Span| span.as_nanos() / 1_000_000_000;
    let pairs = jobs.iter().map(|job| (seconds(job.job.runtime), seconds(estimate(job)))).collect();
    (pairs, intake.repairs().iter().map(|repair| (repair.rule.name(), repair.count)).collect())
}

#[test]
fn predictions_are_means_of_the_last_jobs_of_the_user_that_had_ended() {
    let log = of_user(1, "7", 0, "0", 100, "900")        // ends at 100
        + &of_user(2, "7", 50, "0", 10, "900")           // nothing had ended; ends at 60
        + &of_user(3, "8", 60, "0", 500, "900")          // another user; ends at 560
        + &of_user(4, "7", 60, "0", 30, "900")           // job 2 ended at this very instant; this ends at 90
        + &of_user(5, "7", 150, "50", 40, "900")         // jobs 4 and 1 ended last; this ends at 240
        + &of_user(6, "7", 239, "0", 90, "900")          // job 5 has not ended
        + &of_user(7, "7", 240, "0", 90, "900")          // jobs 1 and 5
        + &of_user(8, "7", 240, "0", 90, "60")           // as before, but its user expects less: it is cut there
        + &of_user(9, "7", 240, "0", 90, "-1")           // as before, and its user expects nothing
        + &of_user(10, "8", 500, "0", 90, "-1"); // user 8's only job has not ended, and there is no limit
    let (pairs, repairs) = predictions(&log, 2);
    let expected =
        [(100, 900), (10, 900), (500, 900), (30, 10), (40, 65), (90, 65), (90, 70), (60, 60), (90, 70), (90, 90)];
    assert_eq!(pairs, expected);
    assert_eq!(repairs, [("estimate-from-runtime", 1), ("cut-at-estimate", 1), ("no-past-job", 4)]);
}

#[test]
fn a_job_learns_nothing_from_users_who_are_unknown_or_from_jobs_that_never_ran() {
    let log = of_user(1, "-1", 0, "0", 10, "900")
        + &of_user(2, "-1", 50, "0", 20, "900")
        + &of_user(3, "7", 50, "0", 0, "900")
        + &of_user(4, "7", 60, "0", 30, "900");
    let (pairs, repairs) = predictions(&log, 2);
    assert_eq!(pairs, [(10, 900), (20, 900), (30, 900)]);
    assert_eq!(repairs, [("no-runtime", 1), ("no-past-job", 3)]);
}

#[test]
fn jobs_whose_wait_is_unknown_are_taken_to_start_at_once() {
    let log = of_user(1, "7", 0, "-1", 10, "900") + &of_user(2, "7", 10, "-1", 30, "900");
    let (pairs, repairs) = predictions(&log, 2);
    assert_eq!(pairs, [(10, 900), (30, 10)]);
    assert_eq!(repairs, [("no-past-job", 1), ("wait-taken-as-zero", 2)]);
}

#[test]
fn the_longest_run_times_have_a_mean() {
    let longest = u64::from(u32::MAX);
    let log: String = (1..=9).map(|number| of_user(number, "7", longest, "0", longest, "-1")).collect();
    let log = (0..9).map(|number| of_user(number, "7", 0, "0", longest, "-1")).collect::<String>() + &log;
    let (pairs, _) = predictions(&log, 1000);
    assert_eq!(pairs[17], (longest, longest));
}

prop_compose! {
    fn record()(
        gap in 0..40_u64,
        wait in option::of(0..60_u64),
        runtime in 1..80_u64,
        limit in option::of(1..80_u64),
        user in option::of(0..3_u32),
    ) -> (u64, SwfRecord) {
        let span = Span::from_secs;
        (gap, SwfRecord {
            wait: wait.map(span),
            runtime: Some(span(runtime)),
            allocated_processors: Some(1),
            requested_time: limit.map(span),
            user,
            ..SwfRecord::numbered(0)
        })
    }
}

/// Slow twin: searches the whole past for every job.
fn naive(records: &[SwfRecord], window: usize) -> Vec<Span> {
    let end = |record: &SwfRecord| {
        record.submit.unwrap_or_default() + record.wait.unwrap_or_default() + record.runtime.unwrap_or_default()
    };
    (0..records.len())
        .map(|at| {
            let (record, runtime) = (&records[at], records[at].runtime.unwrap_or_default());
            let mut past: Vec<_> = records[..at]
                .iter()
                .filter(|earlier| earlier.user.is_some() && earlier.user == record.user)
                .filter(|earlier| Some(end(earlier)) <= record.submit)
                .collect();
            past.sort_by_key(|earlier| end(earlier)); // stable: of those that end at once, the first stays first
            let last = &past[past.len().saturating_sub(window)..];
            let sum: u64 = last.iter().map(|earlier| earlier.runtime.unwrap_or_default().as_nanos()).sum();
            match (last.len() as u64, record.requested_time) {
                (0, limit) => limit.unwrap_or(runtime),
                (count, Some(limit)) => limit.min(Span::from_nanos(sum / count)),
                (count, None) => Span::from_nanos(sum / count),
            }
        })
        .collect()
}

proptest! {
    #[test]
    fn predictions_are_those_of_their_slow_twin(
        mut jobs in prop::collection::vec(record(), 1..60),
        window in 1..4_u32,
    ) {
        let mut submit = 0;
        let mut log = SwfWriter::new(Vec::new());
        for (gap, record) in &mut jobs {
            submit += *gap;
            record.submit = Some(Span::from_secs(submit));
            log.record(record).expect("memory does not fail");
        }
        let records: Vec<_> = jobs.into_iter().map(|(_, record)| record).collect();
        let (jobs, intake) = take_in(log.into_inner(), with(Estimates::MeanOfUser(window)));
        prop_assert_eq!(jobs.iter().map(estimate).collect::<Vec<_>>(), naive(&records, window as usize));
        for (job, record) in jobs.iter().zip(&records) {
            let runtime = record.runtime.unwrap_or_default();
            prop_assert_eq!(job.job.runtime, record.requested_time.map_or(runtime, |limit| limit.min(runtime)));
        }
        let without_wait = records.iter().filter(|record| record.user.is_some() && record.wait.is_none()).count();
        prop_assert_eq!(intake.repairs().count(Rule::WaitTakenAsZero), without_wait as u64);
    }
}

#[test]
fn estimates_are_read_and_printed() {
    let texts = "exact user factor:2.5 request-factor:2 f-model:0 f-model:4.5 mean-of-user:1 mean-of-user:1000";
    for text in texts.split(' ') {
        assert_eq!(text.parse::<Estimates>().map(|estimates| estimates.to_string()).as_deref(), Ok(text));
    }
    let refused = "|Exact|exact:|factor|factor:|factor:0.9|factor:nan|factor:inf|factor:-2|request-factor:|request-factor:0.5|\
                   f-model:-1|f-model:2e6|mean-of-user|mean-of-user:0|mean-of-user:1001|mean-of-user:1.5";
    for text in refused.split('|') {
        let error: TextError = text.parse::<Estimates>().expect_err(text);
        assert_eq!(
            error.to_string(),
            format!(
                "estimates: expected exact, user, factor:F (times the run time) or request-factor:F (times the request) with \
                 F from 1 to 1000000, f-model:F with F from 0 to 1000000, or mean-of-user:K with K from 1 to 1000, \
                 found {text:?}"
            )
        );
    }
}

#[test]
#[should_panic(expected = "estimates cannot be factor:0.5")]
fn a_factor_is_at_least_1() {
    let _ = Intake::new(reader(hundreds(1)).expect("a log"), with(Estimates::Factor(0.5)));
}

#[test]
#[should_panic(expected = "estimates cannot be mean-of-user:0")]
fn a_mean_is_of_something() {
    let _ = Intake::new(reader(hundreds(1)).expect("a log"), with(Estimates::MeanOfUser(0)));
}
