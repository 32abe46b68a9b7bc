//! Messages for a faulty log: the place, the fault, and the fix.

use crate::data::{error, line, reader};
use std::io::{self, Read};
use std::path::Path;
use workload::SwfReader;

fn check(log: impl Into<Vec<u8>>, message: &str) {
    let error = error(log);
    assert_eq!(error.to_string(), message);
    assert!(!error.is_io(), "{error}");
}

/// Returns a good line, then `bad`.
fn after_a_good_line(bad: &str) -> String {
    line(1, "0", "1", "1", "1", "1") + bad
}

#[test]
fn a_faulty_field_is_named_with_its_place_what_is_expected_and_the_fix() {
    let (seconds, processors) = ("seconds, or -1 if unknown", "a whole number of processors, or -1 if unknown");
    let (plain, unknown) =
        ("write a plain number such as 90 or 12.5, and -1 for what is not known", "write -1 for what is not known");
    let too_late = "at most 4294967295 seconds, which are 136 years";
    for (field, found, expected, fix) in [
        ("4 (run time)", "12:30", seconds, plain),
        ("2 (submit time)", "nan", seconds, plain),
        ("2 (submit time)", "NaN", seconds, plain),
        ("2 (submit time)", "inf", seconds, plain),
        ("2 (submit time)", "-inf", seconds, plain),
        ("2 (submit time)", "-5", seconds, unknown),
        ("5 (allocated processors)", "-5", processors, unknown),
        ("8 (requested processors)", "-5", processors, unknown),
        ("9 (requested time)", "-5", seconds, unknown),
        ("5 (allocated processors)", "1.5", processors, "leave the fraction out"),
        ("2 (submit time)", "1356996147000", too_late, "give times in seconds, and -1 for what is not known"),
        ("5 (allocated processors)", "99999999999999999999999", "at most 4294967295", unknown),
        ("1 (job number)", "job", "a whole number from 0 on", "number the jobs, or delete what is no record"),
    ] {
        let mut columns: Vec<&str> = "2 5 0 9 1 -1 -1 1 60 -1 1 7 1 -1 2 3 -1 -1".split(' ').collect();
        let (at, _) = field.split_once(' ').expect("a number and a name");
        columns[at.parse::<usize>().expect("a number") - 1] = found;
        let message = format!("a.swf:2: field {field}: expected {expected}, found {found:?}; {fix}");
        check(after_a_good_line(&(columns.join(" ") + "\n")), &message);
    }
    // A huge token is shortened.
    let message = format!("a.swf:1: field 4 (run time): expected {seconds}, found \"{}…\"; {plain}", "é".repeat(40));
    check(line(1, "0", &"é".repeat(100_000), "1", "1", "60"), &message);
}

#[test]
fn a_line_that_is_no_record_is_named() {
    for (end, fix) in [
        ("2 0 abc 9 1\n", "complete the record with -1 for what is unknown, or delete the line"),
        ("2 0 0 9 1", "the file ends within this line: the download may be incomplete"),
    ] {
        let message = format!("a.swf:2: expected 18 columns separated by blanks, found 5; {fix}");
        check(after_a_good_line(end), &message);
    }
}

#[test]
fn a_line_too_long_is_not_read_to_its_end_and_a_failing_disk_is_the_systems_fault() {
    let endless = io::repeat(b'7').take(2 << 20).chain(Failing);
    let error = SwfReader::from_read("a.swf", endless).expect_err("no line is that long");
    assert_eq!(error.to_string(), "a.swf:1: the line is longer than 1 MiB; is this a workload log?");
    for text in [b"".as_slice(), b"; MaxProcs: 4\n"] {
        let error = SwfReader::from_read("a.swf", text.chain(Failing)).expect_err("it fails");
        assert_eq!(error.to_string(), "a.swf: cannot be read; check its permissions and the disk it is on");
        assert!(error.is_io());
    }
}

#[test]
fn a_file_that_is_no_text_or_no_log_is_named() {
    let message = "a.swf:1: the file is not text; give a workload log, plain or gzip";
    check(b"\x7fELF\x02\x01\x01\0\0\0\n1 2 3".as_slice(), message);
    check([0; 3 << 20].as_slice(), message);
    check(b"1 0 0 9 1 -1 -1 1 9 -1 1 1 1 1 -1 1 1 1 {1} q\xff\n".as_slice(), message);
    check(
        b"\xfd7zXZ\0\0\x04".as_slice(),
        "a.swf: the file is packed with xz, which is not read here; unpack it, or pack it with gzip",
    );
    check("", "a.swf: there is no job record in the file; it is empty: the download may have failed");
    check(
        "; MaxProcs: 4\n\n",
        "a.swf: there is no job record in the file; it has only comments; check that the log is complete",
    );
    for (name, problem) in [
        ("no/such.swf", "there is no such file; check the name and the folder"),
        ("src", "is a folder, not a file; name one file in it"),
    ] {
        let error = SwfReader::open(Path::new(name)).expect_err(problem);
        assert_eq!(error.to_string(), format!("{name}: {problem}"));
        assert!(!error.is_io(), "the command is at fault");
    }
}

/// A disk whose first byte cannot be read.
struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::from(io::ErrorKind::PermissionDenied))
    }
}

#[test]
fn the_reader_goes_on_after_a_faulty_line_and_ends_after_a_failure() {
    let bad = line(2, "x", "1", "1", "1", "1");
    let read: Vec<_> = reader(after_a_good_line(&bad).repeat(2)).expect("a log").map(|item| item.is_ok()).collect();
    assert_eq!(read, [true, false, true, false]);

    let failing = b"1 0 0 9 1 -1 -1 1 9 -1 1 1 1 1 -1 1 1 1\n2 0".chain(Failing);
    let read: Vec<_> = SwfReader::from_read("a.swf", failing)
        .expect("a log")
        .map(|item| item.map_err(|error| error.is_io()))
        .collect();
    assert_eq!(read.len(), 2);
    assert_eq!(read[1], Err(true));
}
