//! `check`: tests that machines can have run a schedule, and that a policy made it.

use crate::program::{FOUR_JOBS, file, folder, utf8, write, xtask};
use flate2::read::GzDecoder;
use predicates::str::contains;
use sim_core::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use workload::{SwfRecord, SwfWriter};

/// The jobs of `FOUR_JOBS` under EASY.
const EASY: &str = "\
job,submit,start,finish,processors
1,0,0,10,4
3,6,6,11,2
2,5,11,21,8
";

/// Checks a schedule of a log and returns the exit code and the output.
fn check(log: &Path, schedule: &Path, further: &[&str]) -> (i32, String) {
    let arguments = ["check", "--trace", utf8(log), "--schedule", utf8(schedule)];
    let folder = log.parent().expect("a folder");
    let run = xtask().current_dir(folder).args(arguments).args(further).output().expect("it runs");
    let told = String::from_utf8(run.stdout).expect("UTF-8") + &String::from_utf8_lossy(&run.stderr);
    (run.status.code().expect("a code"), told)
}

/// Returns the exit code and the output for such a schedule of `FOUR_JOBS`, without the folder.
fn of_four_jobs(schedule: &str, further: &[&str]) -> (i32, String) {
    let folder = folder();
    let (log, schedule) = (file(&folder, "four.swf", FOUR_JOBS), file(&folder, "theirs.csv", schedule));
    let (code, told) = check(&log, &schedule, further);
    (code, told.replace(&format!("{}/", utf8(folder.path())), ""))
}

/// Generates a workload in the test's folder.
fn generated(folder: &TempDir, count: &str) -> PathBuf {
    let log = folder.path().join("lublin.swf");
    let arguments = ["workload", "generate", "lublin", "--procs", "64", "--count", count, "--seed", "3", "--quiet"];
    xtask().args(arguments).args(["--estimates", "tsafrir", "--out"]).arg(&log).assert().code(0);
    log
}

/// Returns the text of a log with the fields of each record changed.
fn edited(log: &Path, edit: impl Fn(usize, &mut Vec<String>)) -> String {
    let log = std::fs::read_to_string(log).expect("a log");
    let (comments, jobs): (Vec<&str>, Vec<&str>) = log.lines().partition(|line| line.starts_with(';'));
    let record = |(number, line): (usize, &str)| {
        let mut fields: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        edit(number, &mut fields);
        fields.join(" ") + "\n"
    };
    comments.join("\n") + "\n" + &jobs.into_iter().enumerate().map(record).collect::<String>()
}

const POLICIES: [&str; 14] = [
    "fcfs",
    "easy",
    "easy+reserve=4",
    "easy+reserve=all",
    "easy+order=wfp3",
    "easy+order=sjf+backfill=saf+reserve=3+threshold=2d",
    "fcfs+order=saf",
    "cons",
    "cons+compress=reserved",
    "cons+order=lxf",
    "flex",
    "flex+reserve=4",
    "best-gap",
    "eg-edf",
];

/// Returns values for the placeholders of the help; for an order, every order that it lists.
fn values(key: &str, open: &str, orders: &[String]) -> Vec<String> {
    let listed = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    match (key, open) {
        (_, "ORDER") => orders.to_vec(),
        (_, "SPAN") => listed(&["2h"]),
        (_, "K") => listed(&["0", "3", "all"]),
        ("predict", "HOW") => listed(&["tsafrir", "mean-of-user=3", "double-requested", "requested", "clairvoyant"]),
        ("accounts", "DUMP") => listed(&["cluster.cfg"]),
        ("version", "VERSION") => listed(&["22.05", "24.11"]),
        ("correct", "HOW") => listed(&["requested", "doubling", "tsafrir", "none"]),
        // A fixed value, such as `compress=reserved`.
        (_, value) if value.chars().all(|letter| letter.is_ascii_lowercase()) => listed(&[value]),
        _ => panic!("{key}={open}: say here which values to try"),
    }
}

