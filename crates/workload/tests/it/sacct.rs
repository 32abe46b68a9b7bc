//! Conversion of Slurm's accounting into a log.

use crate::data::records;
use proptest::prelude::*;
use sim_core::Span;
use std::fmt::Write;
use std::io::Cursor;
use workload::convert::{convert_sacct, convert_swf};
use workload::sacct::{SacctJob, SacctReader, SacctRule, Zone};
use workload::swf::Status;
use workload::{Converted, Intake, Layout, Options, SwfReader};

/// A week of a small cluster in Berlin, written for this test in the format of `sacct --parsable2`: an array, steps, a job that ran
/// into its limit, cancelled ones, a waiting one, a suspended one, one of two components, and the end of summer time.
const CLUSTER: &str = "\
JobID|JobIDRaw|User|Group|Account|Partition|QOS|Submit|Start|End|Elapsed|Timelimit|NCPUS|ReqCPUS|NNodes|ReqMem|TotalCPU|State|ExitCode
100|100|alice|staff|physics|batch|normal|2026-10-23T08:00:00|2026-10-23T08:00:10|2026-10-23T09:00:10|01:00:00|02:00:00|16|16|2|4000Mn|14:30:00|COMPLETED|0:0
100.batch|100.batch|||physics|||2026-10-23T08:00:10|2026-10-23T08:00:10|2026-10-23T09:00:10|01:00:00||8|8|1||07:00:00|COMPLETED|0:0
100.0|100.0|||physics|||2026-10-23T08:00:11|2026-10-23T08:00:11|2026-10-23T09:00:10|00:59:59||16|16|2||07:30:00|COMPLETED|0:0
101_1|103|bob|staff|physics|batch|normal|2026-10-23T08:30:00|2026-10-23T09:00:10|2026-10-23T09:30:10|00:30:00|00:30:00|1|1|1|2Gc|29:58.500|TIMEOUT|0:0
101_2|101|bob|staff|physics|batch|normal|2026-10-23T08:30:00|2026-10-23T09:00:10|2026-10-23T09:10:10|00:10:00|00:30:00|1|1|1|2Gc|09:58.500|COMPLETED|0:0
102|102|carol|guests|chemistry|gpu|high|2026-10-23T08:20:00|None|2026-10-23T08:25:00|00:00:00|UNLIMITED|0|4|1|16G|00:00:00|CANCELLED by 1003|0:0
104|104|carol|guests|chemistry|gpu|high|2026-10-23T10:00:00|2026-10-23T10:00:00|2026-10-23T11:00:00|00:45:00|Partition_Limit|4|4|1|16G|02:00:00|OUT_OF_MEMORY|0:125
105+0|105|alice|staff|physics|batch|normal|2026-10-24T20:00:00|2026-10-25T01:30:00|2026-10-25T02:30:00|02:00:00|1-00:00:00|8|8|1|0|15:00:00|COMPLETED|0:0
107|107|dave|guests||batch|normal|2026-10-26T00:00:00|Unknown|Unknown|00:00:00|1-00:00:00|0|32|4|1Gc|00:00:00|PENDING|0:0
108|108|dave|guests||batch|normal|2026-10-26T00:01:00|2026-10-26T00:00:59|2026-10-26T00:02:00|00:01:01|10:00|2|2|1|1Gc|00:01.000|NODE_FAIL|1:0
";

fn reader(text: &str, zone: &str) -> SacctReader {
    let zone = zone.parse::<Zone>().unwrap_or_else(|error| panic!("{error}"));
    SacctReader::from_read("a.sacct", Cursor::new(text.to_owned().into_bytes()), zone).expect("a heading")
}

fn converted(text: &str, zone: &str, to: Layout) -> (String, Converted) {
    let mut out = Vec::new();
    let done = convert_sacct(reader(text, zone), Some(64), to, &mut out).unwrap_or_else(|error| panic!("{error}"));
    (String::from_utf8(out).expect("text"), done)
}

