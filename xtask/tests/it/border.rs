//! Limits of the program: missing data, control characters, times beyond the clock, files that do not exist.

use crate::program::{FOUR_JOBS, Workdir, manifest, said, utf8, xtask, xtask_process};
use std::fs;
use std::process::{Command, Stdio};
use test_data::Need;

#[test]
fn a_machine_that_the_log_does_not_name_is_requested_and_never_guessed() {
    let dir =
        Workdir::with("headless.swf", FOUR_JOBS.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>());
    let run = "simulate headless.swf --policy easy --out deep/out";
    let asked = "headless.swf: the log does not say how many processors its machine has: give --procs N or --machines FILE \
                 (the widest job requests 16)";
    dir.refuses(run, &[asked]);
    dir.run(&format!("{run} --procs 8"), 0);
    // The load is not reported either.
    let told = dir.run("workload inspect headless.swf --out seen", 0).out;
    assert!(told.contains("load unknown") || told.contains("load is unknown"), "{told}");
    assert!(told.contains("the widest job requests 16") && told.contains("4 jobs"), "{told}");
    let told = dir.run("workload inspect headless.swf --out seen --json", 0).json();
    assert!(told["inspection"]["load"].is_null() && told["inspection"]["capacity"].is_null());
}

#[test]
fn quiet_hides_repairs_of_one_job_in_a_thousand_and_no_larger_ones() {
    for (jobs, is_large) in [(999, true), (1_001, false)] {
        let job = |number: u64| {
            // The last job outlives its limit.
            let run = if number == jobs { 90 } else { 5 };
            format!("{number} {} -1 {run} 4 -1 -1 4 20 -1 1 7 1 -1 -1 -1 -1 -1\n", 100 * number)
        };
        let log: String = (1..=jobs).map(job).collect();
        let dir = Workdir::with("log.swf", format!("; MaxProcs: 8\n{log}"));
        let run = |further: &str| dir.run(&format!("simulate log.swf --policy fcfs --out out{further}"), 0);
        let (quiet, cut) = (run(" --quiet"), "repair cut-at-estimate: 1 ×");
        assert!(!quiet.out.contains("repair"), "{}", quiet.out);
        if is_large {
            assert!(quiet.err.contains(cut) && run(" --json").err.contains(cut), "{}", quiet.err);
        } else {
            assert!(quiet.err.is_empty() && run("").out.contains(cut), "{}", quiet.err);
        }
    }
}

const GAP_POLICIES: [&str; 9] = ["fcfs", "easy", "cons", "best-gap", "bgt", "sg", "flex", "eg-edf", "eg-edf-tabu"];

#[test]
fn time_that_would_leave_the_clock_is_a_message_under_every_policy() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    dir.file("slow.machines", "0\tslow\t1\t8\t1e-9\t1024\n");
    let slow = "slow.machines:1: field 5 (speed): expected a number from 0.001 to 1000, found \"1e-9\"";
    dir.refuses("simulate four.swf --policy fcfs --machines slow.machines --quiet --out out", &[slow]);

    // Estimates of half a year, a thousandfold, on a machine of a hundredth.
    dir.file("long.swf", "1 0 -1 15000000 4 -1 -1 4 15000000 -1 1 7 1 -1 -1 -1 -1 -1\n");
    dir.file("hundredth.machines", "0\tslow\t1\t8\t0.01\t1024\n");
    for policy in GAP_POLICIES {
        let run = format!("simulate long.swf --machines hundredth.machines --estimates factor:1000 --policy {policy}");
        dir.refuses(&format!("{run} --quiet --out out"), &["long.swf:1: job 1 would take", "shorter estimates"]);
    }

    // Each job fits the clock, but no plan of all does, although they run for a second each.
    let century = u32::MAX;
    let job = |number| format!("{number} 0 -1 1 8 -1 -1 8 {century} -1 1 7 1 -1 -1 -1 -1 -1\n");
    dir.file("centuries.swf", format!("; MaxProcs: 8\n{}", (1..=5).map(job).collect::<String>()));
    for policy in GAP_POLICIES {
        let run = format!("simulate centuries.swf --policy {policy} --quiet --out out");
        let told = dir.command(&run).output().expect("it runs");
        let (code, told) = (told.status.code(), String::from_utf8_lossy(&told.stderr).into_owned());
        assert!(!told.contains("panicked"), "{told}");
        match code {
            Some(0) => fs::remove_dir_all(dir.path("out")).expect("results"),
            // Best Gap keeps its plan, in which these jobs end beyond the clock.
            Some(2) => {
                let under = |what: &str| told.contains(&format!("under {policy} the {what}"));
                let beyond = under("plan reaches beyond 584 years") || under("jobs would run for more than 300");
                assert!(beyond, "{told}");
            }
            _ => panic!("{policy}: {code:?}"),
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn standard_error_need_not_be_read() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    let (log, out) = (dir.path("four.swf"), dir.path("out"));
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
    let seen = dir.path("seen");
    command.args(["workload", "inspect", utf8(&log), "--out", utf8(&seen)]).stderr(writer).stdout(Stdio::null());
    assert_eq!(command.status().expect("it runs").code(), Some(0));
}

#[test]
fn a_huge_machine_takes_no_more_memory_than_a_small_one() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    dir.run("simulate four.swf --policy fcfs,easy --out out --procs 4294967295", 0);
    if cfg!(target_os = "linux") {
        let held = manifest(&dir.path("out"))["timings"]["peak_memory_mib"].as_f64().expect("Linux has it");
        assert!(held < 500.0, "{held} MiB");
    }
    dir.file("huge.machines", "0\ta\t4000000000\t1\t1\t1024\n");
    let words = "has 4000000000 machines, and at most 100000 are supported; use --inside cluster";
    dir.refuses("simulate four.swf --policy fcfs --machines huge.machines --inside machine", &[words]);
}