/// Returns every policy of space-shared machines that `simulate --help` lists, by itself and with each of its settings, except programs.
fn named_by_the_help() -> Vec<String> {
    let help = xtask().args(["simulate", "--help"]).output().expect("it runs");
    let help = String::from_utf8(help.stdout).expect("UTF-8");
    let (_, rest) = help.split_once("\nPolicies of space-shared machines").expect("a list of policies");
    let (policies, rest) = rest.split_once("\n  exec+PROGRAM").expect("the last of them are programs");
    let (_, rest) = rest.split_once("\nSettings of policies:\n").expect("a list of settings");
    let (settings, rest) = rest.split_once("\n\n").expect("an end");
    let (_, rest) = rest.split_once("\nOrders of a queue").expect("a list of orders");
    let (orders, _) = rest.split_once("\n\n").expect("an end");
    let name = |line: &str| {
        let name = line.strip_prefix("  ").filter(|rest| rest.starts_with(|first: char| first.is_ascii_lowercase()))?;
        name.split_whitespace().next().map(str::to_owned)
    };
    let orders: Vec<String> = orders.lines().filter_map(name).collect();
    assert_eq!(orders.len(), 15, "{orders:?}");
    let settings =
        settings.lines().filter_map(|line| line.strip_prefix("  +")?.split_whitespace().next()?.split_once('='));
    let settings: Vec<(&str, &str)> = settings.collect();
    let mut names = Vec::new();
    for (k, line) in policies.lines().enumerate() {
        let Some(base) = name(line) else { continue };
        let own: Vec<&str> =
            std::iter::once(line).chain(policies.lines().skip(k + 1).take_while(|line| name(line).is_none())).collect();
        let words = own.join(" ");
        let keys = words.split_once("Settings:").map_or("", |(_, keys)| keys).split(',').map(str::trim);
        names.push(base.clone());
        for key in keys.filter(|key| !key.is_empty()) {
            let (key, open) = settings.iter().find(|(known, _)| *known == key).expect("the help has every setting");
            // Only predictions are corrected.
            let before = if *key == "correct" { "+predict=tsafrir" } else { "" };
            names.extend(values(key, open, &orders).iter().map(|value| format!("{base}{before}+{key}={value}")));
        }
    }
    names
}

#[test]
fn schedules_of_every_name_that_the_help_lists_are_its_own() {
    let folder = folder();
    let log = generated(&folder, "120");
    file(&folder, "nodes.toml", "[[nodes]]\ncount = 16\ncpus = 4\n");
    file(&folder, "cluster.cfg", "Cluster - 'c':Fairshare=1\nParent - 'root'\nUser - 'u1':Fairshare=1\n");
    let names: Vec<String> = named_by_the_help().iter().map(|name| name.replace("FILE", "nodes.toml")).collect();
    assert!(names.len() > 90 && names.iter().any(|name| name == "sg"), "{names:?}");
    let mut checked = 0;
    for (k, some) in names.chunks(24).enumerate() {
        let out = folder.path().join(k.to_string());
        let run = ["simulate", "--quiet", "--json", "--no-report", "--policy", &some.join(","), "--trace", utf8(&log)];
        let told = xtask().current_dir(&folder).args(run).arg("--out").arg(&out).output().expect("it runs");
        let told: serde_json::Value = serde_json::from_slice(&told.stdout).expect("JSON");
        // The names that the program writes: `fcfs+order=fcfs` is `fcfs`, once.
        for policy in told["policies"].as_object().expect("runs").keys() {
            let (code, told) = check(&log, &out.join(policy).join("jobs.csv"), &["--policy", policy]);
            assert!(code == 0 && told.contains("every start is its own"), "{policy}: {told}");
            checked += 1;
        }
    }
    assert!(checked > 80, "{checked} of {} names", names.len());
}

/// The number of iterations of a search is one of the options that determine a schedule.
#[test]
fn a_search_is_checked_with_as_many_iterations_as_it_had() {
    let folder = folder();
    // Submissions four times as dense, so that some jobs are late.
    let log = edited(&generated(&folder, "250"), |_, fields| {
        let submit: f64 = fields[1].parse().expect("seconds");
        fields[1] = format!("{:.0}", (submit / 4.0).floor());
    });
    let log = file(&folder, "denser.swf", log);
    let run = ["--policy", "eg-edf-tabu", "--deadlines", "factor:2"];
    for made in ["0", "3", "10"] {
        let out = folder.path().join(made);
        let simulate = ["simulate", "--quiet", "--trace", utf8(&log), "--out", utf8(&out), "--tabu-iterations", made];
        xtask().args(simulate).args(run).assert().code(0);
        let jobs = out.join("eg-edf-tabu/jobs.csv");
        for asked in ["0", "3", "10"] {
            let (code, told) = check(&log, &jobs, &[&run[..], &["--tabu-iterations", asked]].concat());
            assert_eq!(code, i32::from(asked != made), "made with {made}, asked with {asked}: {told}");
        }
        // The default is ten.
        assert_eq!(check(&log, &jobs, &run).0, i32::from(made != "10"), "made with {made}");
    }
}