fn fault(text: &str) -> String {
    match SacctReader::from_read("a.sacct", Cursor::new(text.to_owned().into_bytes()), Zone::default()) {
        Err(error) => error.to_string(),
        Ok(reader) => reader.filter_map(Result::err).next().expect("it is faulty").to_string(),
    }
}

/// Returns the job of a line with these values under these names of columns, or the rules applied to it if it is left out.
fn job(columns: &str, values: &str, zone: &str) -> Result<SacctJob, Vec<&'static str>> {
    let mut reader = reader(&format!("{columns}\n{values}\n"), zone);
    let read = reader.next().map(|job| job.unwrap_or_else(|error| panic!("{values}: {error}")));
    read.ok_or_else(|| reader.repairs.iter().map(|repair| repair.rule.name()).collect())
}

#[test]
fn the_accounting_of_a_cluster_becomes_a_log() {
    let (log, done) = converted(CLUSTER, "Europe/Berlin", Layout::Swf);
    insta::assert_snapshot!(log);
    assert_eq!((done.records, done.names), (7, 10));
    // Accounts beside groups.
    assert_eq!(done.lost.into_iter().collect::<Vec<_>>(), [("Account", 6)]);
    // Half past one occurred before the clocks were set back, half past two after it (or before, which is unknown).
    let counts: Vec<_> =
        done.repairs.iter().map(|repair| (repair.rule.name(), repair.count, repair.first_line)).collect();
    assert_eq!(
        counts,
        [
            ("step", 2, Some(3)),
            ("unfinished", 1, Some(10)),
            ("cancelled-before-start", 1, Some(7)),
            ("start-before-submit", 1, Some(11)),
            ("elapsed-differs", 2, Some(8)),
            ("no-limit", 1, Some(7)),
            ("partition-limit", 1, Some(8)),
            ("ambiguous-time", 1, Some(9)),
            ("het-component", 1, Some(9)),
        ]
    );
    let log = records(&*log);
    assert!(log.is_sorted_by_key(|record| record.submit));
    assert_eq!(log.iter().map(|record| record.number).collect::<Vec<_>>(), [100, 102, 103, 101, 104, 105, 108]);
}

#[test]
fn names_come_back_with_the_jobs_and_survive_another_conversion() {
    let (log, _) = converted(CLUSTER, "Europe/Berlin", Layout::Swf);
    let mut again = Vec::new();
    let plain = SwfReader::from_read("a.swf", Cursor::new(log.clone().into_bytes())).expect("a log");
    convert_swf(plain, Layout::Swf, &mut again).expect("it is written");
    let again = String::from_utf8(again).expect("text");
    let names = |log: &str| -> Vec<(u64, Option<String>, Option<String>)> {
        let reader = SwfReader::from_read("a.swf", Cursor::new(log.to_owned().into_bytes())).expect("a log");
        let text = |name: Option<std::sync::Arc<str>>| name.map(|name| name.to_string());
        let jobs = Intake::new(reader, Options::default()).map(|job| job.expect("a job"));
        jobs.map(|job| (job.record.number, text(job.record.name), text(job.user_name))).collect()
    };
    let expected = [
        (100, None, "alice"),
        (103, Some("101_1"), "bob"),
        (101, Some("101_2"), "bob"),
        (104, None, "carol"),
        (105, Some("105+0"), "alice"),
        (108, None, "dave"),
    ];
    let expected = expected.map(|(number, name, user)| (number, name.map(str::to_owned), Some(user.to_owned())));
    assert_eq!(names(&log), expected);
    assert_eq!(names(&again), expected);
}

