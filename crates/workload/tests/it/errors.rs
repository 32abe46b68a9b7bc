//! What people read when a log is faulty: the place, the fault, and what to do.

use crate::data::{error, line, reader};
use std::io::{self, Read};
use std::path::Path;
use workload::SwfReader;

fn check(log: impl Into<Vec<u8>>, message: &str) {
    let error = error(log);
    assert_eq!(error.to_string(), message);
    assert!(!error.is_io(), "{error}");
}

/// A good line, then `bad`.
fn after_a_good_line(bad: &str) -> String {
    line(1, "0", "1", "1", "1", "1") + bad
}

#[test]
fn text_in_a_numeric_field() {
    check(
        after_a_good_line(&line(2, "5", "12:30", "1", "1", "60")),
        "a.swf:2: field 4 (run time): expected seconds, or -1 if unknown, found \"12:30\"; \
         write a plain number such as 90 or 12.5, and -1 for what is not known",
    );
}

#[test]
fn numbers_that_are_none() {
    for none in ["nan", "NaN", "inf", "-inf"] {
        check(
            line(1, none, "9", "1", "1", "60"),
            &format!(
                "a.swf:1: field 2 (submit time): expected seconds, or -1 if unknown, found \"{none}\"; \
                 write a plain number such as 90 or 12.5, and -1 for what is not known"
            ),
        );
    }
}

#[test]
fn negative_numbers_that_matter() {
    for (bad, field, expected) in [
        (line(1, "-5", "9", "1", "1", "60"), "2 (submit time)", "seconds, or -1 if unknown"),
        (
            line(1, "0", "9", "-5", "1", "60"),
            "5 (allocated processors)",
            "a whole number of processors, or -1 if unknown",
        ),
        (
            line(1, "0", "9", "1", "-5", "60"),
            "8 (requested processors)",
            "a whole number of processors, or -1 if unknown",
        ),
        (line(1, "0", "9", "1", "1", "-5"), "9 (requested time)", "seconds, or -1 if unknown"),
    ] {
        let message =
            format!("a.swf:1: field {field}: expected {expected}, found \"-5\"; write -1 for what is not known");
        check(bad, &message);
    }
}

#[test]
fn a_fraction_of_a_processor() {
    check(
        line(1, "0", "9", "1.5", "1", "60"),
        "a.swf:1: field 5 (allocated processors): expected a whole number of processors, or -1 if unknown, \
         found \"1.5\"; leave the fraction out",
    );
}

#[test]
fn times_beyond_the_range() {
    check(
        line(1, "1356996147000", "9", "1", "1", "60"),
        "a.swf:1: field 2 (submit time): expected at most 4294967295 seconds, which are 136 years, \
         found \"1356996147000\"; give times in seconds, and -1 for what is not known",
    );
    check(
        line(1, "0", "9", "99999999999999999999999", "1", "60"),
        "a.swf:1: field 5 (allocated processors): expected at most 4294967295, \
         found \"99999999999999999999999\"; write -1 for what is not known",
    );
}

#[test]
fn no_job_number() {
    check(
        after_a_good_line("job 0 0 9 1 -1 -1 1 9 -1 1 1 1 1 -1 1 1 1\n"),
        "a.swf:2: field 1 (job number): expected a whole number from 0 on, found \"job\"; \
         number the jobs, or delete what is no record",
    );
}

#[test]
fn a_huge_token_is_shortened() {
    check(
        line(1, "0", &"é".repeat(100_000), "1", "1", "60"),
        &format!(
            "a.swf:1: field 4 (run time): expected seconds, or -1 if unknown, found \"{}…\"; \
             write a plain number such as 90 or 12.5, and -1 for what is not known",
            "é".repeat(40)
        ),
    );
}