#[test]
fn a_single_start_that_is_late_is_found_and_counted_once() {
    let folder = folder();
    let log = generated(&folder, "400");
    let out = folder.path().join("out");
    write(&["simulate", "--quiet", "--policy", &POLICIES.join(","), "--trace", utf8(&log)], &out);
    for policy in POLICIES {
        let jobs = std::fs::read_to_string(out.join(policy).join("jobs.csv")).expect("jobs.csv");
        // The last job starts a nanosecond late: no later job needs its processors.
        let mut rows: Vec<Vec<String>> = jobs.lines().map(|row| row.split(',').map(str::to_owned).collect()).collect();
        let late = rows.len() - 1;
        rows[late][2] += ".000000001";
        rows[late].truncate(5);
        rows[late][3] = String::new();
        let number = rows[late][0].clone();
        let rows: Vec<String> = rows.iter().map(|row| row[..5].join(",")).collect();
        let schedule = file(&folder, "late.csv", rows.join("\n"));
        let (code, told) = check(&log, &schedule, &["--policy", policy, "--json"]);
        let told: serde_json::Value = serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}"));
        let finding = &told["findings"][0];
        assert_eq!((code, &finding["finding"], &told["feasible"]), (1, &"policy-differs".into(), &true.into()));
        assert_eq!(
            (&finding["job"], &finding["line"]),
            (&number.parse::<u64>().expect("a number").into(), &(late + 1).into())
        );
        if told["differences"]["complete"] == true {
            assert_eq!(
                (&told["differences"]["instants"], &told["differences"]["late_jobs"]),
                (&1.into(), &1.into()),
                "{policy}"
            );
        }
    }
}

/// The options of `simulate`, beside log and policy, that determine a schedule: it is accepted with them, and not without.
#[test]
fn a_schedule_is_its_policy_s_own_under_the_options_under_which_it_was_made() {
    let folder = folder();
    // On a grid of ten minutes, so that many events coincide.
    let log = edited(&generated(&folder, "250"), |_, fields| {
        for field in [1, 3, 8] {
            let seconds: f64 = fields[field].parse().expect("seconds");
            fields[field] = format!("{:.0}", (seconds / 600.0).ceil() * 600.0);
        }
    });
    let log = file(&folder, "coarse.swf", log);
    let machines = file(&folder, "two.machines", "0\ta\t1\t48\t1.0\t1\n1\tb\t1\t64\t1.5\t1\n");
    let failing = ["--outages", "mtbf:1d,mttr:3h", "--seed", "5"];
    for (name, further) in [
        ("per-event", vec!["--passes", "per-event"]),
        ("pyss", vec!["--passes", "pyss"]),
        ("two", vec!["--machines", utf8(&machines)]),
        ("failing", failing.to_vec()),
        ("two that fail", [&["--machines", utf8(&machines)][..], &failing].concat()),
        ("all of it", [&["--passes", "per-event", "--estimates", "mean-of-user:2"][..], &failing].concat()),
    ] {
        let out = folder.path().join(name);
        let policies = ["fcfs", "easy", "easy+order=sjf", "easy+reserve=3", "cons", "flex", "eg-edf"];
        let simulate = ["simulate", "--quiet", "--trace", utf8(&log), "--out", utf8(&out)];
        xtask().args(simulate).args(["--policy", &policies.join(",")]).args(&further).assert().code(0);
        let mut elsewhere = 0;
        for policy in policies {
            let jobs = out.join(policy).join("jobs.csv");
            let of_policy = [&["--policy", policy][..], &further].concat();
            let (code, told) = check(&log, &jobs, &of_policy);
            assert!(code == 0 && told.contains("every start is its own"), "{policy}, {name}: {told}");
            elsewhere += check(&log, &jobs, &[&["--policy", policy][..], &further[..2]].concat()).0;
            elsewhere += check(&log, &jobs, &["--policy", policy]).0;
        }
        assert!(elsewhere > 0, "{name}: without the options it is as good");
    }
}