#[test]
fn plain_numbers_keep_their_value_and_other_names_are_numbered() {
    let users = ["12", "0", "", "jane", "U7", "007", "+5", "jane", "999999999", "1000000000", "4294967296"];
    let line = |user: &&str| format!("1|{user}|0|1|2|1|COMPLETED\n");
    let lines: String = users.iter().map(line).collect();
    let (log, done) =
        converted(&format!("JobIDRaw|User|Submit|Start|End|AllocCPUS|State\n{lines}"), "UTC", Layout::Swf);
    let other = |at: u32| Some(1_000_000_000 + at);
    let expected = [
        Some(12),
        Some(0),
        None,
        other(0),
        other(1),
        other(2),
        other(3),
        other(0),
        Some(999_999_999),
        other(4),
        other(5),
    ];
    assert_eq!(records(&*log).iter().map(|record| record.user).collect::<Vec<_>>(), expected);
    assert!(log.contains("; User: 1000000002 007\n") && log.contains("; User: 1000000004 1000000000\n"), "{log}");
    assert_eq!((done.names, done.lost.len()), (6, 0));
}

#[test]
fn seconds_since_1970_and_raw_columns_say_the_same() {
    let head = "JobIDRaw|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|ReqTRES|State\n";
    let plain = format!("{head}7|1700000000|1700000060|1700000160|100|3|billing=4,cpu=4,node=1|cpu=2|COMPLETED\n");
    let local =
        format!("{head}7|2023-11-14T23:13:20|2023-11-14T23:14:20|2023-11-14T23:16:00|100|3|cpu=4|cpu=2|COMPLETED\n");
    let (one, other) = (converted(&plain, "+01:00", Layout::Swf).0, converted(&local, "+01:00", Layout::Swf).0);
    assert_eq!(one, other);
    assert!(one.contains("; UnixStartTime: 1700000000\n; TimeZone: 3600\n"), "{one}");
    assert!(one.ends_with("\n7 0 60 100 4 -1 -1 2 180 -1 1 -1 -1 -1 -1 -1 -1 -1\n"), "{one}");
}

#[test]
fn what_no_format_holds_is_kept_without_it_and_counted() {
    let head = "JobIDRaw|JobID|Submit|Start|End|AllocTRES|ReqTRES|State\n";
    let cases: [(&str, &[&str]); 10] = [
        ("7|7|100|100|200|cpu=4|cpu=4|COMPLETED", &[]),
        ("7|7|100|100|200|cpu=4,gres/gpu=2|cpu=4|COMPLETED", &["gpus"]),
        ("7|7|100|Unknown|200||cpu=4,gres/gpu:a100=2|CANCELLED by 1", &["cancelled-before-start", "gpus"]),
        ("7|7|100|100|200|cpu=4|gpu:tesla:1|COMPLETED", &["gpus"]),
        ("7|7|100|100|200|cpu=4|gpu|COMPLETED", &["gpus"]),
        ("7|7|100|100|200|cpu=4,gres/gpu=0|cpu=4,mem=16G|COMPLETED", &[]),
        ("7|7|100|100|200|cpu=4|craynetwork:1,gpu:0|COMPLETED", &[]),
        ("8|7+1|100|100|200|cpu=4|cpu=4|COMPLETED", &["het-component"]),
        ("9|7_2|100|100|200|cpu=4|cpu=4|COMPLETED", &[]),
        ("7|7_[3-9%2]|100|Unknown|200||cpu=4|CANCELLED by 1", &["cancelled-before-start", "array-range"]),
    ];
    for (line, expected) in cases {
        let (log, done) = converted(&format!("{head}{line}\n"), "UTC", Layout::Swf);
        let rules: Vec<_> = done.repairs.iter().map(|repair| repair.rule.name()).collect();
        assert_eq!((records(&*log).len(), &rules[..]), (1, expected), "{line}");
    }
}

