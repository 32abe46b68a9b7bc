//! Outages: their distribution, their order, their traces, and their spelling.

#![expect(clippy::disallowed_methods, reason = "what is expected, within a tolerance: any machine's functions do")]

use crate::data::{check_mean, check_option};
use crate::model::check_distribution;
use proptest::prelude::*;
use sim_core::{Outage, SiteId, Span, Streams, Time};
use std::io::Write;
use workload::outages::{DrawnOutages, OutageTrace, Outages};

const DAY: Span = Span::from_secs(86_400);
const HOUR: Span = Span::from_secs(3_600);

fn drawn(machines: u32, seed: u64) -> DrawnOutages {
    DrawnOutages::new(DAY * 30, HOUR * 4, machines, &Streams::new(seed, 0))
}

fn of_site(outages: DrawnOutages, site: u32, count: usize) -> Vec<Outage> {
    outages.filter(|outage| outage.site == SiteId(site)).take(count).collect()
}

/// The first draws are part of every published result: if this test fails, all numbers move.
#[test]
fn value_stability() {
    let first: Vec<_> =
        drawn(2, 42).take(3).map(|outage| (outage.site.0, outage.down.as_nanos(), outage.up.as_nanos())).collect();
    let expected = [
        (1, 455_098_599_358_399, 459_358_063_058_988),
        (0, 1_139_010_203_521_025, 1_143_615_386_202_978),
        (1, 3_464_276_967_476_425, 3_464_480_933_330_860),
    ];
    assert_eq!(first, expected);
}

fn check_exponential(what: &str, values: Vec<f64>, mean: f64) {
    check_mean(what, &values, mean);
    check_distribution(what, values, |value| 1.0 - (-value / mean).exp());
}

#[test]
fn times_to_failure_and_to_repair_are_exponential() {
    let outages = of_site(DrawnOutages::new(HOUR * 10, HOUR, 2, &Streams::new(3, 0)), 1, 20_000);
    let repairs = outages.iter().map(|outage| outage.up.since(outage.down).as_secs_f64()).collect();
    let up = outages.windows(2).map(|pair| pair[1].down.since(pair[0].up).as_secs_f64()).collect();
    check_exponential("to failure", up, 36_000.0);
    check_exponential("to repair", repairs, 3_600.0);
}

/// A sorted list of each machine's own outages is the slow twin of the heap.
#[test]
fn machines_are_merged_in_order_and_fail_independently() {
    let merged: Vec<_> = drawn(20, 1).take(2_000).collect();
    assert!(merged.is_sorted());
    let end = merged[1_999].down;
    let mut alone: Vec<_> =
        (0..20).flat_map(|site| of_site(drawn(20, 1), site, 400)).filter(|outage| outage.down <= end).collect();
    alone.sort();
    assert_eq!(merged, alone);
    for outage in &merged {
        assert!(outage.down < outage.up);
    }
    for site in 0..20 {
        let own: Vec<_> = merged.iter().filter(|outage| outage.site == SiteId(site)).collect();
        assert!(own.windows(2).all(|pair| pair[0].up < pair[1].down), "site {site} fails while it is down");
    }
}

#[test]
fn more_machines_and_other_repairs_move_no_time_to_failure() {
    assert_eq!(of_site(drawn(2, 5), 1, 50), of_site(drawn(9, 5), 1, 50));
    let slow = DrawnOutages::new(DAY * 30, DAY * 4, 2, &Streams::new(5, 0));
    let up =
        |outages: Vec<Outage>| -> Vec<Span> { outages.windows(2).map(|pair| pair[1].down.since(pair[0].up)).collect() };
    assert_eq!(up(of_site(drawn(2, 5), 0, 50)), up(of_site(slow, 0, 50)));
    assert_ne!(of_site(drawn(2, 5), 0, 50), of_site(drawn(2, 6), 0, 50));
}

#[test]
fn outages_end_with_the_range_of_time_and_no_machines_have_none() {
    let century = Span::from_secs(100 * 365 * 86_400);
    let outages: Vec<_> = DrawnOutages::new(century, century, 3, &Streams::new(1, 0)).collect();
    assert!(outages.len() < 100 && outages.is_sorted());
    assert_eq!(drawn(0, 1).next(), None);
}

fn trace(text: &'static str) -> Vec<Result<(u32, f64, f64), String>> {
    match OutageTrace::from_read("o.csv", text.as_bytes(), &["zewura", "zegox", "0"]) {
        Err(error) => vec![Err(error.to_string())],
        Ok(trace) => trace
            .map(|item| {
                let outage = item.map_err(|error| error.to_string())?;
                Ok((outage.site.0, outage.down.as_secs_f64(), outage.up.as_secs_f64()))
            })
            .collect(),
    }
}

#[test]
fn a_trace_names_machines_or_numbers_them() {
    let text = "\u{feff}machine,down,up\r\nzegox, 10, 20.5\n# noon\n\n1,30,40\n0,30,31\nzewura,30,1e3\n";
    let expected = [Ok((1, 10.0, 20.5)), Ok((1, 30.0, 40.0)), Ok((2, 30.0, 31.0)), Ok((0, 30.0, 1000.0))];
    assert_eq!(trace(text), expected); // a name comes before a number: "0" is the third machine
}

