//! A skipped test is reported and recorded, and fails if its need is required.

use std::path::Path;
use std::process::Command;
use test_data::Need;

/// Variable that is set when this binary runs itself: [`child`] is then the test with the need.
const CHILD: &str = "TEST_DATA_CHILD";

#[test]
fn child() {
    match std::env::var(CHILD).unwrap_or_default().as_str() {
        "" => {}
        "traces" => assert_eq!(test_data::traces(), None),
        "trace" => assert_eq!(test_data::trace("no-such-log.swf.gz"), None),
        "program" => assert_eq!(test_data::program(Need::Browser, &["no-such-browser", "nor-this"]), None),
        other => panic!("{other}?"),
    }
}

/// Runs [`child`] in a folder laid out by cargo. Returns its success, its output, and the lines recorded since the start.
fn run(target: &Path, wanted: &str, variables: &[(&str, &str)]) -> (bool, String, Vec<String>) {
    let deps = target.join("debug/deps");
    std::fs::create_dir_all(&deps).expect("a folder");
    let program = deps.join("it-0123456789abcdef");
    std::fs::copy(std::env::current_exe().expect("a program"), &program).expect("a copy");
    let mut command = Command::new(program);
    command.args(["--exact", "child"]).env(CHILD, wanted);
    command.env_remove("GRID_TRACES").env_remove("GRID_ORACLES").env_remove("GRID_REQUIRE");
    let output = command.envs(variables.iter().copied()).output().expect("it runs");
    let lines = std::fs::read_to_string(target.join("tests-skipped.tsv")).unwrap_or_default();
    let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), printed, lines.lines().map(str::to_owned).collect())
}

#[test]
fn a_missing_need_skips_the_test_with_a_record_unless_it_is_required() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path().to_str().expect("UTF-8");
    let unset = "the variable GRID_TRACES is not set";
    let cases = [
        ("traces", vec![], Ok(format!("traces\t{unset}\t"))),
        ("traces", vec![("GRID_REQUIRE", "oracles")], Ok(format!("traces\t{unset}\t"))),
        ("trace", vec![("GRID_TRACES", here)], Ok(format!("traces\tno-such-log.swf.gz is not in {here}\t"))),
        ("program", vec![], Ok("browser\tthere is no no-such-browser or nor-this\t".to_owned())),
        ("traces", vec![("GRID_REQUIRE", "traces")], Err("GRID_REQUIRE lists traces")),
        ("traces", vec![("GRID_REQUIRE", "browser traces")], Err("GRID_REQUIRE lists traces")),
        ("trace", vec![("GRID_TRACES", "/no/such/folder")], Err("which is no folder")),
    ];
    for (wanted, variables, expected) in cases {
        let target = tempfile::tempdir().expect("a folder");
        let (passed, printed, lines) = run(target.path(), wanted, &variables);
        match expected {
            Ok(record) => {
                assert!(passed && printed.contains("skipped "), "{wanted}, {variables:?}: {printed}");
                assert!(
                    lines.len() == 1 && lines[0].starts_with(&record) && lines[0].ends_with("it child"),
                    "{lines:?}"
                );
            }
            Err(message) => {
                assert!(!passed && printed.contains(message), "{wanted}, {variables:?}: {printed}");
                assert!(lines.is_empty(), "{lines:?}");
            }
        }
    }
}
