//! Every anomaly of a log, by line.

use crate::data::{line, reader};
use proptest::prelude::*;
use workload::{Estimates, Intake, Options, Rule, Validation};

fn listed(log: &str, capacity: Option<u32>) -> Vec<String> {
    Validation::new(reader(log).expect("a log"), capacity).map(|finding| finding.to_string()).collect()
}

#[test]
fn anomalies_are_listed_in_the_order_of_the_lines() {
    let log = "\
; a comment
4 10 0 60 4 70 9 8 50 8 1 7 1 -1 2 3 9 -1
3 5 -1 60 99 -1 -1 99 60 -1 1 -1 1 -1 2 3 -1 -1
9 20 0 12:30 4 -1 -1 4 60 -1 1 7 1 -1 2 3 -1 -1
10 20 0 -1 4 -1 -1 4 60 -1 1 7 1 -1 2 3 -1 -1
11 20
";
    insta::assert_snapshot!(listed(log, Some(64)).join("\n"), @r#"
    2: job 4: cut-at-estimate: ran beyond its requested time (field 9): cut there, as an enforced limit would
    2: job 4: processors-differ: processors allocated (field 5) are not those requested (field 8)
    2: job 4: more-cpu-time-than-run-time: CPU time (field 6) exceeds the run time (field 4)
    2: job 4: more-memory-than-requested: memory used (field 7) exceeds that requested (field 10)
    2: job 4: preceding-job-not-before: the preceding job (field 17) does not come before it
    3: job 3: submit-out-of-order: submitted earlier than the job before it in the log: taken as submitted with it
    3: job 3: wider-than-machine: requests more processors than the machine has: kept, and rejected there
    3: job 3: number-not-ascending: its number (field 1) is not above that of the record before
    3: job 3: wait-unknown: ran, yet its wait (field 3) is unknown
    3: job 3: user-unknown: user (field 12) unknown
    a.swf:4: field 4 (run time): expected seconds, or -1 if unknown, found "12:30"; write a plain number such as 90 or 12.5, and -1 for what is not known
    5: job 10: no-runtime: run time (field 4) unknown, negative or zero, so the job never ran: skipped
    5: job 10: completed-without-running: completed (field 11), yet its run time (field 4) is unknown or zero
    a.swf:6: expected 18 columns separated by blanks, found 2; complete the record with -1 for what is unknown, or delete the line
    "#);
}

#[test]
fn a_sound_log_has_none_and_what_ends_a_log_is_listed_last() {
    let log = line(1, "0", "9", "4", "4", "60") + &line(2, "0", "9", "4", "4", "60");
    assert!(listed(&log, Some(4)).is_empty());
    let log = line(1, "0", "9", "4", "4", "60") + "1 2 \u{0} 3\n" + &line(2, "x", "9", "4", "4", "60");
    assert_eq!(listed(&log, None), ["a.swf:2: the file is not text; give a workload log, plain or gzip"]);
}

proptest! {
    /// Validation reports exactly the repairs of a simulation.
    #[test]
    fn repairs_are_those_of_the_intake(
        jobs in prop::collection::vec((-1..30_i32, -1..9_i32, -1..9_i32, -1..9_i32, -1..9_i32), 1..30),
    ) {
        let log: String = jobs.iter().zip(1..).map(|((submit, runtime, allocated, requested, time), number)| {
            line(number, &submit.to_string(), &runtime.to_string(), &allocated.to_string(), &requested.to_string(),
                &time.to_string())
        }).collect();
        let options = Options { estimates: Estimates::User, capacity: Some(5), ..Options::default() };
        let mut intake = Intake::new(reader(log.clone()).expect("a log"), options);
        intake.by_ref().for_each(drop);
        let found: Vec<_> = Validation::new(reader(log).expect("a log"), Some(5)).collect();
        prop_assert!(found.is_sorted_by_key(|finding| finding.line));
        for rule in Rule::ALL.into_iter().filter(|rule| *rule < Rule::Unreadable) {
            let mine = found.iter().filter(|finding| finding.rule == rule);
            let lines: Vec<_> = mine.map(|finding| finding.line).collect();
            let repair = intake.repairs().iter().find(|repair| repair.rule == rule);
            prop_assert_eq!(lines.len() as u64, repair.map_or(0, |repair| repair.count));
            prop_assert_eq!(lines.first().copied(), repair.and_then(|repair| repair.first_line));
        }
    }
}