#[test]
fn too_few_columns() {
    check(
        after_a_good_line("2 0 abc 9 1\n"),
        "a.swf:2: expected 18 columns separated by blanks, found 5; \
         complete the record with -1 for what is unknown, or delete the line",
    );
    check(
        after_a_good_line("2 0 0 9 1"),
        "a.swf:2: expected 18 columns separated by blanks, found 5; \
         the file ends within this line: the download may be incomplete",
    );
}

#[test]
fn a_line_too_long() {
    check(
        after_a_good_line("1 2 3 4 5").repeat(200_000).replace('\n', " "),
        "a.swf:1: the line is longer than 1 MiB; is this a workload log?",
    );
}

#[test]
fn a_line_too_long_is_not_read_to_its_end() {
    struct Endless {
        given: u64,
    }
    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.given += buffer.len() as u64;
            assert!(self.given < 2 << 20, "a mebibyte suffices to know");
            buffer.fill(b'7');
            Ok(buffer.len())
        }
    }
    let error = SwfReader::from_read("a.swf", Endless { given: 0 }).expect_err("no line is that long");
    assert_eq!(error.to_string(), "a.swf:1: the line is longer than 1 MiB; is this a workload log?");
}

#[test]
fn a_file_that_is_no_text() {
    let message = "a.swf:1: the file is not text; give a workload log, plain or gzip";
    check(b"\x7fELF\x02\x01\x01\0\0\0\n1 2 3".as_slice(), message);
    check([0; 3 << 20].as_slice(), message);
    check(b"1 0 0 9 1 -1 -1 1 9 -1 1 1 1 1 -1 1 1 1 {1} q\xff\n".as_slice(), message);
}

#[test]
fn a_file_packed_otherwise() {
    check(
        b"\xfd7zXZ\0\0\x04".as_slice(),
        "a.swf: the file is packed with xz, which is not read here; unpack it, or pack it with gzip",
    );
}

#[test]
fn no_record_at_all() {
    check("", "a.swf: there is no job record in the file; it is empty: the download may have failed");
    check(
        "; MaxProcs: 4\n\n",
        "a.swf: there is no job record in the file; it holds nothing but comments: is it the whole log?",
    );
}

#[test]
fn a_missing_file_is_the_command_s_fault() {
    let error = SwfReader::open(Path::new("no/such.swf")).expect_err("there is none");
    assert_eq!(error.to_string(), "no/such.swf: there is no such file; check the name and the folder");
    assert!(!error.is_io());
}

#[test]
fn a_folder_is_the_command_s_fault() {
    let error = SwfReader::open(Path::new("src")).expect_err("a folder");
    assert_eq!(error.to_string(), "src: is a folder, not a file; name one file in it");
    assert!(!error.is_io());
}

/// Delivers `text`, then fails.
struct Failing(&'static [u8]);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::from(io::ErrorKind::PermissionDenied)),
            length => Ok(length),
        }
    }
}

#[test]
fn a_failing_disk_is_the_systems_fault() {
    for text in [b"".as_slice(), b"; MaxProcs: 4\n"] {
        let error = SwfReader::from_read("a.swf", Failing(text)).expect_err("it fails");
        assert_eq!(error.to_string(), "a.swf: cannot be read; check its permissions and the disk it is on");
        assert!(error.is_io());
    }
}

#[test]
fn the_reader_goes_on_after_a_faulty_line_and_ends_after_a_failure() {
    let bad = line(2, "x", "1", "1", "1", "1");
    let read: Vec<_> = reader(after_a_good_line(&bad).repeat(2)).expect("a log").map(|item| item.is_ok()).collect();
    assert_eq!(read, [true, false, true, false]);

    let failing = Failing(b"1 0 0 9 1 -1 -1 1 9 -1 1 1 1 1 -1 1 1 1\n2 0");
    let read: Vec<_> = SwfReader::from_read("a.swf", failing)
        .expect("a log")
        .map(|item| item.map_err(|error| error.is_io()))
        .collect();
    assert_eq!(read.len(), 2);
    assert_eq!(read[1], Err(true));
}
