//! A skipped test is told, noted and counted, and where its need is required it fails.

use std::path::Path;
use std::process::{Command, Output};
use test_data::{Need, Skipped, read};

/// Set when this binary runs itself: [`child`] then is the test that wants something.
const CHILD: &str = "TEST_DATA_CHILD";

/// The test that [`run`] runs in a process of its own. By itself it checks only that there is a file to note skips in.
#[test]
fn child() {
    let wanted = std::env::var(CHILD).unwrap_or_default();
    match wanted.as_str() {
        "" => assert!(test_data::file().expect("built by cargo").ends_with("tests-skipped.tsv")),
        "traces" => assert_eq!(test_data::traces(), None),
        "trace" => assert_eq!(test_data::trace("no-such-log.swf.gz"), None),
        "program" => assert_eq!(test_data::program(Need::Browser, &["no-such-browser", "nor-this"]), None),
        other => panic!("{other}?"),
    }
}

/// Runs [`child`] with the output captured, as `cargo test` does, from a folder as cargo builds them.
fn run(target: &Path, wanted: &str, variables: &[(&str, &str)]) -> (Output, Vec<Skipped>) {
    let deps = target.join("debug/deps");
    std::fs::create_dir_all(&deps).expect("a folder");
    let program = deps.join("it-0123456789abcdef");
    std::fs::copy(std::env::current_exe().expect("a program"), &program).expect("a copy");
    let mut command = Command::new(program);
    command.args(["--exact", "child"]).env(CHILD, wanted);
    command.env_remove("GRID_TRACES").env_remove("GRID_ORACLES").env_remove("GRID_REQUIRE");
    let output = command.envs(variables.iter().copied()).output().expect("it runs");
    (output, read(&target.join("tests-skipped.tsv")).expect("a list"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_skipped_test_passes_but_is_told_and_noted_once() {
    let target = tempfile::tempdir().expect("a folder");
    for _ in 0..2 {
        let (output, skipped) = run(target.path(), "traces", &[]);
        assert!(output.status.success());
        let told = stderr(&output);
        assert!(told.contains("it child: the variable GRID_TRACES is not set"), "{told}");
        let [only] = skipped.as_slice() else { panic!("{skipped:?}") };
        assert_eq!((only.need.as_str(), only.reason.as_str()), ("traces", "the variable GRID_TRACES is not set"));
        assert!(only.test.ends_with("/it child"), "{}", only.test);
    }
}

#[test]
fn each_reason_is_noted_by_itself() {
    let target = tempfile::tempdir().expect("a folder");
    let here = target.path().to_str().expect("UTF-8");
    run(target.path(), "trace", &[("GRID_TRACES", here)]);
    let (_, skipped) = run(target.path(), "program", &[]);
    let reasons: Vec<&str> = skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
    assert_eq!(reasons, ["there is no no-such-browser or nor-this", &format!("no-such-log.swf.gz is not in {here}")]);
}

#[test]
fn where_the_need_is_required_the_test_fails_and_nothing_is_noted() {
    let target = tempfile::tempdir().expect("a folder");
    for required in ["traces", "oracles,traces", "browser traces"] {
        let (output, skipped) = run(target.path(), "traces", &[("GRID_REQUIRE", required)]);
        assert!(!output.status.success(), "{required}");
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
        assert!(told.contains("GRID_REQUIRE lists traces"), "{told}");
        assert_eq!(skipped, []);
    }
    assert!(run(target.path(), "traces", &[("GRID_REQUIRE", "oracles")]).0.status.success());
}

#[test]
fn a_variable_that_names_no_folder_is_no_reason_to_skip() {
    let target = tempfile::tempdir().expect("a folder");
    let (output, skipped) = run(target.path(), "trace", &[("GRID_TRACES", "/no/such/folder")]);
    assert!(!output.status.success() && skipped.is_empty());
}

#[test]
fn a_list_that_was_not_written_here_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tests-skipped.tsv");
    std::fs::write(&file, "traces\tno reason\n").expect("written");
    let error = read(&file).expect_err("two cells").to_string();
    assert!(error.contains("tests-skipped.tsv") && error.contains("remove it"), "{error}");
}