/// All options that name a file share a rule: a missing file or a folder is bad input.
#[test]
fn a_file_that_is_not_there_is_bad_input_whatever_it_is_for() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    let tree = "simulate four.swf --out deep/out --model hier-grid --policy p2p --tree";
    let clusters = "simulate four.swf --out deep/out --model metasched --policy tat --clusters";
    for (run, name) in [
        (tree, "none.toml"),
        (clusters, "none.machines"),
        ("simulate four.swf --out deep/out --policy fcfs --machines", "none.machines"),
        ("simulate --policy fcfs --out deep/out --trace", "none.swf"),
        ("workload convert --to swf21 --out deep/out/x.swf", "none.swf"),
        ("workload generate lublin --count 3 --out deep/out/x.swf --preset", "none.toml"),
    ] {
        dir.refuses(&format!("{run} {name}"), &["there is no such file"]);
        dir.refuses(&format!("{run} ."), &["is a folder"]);
    }
    dir.refuses(&format!("{clusters} none.toml"), &["none.toml: there is no such file"]);
    // Not text, and far too large, refused before it is held in memory.
    dir.file("noise.toml", b"\xff\xfe\x00");
    dir.refuses(&format!("{tree} noise.toml"), &["is not text in UTF-8"]);
    let large = fs::File::create(dir.path("large.toml")).expect("written");
    large.set_len(1 << 33).expect("a hole");
    dir.refuses(&format!("{tree} large.toml"), &["larger than 16 MiB"]);
}

#[test]
fn bad_lines_leave_no_empty_folder_behind() {
    let dir = Workdir::with("bad.swf", FOUR_JOBS.replace("106", "1o6"));
    for run in [
        "simulate bad.swf --policy fcfs --quiet --out a/b",
        "workload convert bad.swf --to swf21 --quiet --out a/b/c.swf",
        "workload fit bad.swf --quiet --out a/b/c.toml",
    ] {
        dir.refuses(run, &["bad.swf:4"]);
        assert!(!dir.path("a").exists(), "{run}");
    }
}

#[test]
fn no_name_commands_a_terminal_or_a_spreadsheet() {
    let bad = "\u{1b}[2Jgone";
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    let told = said(xtask().args(["simulate", "--trace", "x", "--policy", bad]), 2).err;
    assert!(!told.contains('\u{1b}') && told.contains("gone"), "{told}");
    let told = said(xtask().args(["simulate", "--policy", "fcfs", "--trace", bad]), 2).err;
    assert!(!told.contains('\u{1b}') && told.contains("\\u{1b}[2Jgone: there is no such file"), "{told}");
    if cfg!(unix) {
        dir.file("\u{1b}[31mred.swf", FOUR_JOBS);
        let told = dir.run("workload inspect \u{1b}[31mred.swf --out seen", 0).out;
        assert!(!told.contains('\u{1b}') && told.contains("\\u{1b}[31mred.swf"), "{told}");
    }
    dir.file("f.machines", "0\t=1+1\t1\t16\t1\t1024\n");
    dir.run("simulate four.swf --policy fcfs --machines f.machines --out out", 0);
    let rows = dir.rows("out/fcfs/jobs.csv");
    assert!(rows.iter().all(|row| row["site"] == "'=1+1"), "{rows:?}");
}

/// The completion function of bash for `cargo …`, run as bash runs it.
#[test]
fn bash_completes_the_command_as_one_types_it_and_leaves_cargo_alone() {
    if test_data::program(Need::Bash, &["bash"]).is_none() {
        return;
    }
    let dir = Workdir::new();
    let script = dir.file("xtask.bash", dir.run("completions bash", 0).out);
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
fn a_paper_whose_time_would_leave_the_clock_is_a_message() {
    let dir = Workdir::new();
    let refused = |set: &str, words: &str| {
        dir.refuses(&format!("reproduce {set} --quick --quiet --out out"), &[words]);
    };
    // If the overrun can be predicted, nothing runs.
    refused("multi-site --set workload.mean_service=1e8", "outrun the clock; lower run.quick_jobs");
    refused("metaloras --set workload.times=[1e8,1e8,1e8,1e8]", "may outrun the clock; lower workload.copies");
    refused("hierarchical --set workload.output_factor=1e6", "at most 300 years on the narrowest link");
    // Otherwise the message names the run that reached the end of time.
    let (slow, run) = ("grid.machine_speed=[1e-6,1e-6]", "policy=FCFS interarrival=1 strict=false jobs=1000 rep=0");
    let words = format!("the run {run:?} goes beyond 584 years");
    let told =
        said(&mut dir.command(&format!("reproduce eg-edf --only fig1-left --set {slow} --quick --quiet --out out")), 2);
    assert!(told.err.contains(&words) && !told.err.contains("panicked"), "{}", told.err);
    dir.refuses_all(&["reproduce", "eg-edf", "--set", slow, "--run", run, "--quick"], &["goes beyond 584 years"]);
}
