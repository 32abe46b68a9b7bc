//! Limits of the program: missing data, control characters, times beyond the clock, files that do not exist.

use crate::program::{FOUR_JOBS, file, folder, manifest, table, utf8, xtask, xtask_process};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, is_empty};
use std::fs;
use std::process::{Command, Stdio};
use test_data::Need;

fn headless() -> String {
    FOUR_JOBS.lines().skip(1).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_machine_that_the_log_does_not_name_is_requested_and_never_guessed() {
    let folder = folder();
    let (log, out) = (file(&folder, "headless.swf", headless()), folder.path().join("deep/out"));
    let run = ["simulate", "--policy", "easy", "--trace", utf8(&log), "--out", utf8(&out)];
    let asked = "headless.swf: the log does not say how many processors its machine has: give --procs N or --machines FILE \
                 (the widest job requests 16)";
    xtask().args(run).assert().code(2).stderr(contains(asked));
    assert!(!folder.path().join("deep").exists());
    xtask().args(run).args(["--procs", "8"]).assert().code(0);
    // The load is not reported either.
    let seen = folder.path().join("seen");
    let run = ["workload", "inspect", utf8(&log), "--out", utf8(&seen)];
    let told = xtask().args(run).assert().code(0).stdout(contains("load unknown").or(contains("load is unknown")));
    told.stdout(contains("the widest job requests 16").and(contains("4 jobs")));
    let told = xtask().args(run).arg("--json").assert().code(0);
    let told: serde_json::Value = serde_json::from_slice(&told.get_output().stdout).expect("JSON");
    assert!(told["inspection"]["load"].is_null() && told["inspection"]["capacity"].is_null());
}

#[test]
fn quiet_hides_repairs_of_one_job_in_a_thousand_and_no_larger_ones() {
    let folder = folder();
    let out = folder.path().join("out");
    for (jobs, is_large) in [(999, true), (1_001, false)] {
        let job = |number: u64| {
            // The last job outlives its limit.
            let run = if number == jobs { 90 } else { 5 };
            format!("{number} {} -1 {run} 4 -1 -1 4 20 -1 1 7 1 -1 -1 -1 -1 -1\n", 100 * number)
        };
        let log: String = (1..=jobs).map(job).collect();
        let log = file(&folder, "log.swf", format!("; MaxProcs: 8\n{log}"));
        let run = ["simulate", "--policy", "fcfs", "--trace", utf8(&log), "--out", utf8(&out)];
        let quiet = xtask().args(run).arg("--quiet").assert().code(0).stdout(contains("repair").not());
        let cut = "repair cut-at-estimate: 1 ×";
        if is_large {
            quiet.stderr(contains(cut));
            xtask().args(run).arg("--json").assert().code(0).stderr(contains(cut));
        } else {
            quiet.stderr(is_empty());
            xtask().args(run).assert().code(0).stdout(contains(cut));
        }
    }
}

const GAP_POLICIES: [&str; 9] = ["fcfs", "easy", "cons", "best-gap", "bgt", "sg", "flex", "eg-edf", "eg-edf-tabu"];

#[test]
fn time_that_would_leave_the_clock_is_a_message_under_every_policy() {
    let folder = folder();
    let out = folder.path().join("out");
    let refused = |run: &[&str], words: &[&str]| {
        let mut told = xtask().args(run).args(["--quiet", "--out", utf8(&out)]).assert().code(2);
        told = told.stderr(contains("panicked").not());
        for word in words {
            told = told.stderr(contains(*word));
        }
        assert!(!out.exists());
    };
    let log = file(&folder, "four.swf", FOUR_JOBS);
    let slow = file(&folder, "slow.machines", "0\tslow\t1\t8\t1e-9\t1024\n");
    let run = ["simulate", "--policy", "fcfs", "--trace", utf8(&log), "--machines", utf8(&slow)];
    refused(&run, &["slow.machines:1: field 5 (speed): expected a number from 0.001 to 1000, found \"1e-9\""]);

    // Estimates of half a year, a thousandfold, on a machine of a hundredth.
    let long = file(&folder, "long.swf", "1 0 -1 15000000 4 -1 -1 4 15000000 -1 1 7 1 -1 -1 -1 -1 -1\n");
    let hundredth = file(&folder, "hundredth.machines", "0\tslow\t1\t8\t0.01\t1024\n");
    let run = ["simulate", "--trace", utf8(&long), "--machines", utf8(&hundredth), "--estimates", "factor:1000"];
    for policy in GAP_POLICIES {
        refused(&[&run[..], &["--policy", policy]].concat(), &["long.swf:1: job 1 would take", "shorter estimates"]);
    }

    // Each job fits the clock, but no plan of all does, although they run for a second each.
    let century = u32::MAX;
    let job = |number| format!("{number} 0 -1 1 8 -1 -1 8 {century} -1 1 7 1 -1 -1 -1 -1 -1\n");
    let log = file(&folder, "centuries.swf", format!("; MaxProcs: 8\n{}", (1..=5).map(job).collect::<String>()));
    for policy in GAP_POLICIES {
        let run = ["simulate", "--policy", policy, "--trace", utf8(&log), "--quiet", "--out", utf8(&out)];
        let told = xtask().args(run).assert().stderr(contains("panicked").not());
        let code = told.get_output().status.code();
        match code {
            Some(0) => fs::remove_dir_all(&out).expect("results"),
            // Best Gap keeps its plan, in which these jobs end beyond the clock.
            Some(2) => {
                let under = |what: &str| contains(format!("under {policy} the {what}"));
                let told =
                    told.stderr(under("plan reaches beyond 584 years").or(under("jobs would run for more than 300")));
                drop(told);
            }
            _ => panic!("{policy}: {code:?}"),
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn standard_error_need_not_be_read() {
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has one");
    let mut command = xtask_process();
    command.args(["simulate", "--policy", "fcfs", "--trace", utf8(&log), "--out", utf8(&out)]).stderr(full());
    assert_eq!(command.status().expect("it runs").code(), Some(0));
    let mut command = xtask_process();
    command.args(["simulate", "--policy", "fcfs", "--trace", "none.swf"]).stderr(full());
    assert_eq!(command.status().expect("it runs").code(), Some(2));
    let mut command = xtask_process();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let seen = folder.path().join("seen");
    command.args(["workload", "inspect", utf8(&log), "--out", utf8(&seen)]).stderr(writer).stdout(Stdio::null());
    assert_eq!(command.status().expect("it runs").code(), Some(0));
}

#[test]
fn a_huge_machine_takes_no_more_memory_than_a_small_one() {
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    let run =
        ["simulate", "--policy", "fcfs,easy", "--trace", utf8(&log), "--out", utf8(&out), "--procs", "4294967295"];
    xtask().args(run).assert().code(0);
    if cfg!(target_os = "linux") {
        let held = manifest(&out)["timings"]["peak_memory_mib"].as_f64().expect("Linux tells");
        assert!(held < 500.0, "{held} MiB");
    }
    let machines = file(&folder, "huge.machines", "0\ta\t4000000000\t1\t1\t1024\n");
    let run = ["simulate", "--policy", "fcfs", "--trace", utf8(&log), "--machines", utf8(&machines)];
    let told = xtask().args(run).args(["--inside", "machine"]).assert().code(2);
    told.stderr(contains("has 4000000000 machines, and at most 100000 are supported; use --inside cluster"));
}

/// All options that name a file share a rule: a missing file or a folder is bad input.
#[test]
fn a_file_that_is_not_there_is_bad_input_whatever_it_is_for() {
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("deep/out"));
    let simulate = ["simulate", "--trace", utf8(&log), "--out", utf8(&out)];
    let tree = [&simulate[..], &["--model", "hier-grid", "--policy", "p2p"]].concat();
    let clusters = [&simulate[..], &["--model", "metasched", "--policy", "tat"]].concat();
    let plain = [&simulate[..], &["--policy", "fcfs"]].concat();
    let convert = ["workload", "convert", "--to", "gwf", "--out", "deep/out/x.gwf"];
    let generate = ["workload", "generate", "downey", "--count", "3", "--out", "deep/out/x.swf"];
    let check = |run: &[&str], option: &str, name: &str| {
        for (given, words) in [(name.to_owned(), "there is no such file"), (".".to_owned(), "is a folder")] {
            let run: Vec<&str> = run.iter().copied().chain((!option.is_empty()).then_some(option)).collect();
            let told = xtask().current_dir(folder.path()).args(run).arg(given).assert().code(2);
            told.stderr(contains(words).and(contains("panicked").not()));
            assert!(!folder.path().join("deep").exists(), "{option}");
        }
    };
    check(&tree, "--tree", "none.toml");
    check(&clusters, "--clusters", "none.machines");
    check(&plain, "--machines", "none.machines");
    check(&plain, "--outages", "none.csv");
    check(&["simulate", "--policy", "fcfs", "--out", utf8(&out)], "--trace", "none.swf");
    check(&convert, "", "none.swf");
    check(&generate, "--preset", "none.toml");
    let toml = xtask().args(&clusters).args(["--clusters", "none.toml"]).assert().code(2);
    toml.stderr(contains("none.toml: there is no such file"));
    // Not text, and far too large, refused before it is held in memory.
    let noise = file(&folder, "noise.toml", b"\xff\xfe\x00");
    xtask().args(&tree).args(["--tree", utf8(&noise)]).assert().code(2).stderr(contains("is not text in UTF-8"));
    let large = folder.path().join("large.toml");
    fs::File::create(&large).expect("written").set_len(1 << 33).expect("a hole");
    xtask().args(&tree).args(["--tree", utf8(&large)]).assert().code(2).stderr(contains("larger than 16 MiB"));
    assert!(!folder.path().join("deep").exists());
}

#[test]
fn bad_lines_leave_no_empty_folder_behind() {
    let folder = folder();
    let log = file(&folder, "bad.swf", FOUR_JOBS.replace("106", "1o6"));
    for run in [
        &["simulate", "--policy", "fcfs", "--trace", utf8(&log), "--out", "a/b"][..],
        &["workload", "convert", utf8(&log), "--to", "gwf", "--out", "a/b/c.gwf"],
        &["workload", "fit", utf8(&log), "--out", "a/b/c.toml"],
    ] {
        xtask().current_dir(folder.path()).args(run).assert().code(2).stderr(contains("bad.swf:4"));
        assert!(!folder.path().join("a").exists(), "{run:?}");
    }
}

#[test]
fn no_name_commands_a_terminal_or_a_spreadsheet() {
    let folder = folder();
    let out = folder.path().join("out");
    let bad = "\u{1b}[2Jgone";
    let told = xtask().args(["simulate", "--trace", "x", "--policy", bad]).assert().code(2);
    told.stderr(contains("\u{1b}").not().and(contains("gone")));
    let told = xtask().args(["simulate", "--policy", "fcfs", "--trace", bad]).assert().code(2);
    told.stderr(contains("\u{1b}").not().and(contains("\\u{1b}[2Jgone: there is no such file")));
    if cfg!(unix) {
        let log = file(&folder, "\u{1b}[31mred.swf", FOUR_JOBS);
        let seen = folder.path().join("seen");
        let told = xtask().args(["workload", "inspect", utf8(&log), "--out", utf8(&seen)]).assert().code(0);
        told.stdout(contains("\u{1b}").not().and(contains("\\u{1b}[31mred.swf")));
    }
    let machines = file(&folder, "f.machines", "0\t=1+1\t1\t16\t1\t1024\n");
    let log = file(&folder, "four.swf", FOUR_JOBS);
    let run =
        ["simulate", "--policy", "fcfs", "--trace", utf8(&log), "--machines", utf8(&machines), "--out", utf8(&out)];
    xtask().args(run).assert().code(0);
    let (_, rows) = table(&out.join("fcfs/jobs.csv"));
    assert!(rows.iter().all(|row| row["site"] == "'=1+1"), "{rows:?}");
}

/// The completion function of bash for `cargo …`, run as bash runs it.
#[test]
fn bash_completes_the_command_as_one_types_it_and_leaves_cargo_alone() {
    if test_data::program(Need::Bash, &["bash"]).is_none() {
        return;
    }
    let folder = folder();
    let script = xtask().args(["completions", "bash"]).assert().code(0);
    let script = file(&folder, "xtask.bash", &script.get_output().stdout);
    let complete = |before: &str, words: &[&str]| -> Vec<String> {
        let (words, last) = (words.join(" "), words.len() - 1);
        // Sourced twice, as in a shell within a shell.
        let run = format!(
            "{before}\nsource '{script}'; source '{script}'\nCOMP_WORDS=({words}); COMP_CWORD={last}\n\
             COMPREPLY=()\nof=$(complete -p cargo | sed 's/.* -F \\([^ ]*\\) .*/\\1/')\n\
             $of cargo \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\" 2>/dev/null\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script = script.display()
        );
        let output = Command::new("bash").args(["--norc", "--noprofile", "-c", &run]).output().expect("bash runs");
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).filter(|line| !line.is_empty()).collect()
    };
    let cargo = "_cargo() { COMPREPLY=(build bench); }; complete -F _cargo cargo";
    for before in ["", cargo] {
        assert_eq!(complete(before, &["cargo", "xtask", "simu"]), ["simulate"]);
        assert_eq!(complete(before, &["cargo", "+nightly", "xtask", "simu"]), ["simulate"]);
        assert!(complete(before, &["cargo", "xtask", "simulate", "--tra"]).contains(&"--trace".to_owned()));
        assert_eq!(complete(before, &["cargo", "xtask", "workload", "insp"]), ["inspect"]);
        assert_eq!(complete(before, &["cargo", "xtask", "reproduce", "mul"]), ["multi-site"]);
        assert_eq!(complete(before, &["cargo", "xtask", "simulate", "--policy", "easy,con"]), ["easy,cons"]);
        assert_eq!(complete(before, &["cargo", "xtask", "simulate", "--policy", "flex+"]), ["flex+reserve="]);
        assert_eq!(complete(before, &["cargo", "xtask", "simulate", "--policy", "ptt"]), ["ptt+w=", "ptt-occ+w="]);
        assert_eq!(complete(before, &["cargo", "xtask", "simulate", "tests/it/ten"]), ["tests/it/ten-jobs.swf"]);
    }
    assert_eq!(complete(cargo, &["cargo", "b"]), ["build", "bench"]);
    assert_eq!(complete("", &["cargo", "xt"]), ["xtask"]);
}

#[test]
fn data_that_would_be_under_way_for_longer_than_the_clock_goes_are_refused() {
    let folder = folder();
    let out = folder.path().join("out");
    let run = ["reproduce", "hierarchical", "--quick", "--quiet", "--set", "workload.output_factor=1e6", "--out"];
    let told = xtask().args(run).arg(&out).assert().code(2).stderr(contains("panicked").not());
    told.stderr(
        contains("time to transfer the data of all jobs").and(contains("at most 300 years on the narrowest link")),
    );
}

#[test]
fn a_paper_whose_time_would_leave_the_clock_is_a_message() {
    let folder = folder();
    let out = folder.path().join("out");
    let refused = |run: &[&str], words: &str| {
        let told = xtask().args(run).args(["--quick", "--quiet", "--out"]).arg(&out).assert().code(2);
        told.stderr(contains("panicked").not().and(contains(words)));
    };
    // If the overrun can be predicted, nothing runs.
    refused(
        &["reproduce", "multi-site", "--set", "workload.mean_service=1e8"],
        "outrun the clock; lower run.quick_jobs",
    );
    let times = "workload.times=[1e8, 1e8, 1e8, 1e8]";
    refused(&["reproduce", "metaloras", "--set", times], "may outrun the clock; lower workload.copies");
    // Otherwise the message names the run that reached the end of time.
    let slow = ["reproduce", "eg-edf", "--only", "fig1-left", "--set", "grid.machine_speed=[1e-6, 1e-6]"];
    refused(&slow, "the run \"policy=FCFS interarrival=1 strict=false jobs=1000 rep=0\" goes beyond 584 years");
    let run = ["--run", "policy=FCFS interarrival=1 strict=false jobs=1000 rep=0", "--quick"];
    let slow = ["reproduce", "eg-edf", "--set", "grid.machine_speed=[1e-6, 1e-6]"];
    let told = xtask().args(slow).args(run).assert().code(2).stderr(contains("panicked").not());
    told.stderr(contains("goes beyond 584 years"));
}
