//! A folder of results belongs to one run, even with two runs at once, or with one after the other. `faults.rs` kills runs.

use crate::program::{
    FOUR_JOBS, SMALL, Workdir, folder, manifest, names, signal, stopped, table, tree, xtask, xtask_process,
};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Configures a run of a fraction of a second that reads and writes the same files as the larger ones.
fn small(command: &mut Command, out: &Path, seed: u32) {
    command.args(SMALL.split(' ')).args(["--only", "fig4", "--quiet", "--seed", &seed.to_string(), "--out"]).arg(out);
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
    let dir = Workdir::new();
    let out = dir.path("out");
    dir.refuses("verify out", &["no manifest.json"]);
    let verify = |code: i32, words: &[&str]| {
        let told = dir.run("verify out", code).out;
        words.iter().for_each(|words| assert!(told.contains(words), "no {words:?} in: {told}"));
    };
    finish(&out, 1);
    verify(0, &["files are as `cargo xtask reproduce multi-site"]);
    dir.file("out/notes.txt", "mine");
    verify(0, &["notes.txt: not of this run"]);

    dir.file("out/report.html", &dir.text("out/report.html")[1..]);
    fs::remove_file(out.join("claims.csv")).expect("it can be removed");
    verify(1, &["report.html: changed", "claims.csv: missing"]);
    let json = dir.run("verify out --json", 1).json();
    assert_eq!(json[0]["changed"], serde_json::json!(["report.html"]));
    assert_eq!(json[0]["missing"], serde_json::json!(["claims.csv"]));

    finish(&out, 1);
    dir.file("out/manifest.json", dir.text("out/manifest.json").replace("\"seed\": 1,", "\"seed\": 2,"));
    verify(1, &["manifest.json: changed"]);

    finish(&out, 1);
    let mut store = dir.text("out/cells/replications.jsonl").into_bytes();
    store[200] ^= 1;
    dir.file("out/cells/replications.jsonl", store);
    verify(1, &["stored replications are damaged"]);
    let told = dir.run(&format!("{SMALL} --only fig4 --quiet --seed 1 --out out"), 0).err;
    assert!(told.contains(" is damaged; the file as it was is kept as "), "{told}");
}

#[test]
fn a_second_simulation_leaves_nothing_of_the_first_beside_its_own() {
    let dir = Workdir::with("log.swf", FOUR_JOBS);
    let simulate = |out: &str, policies: &str| {
        dir.run(&format!("simulate log.swf --quiet --policy {policies} --out {out}"), 0);
        names(&dir.path(out))
    };
    assert!(simulate("out", "fcfs,easy").contains("easy/jobs.csv"));
    assert_eq!(simulate("out", "fcfs"), simulate("other", "fcfs"));
    assert!(!dir.path("out/easy").exists());
    dir.run("verify out other", 0);

    // The folder of another command is refused and unchanged.
    let before = tree(&dir.path("out"));
    dir.refuses("workload inspect --quiet log.swf --out out", &["cargo xtask simulate", "--out DIR"]);
    assert_eq!(tree(&dir.path("out")), before);
}

#[test]
fn a_reproduction_of_fewer_figures_leaves_none_of_another_effort_beside_them() {
    let dir = Workdir::new();
    let out = dir.0.path();
    dir.run(&format!("{SMALL} --only fig4,fig5,table2 --quiet --out ."), 0);
    assert!(out.join("data/fig5.csv").exists());
    dir.file("figures/notes.txt", "mine");
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
    for (name, under_nohup) in [("TERM", false), ("HUP", false), ("HUP", true)] {
        let folder = folder();
        let program = env!("CARGO_BIN_EXE_xtask");
        let mut command = Command::new(if under_nohup { "nohup" } else { program });
        command.args(under_nohup.then_some(program));
        command.args(["reproduce", "multi-site", "--quick", "--quiet", "--only", "fig4"]).args(long);
        command.arg("--out").arg(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let has_begun = || folder.path().join("cells/replications.jsonl").exists();
        let (code, message) = stopped(&mut command, has_begun, |child| signal(child, name));
        if name == "HUP" && (under_nohup || is_ignored) {
            assert_eq!(code, Some(0), "{message}");
            assert!(folder.path().join("report.html").exists());
        } else {
            assert_eq!(code, Some(130), "{name}: {message}");
            assert!(message.contains("interrupted; finished work is kept"), "{message}");
            let left = names(folder.path());
            assert_eq!(left.into_iter().collect::<Vec<_>>(), ["cells/replications.jsonl"]);
        }
    }
}
