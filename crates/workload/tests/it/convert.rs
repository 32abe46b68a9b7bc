//! Conversion of one format into another, and back.

use crate::data::{check_option, line};
use std::io::{Cursor, Write};
use workload::convert::convert_swf;
use workload::{Converted, Layout, SwfReader};

fn converted(log: &str, to: Layout) -> (String, Converted) {
    let mut out = Vec::new();
    let reader = SwfReader::from_read("a.log", Cursor::new(log.to_owned().into_bytes()));
    let done = reader.map_err(Into::into).and_then(|reader| convert_swf(reader, to, &mut out));
    let done = done.unwrap_or_else(|error| panic!("{error}"));
    (String::from_utf8(out).expect("text"), done)
}

const METACENTRUM: &str = "\
; MaxProcs: 2176
; Note: two lines
0 1356996147 0 56011 64 1 1024 64 86400 68719476736 1 62 1 1 -1 1 1 1 {1241,1241} q_1d 1:ppn=64:x86_64:cl_zewura#excl
1 1356996695 71 1164297 12 1 1024 12 1209600 91268055040 1 101 1 1 7 1 -1 -1 {1129} q_2w 1:ppn=12
";

#[test]
fn logs_of_metacentrum_become_plain_logs() {
    let (swf, done) = converted(METACENTRUM, Layout::Swf);
    insta::assert_snapshot!(swf, @"
    ; MaxProcs: 2176
    ; Note: two lines
    0 1356996147 0 56011 64 1 1024 64 86400 68719476736 1 62 1 1 -1 1 1 1
    1 1356996695 71 1164297 12 1 1024 12 1209600 91268055040 1 101 1 1 7 1 -1 -1
    ");
    assert_eq!(done.records, 2);
    assert_eq!(done.lost.into_iter().collect::<Vec<_>>(), [("queue name and requested nodes", 2)]);
}

#[test]
fn plain_logs_ask_for_nodes_of_one_processor() {
    let (log, _) = converted(&line(1, "0", "9", "4", "4", "60"), Layout::Swf21);
    assert_eq!(log, "1 0 0 9 4 -1 -1 4 60 -1 1 7 1 -1 2 3 -1 -1 {} -1 4:ppn=1\n");
    let (same, _) = converted(&log, Layout::Swf21);
    assert_eq!(same, log);
}

#[test]
fn formats_are_recognized_by_the_first_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.log");
    let detect = |text: &str| {
        let mut file = std::fs::File::create(&path).expect("a file");
        file.write_all(text.as_bytes()).expect("written");
        Layout::detect(&path).map_err(|error| error.to_string().replace(&path.display().to_string(), "a.log"))
    };
    assert_eq!(detect(METACENTRUM), Ok(Layout::Swf21));
    assert_eq!(detect(&line(1, "0", "9", "4", "4", "60")), Ok(Layout::Swf));
    assert_eq!(detect("JobID|Submit|Start|End|NCPUS|State\n1|0|1|2|1|COMPLETED\n"), Ok(Layout::Sacct));
    let message = "a.log: there is no job record in the file; \
                   it is empty or has only comments; check that the log is complete";
    assert_eq!(detect("; nothing\n"), Err(message.to_owned()));
}

#[test]
fn a_faulty_line_ends_the_conversion() {
    let log = line(1, "0", "9", "4", "4", "60") + "2 x\n";
    let reader = SwfReader::from_read("a.swf", Cursor::new(log.into_bytes())).expect("it has a record");
    let error = convert_swf(reader, Layout::Swf21, Vec::new()).expect_err("it is faulty");
    assert!(error.to_string().starts_with("a.swf:2: expected 18 columns"), "{error}");
}

#[test]
fn formats_are_read_and_printed() {
    check_option::<Layout>("swf|swf21|sacct", "csv|gwf", "format: expected swf, swf21 or sacct,");
}