#[test]
fn no_job_runs_on_a_machine_that_is_down_and_a_job_that_was_hit_starts_again() {
    let folder = folder();
    let log = file(&folder, "four.swf", FOUR_JOBS);
    let of = |outages: &str, schedule: &str, further: &[&str]| {
        let outages = file(&folder, "down.csv", format!("machine,down,up\n0,{outages}\n"));
        let schedule = file(&folder, "theirs.csv", schedule);
        let (code, told) = check(&log, &schedule, &[&["--outages", utf8(&outages)][..], further].concat());
        (code, told.replace(&format!("{}/", utf8(folder.path())), ""))
    };
    // The machine is down after the last job, and while job 1 runs.
    assert_eq!(of("30,40", EASY, &["--policy", "easy"]).0, 0);
    let (code, told) = of("8,9", EASY, &["--policy", "easy"]);
    let down = "machine-down: job 1 runs from 0 s to 10 s on ";
    assert!(code == 1 && told.starts_with("theirs.csv:2: ") && told.contains(down), "{told}");
    assert!(told.contains("which is down from 8 s to 9 s (the first of 2)"), "{told}");
    // Job 1 has lost its work, and waits behind job 2. The schedule does not contain its first run: EASY would have started job 3, too.
    let again = "job,submit,start,finish,processors\n2,5,9,19,8\n1,0,19,29,4\n3,6,19,24,2\n";
    for policy in ["fcfs", "easy"] {
        let (code, told) = of("8,9", again, &["--policy", policy]);
        assert!(code == 0 && told.contains("every start is its own"), "{policy}: {told}");
    }
    let late = again.replace("3,6,19,24,2", "3,6,20,25,2");
    assert_eq!(of("8,9", &late, &["--policy", "fcfs"]).0, 1);
}

