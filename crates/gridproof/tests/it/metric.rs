//! A metric of a program's own.

use clap::{CommandFactory, Parser};
use gridproof::{Better, Cli, Lab};
use std::fs;
use std::path::Path;

/// Runs a command of a laboratory with the metric, in this process.
fn lab(words: &[&str]) {
    let lab = Lab::standard().metric("longest_wait", "longest wait", Better::Smaller, |jobs| {
        jobs.iter().map(|job| job.wait().as_secs_f64()).fold(f64::NAN, f64::max)
    });
    let Cli { command, common } = Cli::try_parse_from(["gridproof"].iter().chain(words)).expect("a command");
    lab.run(command, &common, &Cli::command()).expect("it runs");
}

/// Value of a column in the rows of a table in which another column has a value.
fn column(path: &Path, name: &str, (key, wanted): (&str, &str)) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a table");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let of =
        |name: &str| rows[0].iter().position(|known| *known == name).unwrap_or_else(|| panic!("no {name}: {text}"));
    let (value, key) = (of(name), of(key));
    rows[1..].iter().filter(|row| row[key] == wanted).map(|row| row[value].to_owned()).collect()
}

#[test]
fn a_metric_from_outside_is_a_column_of_simulate_and_a_metric_of_an_experiment() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (log, out) = (path("log.swf"), path("out"));
    lab(&[
        "workload", "generate", "lublin", "--procs", "64", "--count", "400", "--seed", "1", "--quiet", "--out", &log,
    ]);
    lab(&["simulate", "--trace", &log, "--policy", "fcfs,easy", "--quiet", "--out", &out]);
    let summary = Path::new(&out).join("summary.csv");
    for policy in ["fcfs", "easy"] {
        let of = |name: &str| column(&summary, name, ("policy", policy));
        assert_eq!(of("longest_wait"), of("wait_max"));
    }
    let header = fs::read_to_string(&summary).expect("a table");
    assert!(header.lines().next().is_some_and(|header| header.ends_with(",longest_wait")), "{header}");
    let page = fs::read_to_string(Path::new(&out).join("report.html")).expect("a page");
    assert!(page.contains("longest wait"), "it is on the page");

    let toml = format!(
        "name = \"mine\"\npolicies = [\"fcfs\", \"easy\"]\nbaseline = \"fcfs\"\nmetrics = [\"longest_wait\", \"wait_max\"]\n\
         [[log]]\nfile = {log:?}\n[replicate]\nmethod = \"shake\"\ncount = 2\n"
    );
    fs::write(folder.path().join("mine.toml"), toml).expect("a file");
    lab(&["experiment", &path("mine.toml"), "--quiet", "--out", &path("mine")]);
    let results = Path::new(&path("mine")).join("results.csv");
    let means = |metric: &str| column(&results, "mean", ("metric", metric));
    assert_eq!(means("longest_wait").len(), 2);
    assert_eq!(means("longest_wait"), means("wait_max"));
}
