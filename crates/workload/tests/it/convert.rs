//! Conversion of one format into another, and back.

use crate::data::{check_option, line, records};
use std::io::{Cursor, Write};
use workload::convert::convert_read;
use workload::{Converted, Layout};

fn converted(log: &str, from: Layout, to: Layout) -> (String, Converted) {
    let mut out = Vec::new();
    let done = convert_read("a.log", Cursor::new(log.to_owned().into_bytes()), from, to, &mut out)
        .unwrap_or_else(|error| panic!("{error}"));
    (String::from_utf8(out).expect("text"), done)
}

const METACENTRUM: &str = "\
; MaxProcs: 2176
; Note: two lines
0 1356996147 0 56011 64 1 1024 64 86400 68719476736 1 62 1 1 -1 1 1 1 {1241,1241} q_1d 1:ppn=64:x86_64:cl_zewura#excl
1 1356996695 71 1164297 12 1 1024 12 1209600 91268055040 1 101 1 1 7 1 -1 -1 {1129} q_2w 1:ppn=12
";

#[test]
fn logs_of_metacentrum_become_plain_and_grid_logs() {
    let (swf, done) = converted(METACENTRUM, Layout::Swf21, Layout::Swf);
    insta::assert_snapshot!(swf, @"
    ; MaxProcs: 2176
    ; Note: two lines
    0 1356996147 0 56011 64 1 1024 64 86400 68719476736 1 62 1 1 -1 1 1 1
    1 1356996695 71 1164297 12 1 1024 12 1209600 91268055040 1 101 1 1 7 1 -1 -1
    ");
    assert_eq!(done.records, 2);
    assert_eq!(done.lost.into_iter().collect::<Vec<_>>(), [("queue name and requested nodes", 2)]);

    let (gwf, done) = converted(METACENTRUM, Layout::Swf21, Layout::Gwf);
    insta::assert_snapshot!(gwf.replace('\t', " "), @"
    # MaxProcs: 2176
    # Note: two lines
    0 1356996147 0 56011 64 1 1024 64 86400 68719476736 1 U62 G1 E1 q_1d P1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 1:ppn=64:x86_64:cl_zewura#excl -1 -1
    1 1356996695 71 1164297 12 1 1024 12 1209600 91268055040 1 U101 G1 E1 q_2w P1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 1:ppn=12 -1 -1
    ");
    let lost: Vec<_> = done.lost.into_iter().collect();
    assert_eq!(lost, [("preceding job", 1), ("queue number", 1), ("think time", 1)]);

    // Back again, with all that a log of a grid can represent.
    let (back, done) = converted(&gwf, Layout::Gwf, Layout::Swf21);
    insta::assert_snapshot!(back, @"
    ; MaxProcs: 2176
    ; Note: two lines
    ; Queue: 1000000000 q_1d
    0 1356996147 0 56011 64 1 1024 64 86400 68719476736 1 62 1 1 1000000000 1 -1 -1 {} q_1d 1:ppn=64:x86_64:cl_zewura#excl
    ; Queue: 1000000001 q_2w
    1 1356996695 71 1164297 12 1 1024 12 1209600 91268055040 1 101 1 1 1000000001 1 -1 -1 {} q_2w 1:ppn=12
    ");
    assert_eq!((done.records, done.names, done.lost.len()), (2, 2, 0));
}

#[test]
fn plain_logs_survive_the_way_to_a_grid_and_ask_for_nodes_of_one_processor() {
    let log = line(1, "0", "9.5", "2", "3", "60") + &line(2, "1", "-1", "-1", "5", "-1");
    let (gwf, done) = converted(&log, Layout::Swf, Layout::Gwf);
    assert!(done.lost.is_empty());
    let (back, done) = converted(&gwf, Layout::Gwf, Layout::Swf);
    assert_eq!((done.names, done.lost.len()), (0, 0));
    assert_eq!(records(back), records(log));
    let (log, _) = converted(&line(1, "0", "9", "4", "4", "60"), Layout::Swf, Layout::Swf21);
    assert_eq!(log, "1 0 0 9 4 -1 -1 4 60 -1 1 7 1 -1 2 3 -1 -1 {} -1 4:ppn=1\n");
    let (same, _) = converted(&log, Layout::Swf21, Layout::Swf21);
    assert_eq!(same, log);
}

#[test]
fn names_keep_their_numbers_where_they_have_one() {
    let of_users = |users: &[&str]| -> Vec<Option<u32>> {
        let lines = users.iter().zip(1..).map(|(user, number)| {
            format!("{number} 0 0 9 1 -1 -1 1 9 -1 1 {user} -1 -1 -1 -1 s1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 vo -1\n")
        });
        let (log, done) = converted(&lines.collect::<String>(), Layout::Gwf, Layout::Swf);
        let lost: Vec<_> = done.lost.into_iter().collect();
        assert_eq!(lost, [("OrigSiteID", users.len() as u64), ("VOID", users.len() as u64)]);
        records(log).iter().map(|record| record.user).collect()
    };
    let other = 1_000_000_000;
    assert_eq!(of_users(&["U12", "U3", "-1", "U12"]), [Some(12), Some(3), None, Some(12)]);
    assert_eq!(of_users(&["12", "0", "3"]), [Some(12), Some(0), Some(3)]);
    assert_eq!(of_users(&["jane", "U7", "V7", "jane"]), [Some(other), Some(7), Some(other + 1), Some(other)]);
    assert_eq!(of_users(&["U7", "U07", "U4000000000"]), [Some(7), Some(other), Some(other + 1)]);
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
    assert_eq!(detect(&format!("# a grid\n1{}\n", " -1".repeat(28))), Ok(Layout::Gwf));
    assert_eq!(detect(&format!("1{}\n", "\t-1".repeat(28))), Ok(Layout::Gwf));
    assert_eq!(detect("JobID|Submit|Start|End|NCPUS|State\n1|0|1|2|1|COMPLETED\n"), Ok(Layout::Sacct));
    let message = "a.log: there is no job record in the file; \
                   it is empty or has only comments; check that the log is complete";
    assert_eq!(detect("; nothing\n"), Err(message.to_owned()));
}

#[test]
fn a_faulty_line_ends_the_conversion() {
    let log = line(1, "0", "9", "4", "4", "60") + "2 x\n";
    let error = convert_read("a.swf", Cursor::new(log.into_bytes()), Layout::Swf, Layout::Gwf, Vec::new());
    let error = error.expect_err("it is faulty");
    assert!(error.to_string().starts_with("a.swf:2: expected 18 columns"), "{error}");
}

#[test]
fn formats_are_read_and_printed() {
    check_option::<Layout>("swf|swf21|gwf|sacct", "csv", "format: expected swf, swf21, gwf or sacct,");
}