#[test]
fn a_feasible_schedule_is_reported_in_both_formats() {
    let (code, told) = of_four_jobs(EASY, &["--policy", "easy"]);
    insta::assert_snapshot!(told, @"
    feasible: 3 starts on 8 processors, from the log
    1 jobs are wider than every place, and do not start
    easy: every start is its own (at one instant: releases, then arrivals in the order of the log, then one pass)
    ");
    assert_eq!(code, 0);
    // The same in the log's own times, as a log: submit + wait is the start.
    let swf = "\
; a schedule
1 100  0 10 4 -1 -1 4 20 -1 1 7 1 -1 -1 -1 -1 -1
2 105  6 10 8 -1 -1 8 20 -1 1 7 1 -1 -1 -1 -1 -1
3 106  0  5 2 -1 -1 2  5 -1 1 8 1 -1 -1 -1 -1 -1
4 107 -1 -1 16 -1 -1 16 15 -1 5 8 1 -1 -1 -1 -1 -1
";
    assert_eq!(of_four_jobs(swf, &["--policy", "easy"]), (0, told));
}

#[test]
fn every_fault_is_reported_with_its_place() {
    let told = |from: &str, to: &str| {
        let (code, told) = of_four_jobs(&EASY.replace(from, to), &[]);
        assert_eq!(code, 1, "{told}");
        told.lines().next().expect("a finding").to_owned()
    };
    for (from, to, expected) in [
        ("1,0,0,10,4", "1,0,0,10,5", "theirs.csv:2: width-differs: job 1 holds 5 processors, and requested 4"),
        (
            "1,0,0,10,4",
            "1,0,0,12,4",
            "theirs.csv:2: run-time-differs: job 1 starts at 0 s and takes 10 s, but ends at 12 s",
        ),
        (
            "3,6,6,11,2",
            "3,6,4,9,2",
            "theirs.csv:3: start-before-submit: job 3 starts at 4 s, before it is submitted at 6 s",
        ),
        ("3,6,6,11,2", "3,7,7,12,2", "theirs.csv:3: submit-differs: job 3 was submitted at 6 s, and not at 7 s"),
        ("3,6,6,11,2\n", "", "four.swf:4: missing-job: job 3 (line 4 of the log) is not there"),
        ("3,6,6,11,2\n", "3,6,6,11,2\n3,6,8,13,2\n", "theirs.csv:4: job-twice: job 3 is there again; first on line 3"),
        ("3,6,6,11,2\n", "3,6,6,11,2\n9,6,8,13,2\n", "theirs.csv:4: unknown-job: job 9 is not in the log"),
        (
            "2,5,11,21,8",
            "2,5,10,20,8",
            "theirs.csv:4: too-many-processors: when job 2 starts at 10 s, 10 processors are in use, and there are 8",
        ),
    ] {
        assert_eq!(told(from, to), expected);
    }
    // An impossible schedule is not compared with a policy.
    let (_, words) = of_four_jobs(&EASY.replace("2,5,11,21,8", "2,5,10,20,8"), &["--policy", "easy"]);
    assert!(words.contains("easy was not compared"), "{words}");
}

#[test]
fn processors_that_are_named_are_held_by_one_job_at_a_time() {
    let named = |second: &str| {
        let schedule = format!("job,start,processors,allocated\n1,0,4,0-3\n3,6,2,\"{second}\"\n2,11,8,0-7\n");
        let (code, told) = of_four_jobs(&schedule, &["--quiet"]);
        (code, told)
    };
    assert_eq!(named("4,6"), (0, String::new()));
    let twice = "theirs.csv:3: processor-twice: job 3 is given processor 3 at 6 s, while job 1 has it\n";
    assert_eq!(named("3-4"), (1, twice.to_owned()));
    let beyond = "theirs.csv:3: processor-twice: job 3 is given 2 processors by name, of 0 to 7, and requested 2\n";
    assert_eq!(named("7-8"), (1, beyond.to_owned()));
}

#[test]
fn another_policy_is_recognized_by_the_first_start_that_it_would_not_have_made() {
    let (code, told) = of_four_jobs(EASY, &["--policy", "fcfs"]);
    insta::assert_snapshot!(told, @"
    theirs.csv:3: policy-differs: at 6 s the schedule starts job 3, and fcfs would start no job; 4 of 8 processors are free, 2 wait, the first of them job 2 for 8
    feasible: 3 starts on 8 processors, from the log
    1 jobs are wider than every place, and do not start
    fcfs: instants at which it would have started others: 1; starts that are not its own: 1; jobs that it would have started earlier: 0 (at one instant: releases, then arrivals in the order of the log, then one pass; after a difference it goes on from the schedule)
    ");
    assert_eq!(code, 1);
}

#[test]
fn rows_of_namesakes_are_held_against_the_record_that_they_agree_with() {
    let folder = folder();
    let record = |run: i32, processors: u32| {
        format!("7 0 -1 {run} {processors} -1 -1 {processors} 90 -1 1 1 1 -1 -1 -1 -1 -1\n")
    };
    // The first has not run, and the last ends before the one above it.
    let log = file(&folder, "seven.swf", record(0, 4) + &record(60, 4) + &record(30, 2));
    let rows = "job,submit,start,finish,processors\n7,0,0,30,2\n7,0,0,60,4\n";
    let found = |rows: &str| check(&log, &file(&folder, "theirs.csv", rows), &["--procs", "8", "--policy", "easy"]);
    let (code, told) = found(rows);
    assert!(code == 0 && told.contains("every start is its own"), "{told}");
    let (code, told) = found(&rows.replace("7,0,0,30,2\n", ""));
    assert!(code == 1 && told.contains("missing-job: job 7 (line 3 of the log)"), "{told}");
    let (code, told) = found(&(rows.to_owned() + "7,0,0,0,4\n7,0,90,120,2\n"));
    assert!(code == 1 && told.contains("theirs.csv:5: job-twice: job 7 is there again"), "{told}");
}

#[test]
fn what_cannot_be_checked_is_refused_with_the_fix() {
    let refused = |schedule: &str, further: &[&str], words: &str| {
        let (code, told) = of_four_jobs(schedule, further);
        assert!(code == 2 && told.contains(words), "{code}: {told}");
    };
    refused("job,begin\n1,0\n", &[], "theirs.csv:1: a schedule needs a column start");
    refused("job,start\n1,soon\n", &[], "theirs.csv:2: start: expected seconds such as 90 or 12.5, found \"soon\"");
    refused("job,start\n1\n", &[], "theirs.csv:2: expected 2 columns as in the heading, found 1");
    refused(EASY, &["--policy", "easie"], "there is no such policy of space-shared machines");
    refused(EASY, &["--policy", "exec+./mine.py"], "a program cannot decide in states that it has not come to");
    let missing = ["check", "--trace", "no.swf", "--schedule", "no.csv"];
    xtask().args(missing).assert().code(2).stderr(contains("no such file"));
}

/// Returns a workload and its schedule by an independent simulator without ties: both from one table, times in milliseconds.
fn oracle(folder: &TempDir, path: &Path) -> (PathBuf, PathBuf) {
    let mut text = String::new();
    let packed = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    GzDecoder::new(packed).read_to_string(&mut text).expect("text");
    let (mut log, mut schedule) = (SwfWriter::new(Vec::new()), "job,submit,start,finish,processors\n".to_owned());
    let seconds = |millis: u64| format!("{}.{:03}", millis / 1_000, millis % 1_000);
    for row in text.lines().skip(1) {
        let cells: Vec<u64> = row.split(',').map(|cell| cell.parse().expect("a number")).collect();
        let [job, submit, start, end, processors, run, estimate] = cells[..] else { panic!("seven columns: {row}") };
        let millis = |count: u64| Some(Span::from_nanos(1_000_000 * count));
        let record = SwfRecord {
            submit: millis(submit),
            runtime: millis(run),
            allocated_processors: u32::try_from(processors).ok(),
            requested_time: millis(estimate),
            ..SwfRecord::numbered(job)
        };
        log.record(&record).expect("into memory");
        schedule += &format!("{job},{},{},{},{processors}\n", seconds(submit), seconds(start), seconds(end));
    }
    (file(folder, "log.swf", log.into_inner()), file(folder, "theirs.csv", schedule))
}

#[test]
fn schedules_of_independent_simulators_without_ties_are_those_of_the_policies() {
    let Some(oracles) = test_data::oracles() else { return };
    let folder = folder();
    for (name, policy, processors) in [
        ("pyss-fcfs-tf-hpc2n", "fcfs", "240"),
        ("pyss-easy-tf-hpc2n", "easy", "240"),
        ("pyss-conservative-tf-hpc2n-exact", "cons", "240"),
        ("pyss-fcfs-tf-lublin_256-exact-2k", "fcfs", "256"),
        ("pyss-easy-tf-lublin_256-exact-2k", "easy", "256"),
    ] {
        let (log, schedule) = oracle(&folder, &oracles.join(format!("{name}.csv.gz")));
        let (code, told) = check(&log, &schedule, &["--policy", policy, "--procs", processors]);
        assert!(code == 0 && told.contains("every start is its own"), "{name}: {told}");
    }
}

/// Returns the names in a folder that end so, without the end.
fn names_in(folder: &Path, end: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> =
        entries.filter_map(|name| name.to_str()?.strip_suffix(end).map(str::to_owned)).collect();
    names.sort();
    names
}

/// The schedules of docs/conformance are those of their policies, which differ on some workload.
#[test]
fn the_conformance_folder_is_accepted_by_the_command_that_it_names() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join("docs/conformance");
    let mut schedules: BTreeMap<String, String> = BTreeMap::new();
    let workloads = names_in(&folder, ".swf");
    assert_eq!(workloads.len(), 7, "{workloads:?}");
    for workload in workloads {
        let log = folder.join(format!("{workload}.swf"));
        for policy in names_in(&folder.join(&workload), ".csv") {
            let schedule = folder.join(&workload).join(format!("{policy}.csv"));
            let (code, told) = check(&log, &schedule, &["--policy", &policy]);
            assert!(code == 0 && told.contains("every start is its own"), "{policy} on {workload}: {told}");
            *schedules.entry(policy).or_default() += &std::fs::read_to_string(schedule).expect("a schedule");
        }
    }
    // Two are names of one order without predictions.
    let different: BTreeSet<&String> = schedules.values().collect();
    assert_eq!((schedules.len(), different.len()), (17, 16));
}
