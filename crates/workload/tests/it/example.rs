//! Output of the example.

#[path = "../../examples/read_log.rs"]
#[expect(dead_code, reason = "`main` runs as a program")]
mod read_log;

use workload::SwfReader;

#[test]
fn the_example_reports_on_five_jobs() {
    let log = SwfReader::from_read("five.swf", read_log::FIVE.as_bytes()).expect("a log");
    insta::assert_snapshot!(read_log::report(log).expect("five sound lines"), @r"
    4 jobs over 400 s
    offered load 1.27 on 8 processors
    1 × no-runtime, first in line 6: run time (field 4) unknown, negative or zero, so the job never ran: skipped
    1 × estimate-from-runtime, first in line 5: requested time (field 9) unknown: the run time used as estimate
    1 × cut-at-estimate, first in line 4: ran beyond its requested time (field 9): cut there, as an enforced limit would
    ");
}
