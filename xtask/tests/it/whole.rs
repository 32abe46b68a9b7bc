//! A folder of results belongs to one run, even with two runs at once, or with one after the other. `faults.rs` kills runs.

use crate::program::{FOUR_JOBS, SMALL, file, folder, manifest, names, table, tree, xtask, xtask_process};
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Configures a run of a fraction of a second that reads and writes the same files as the larger ones.
fn small(command: &mut Command, out: &Path, seed: u32) {
    command.args(SMALL).args(["--only", "fig4", "--quiet", "--seed", &seed.to_string(), "--out"]).arg(out);
}

fn finish(out: &Path, seed: u32) {
    let mut command = xtask_process();
    small(&mut command, out, seed);
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the seed of the folder's results. Fails if a file is another run's.
fn seed_of(out: &Path) -> u64 {
    xtask().arg("verify").arg(out).assert().code(0);
    let seed = manifest(out)["seed"].as_u64().expect("a number");
    let (_, rows) = table(&out.join("runs.csv"));
    assert!(rows.iter().all(|row| row["seed"] == seed.to_string()), "runs of another seed than the manifest's {seed}");
    seed
}

#[test]
fn ten_pairs_of_processes_on_one_folder_never_mix() {
    let mut refused = 0;
    for pair in 0..10_u32 {
        let folder = folder();
        let seeds = [2 * pair + 1, 2 * pair + 2];
        let children = seeds.map(|seed| {
            let mut command = xtask_process();
            small(&mut command, folder.path(), seed);
            command.spawn().expect("the program starts")
        });
        let outputs = children.map(|child| child.wait_with_output().expect("it ends"));
        let mut done = Vec::new();
        for (output, seed) in outputs.iter().zip(seeds) {
            let told = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => done.push(u64::from(seed)),
                Some(2) if told.contains("is writing here") && told.contains("process ") => refused += 1,
                code => panic!("{code:?}: {told}"),
            }
        }
        let found = seed_of(folder.path());
        assert!(done.contains(&found), "{found} of {done:?}");
    }
    assert!(refused > 0, "no two processes met");
}

#[test]
fn verify_names_the_differences_and_sets_its_exit_code() {
    let folder = folder();
    let out = folder.path().join("out");
    xtask().arg("verify").arg(&out).assert().code(2).stderr(contains("no manifest.json"));
    finish(&out, 1);
    let verify = || xtask().arg("verify").arg(&out).assert();
    verify().code(0).stdout(contains("files are as `cargo xtask reproduce multi-site"));
    fs::write(out.join("notes.txt"), "mine").expect("it can be written");
    verify().code(0).stdout(contains("notes.txt: not of this run"));

    let page = fs::read(out.join("report.html")).expect("a report");
    fs::write(out.join("report.html"), &page[1..]).expect("it can be damaged");
    fs::remove_file(out.join("claims.csv")).expect("it can be removed");
    verify().code(1).stdout(contains("report.html: changed").and(contains("claims.csv: missing")));
    let json = xtask().args(["verify", "--json"]).arg(&out).assert().code(1);
    let json: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    assert_eq!(json[0]["changed"], serde_json::json!(["report.html"]));
    assert_eq!(json[0]["missing"], serde_json::json!(["claims.csv"]));

    finish(&out, 1);
    let text = fs::read_to_string(out.join("manifest.json")).expect("a manifest");
    fs::write(out.join("manifest.json"), text.replace("\"seed\": 1,", "\"seed\": 2,")).expect("it can be edited");
    verify().code(1).stdout(contains("manifest.json: changed"));

    finish(&out, 1);
    let path = out.join("cells/replications.jsonl");
    let mut store = fs::read(&path).expect("finished replications");
    store[200] ^= 1;
    fs::write(&path, store).expect("it can be damaged");
    verify().code(1).stdout(contains("stored replications are damaged"));
}

#[test]
fn a_second_simulation_leaves_nothing_of_the_first_beside_its_own() {
    let folder = folder();
    let log = file(&folder, "log.swf", FOUR_JOBS);
    let simulate = |out: &str, policies: &str| {
        let out = folder.path().join(out);
        let mut command = xtask();
        command.args(["simulate", "--quiet", "--policy", policies, "--trace"]).arg(&log).arg("--out").arg(&out);
        (command, out)
    };
    let (mut first, out) = simulate("out", "fcfs,easy");
    first.assert().code(0);
    assert!(out.join("easy/jobs.csv").exists());
    simulate("out", "fcfs").0.assert().code(0);
    let (mut alone, other) = simulate("other", "fcfs");
    alone.assert().code(0);
    assert_eq!(names(&out), names(&other));
    assert!(!out.join("easy").exists());
    xtask().arg("verify").args([&out, &other]).assert().code(0);

    // The folder of another command is refused and unchanged.
    let before = tree(&out);
    let mut command = xtask();
    command.args(["workload", "inspect", "--quiet"]).arg(&log).arg("--out").arg(&out);
    command.assert().code(2).stderr(contains("cargo xtask simulate").and(contains("--out DIR")));
    assert_eq!(tree(&out), before);
}

#[test]
fn a_reproduction_of_fewer_figures_leaves_none_of_another_effort_beside_them() {
    let folder = folder();
    let out = folder.path();
    xtask().args(SMALL).args(["--only", "fig4,fig5,table2", "--quiet", "--out"]).arg(out).assert().code(0);
    assert!(out.join("data/fig5.csv").exists());
    fs::write(out.join("figures/notes.txt"), "mine").expect("it can be written");
    finish(out, 3);
    assert!(!out.join("data/fig5.csv").exists() && out.join("data/fig4.csv").exists());
    assert!(out.join("figures/notes.txt").exists());
    assert_eq!(seed_of(out), 3);
}

/// A batch system ends a job with SIGTERM, a closing terminal with SIGHUP; under nohup it may close.
#[test]
#[cfg(unix)]
fn sigterm_and_sighup_interrupt_a_run_and_nohup_lets_it_go_on() {
    let long = ["--set", "run.quick_jobs=4000", "--reps", "60", "--jobs=1"];
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let is_ignored =
        ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1);
    for (signal, under_nohup) in [("-TERM", false), ("-HUP", false), ("-HUP", true)] {
        let folder = folder();
        let program = env!("CARGO_BIN_EXE_xtask");
        let mut command = Command::new(if under_nohup { "nohup" } else { program });
        command.args(under_nohup.then_some(program));
        command.args(["reproduce", "multi-site", "--quick", "--quiet", "--only", "fig4"]).args(long);
        command.arg("--out").arg(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        while !folder.path().join("cells/replications.jsonl").exists() {
            assert!(child.try_wait().expect("a child").is_none(), "it ended before it could be stopped");
            std::thread::sleep(Duration::from_millis(2));
        }
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let output = child.wait_with_output().expect("it ends");
        let message = String::from_utf8_lossy(&output.stderr);
        if signal == "-HUP" && (under_nohup || is_ignored) {
            assert_eq!(output.status.code(), Some(0), "{message}");
            assert!(folder.path().join("report.html").exists());
        } else {
            assert_eq!(output.status.code(), Some(130), "{signal}: {message}");
            assert!(message.contains("interrupted; finished work is kept"), "{message}");
            let left = names(folder.path());
            assert_eq!(left.into_iter().collect::<Vec<_>>(), ["cells/replications.jsonl"]);
        }
    }
}
