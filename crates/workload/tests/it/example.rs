//! Output of the example.

use std::process::Command;

#[test]
fn the_example_reports_on_five_jobs() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--package", "workload", "--example", "read_log"]);
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stdout), @r"
    4 jobs over 400 s
    offered load 1.27 on 8 processors
    1 × no-runtime, first in line 6: run time (field 4) unknown, negative or zero, so the job never ran: skipped
    1 × estimate-from-runtime, first in line 5: requested time (field 9) unknown: the run time used as estimate
    1 × cut-at-estimate, first in line 4: ran beyond its requested time (field 9): cut there, as an enforced limit would
    ");
}
