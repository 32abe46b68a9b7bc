//! Summaries of logs.

use crate::data::{line, reader};
use proptest::prelude::*;
use workload::inspect::Spread;
use workload::{Inspection, SwfReader};

fn inspect(log: &str, capacity: Option<u32>, utc_offset: Option<i32>) -> Inspection {
    reader(log).and_then(|log| Inspection::of(log, capacity, utc_offset)).unwrap_or_else(|error| panic!("{error}"))
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs().max(1.0)
}

/// Four jobs of three users, one of which never ran, on a machine of 8.
const FOUR: &str = "\
; MaxProcs: 8
1   0  10 100 4 -1 -1 4 200 -1 1 7 1 5 0 2 -1 -1
2  60 -1  -1 8 -1 -1 8  90 -1 5 7 1 5 0 2 -1 -1
3 300   0 300 8 -1 -1 8 300 -1 1 9 1 6 0 2 -1 -1
4 400 300 200 1 -1 -1 1 100 -1 1 8 2 6 1 2 -1 -1
5 500   0 100 3 -1 -1 3  -1 -1 1 7 2 6 1 2 -1 -1
";

#[test]
fn totals_are_those_of_the_jobs_that_ran() {
    let seen = inspect(FOUR, None, None);
    assert_eq!((seen.records, seen.jobs, seen.users, seen.groups, seen.executables), (5, 4, 3, 2, 2));
    assert_eq!(seen.queues.iter().map(|(queue, jobs)| (*queue, *jobs)).collect::<Vec<_>>(), [(0, 2), (1, 2)]);
    assert_eq!(seen.capacity, Some(8));
    assert!(near(seen.submission_span, 500.0) && near(seen.span, 900.0), "{}", seen.span);
    assert!(near(seen.work, 400.0 + 2_400.0 + 200.0 + 300.0), "{}", seen.work);
    assert!(near(seen.load.expect("known"), 3_300.0 / 4_000.0));
    assert!(near(seen.serial, 0.25) && near(seen.power_of_two, 0.5));
    assert!(near(seen.runtimes.mean, 175.0) && near(seen.runtimes.max, 300.0));
    assert!(near(seen.interarrival.mean, 500.0 / 3.0) && seen.interarrival.count == 3);
    assert!(near(seen.waits.max, 300.0) && seen.waits.count == 4);
    let busiest: Vec<_> = seen.busiest_users.iter().map(|share| (share.user, share.jobs)).collect();
    assert_eq!(busiest, [(9, 1), (7, 2), (8, 1)]);
    let other = inspect(FOUR, Some(80), None);
    assert!(near(other.load.expect("known"), 3_300.0 / 40_000.0));
}

/// A load relative to the widest job, or to nodes of several processors each, would be a guess.
#[test]
fn a_machine_of_unknown_size_has_no_load() {
    let headed = |header: &str| inspect(&FOUR.replace("; MaxProcs: 8\n", header), None, None);
    for (header, known) in [("", None), ("; MaxNodes: 7\n", None), ("; MaxNodes: 8\n", Some(8))] {
        let seen = headed(header);
        assert_eq!((seen.capacity, seen.load.is_some()), (known, known.is_some()), "{header}");
        assert!(near(seen.work, 3_300.0), "it does not depend on the machine");
    }
}