#[test]
fn jobs_without_a_number_of_their_own_are_counted() {
    let text = "JobID|Submit|Start|End|NCPUS|State\n9_1|100|100|200|1|COMPLETED\n9_2|100|Unknown|300|0|FAILED\n\n9_3|100|150|160|1|NAPPING\n";
    let (log, done) = converted(text, "UTC", Layout::Swf);
    assert!(log.contains("job numbers are counted"));
    let records = records(&*log);
    assert_eq!(records.iter().map(|record| record.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((records[1].runtime, records[1].allocated_processors, records[2].status), (None, None, None));
    let counts: Vec<_> = done.repairs.iter().map(|repair| (repair.rule, repair.count)).collect();
    assert_eq!(counts, [(SacctRule::NeverStarted, 1), (SacctRule::UnknownState, 1)]);
}

#[test]
fn what_cannot_be_read_is_reported_with_its_place_and_the_fix() {
    insta::assert_snapshot!(fault("100|COMPLETED\n"), @r#"a.sacct:1: expected the names of the columns of sacct --parsable2, separated by |, and among them JobIDRaw or JobID; found "100|COMPLETED"; run sacct without --noheader, with the --format that `workload convert --help` shows"#);
    insta::assert_snapshot!(fault("JobIDRaw|Submit|Start|End|State\n"), @r#"a.sacct:1: expected the names of the columns of sacct --parsable2, separated by |, and among them AllocCPUS or AllocTRES or ReqCPUS or ReqTRES; found "JobIDRaw|Submit|Start|End|State"; run sacct without --noheader, with the --format that `workload convert --help` shows"#);
    let head = "JobIDRaw|JobName|Submit|Start|End|NCPUS|State\n";
    insta::assert_snapshot!(fault(&format!("{head}1|a|b|0|1|2|1|COMPLETED\n")), @r#"a.sacct:2: expected 7 columns separated by |, as the heading has, found 8; run sacct with --parsable2 and leave out columns of free text, such as JobName and Comment"#);
    insta::assert_snapshot!(fault(&format!("{head}1|a|yesterday|1|2|1|COMPLETED\n")), @r#"a.sacct:2: field 3 (Submit): expected a time such as 2026-01-31T08:15:00, seconds since 1970, or Unknown, found "yesterday"; run sacct with SLURM_TIME_FORMAT=%s, or leave that variable unset"#);
    insta::assert_snapshot!(fault(&format!("{head}1|a|9999999999|1|2|1|COMPLETED\n")), @r#"a.sacct:2: field 3 (Submit): expected a time from 1970 to 2106, found "9999999999"; run sacct with SLURM_TIME_FORMAT=%s, or leave that variable unset"#);
    insta::assert_snapshot!(fault(&format!("{head}1|a|0|1|2|many|COMPLETED\n")), @r#"a.sacct:2: field 6 (AllocCPUS): expected a whole number up to 4294967295, found "many"; give the output of sacct --parsable2 as it is"#);
    insta::assert_snapshot!(fault(&format!("{head}1+2|a|0|1|2|1|COMPLETED\n")), @r#"a.sacct:2: field 1 (JobIDRaw): expected a whole number, found "1+2"; give the output of sacct --parsable2 as it is"#);
    insta::assert_snapshot!(fault(&format!("{head}1|a|2026-01-31T08:15:00|1|2|1|COMPLETED\n")), @r#"a.sacct:2: field 3 (Submit): expected a time with its zone, or seconds since 1970, found "2026-01-31T08:15:00"; give the time zone with --zone, as in --zone Europe/Berlin or --zone UTC; or run sacct with SLURM_TIME_FORMAT=%s"#);
    insta::assert_snapshot!(fault(""), @r#"a.sacct: there is no job record in the file; it is empty; check that sacct found jobs"#);
}

#[test]
fn states_are_mapped_by_their_first_word() {
    for (state, expected) in [
        ("COMPLETED", Ok(Some(Status::Completed))),
        ("CANCELLED by 1001", Ok(Some(Status::Cancelled))),
        ("TIMEOUT", Ok(Some(Status::Failed))),
        ("RUNNING", Err(vec!["unfinished"])),
        ("REVOKED", Err(vec!["revoked"])),
        ("SLEEPY", Ok(None)),
        ("", Ok(None)),
    ] {
        let read = job("JobIDRaw|Submit|Start|End|AllocCPUS|State", &format!("1|0|1|2|1|{state}"), "UTC");
        assert_eq!(read.map(|read| read.record.status), expected, "{state}");
    }
}

#[test]
fn memory_is_per_node_per_processor_or_total() {
    let columns = "JobIDRaw|Submit|Start|End|ReqCPUS|NNodes|ReqMem|State";
    for (memory, processors, nodes, expected) in [
        ("4000Mn", "8", "2", Some(1_024_000)),
        ("4000Mn", "8", "", None),
        ("2Gc", "8", "", Some(2 << 20)),
        ("1.50T", "1", "", Some(3 << 29)),
        ("512", "8", "", Some(64 << 10)),
        ("512", "", "", None),
        ("0", "8", "", None),
    ] {
        let read = job(columns, &format!("1|0|1|2|{processors}|{nodes}|{memory}|COMPLETED"), "UTC").expect("a job");
        assert_eq!(read.record.requested_memory, expected, "{memory}");
    }
}

#[test]
fn zones_have_an_offset_or_a_place() {
    for (text, shown) in [
        ("+01:00", "+01:00"),
        ("-0530", "-05:30"),
        ("+1", "+01:00"),
        ("Z", "+00:00"),
        ("UTC", "+00:00"),
        ("-03:30", "-03:30"),
        ("europe/berlin", "Europe/Berlin"),
    ] {
        let zone: Zone = text.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((zone.to_string().as_str(), shown.parse()), (shown, Ok(zone)), "{text}");
    }
    for wrong in ["", "CEST", "+", "+1:", "+25:00", "+01:60", "1", "+0100x", "Europe/Berlin2", "+١:00"] {
        assert!(wrong.parse::<Zone>().is_err(), "{wrong}");
    }
}

#[test]
fn instants_are_local_or_seconds_or_unknown() {
    let columns = "JobIDRaw|Submit|Start|ElapsedRaw|AllocCPUS|State";
    for (zone, text, expected) in [
        ("UTC", "1970-01-02T00:00:01", Some((86_401, 0))),
        ("+01:00", "1970-01-02T00:00:01", Some((82_801, 0))),
        // Seconds since 1970, and times with a zone of their own, are the same in every zone.
        ("+01:00", "86401", Some((86_401, 0))),
        ("+05:00", "1970-01-02T00:00:01Z", Some((86_401, 0))),
        ("+05:00", "1970-01-02T01:00:01+0100", Some((86_401, 0))),
        ("UTC", "", None),
        ("UTC", "Unknown", None),
        ("UTC", "None", None),
        ("UTC", "N/A", None),
        // Noon in winter and in summer; half past two occurred twice on the 25th of October, first at 00:30 UTC, and in
        // March it did not occur.
        ("Europe/Berlin", "2026-01-01T12:00:00", Some((1_767_265_200, 0))),
        ("Europe/Berlin", "2026-07-01T12:00:00", Some((1_782_900_000, 0))),
        ("Europe/Berlin", "2026-10-25T02:30:00", Some((1_792_888_200, 1))),
        ("Europe/Berlin", "2026-03-29T02:30:00", Some((1_774_747_800, 1))),
    ] {
        let mut reader = reader(&format!("{columns}\n1|{text}|{text}|9|1|COMPLETED\n"), zone);
        let submit = reader.next().map(|job| job.unwrap_or_else(|error| panic!("{error}")).record.submit);
        let expected = expected.map(|(seconds, ambiguous)| (Some(Span::from_secs(seconds)), ambiguous));
        assert_eq!(submit.map(|submit| (submit, reader.repairs.count(SacctRule::AmbiguousTime))), expected, "{text}");
    }
}

#[test]
fn memory_instants_and_lengths_are_not_guessed() {
    for (column, all) in [
        ("ReqMem", "n|G|x|-1G"),
        ("Submit", "2026-01-31|2026-02-30T00:00:00|2026-01-31 08:15:00|08:15|yesterday|-5|1.5"),
        ("Elapsed", "5|1-|1:2:3:4|00:60|99999-00:00:00|a:b|-00:01|00:01.1234567890"),
    ] {
        for wrong in all.split('|') {
            let text = format!("JobIDRaw|{column}|Submit|Start|End|AllocCPUS|State\n1|{wrong}|0|1|2|1|COMPLETED\n");
            assert!(reader(&text, "UTC").next().is_some_and(|job| job.is_err()), "{wrong}");
        }
    }
}

proptest! {
    #[test]
    fn lengths_are_read_as_they_are_written(days in 0..4_000_u64, clock in 0..86_400_u64, millis in 0..1_000_u64) {
        let (hours, minutes, seconds) = (clock / 3_600, clock / 60 % 60, clock % 60);
        let nanos = |days: u64| Some(Span::from_nanos((86_400 * days + clock) * 1_000_000_000 + millis * 1_000_000));
        let mut texts = vec![(nanos(days), format!("{days}-{hours:02}:{minutes:02}:{seconds:02}.{millis:03}"))];
        texts.push((nanos(0), format!("{hours:02}:{minutes:02}:{seconds:02}.{millis:03}")));
        texts.extend((hours == 0).then(|| (nanos(0), format!("{minutes:02}:{seconds:02}.{millis:03}"))));
        for (expected, text) in texts {
            let read = job("JobIDRaw|Submit|Start|Elapsed|AllocCPUS|State", &format!("1|0|0|{text}|1|COMPLETED"), "UTC");
            prop_assert_eq!(read.expect("a job").record.runtime, expected, "{}", text);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*") {
        let line = format!("1|{text}|{text}|{text}|1|COMPLETED");
        reader(&format!("JobIDRaw|Submit|Start|Elapsed|AllocCPUS|State\n{line}\n"), "UTC").for_each(drop);
        let _ = text.parse::<Zone>();
    }

    /// Times in UTC, with an offset, and as seconds since 1970 yield the same log.
    #[test]
    fn a_job_is_the_same_however_its_times_are_written(
        jobs in prop::collection::vec((0..2_000_000_000_u64, 0..900_000_u64, 1..900_000_u64), 1..20),
        ahead in -12..=14_i64,
    ) {
        let local = |seconds: u64, ahead: i64| {
            let at = jiff::Timestamp::from_second(i64::try_from(seconds).expect("small") + 3_600 * ahead).expect("in range");
            at.to_string().trim_end_matches('Z').to_owned()
        };
        let text_of = |of: &dyn Fn(u64) -> String| {
            let mut text = "JobIDRaw|Submit|Start|End|AllocCPUS|State\n".to_owned();
            for (number, (submit, wait, run)) in jobs.iter().enumerate() {
                let submit = submit + 86_400;
                let times = [submit, submit + wait, submit + wait + run].map(of).join("|");
                writeln!(text, "{number}|{times}|3|COMPLETED").expect("a string");
            }
            text
        };
        let zone = format!("{}{:02}:00", if ahead < 0 { '-' } else { '+' }, ahead.abs());
        let (seconds, _) = converted(&text_of(&|at| at.to_string()), &zone, Layout::Swf);
        prop_assert_eq!(&converted(&text_of(&|at| local(at, ahead)), &zone, Layout::Swf).0, &seconds);
        prop_assert_eq!(&converted(&text_of(&|at| local(at, 0) + "Z"), &zone, Layout::Swf).0, &seconds);
        let records = records(&*seconds);
        prop_assert!(records.is_sorted_by_key(|record| record.submit));
        for record in records {
            let (submit, wait, run) = jobs[usize::try_from(record.number).expect("small")];
            let first = jobs.iter().map(|job| job.0).min().expect("some");
            prop_assert_eq!(record.submit, Some(Span::from_secs(submit - first)));
            prop_assert_eq!(record.wait, Some(Span::from_secs(wait)));
            prop_assert_eq!(record.runtime, Some(Span::from_secs(run)));
        }
    }
}
