//! Machine files.

use std::path::Path;
use workload::Machines;

fn check(text: &str, message: &str) {
    let error = Machines::from_read("m.machines", std::io::Cursor::new(text.to_owned())).expect_err(text);
    assert_eq!(error.to_string(), message);
    assert!(!error.is_io());
}

#[test]
fn clusters_are_read_in_order() {
    let text = "# two clusters\n0\tzewura\t20\t80\t1\t529426432\r\n\n1\tzegox\t48\t12\t1.5\t94035968\tmore";
    let machines = Machines::from_read("m.machines", text.as_bytes()).expect("a machine file");
    assert_eq!(machines.total_processors(), 2176);
    assert_eq!(machines.position("zegox"), Some(1));
    assert_eq!(machines.position("zeg"), None);
    let zegox = &machines.clusters()[1];
    assert_eq!((zegox.id, zegox.nodes, zegox.cpus_per_node, zegox.memory_per_node), (1, 48, 12, 94_035_968));
    assert_eq!(zegox.processors(), 576);
    assert!((zegox.speed - 1.5).abs() < f64::EPSILON);
    assert_eq!(machines.sites().map(|(site, cluster)| (site.0, cluster.id)).collect::<Vec<_>>(), [(0, 0), (1, 1)]);
}

#[test]
fn faults_are_reported_with_line_and_field() {
    check(
        "0\ta\t20\tmany\t1\t5\n",
        "m.machines:1: field 4 (cpus per node): expected a whole number, at least 1, found \"many\"",
    );
    check(
        "0\ta\t20\t8\t1\t5\n1\tb\t0\t8\t1\t5\n",
        "m.machines:2: field 3 (nodes): expected a whole number, at least 1, found \"0\"",
    );
    check("0\t\t2\t8\t1\t5\n", "m.machines:1: field 2 (name): expected a name without control characters, found \"\"");
    let bell = "m.machines:1: field 2 (name): expected a name without control characters, found \"a\\u{7}\"";
    check("0\ta\u{7}\t2\t8\t1\t5\n", bell);
    check("x\ta\t2\t8\t1\t5\n", "m.machines:1: field 1 (id): expected a whole number, found \"x\"");
    for speed in ["0", "-1", "nan", "inf", "fast", "1e-9", "0.0009", "1001"] {
        check(
            &format!("0\ta\t2\t8\t{speed}\t5\n"),
            &format!("m.machines:1: field 5 (speed): expected a number from 0.001 to 1000, found {speed:?}"),
        );
    }
    check(
        "0\ta\t2\t8\t1\t-5\n",
        "m.machines:1: field 6 (memory per node): expected a whole number of KiB, found \"-5\"",
    );
    check(
        "0\ta\t2\t8\t1\t5\n1\ta\t2\t8\t1\t5\n",
        "m.machines:2: field 2 (name): expected a name that no line above has, found \"a\"",
    );
    check(
        "0\ta\t4000000000\t2\t1\t5\n",
        "m.machines:1: field 4 (cpus per node): expected fewer than 4294967296 processors in all, found \"2\"",
    );
}

#[test]
fn columns_are_separated_by_tabs() {
    check(
        "0 a 20 8 1 5\n",
        "m.machines:1: expected 6 columns separated by tabs \
         (id, name, nodes, cpus per node, speed, KiB per node), found 1",
    );
}

#[test]
fn a_file_without_clusters_is_a_fault() {
    check("; nothing\n", "m.machines: there is no cluster in the file; write one line for each");
    let error = Machines::open(Path::new("no.machines")).expect_err("there is none");
    assert_eq!(error.to_string(), "no.machines: there is no such file; check the name and the folder");
}