#[test]
fn estimates_are_compared_with_run_times() {
    let seen = inspect(FOUR, None, None);
    assert_eq!((seen.without_estimate, seen.accuracy.beyond), (1, 1));
    assert_eq!(seen.accuracy.tenths, [0, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    assert!(near(seen.accuracy.mean, (0.5 + 1.0 + 1.0) / 3.0));
    let values: Vec<_> = seen.estimate_values.into_iter().collect();
    assert_eq!(values, [(100, 1), (200, 1), (300, 1)]);
}

#[test]
fn anomalies_are_counted_with_their_first_line() {
    let log = FOUR.to_owned() + "6 x\n" + &line(7, "600", "-1", "1", "1", "60");
    let seen = inspect(&log, None, None);
    let found: Vec<_> =
        seen.anomalies.iter().map(|anomaly| (anomaly.rule.name(), anomaly.count, anomaly.first_line)).collect();
    let expected = [
        ("no-runtime", 2, Some(3)),
        ("cut-at-estimate", 1, Some(5)),
        ("estimate-from-runtime", 1, Some(6)),
        ("unreadable", 1, Some(7)),
        ("completed-without-running", 1, Some(8)),
    ];
    assert_eq!(found, expected);
    assert_eq!(seen.records, 7);
}

#[test]
fn hours_and_weekdays_are_local() {
    // Sunday 2000-04-30, 23:30 UTC.
    let header = "; UnixStartTime: 957137400\n";
    let log = line(1, "0", "9", "1", "1", "60") + &line(2, "3600", "9", "1", "1", "60");
    let hours = |seen: &Inspection| -> (Vec<usize>, Vec<usize>) {
        let busy = |counts: &[u64]| (0..counts.len()).filter(|at| counts[*at] > 0).collect();
        (busy(&seen.by_hour), busy(&seen.by_weekday))
    };
    let seen = inspect(&(header.to_owned() + &log), None, None);
    assert!(seen.is_calendar);
    assert_eq!(hours(&seen), (vec![0, 23], vec![0, 6]));
    let west = inspect(&(header.to_owned() + "; TimeZone: -28800\n" + &log), None, None);
    assert_eq!((west.utc_offset, hours(&west)), (-28_800, (vec![15, 16], vec![6])));
    assert_eq!(hours(&inspect(&(header.to_owned() + &log), None, Some(3_600))), (vec![0, 1], vec![0]));

    // Submit times since 1970 need no header; without either, the log begins on a Monday at midnight.
    let since_1970 = line(1, "957137400", "9", "1", "1", "60");
    assert_eq!(hours(&inspect(&since_1970, None, None)), (vec![23], vec![6]));
    let seen = inspect(&log, None, None);
    assert!(!seen.is_calendar);
    assert_eq!(hours(&seen), (vec![0, 1], vec![0]));
}

/// Returns the spread of these waits, in seconds.
fn waits(values: &[u32]) -> Spread {
    let job = |wait: &u32| format!("1 0 {wait} 9 1 -1 -1 1 9 -1 1 7 1 -1 2 3 -1 -1\n");
    inspect(&values.iter().map(job).collect::<String>(), None, None).waits
}

proptest! {
    /// A sorted list is the slow twin.
    #[test]
    fn quantiles_are_those_of_the_sorted_list(
        mut values in prop::collection::vec(prop_oneof![0..20_u32, 0..1_000_000_u32], 1..200),
    ) {
        let spread = waits(&values);
        values.sort_unstable();
        let at = |percent: usize| f64::from(values[(values.len() * percent).div_ceil(100).max(1) - 1]);
        for percent in [10_u8, 25, 50, 75, 90, 99] {
            let quantile = spread.quantile(f64::from(percent) / 100.0);
            let percent = usize::from(percent);
            prop_assert!((quantile - at(percent)).abs() <= 0.021 * at(percent), "{percent} %: {quantile}");
        }
        let count = f64::from(u32::try_from(values.len()).expect("few"));
        prop_assert!(near(spread.mean, values.iter().map(|value| f64::from(*value)).sum::<f64>() / count));
        for bin in spread.histogram() {
            let inside = values.iter().filter(|value| (bin.from..bin.to).contains(&f64::from(**value))).count();
            prop_assert_eq!(inside as u64, bin.count);
        }
        prop_assert_eq!(spread.histogram().iter().map(|bin| bin.count).sum::<u64>(), values.len() as u64);
    }
}

#[test]
fn equal_values_are_exact_and_edges_are_round() {
    let spread = waits(&[3_600, 3_600, 3_600, 3_600, 3_600, 3_600, 3_600, 0, 0]);
    let exact = [spread.quantile(0.1), spread.quantile(0.5), spread.max];
    assert_eq!(exact.map(f64::to_bits), [0.0, 3_600.0, 3_600.0].map(f64::to_bits));
    let edges: Vec<_> = waits(&[150]).histogram().iter().map(|bin| format!("{} {}", bin.from, bin.to)).collect();
    assert_eq!(edges.join(", "), "0 1, 1 2, 2 5, 5 10, 10 20, 20 50, 50 100, 100 200");
}

#[test]
fn a_log_without_jobs_has_nothing_to_tell_and_one_that_ends_early_is_an_error() {
    let seen = inspect(&line(1, "0", "-1", "1", "1", "60"), Some(4), None);
    assert_eq!((seen.records, seen.jobs, seen.load, seen.is_calendar), (1, 0, None, false));
    assert!(near(seen.accuracy.mean, 0.0) && near(seen.serial, 0.0));
    let log = line(1, "0", "9", "1", "1", "60") + "1 2 \u{0} 3\n";
    let error = reader(log).and_then(|log| Inspection::of(log, None, None)).expect_err("no text");
    assert_eq!(error.to_string(), "a.swf:2: the file is not text; give a workload log, plain or gzip");
}

/// Name, days, load and, where the header does not state it, the machine: as published by mirrors of the logs. (The
/// clean logs of CEA-Curie and LPC begin long after their machines, so that their published loads are for other spans.)
const KNOWN: [(&str, f64, f64, Option<u32>); 7] = [
    ("SDSC-SP2-1998-4.2-cln.swf.gz", 736.0, 0.83, None),
    ("CTC-SP2-1996-3.1-cln.swf.gz", 339.0, 0.84, None),
    ("KTH-SP2-1996-2.1-cln.swf.gz", 340.0, 0.69, None),
    ("HPC2N-2002-2.2-cln.swf.gz", 1_268.0, 0.60, None),
    ("SDSC-BLUE-2000-4.2-cln.swf.gz", 979.0, 0.77, None),
    ("wagap-2013.swf.gz", 89.0, 0.58, Some(2_176)),
    ("lublin_256.swf.gz", 89.0, 1.06, None),
];

#[test]
fn real_logs_have_the_span_and_the_load_that_are_known() {
    let Some(folder) = test_data::traces() else { return };
    for (name, days, load, capacity) in KNOWN {
        let log = SwfReader::open(&folder.join(name)).unwrap_or_else(|error| panic!("{error}"));
        let seen = Inspection::of(log, capacity, None).unwrap_or_else(|error| panic!("{error}"));
        let found = seen.submission_span / 86_400.0;
        assert!((found / days - 1.0).abs() < 0.03, "{name}: {found} days");
        assert!((seen.load.expect("known") / load - 1.0).abs() < 0.05, "{name}: load {:?}", seen.load);
        assert_eq!(seen.by_hour.iter().sum::<u64>(), seen.jobs, "{name}");
        assert_eq!(seen.by_weekday.iter().sum::<u64>(), seen.jobs, "{name}");
        // Users submit by day; a model without users has no week.
        if seen.users > 0 {
            let night: u64 = seen.by_hour[..6].iter().sum();
            assert!(night < seen.jobs / 4 && seen.by_weekday[5] < seen.jobs / 7, "{name}: {:?}", seen.by_hour);
        }
    }
}
