//! Reading of a well-formed log, with the oddities of real ones.

use crate::data::{line, reader, records};
use sim_core::Span;
use workload::swf::Status;
use workload::{Inspection, SwfRecord};

#[test]
fn every_field_has_its_column() {
    let read = records("1 2.5 3 4 5 6.25 7 8 9 10 5 12 13 14 15 16 17 18\n");
    let expected = SwfRecord {
        number: 1,
        submit: Some(Span::from_secs_f64(2.5)),
        wait: Some(Span::from_secs(3)),
        runtime: Some(Span::from_secs(4)),
        allocated_processors: Some(5),
        cpu_time: Some(Span::from_secs_f64(6.25)),
        memory: Some(7),
        requested_processors: Some(8),
        requested_time: Some(Span::from_secs(9)),
        requested_memory: Some(10),
        status: Some(Status::Cancelled),
        user: Some(12),
        group: Some(13),
        executable: Some(14),
        queue: Some(15),
        partition: Some(16),
        preceding_job: Some(17),
        think_time: Some(Span::from_secs(18)),
        further: None,
        name: None,
    };
    assert_eq!(read, [expected]);
}

#[test]
fn unknown_fractional_and_negative_values_are_read() {
    // Minus one is unknown.
    assert_eq!(records(format!("7{}\n", " -1".repeat(17))), [SwfRecord { number: 7, ..SwfRecord::default() }]);
    assert_eq!(records(format!("7{}\n", " -1.00".repeat(17))), [SwfRecord { number: 7, ..SwfRecord::default() }]);
    // Fractions of whole numbers are read.
    let read = records("1.0 0 0 142.00 4.00 142.00 12.5 4 1e2 -1 1.0 3.0 -1 -1 -1 -1 -1 -1\n");
    assert_eq!(read[0].allocated_processors, Some(4));
    assert_eq!(read[0].memory, Some(13)); // the nearest whole KiB
    assert_eq!(read[0].requested_time, Some(Span::from_secs(100)));
    assert_eq!(read[0].user, Some(3));
    // Unix seconds fit, and a negative run time is unknown.
    let read = records(line(0, "1356996147", "-1359980917", "64", "64", "86400"));
    assert_eq!((read[0].submit, read[0].runtime), (Some(Span::from_secs(1_356_996_147)), None));
}

/// Returns the wait of a record with this text in its column.
fn wait(token: &str) -> Result<Option<Span>, String> {
    let mut log = reader(format!("1 0 {token} 9 1 -1 -1 1 9 -1 1 7 1 -1 2 3 -1 -1\n")).expect("a log");
    log.next().expect("a line").map(|record| record.wait).map_err(|error| error.to_string())
}

#[test]
fn decimals_are_read_exactly_to_nine_places() {
    for (token, whole, billionths) in [
        ("0", 0, 0),
        ("12.5", 12, 500_000_000),
        ("142.00", 142, 0),
        ("0.03", 0, 30_000_000),
        (".5", 0, 500_000_000),
        ("7.", 7, 0),
        ("0012", 12, 0),
        ("1357052581.000000001", 1_357_052_581, 1),
        ("00000000000000000000012", 12, 0),
        // The tenth place is rounded.
        ("0.1234567894", 0, 123_456_789),
        ("0.1234567895", 0, 123_456_790),
        ("0.9999999999", 1, 0),
        // Exponents move the point.
        ("1e3", 1_000, 0),
        ("1.2345e+02", 123, 450_000_000),
        ("1.000000000000000000e+00", 1, 0),
        ("1.000000000000000000000000000000000000000000000e+00", 1, 0),
        ("5E-1", 0, 500_000_000),
        ("5e-12", 0, 0),
        ("5e-9999", 0, 0),
        ("0e9999", 0, 0),
    ] {
        assert_eq!(wait(token), Ok(Some(Span::from_nanos(1_000_000_000 * whole + billionths))), "{token}");
    }
    for token in
        ["-", "--1", ".", "e5", "1e", "1e99999", "nan", "NaN", "inf", "12:30", "1/", "0x10", "1,5", "1.2.3", "½", "1é"]
    {
        let error = wait(token).expect_err(token);
        assert!(error.contains("field 3 (wait time): expected seconds"), "{error}");
    }
}

#[test]
fn whole_numbers_are_read_up_to_64_bits() {
    for (token, number) in [
        ("123456789012345678", 123_456_789_012_345_678),
        ("1234567890123456789", 1_234_567_890_123_456_789),
        ("18446744073709551614", u64::MAX - 1),
        // Everything beyond the range.
        ("99999999999999999999", u64::MAX),
        ("1e300", u64::MAX),
        ("1e9999", u64::MAX),
    ] {
        let read = records(format!("1 0 0 9 1 -1 {token} 1 9 -1 1 7 1 -1 2 3 -1 -1\n"));
        assert_eq!(read[0].memory, Some(number), "{token}");
    }
}

