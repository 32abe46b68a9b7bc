//! Logs of grids: accepted and rejected input, and the inverse relation of writing and reading.

use crate::round_trip;
use proptest::option;
use proptest::prelude::*;
use sim_core::Span;
use std::io::Cursor;
use workload::gwf::USER;
use workload::swf::Status;
use workload::{GwfReader, GwfRecord, InputError, SwfRecord};

pub(crate) fn reader(log: impl Into<Vec<u8>>) -> Result<GwfReader, InputError> {
    GwfReader::from_read("a.gwf", Cursor::new(log.into()))
}

fn records(log: impl Into<Vec<u8>>) -> Vec<GwfRecord> {
    reader(log).and_then(Iterator::collect).unwrap_or_else(|error| panic!("{error}"))
}

/// Columns 12 to 29, all unknown.
const UNKNOWN: &str = "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1";

#[test]
fn columns_are_separated_by_blanks_or_by_tabs() {
    let blanks = "# a grid\n#another\n\n7 100.5 -1 60 4 59.5 1023.5 4 90 -1 1 U12 G3 a.out Q1 P2 site1 site2 UNITARY \
                  -1 -1 -1 -1 -1 -1 -1 -1 vo1 -1\n";
    let log = reader(blanks).expect("a log");
    assert_eq!(log.comments, ["a grid", "another"]);
    let read = records(blanks);
    let record = &read[0];
    let expected = SwfRecord {
        submit: Some(Span::from_nanos(100_500_000_000)),
        runtime: Some(Span::from_secs(60)),
        allocated_processors: Some(4),
        cpu_time: Some(Span::from_nanos(59_500_000_000)),
        memory: Some(1024),
        requested_processors: Some(4),
        requested_time: Some(Span::from_secs(90)),
        status: Some(Status::Completed),
        number: 7,
        ..SwfRecord::default()
    };
    assert_eq!(record.job, expected);
    let text = |at: usize| record.texts[at].as_deref();
    assert_eq!([text(USER), text(2), text(6), text(16)], [Some("U12"), Some("a.out"), Some("site2"), Some("vo1")]);
    assert_eq!(record.texts.last(), Some(&None), "no project");

    // With tabs a name may contain blanks; blanks and a final tab, as in some logs, are blanks.
    let tabs = blanks.lines().last().expect("a record").replace(' ', "\t").replace("a.out", "my program");
    assert_eq!(records(tabs)[0].texts[2].as_deref(), Some("my program"));
    let mixed = blanks.replace(" vo1 -1", " vo1\t-1");
    assert_eq!(records(mixed), read);
}

#[test]
fn faults_lead_to_their_place_and_the_reader_goes_on() {
    let message = |line: &str| -> String {
        match reader(format!("# a grid\n{line}\n")) {
            Err(error) => error.to_string(),
            Ok(mut log) => log.next().expect("a line").expect_err("a fault").to_string(),
        }
    };
    insta::assert_snapshot!(message(&format!("1 5 0 12:30 1 -1 -1 1 60 -1 1 {UNKNOWN}")), @r#"a.gwf:2: field 4 (RunTime): expected seconds, or -1 if unknown, found "12:30"; write a plain number such as 90 or 12.5, and -1 for what is not known"#);
    insta::assert_snapshot!(message(&format!("1 5 0 9 1.5 -1 -1 1 60 -1 1 {UNKNOWN}")), @r#"a.gwf:2: field 5 (NProc): expected a whole number of processors, or -1 if unknown, found "1.5"; write a plain number such as 90 or 12.5, and -1 for what is not known"#);
    insta::assert_snapshot!(message(&format!("1 9e12 0 9 1 -1 -1 1 60 -1 1 {UNKNOWN}")), @r#"a.gwf:2: field 2 (SubmitTime): expected at most 4294967295 seconds, which are 136 years, found "9e12"; write a plain number such as 90 or 12.5, and -1 for what is not known"#);
    insta::assert_snapshot!(message(&format!("1 9 0 9 9e12 -1 -1 1 60 -1 1 {UNKNOWN}")), @r#"a.gwf:2: field 5 (NProc): expected at most 4294967295, found "9e12"; write a plain number such as 90 or 12.5, and -1 for what is not known"#);
    insta::assert_snapshot!(message(&format!("-1 9 0 9 9 -1 -1 1 60 -1 1 {UNKNOWN}")), @r#"a.gwf:2: field 1 (JobID): expected a whole number from 0 on, found "-1"; write a plain number such as 90 or 12.5, and -1 for what is not known"#);
    insta::assert_snapshot!(message("1 9 0 9"), @"a.gwf:2: expected 29 columns separated by blanks, found 4; complete the record with -1 for what is unknown, or delete the line");
    insta::assert_snapshot!(message(""), @"a.gwf: there is no job record in the file; it has only comments; check that the log is complete");
    insta::assert_snapshot!(message("1 9 \u{0} 9"), @"a.gwf:2: the file is not text; give a workload log, plain or gzip");
    assert!(reader("").expect_err("empty").to_string().ends_with("it is empty: the download may have failed"));
    let log = format!("1 0 0 9 1 -1 -1 1 9 -1 1 {UNKNOWN}\n2 x\n# remark\n3 0 0 9 1 -1 -1 1 9 -1 1 {UNKNOWN}");
    let read: Vec<_> = reader(log).expect("a log").map(|item| item.ok().map(|record| record.job.number)).collect();
    assert_eq!(read, [Some(1), None, Some(3)]);
}

fn name() -> impl Strategy<Value = Option<Box<str>>> {
    option::of("[A-Za-z/=.]{1,8}[0-9]{0,3}( [a-z]{1,3})?".prop_map(String::into_boxed_str))
}

/// Strategy for records of the Standard Workload Format without the fields that a log of a grid cannot represent.
fn record() -> impl Strategy<Value = GwfRecord> {
    (round_trip::record(), prop::array::uniform18(name())).prop_map(|(job, texts)| {
        let job = SwfRecord {
            user: None,
            group: None,
            executable: None,
            queue: None,
            partition: None,
            preceding_job: None,
            think_time: None,
            further: None,
            name: None,
            ..job
        };
        GwfRecord { job, texts }
    })
}

proptest! {
    #[test]
    fn what_was_written_is_read(written in prop::collection::vec(record(), 1..10)) {
        let mut text = b"# a grid\n# of two lines\n".to_vec();
        written.iter().try_for_each(|record| record.write(&mut text)).expect("memory does not fail");
        prop_assert_eq!(reader(text.clone()).expect("a log").comments.len(), 2);
        prop_assert_eq!(records(text), written);
    }
}
