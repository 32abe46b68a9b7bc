//! The program after `cargo install`: one file, in a folder of its own, without a checkout. It contains scenarios, recorded verdicts and
//! recorded sensitivity tables.

use assert_cmd::Command;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// The program, alone in a folder, and an empty folder that it runs in.
struct Installed {
    folder: TempDir,
    program: PathBuf,
}

impl Installed {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("bin/gridproof");
        fs::create_dir_all(folder.path().join("bin")).expect("a folder");
        fs::create_dir_all(folder.path().join("empty")).expect("a folder");
        fs::copy(env!("CARGO_BIN_EXE_gridproof"), &program).expect("a copy");
        Self { folder, program }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("empty").join(name)
    }

    /// Runs the program, checks its exit code, and returns its output.
    fn run(&self, words: &str, code: i32) -> String {
        let mut command = Command::new(&self.program);
        let run = command.args(words.split(' ')).current_dir(self.path("")).assert().code(code);
        let output = run.get_output();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }
}

/// Options for a fraction of a second of multi-site.
const SMALL: &str = "--quick --reps 2 --set run.quick_jobs=2000 --set run.quick_run_lengths=[500,2000] --quiet";

#[test]
fn an_installed_program_reproduces_and_doubts_in_an_empty_folder() {
    let installed = Installed::new();
    installed.run(&format!("reproduce multi-site {SMALL}"), 0);
    for file in ["report.html", "claims.csv", "runs.csv", "manifest.json", "data/fig4.csv"] {
        assert!(installed.path("results/multi-site").join(file).is_file(), "{file}");
    }
    installed.run("verify results/multi-site", 0);
    installed.run(&format!("doubt multi-site {SMALL} --reading R1 --out doubt"), 0);
    assert!(installed.path("doubt/doubt.csv").is_file());
    assert!(installed.run("list", 0).contains("multi-site"));
}

#[test]
fn an_installed_program_has_every_scenario_and_knows_its_parameters() {
    let installed = Installed::new();
    let papers: serde_json::Value = serde_json::from_str(&installed.run("list --json", 0)).expect("JSON");
    let slugs: Vec<&str> =
        papers.as_array().expect("a list").iter().filter_map(|paper| paper["slug"].as_str()).collect();
    assert!(slugs.len() > 5, "{slugs:?}");
    for slug in slugs {
        let told = installed.run(&format!("reproduce {slug} --quick --quiet --set run.sed=1"), 2);
        assert!(told.contains("did you mean \"run.seed\"?; there are "), "{slug}: {told}");
    }
    assert!(!installed.path("results").exists());
}

#[test]
fn an_installed_program_draws_a_log_and_replays_it() {
    let installed = Installed::new();
    installed.run("workload generate lublin --procs 64 --count 300 --seed 1 --quiet --out log.swf", 0);
    installed.run("simulate --trace log.swf --policy easy,cons --quiet --out out", 0);
    assert!(installed.path("out/report.html").is_file() && installed.path("out/easy/jobs.csv").is_file());
    installed.run("simulate --trace log.swf --policy easy --quiet", 0);
    installed.run("explain --trace log.swf --policy easy --job 17", 0);
    installed.run("workload inspect log.swf --quiet", 0);
    let experiment = installed.run("experiment init", 0);
    assert!(experiment.contains("[[log]]"), "{experiment}");
}