#[test]
fn columns_beyond_the_eighteenth_are_kept_but_for_the_hosts_which_may_take_a_mebibyte() {
    let log = "1 0 0 9 12 -1 -1 12 9 -1 1 1 1 1 -1 1 1 1 {1129,1129} q_2w 1:ppn=12:cl_zegox#excl\n\
               2 0 0 9 1 -1 -1 1 9 -1 1 1 1 1 -1 1 1 1 {7}\n";
    let read = records(log);
    assert_eq!(read[0].queue_name(), Some("q_2w"));
    assert_eq!(read[0].node_spec(), Some("1:ppn=12:cl_zegox#excl"));
    assert_eq!(read[1].further, None);
    assert_eq!(read[1].queue_name(), None);
    let hosts = "1,".repeat((1 << 19) - 100);
    let read = records(format!("1 0 0 9 12 -1 -1 12 9 -1 1 1 1 1 -1 1 1 1 {{{hosts}}} q_2w\n"));
    assert_eq!(read[0].queue_name(), Some("q_2w"));
}

#[test]
fn the_header_is_read_before_the_first_record_and_may_be_in_latin_1() {
    let log = ";            Note: CLEANED\n;\n; MaxNodes: 338 (batch partition; 512 total)\n;   MaxProcs: 140\n\
               ; UnixStartTime: 835823160\n; Information: http://example.org/\n;              http://example.org/more\n\
               ;; TimeZone: 3600\t # DEPRECATED\n"
        .to_owned()
        + &line(1, "0", "1", "1", "1", "1");
    let log = reader(log).expect("a log");
    let header = log.header();
    assert_eq!((header.max_nodes, header.max_procs), (Some(338), Some(140)));
    assert_eq!(header.unix_start_time, Some(835_823_160));
    assert_eq!(header.get("note"), Some("CLEANED"));
    assert_eq!(header.get("TimeZone"), Some("3600\t # DEPRECATED"));
    assert_eq!(header.get("Information"), Some("http://example.org/\nhttp://example.org/more"));
    assert_eq!(header.get("MaxQueues"), None);
    assert_eq!(header.entries().count(), 6);
    let mut log = b"; Acknowledge: \xc5ke Sandgren\n".to_vec();
    log.extend(line(1, "0", "1", "1", "1", "1").bytes());
    assert_eq!(reader(log).expect("a log").header().get("Acknowledge"), Some("\u{fffd}ke Sandgren"));
}

#[test]
fn blank_lines_late_comments_tabs_and_windows_ends_are_tolerated() {
    let one = line(1, "0", "1", "1", "1", "1");
    let log =
        format!("\u{feff}; MaxProcs: 4\r\n{}\n ; late\n\n\t\n  {}", one.replace('\n', "\r\n"), one.replace(' ', "\t"));
    let mut reader = reader(log.trim_end()).expect("a log"); // the last line has no end
    assert_eq!(reader.header().max_procs, Some(4));
    assert_eq!(reader.next().expect("a record").expect("no error").number, 1);
    assert_eq!(reader.line(), 2);
    assert_eq!(reader.next().expect("a record").expect("no error").partition, Some(3));
    assert_eq!(reader.line(), 7);
    assert!(reader.next().is_none());
}

#[test]
fn a_start_beyond_the_calendar_is_no_start() {
    for late in ["18446744073709551615", "99999999999999999999", "253402300800"] {
        let log = format!("; UnixStartTime: {late}\n") + &line(1, "0", "1", "1", "1", "1");
        assert_eq!(reader(log).expect("a log").header().unix_start_time, None, "{late}");
        let log = format!("; UnixStartTime: {late}\n") + &line(1, "5", "1", "1", "1", "1");
        let seen = Inspection::of(reader(log).expect("a log"), None, Some(-3_600)).expect("readable");
        assert!(!seen.is_calendar, "{late}");
    }
}

/// A few kilobytes of gzip may be gigabytes of comments.
#[test]
fn comments_without_end_are_refused_before_they_fill_the_memory() {
    // A key of its own for each takes more memory than its text.
    for (comment, line_of_fault) in [("; Note: the same again and again\n", 215_093), (";k:\n", 335_545)] {
        let log = comment.repeat(500_000) + &line(1, "0", "1", "1", "1", "1");
        let Err(error) = reader(log) else { panic!("no header is that long") };
        let message = format!(
            ":{line_of_fault}: the comments before the first job are longer than 16 MiB; is this a workload log?"
        );
        assert!(error.to_string().ends_with(&message), "{error}");
        assert!(!error.is_io());
    }
}
