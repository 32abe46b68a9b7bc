//! Records become jobs under named rules, each of them counted.

use crate::data::{self, line, reader, with};
use sim_core::{JobId, Span, Time};
use workload::repair::Repair;
use workload::{Deadlines, Estimates, HeldLog, InputError, Intake, LogJob, Options, Rule, capacity};

/// Name of a rule, number of its applications, and line of the first.
type Applied = (&'static str, u64, Option<u64>);

fn take_in(log: &str, options: Options) -> (Vec<LogJob>, Vec<Applied>) {
    let (jobs, intake) = data::take_in(log, options);
    (jobs, intake.repairs().iter().map(|repair| (repair.rule.name(), repair.count, repair.first_line)).collect())
}

#[test]
fn jobs_are_numbered_from_0_and_submitted_from_0() {
    let log = line(40, "1356996147", "9", "2", "2", "60") + &line(41, "1356996150.5", "9", "3", "3", "60");
    let (jobs, repairs) = take_in(&log, Options::default());
    assert!(repairs.is_empty());
    assert_eq!(jobs[0].job.id, JobId(0));
    assert_eq!(
        (jobs[0].record.number, jobs[0].line, jobs[0].record.user, jobs[0].record.queue),
        (40, 1, Some(7), Some(2))
    );
    assert_eq!(jobs[0].job.submit, Time::ZERO);
    assert_eq!(jobs[1].job.id, JobId(1));
    assert_eq!(jobs[1].job.submit, Time::from_nanos(3_500_000_000));
    assert_eq!(jobs[1].job.request.processors, 3);
    assert_eq!(jobs[1].job.request.deadline, None);
}

#[test]
fn records_of_jobs_that_never_ran_are_skipped_and_counted_once() {
    let log = line(1, "-1", "-1", "-1", "-1", "60")
        + &line(2, "1", "-1", "-1", "-1", "60")
        + &line(3, "1", "0", "2", "2", "60")
        + &line(4, "1", "9", "0", "0", "60")
        + &line(5, "1", "9", "-1", "-1", "60")
        + &line(6, "7", "9", "1", "1", "60");
    let (jobs, repairs) = take_in(&log, Options::default());
    assert_eq!(jobs.iter().map(|job| job.record.number).collect::<Vec<_>>(), [6]);
    assert_eq!(jobs[0].job.submit, Time::ZERO);
    assert_eq!(repairs, [("no-submit", 1, Some(1)), ("no-runtime", 2, Some(2)), ("no-processors", 2, Some(4))]);
}

#[test]
fn processors_order_and_width_are_repaired_and_counted() {
    // Allocated processors come before requested ones.
    let log =
        line(1, "0", "9", "30", "40", "60") + &line(2, "0", "9", "0", "4", "60") + &line(3, "0", "9", "-1", "5", "60");
    let (jobs, repairs) = take_in(&log, Options::default());
    assert_eq!(jobs.iter().map(|job| job.job.request.processors).collect::<Vec<_>>(), [30, 4, 5]);
    assert_eq!(repairs, [("processors-from-request", 2, Some(2))]);
    // A job out of order is submitted with its predecessor.
    let log = ["10", "20", "15", "18", "25"].map(|submit| line(1, submit, "9", "1", "1", "60")).concat();
    let (jobs, repairs) = take_in(&log, Options::default());
    assert_eq!(jobs.iter().map(|job| job.job.submit).collect::<Vec<_>>(), [0, 10, 10, 10, 15].map(Time::from_secs));
    assert_eq!(repairs, [("submit-out-of-order", 2, Some(3))]);
    // Jobs wider than the machine are kept.
    let log = line(1, "0", "9", "64", "64", "60") + &line(2, "0", "9", "65", "65", "60");
    let (jobs, repairs) = take_in(&log, Options { capacity: Some(64), ..Options::default() });
    assert_eq!(jobs.len(), 2);
    assert_eq!(repairs, [("wider-than-machine", 1, Some(2))]);
}

/// Run time and estimate in seconds of jobs that run for 90 s or 30 s and request 60 s, nothing, or 0 s.
#[test]
fn estimates_are_exact_requested_or_multiples_and_requests_are_limits() {
    let log = [("90", "60"), ("30", "60"), ("30", "-1"), ("30", "0")];
    let log: String = log.map(|(runtime, limit)| line(1, "0", runtime, "1", "1", limit)).concat();
    let requested: [Applied; 2] = [("estimate-from-runtime", 2, Some(3)), ("cut-at-estimate", 1, Some(1))];
    for (estimates, expected, rules) in [
        (Estimates::Exact, [(90, 90), (30, 30), (30, 30), (30, 30)], &[][..]),
        (Estimates::User, [(60, 60), (30, 60), (30, 30), (30, 30)], &requested),
        (Estimates::MeanOfUser(2), [(60, 60), (30, 60), (30, 30), (30, 30)], &requested),
        (Estimates::Factor(2.5), [(90, 225), (30, 75), (30, 75), (30, 75)], &[]),
        (Estimates::FModel(0.0), [(90, 90), (30, 30), (30, 30), (30, 30)], &[]),
        (Estimates::RequestFactor(2.5), [(60, 150), (30, 150), (30, 75), (30, 75)], &requested),
    ] {
        let (jobs, repairs) = take_in(&log, with(estimates));
        let pairs: Vec<_> = jobs.iter().map(|job| (job.job.runtime, job.job.request.estimate)).collect();
        let seconds = |(runtime, estimate)| (Span::from_secs(runtime), Some(Span::from_secs(estimate)));
        assert_eq!((pairs, &repairs[..]), (expected.map(seconds).to_vec(), rules), "{estimates}");
        let logged: Vec<_> = jobs.iter().map(|job| (job.logged_runtime, job.record.requested_time)).collect();
        let (long, short, limit) = (Span::from_secs(90), Span::from_secs(30), Some(Span::from_secs(60)));
        assert_eq!(logged, [(long, limit), (short, limit), (short, None), (short, None)]);
    }
    // An absurd product stays within the range of time.
    let (jobs, _) = take_in(&line(1, "0", "4000000000", "1", "1", "60"), with(Estimates::Factor(1e6)));
    assert_eq!(jobs[0].job.request.estimate, Some(Span::from_secs(4_294_967_295)));
}

#[test]
fn max_jobs_counts_records_skipped_ones_included() {
    let log =
        line(1, "0", "9", "1", "1", "60") + &line(2, "0", "-1", "1", "1", "60") + &line(3, "0", "9", "1", "1", "60");
    let numbers = |max_jobs| {
        let (jobs, _) = take_in(&log, Options { max_jobs: Some(max_jobs), ..Options::default() });
        jobs.iter().map(|job| job.record.number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(0), Vec::<u64>::new());
    assert_eq!(numbers(2), [1]);
    assert_eq!(numbers(3), [1, 3]);
    assert_eq!(numbers(9), [1, 3]);
}

#[test]
fn a_faulty_line_is_handed_on_and_the_origin_is_kept() {
    let log =
        line(1, "5", "9", "1", "1", "60") + &line(2, "x", "9", "1", "1", "60") + &line(3, "7", "9", "1", "1", "60");
    let mut intake = Intake::new(reader(log).expect("a log"), Options::default());
    let items: Vec<_> = intake.by_ref().map(|item| item.ok().map(|job| job.job.submit)).collect();
    assert_eq!(items, [Some(Time::ZERO), None, Some(Time::from_secs(2))]);
    assert_eq!(intake.origin(), Some(Span::from_secs(5)));
}

#[test]
fn rules_have_stable_distinct_names_and_one_line_each() {
    let names: Vec<_> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    insta::assert_snapshot!(names.join(" "), @"no-submit no-runtime no-processors processors-from-request estimate-from-runtime cut-at-estimate submit-out-of-order wider-than-machine capacity-from-nodes unreadable number-not-ascending processors-differ more-cpu-time-than-run-time more-memory-than-requested completed-without-running wait-unknown user-unknown preceding-job-not-before");
    assert!(Rule::ALL.iter().all(|rule| !rule.description().contains('\n')));
}

#[test]
fn the_machine_s_size_comes_from_the_header_and_is_never_guessed_from_the_widest_job() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.swf");
    let jobs = line(1, "0", "9", "30", "99", "60") + &line(2, "0", "9", "-1", "40", "60");
    let check = |header: &str, jobs: &str| -> Result<(u32, Option<Rule>), InputError> {
        std::fs::write(&path, format!("{header}{jobs}")).expect("written");
        let reader = workload::SwfReader::open(&path)?;
        capacity(reader.header(), &path)
    };
    assert_eq!(check("; MaxNodes: 70\n; MaxProcs: 140\n", &jobs).expect("known"), (140, None));
    assert_eq!(check("; MaxNodes: 70\n; MaxProcs: -1\n", &jobs).expect("known"), (70, Some(Rule::CapacityFromNodes)));
    let error_of = |header: &str, jobs: &str| {
        let error = check(header, jobs).expect_err("nothing tells").to_string();
        error.rsplit_once("a.swf: ").expect("the file is named").1.to_owned()
    };
    let unknown = "the log does not say how many processors its machine has";
    assert_eq!(error_of("", &jobs), format!("{unknown}; give their number (the widest job requests 40)"));
    assert_eq!(error_of("", &line(1, "0", "9", "-1", "-1", "60")), format!("{unknown}; give their number"));
    // A job wider than the number of nodes: they have several processors each.
    let nodes = format!("{unknown}, only that it has 39 nodes; give their number (the widest job requests 40)");
    assert_eq!(error_of("; MaxNodes: 39\n", &jobs), nodes);
}

#[test]
fn what_was_done_to_the_log_as_a_whole_can_be_noted() {
    let mut intake = Intake::new(reader(line(1, "0", "9", "1", "1", "60")).expect("a log"), Options::default());
    intake.note(Rule::CapacityFromNodes);
    let repairs: Vec<_> = intake.repairs().iter().collect();
    assert_eq!(repairs, [Repair { rule: Rule::CapacityFromNodes, count: 1, first_line: None }]);
    assert_eq!(intake.repairs().skipped(), 0);
}

/// Five jobs, the second of which never ran, on a machine of 8.
const FIVE: &str = "\
; MaxProcs: 8
1 100 5 60 4 -1 -1 4 50 -1 1 7 1 -1 -1 -1 -1 -1
2 130 -1 -1 8 -1 -1 8 90 -1 5 7 1 -1 -1 -1 -1 -1
3 160 0 30 1 -1 -1 1 -1 -1 1 9 1 -1 -1 -1 -1 -1
4 160 9 20 2 -1 -1 2 100 -1 1 7 1 -1 -1 -1 -1 -1
5 400 9 40 2 -1 -1 2 100 -1 1 7 1 -1 -1 -1 -1 -1
";

fn held(deadlines: Deadlines) -> HeldLog {
    HeldLog::read(reader(FIVE).expect("a log"), Options { deadlines, ..Options::default() }).expect("a log").0
}

#[test]
fn a_held_log_equals_a_streamed_one() {
    // Field 4, the run time, stands for a column of times to the deadline.
    for deadlines in [Deadlines::None, Deadlines::Factor(2.5), Deadlines::Column(4)] {
        let held = held(deadlines);
        for text in ["exact", "user", "factor:2.5", "request-factor:2.5", "f-model:3", "mean-of-user:2"] {
            let estimates: Estimates = text.parse().expect("estimates");
            let (jobs, _) = take_in(FIVE, Options { estimates, deadlines, seed: 7, ..Options::default() });
            let streamed: Vec<_> = jobs.into_iter().map(|job| job.job).collect();
            assert_eq!(held.with_estimates(estimates, 7), streamed, "{text}");
        }
    }
    assert_eq!(held(Deadlines::None).due_after(2.5), held(Deadlines::Factor(2.5)));
}

#[test]
fn shares_are_counted_and_a_denser_log_has_the_requested_load() {
    let held = held(Deadlines::None);
    let load = held.load(8).expect("it has a span");
    assert!((held.with_limit() - 0.75).abs() < 1e-12);
    assert!((load - (200.0 + 30.0 + 40.0 + 80.0) / (8.0 * 300.0)).abs() < 1e-12, "job 1 is cut at 50 s: {load}");
    let denser = held.denser(1.25);
    assert!((denser.load(8).expect("a span") / load - 1.25).abs() < 1e-9);
    assert_eq!(denser.jobs()[3].submit, Time::from_secs(240));
    assert_eq!(denser.jobs()[3].runtime, held.jobs()[3].runtime);
}
