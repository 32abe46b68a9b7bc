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
    assert_eq!(machines.clusters().iter().map(|cluster| cluster.id).collect::<Vec<_>>(), [0, 1]);
    let zegox = &machines.clusters()[1];
    assert_eq!((zegox.id, zegox.nodes, zegox.cpus_per_node, zegox.memory_per_node), (1, 48, 12, 94_035_968));
    assert_eq!(zegox.processors(), 576);
    assert!((zegox.speed - 1.5).abs() < f64::EPSILON);
}

#[test]
fn faults_are_reported_with_line_and_field() {
    let control = "a name without control characters";
    let least = "a whole number, at least 1";
    let speed = "a number from 0.001 to 1000";
    for (line, field, expected, found) in [
        ("0|a|20|many|1|5", "4 (cpus per node)", least, "many"),
        ("0|a|0|8|1|5", "3 (nodes)", least, "0"),
        ("0||2|8|1|5", "2 (name)", control, ""),
        ("0|a\u{7}|2|8|1|5", "2 (name)", control, "a\u{7}"),
        ("x|a|2|8|1|5", "1 (id)", "a whole number", "x"),
        ("0|a|2|8|0|5", "5 (speed)", speed, "0"),
        ("0|a|2|8|-1|5", "5 (speed)", speed, "-1"),
        ("0|a|2|8|nan|5", "5 (speed)", speed, "nan"),
        ("0|a|2|8|inf|5", "5 (speed)", speed, "inf"),
        ("0|a|2|8|fast|5", "5 (speed)", speed, "fast"),
        ("0|a|2|8|0.0009|5", "5 (speed)", speed, "0.0009"),
        ("0|a|2|8|1001|5", "5 (speed)", speed, "1001"),
        ("0|a|2|8|1|-5", "6 (memory per node)", "a whole number of KiB", "-5"),
        ("0|first|2|8|1|5", "2 (name)", "a name that no line above has", "first"),
        ("0|a|4000000000|2|1|5", "4 (cpus per node)", "fewer than 4294967296 processors in all", "2"),
    ] {
        let text = format!("9\tfirst\t1\t1\t1\t0\n{}\n", line.replace('|', "\t"));
        check(&text, &format!("m.machines:2: field {field}: expected {expected}, found {found:?}"));
    }
}

#[test]
fn a_file_without_tabs_or_clusters_is_a_fault() {
    let tabs = "expected 6 columns separated by tabs (id, name, nodes, cpus per node, speed, KiB per node), found 1";
    check("0 a 20 8 1 5\n", &format!("m.machines:1: {tabs}"));
    check("; nothing\n", "m.machines: there is no cluster in the file; write one line for each");
    let error = Machines::open(Path::new("no.machines")).expect_err("there is none");
    assert_eq!(error.to_string(), "no.machines: there is no such file; check the name and the folder");
}