#[test]
fn faults_of_a_trace_lead_to_their_place() {
    let message = |text: &'static str| -> String {
        trace(text).into_iter().find_map(Result::err).unwrap_or_else(|| panic!("no fault in {text}"))
    };
    insta::assert_snapshot!(message(""), @r#"o.csv:1: expected the header machine,down,up, found """#);
    insta::assert_snapshot!(message("a,10,20\n"), @r#"o.csv:1: expected the header machine,down,up, found "a,10,20""#);
    insta::assert_snapshot!(message("machine,down,up\nzegox,10\n"), @"o.csv:2: expected 3 columns separated by commas (machine, down, up), found 2");
    insta::assert_snapshot!(message("machine,down,up\nzegos,10,20\n"), @r#"o.csv:2: field 1 (machine): expected the name of a machine or its number from 0 to 2, found "zegos""#);
    insta::assert_snapshot!(message("machine,down,up\n3,10,20\n"), @r#"o.csv:2: field 1 (machine): expected the name of a machine or its number from 0 to 2, found "3""#);
    insta::assert_snapshot!(message("machine,down,up\n1,noon,20\n"), @r#"o.csv:2: field 2 (down): expected seconds from the first submission, from 0 to 4294967295, found "noon""#);
    insta::assert_snapshot!(message("machine,down,up\n1,10,-20\n"), @r#"o.csv:2: field 3 (up): expected seconds from the first submission, from 0 to 4294967295, found "-20""#);
    insta::assert_snapshot!(message("machine,down,up\n1,10,10\n"), @r#"o.csv:2: field 3 (up): expected a time after down, which is 10, found "10""#);
    insta::assert_snapshot!(message("machine,down,up\n1,10,20\n0,9,30\n"), @r#"o.csv:3: field 2 (down): expected a time from 10 on, as the lines are sorted by down, found "9""#);
    insta::assert_snapshot!(message("machine,down,up\n1,10,20\n1,19,30\n"), @r#"o.csv:3: field 2 (down): expected a time from 20 on, until when this machine is down already, found "19""#);
}

#[test]
fn the_reader_goes_on_after_a_faulty_line_and_stops_within_an_endless_one() {
    let oks: Vec<_> = trace("machine,down,up\n1,10,20\n1,x,20\n1,30,40\n").iter().map(Result::is_ok).collect();
    assert_eq!(oks, [true, false, true]);
    let endless = std::io::repeat(b'7');
    let error = OutageTrace::from_read("o.csv", endless, &["a"]).expect_err("no line is that long");
    assert_eq!(error.to_string(), "o.csv:1: the line is longer than 64 KiB; is this a trace of outages?");
}

#[test]
fn a_source_is_read_and_printed() {
    check_option::<Outages>(
        "mtbf:30d,mttr:4h|mtbf:90s,mttr:15m|mtbf:1.5s,mttr:0.000000001s|outages.csv|./mtbf:1",
        "|mtbf:30d|mtbf:30,mttr:4h|mtbf:0d,mttr:4h|mtbf:-1d,mttr:4h|mtbf:1w,mttr:4h|mtbf:9e9d,mttr:1s|\
         mtbf:49710.5d,mttr:1s|mttr:4h,mtbf:30d",
        "outages: expected a file name, or mtbf:SPAN,mttr:SPAN with spans above 0 such as 90s, 15m, 4h, 1.5d,",
    );
    let drawn = Outages::Drawn { mtbf: HOUR * 36, mttr: Span::from_secs(900) };
    assert_eq!("mtbf:1.5d,mttr:0.25h".parse(), Ok(drawn));
}

#[test]
fn both_sources_give_one_stream() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    writeln!(file, "machine,down,up\nb,1,2").expect("written");
    let names = ["a", "b"];
    let read: Vec<_> = Outages::Trace(file.path().to_owned())
        .stream(&names, &Streams::new(1, 0))
        .expect("a trace")
        .collect::<Result<_, _>>()
        .expect("no fault");
    assert_eq!(read, [Outage { down: Time::from_secs(1), site: SiteId(1), up: Time::from_secs(2) }]);
    let source = Outages::Drawn { mtbf: DAY * 30, mttr: HOUR * 4 };
    let stream = source.stream(&names, &Streams::new(1, 0)).expect("nothing to open");
    assert!(stream.take(9).map(|item| item.expect("never an error")).eq(drawn(2, 1).take(9)));
    let missing = Outages::Trace("no.csv".into()).stream(&names, &Streams::new(1, 0)).err().expect("there is none");
    assert_eq!(missing.to_string(), "no.csv: there is no such file; check the name and the folder");
    assert!(!missing.is_io());
}

proptest! {
    #[test]
    fn means_survive_printing(mtbf in 1..=4_294_967_295_000_000_000_u64, mttr in 1..=4_294_967_295_u64) {
        let source = Outages::Drawn { mtbf: Span::from_nanos(mtbf), mttr: Span::from_secs(mttr) };
        prop_assert_eq!(source.to_string().parse(), Ok(source));
    }
}
