//! `check`: tests that machines can have run a schedule, and that a policy made it.

use crate::program::{FOUR_JOBS, Workdir, generate, number, texts, workspace};
use flate2::read::GzDecoder;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// The jobs of `FOUR_JOBS` under EASY.
const EASY: &str = "\
job,submit,start,finish,processors
1,0,0,10,4
3,6,6,11,2
2,5,11,21,8
";

/// Runs `check` and returns the exit code and the output.
fn check(dir: &Workdir, words: &str) -> (i32, String) {
    let run = dir.command(&format!("check {words}")).output().expect("it runs");
    let told = String::from_utf8(run.stdout).expect("UTF-8") + &String::from_utf8_lossy(&run.stderr);
    (run.status.code().expect("a code"), told)
}

/// Checks that the schedule is accepted as the policy's own.
#[track_caller]
fn assert_own(dir: &Workdir, words: &str) {
    let (code, told) = check(dir, words);
    assert!(code == 0 && told.contains("every start is its own"), "{words}: {told}");
}

/// Returns the exit code and the output for such a schedule of `FOUR_JOBS`.
fn of_four_jobs(schedule: &str, further: &str) -> (i32, String) {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    dir.file("theirs.csv", schedule);
    check(&dir, &format!("four.swf --schedule theirs.csv{further}"))
}

/// Changes the fields of each record of `lublin.swf`.
fn edit(dir: &Workdir, edit: impl Fn(&mut Vec<String>)) {
    let log = dir.text("lublin.swf");
    let line = |line: &str| {
        let mut fields: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        if !line.starts_with(';') {
            edit(&mut fields);
        }
        fields.join(" ") + "\n"
    };
    dir.file("lublin.swf", log.lines().map(line).collect::<String>());
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
pub(crate) fn named_by_the_help() -> Vec<String> {
    let help = Workdir::new().run("simulate --help", 0).out;
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
    let dir = Workdir::new();
    generate(&dir, 120, 3);
    dir.file("nodes.toml", "[[nodes]]\ncount = 16\ncpus = 4\n");
    dir.file("cluster.cfg", "Cluster - 'c':Fairshare=1\nParent - 'root'\nUser - 'u1':Fairshare=1\n");
    let names: Vec<String> = named_by_the_help().iter().map(|name| name.replace("FILE", "nodes.toml")).collect();
    assert!(names.len() > 90 && names.iter().any(|name| name == "sg"), "{names:?}");
    let mut checked = 0;
    for (k, some) in names.chunks(24).enumerate() {
        let policies = some.join(",");
        let run = format!("simulate lublin.swf --quiet --json --no-report --policy {policies} --out {k}");
        let told = dir.run(&run, 0).json();
        // The names that the program writes: `fcfs+order=fcfs` is `fcfs`, once.
        for policy in told["policies"].as_object().expect("runs").keys() {
            assert_own(&dir, &format!("lublin.swf --schedule {k}/{policy}/jobs.csv --policy {policy}"));
            checked += 1;
        }
    }
    assert!(checked > 80, "{checked} of {} names", names.len());
}

/// The number of iterations of a search is one of the options that determine a schedule.
#[test]
fn a_search_is_checked_with_as_many_iterations_as_it_had() {
    let dir = Workdir::new();
    generate(&dir, 250, 3);
    // Submissions four times as dense, so that some jobs are late.
    edit(&dir, |fields| fields[1] = format!("{:.0}", (number(&fields[1]) / 4.0).floor()));
    let run = "lublin.swf --policy eg-edf-tabu --deadlines factor:2";
    for made in [0, 3, 10] {
        dir.run(&format!("simulate {run} --quiet --out {made} --tabu-iterations {made}"), 0);
        let check = |further: &str| check(&dir, &format!("{run} --schedule {made}/eg-edf-tabu/jobs.csv{further}"));
        for asked in [0, 3, 10] {
            let (code, told) = check(&format!(" --tabu-iterations {asked}"));
            assert_eq!(code, i32::from(asked != made), "made with {made}, asked with {asked}: {told}");
        }
        // The default is ten.
        assert_eq!(check("").0, i32::from(made != 10), "made with {made}");
    }
}

#[test]
fn a_single_start_that_is_late_is_found_and_counted_once() {
    let dir = Workdir::new();
    generate(&dir, 400, 3);
    dir.run(&format!("simulate lublin.swf --quiet --policy {} --out out", POLICIES.join(",")), 0);
    for policy in POLICIES {
        let jobs = dir.text(&format!("out/{policy}/jobs.csv"));
        // The last job starts a nanosecond late: no later job needs its processors.
        let mut rows: Vec<Vec<String>> = jobs.lines().map(|row| row.split(',').map(str::to_owned).collect()).collect();
        let late = rows.len() - 1;
        rows[late][2] += ".000000001";
        rows[late].truncate(5);
        rows[late][3] = String::new();
        let job: u64 = rows[late][0].parse().expect("a number");
        let rows: Vec<String> = rows.iter().map(|row| row[..5].join(",")).collect();
        dir.file("late.csv", rows.join("\n"));
        let told = dir.run(&format!("check lublin.swf --schedule late.csv --policy {policy} --json"), 1).json();
        let (finding, differences) = (&told["findings"][0], &told["differences"]);
        assert_eq!((&finding["finding"], &told["feasible"]), (&"policy-differs".into(), &true.into()));
        assert_eq!((&finding["job"], &finding["line"]), (&job.into(), &(late + 1).into()));
        if differences["complete"] == true {
            let counts = (&differences["instants"], &differences["late_jobs"]);
            assert_eq!(counts, (&1.into(), &1.into()), "{policy}");
        }
    }
}

/// The options of `simulate`, beside log and policy, that determine a schedule: it is accepted with them, and not without.
#[test]
fn a_schedule_is_its_policy_s_own_under_the_options_under_which_it_was_made() {
    let dir = Workdir::new();
    generate(&dir, 250, 3);
    // On a grid of ten minutes, so that many events coincide.
    edit(&dir, |fields| {
        for field in [1, 3, 8] {
            fields[field] = format!("{:.0}", (number(&fields[field]) / 600.0).ceil() * 600.0);
        }
    });
    dir.file("two.machines", "0\ta\t1\t48\t1.0\t1\n1\tb\t1\t64\t1.5\t1\n");
    for (name, first, rest) in [
        ("per-event", " --passes per-event", ""),
        ("pyss", " --passes pyss", ""),
        ("two", " --machines two.machines", ""),
        ("all", " --passes per-event", " --estimates mean-of-user:2"),
    ] {
        let policies = ["fcfs", "easy", "easy+order=sjf", "easy+reserve=3", "cons", "flex", "eg-edf"];
        dir.run(&format!("simulate lublin.swf --quiet --policy {} --out {name}{first}{rest}", policies.join(",")), 0);
        let mut elsewhere = 0;
        for policy in policies {
            let plain = format!("lublin.swf --schedule {name}/{policy}/jobs.csv --policy {policy}");
            assert_own(&dir, &format!("{plain}{first}{rest}"));
            elsewhere += check(&dir, &format!("{plain}{first}")).0 + check(&dir, &plain).0;
        }
        assert!(elsewhere > 0, "{name}: without the options it is as good");
    }
}

#[test]
fn a_feasible_schedule_is_reported_in_both_formats() {
    let (code, told) = of_four_jobs(EASY, " --policy easy");
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
    assert_eq!(of_four_jobs(swf, " --policy easy"), (0, told));
}

#[test]
fn every_fault_is_reported_with_its_place() {
    let told = |from: &str, to: &str| {
        let (code, told) = of_four_jobs(&EASY.replace(from, to), "");
        assert_eq!(code, 1, "{told}");
        told.lines().next().expect("a finding").trim_start_matches("theirs.csv:").to_owned()
    };
    for (from, to, expected) in [
        ("1,0,0,10,4", "1,0,0,10,5", "2: width-differs: job 1 holds 5 processors, and requested 4"),
        ("1,0,0,10,4", "1,0,0,12,4", "2: run-time-differs: job 1 starts at 0 s and takes 10 s, but ends at 12 s"),
        ("3,6,6,11,2", "3,6,4,9,2", "3: start-before-submit: job 3 starts at 4 s, before it is submitted at 6 s"),
        ("3,6,6,11,2", "3,7,7,12,2", "3: submit-differs: job 3 was submitted at 6 s, and not at 7 s"),
        ("3,6,6,11,2\n", "", "four.swf:4: missing-job: job 3 (line 4 of the log) is not there"),
        ("3,6,6,11,2\n", "3,6,6,11,2\n3,6,8,13,2\n", "4: job-twice: job 3 is there again; first on line 3"),
        ("3,6,6,11,2\n", "3,6,6,11,2\n9,6,8,13,2\n", "4: unknown-job: job 9 is not in the log"),
        (
            "2,5,11,21,8",
            "2,5,10,20,8",
            "4: too-many-processors: when job 2 starts at 10 s, 10 processors are in use, and there are 8",
        ),
    ] {
        assert_eq!(told(from, to), expected);
    }
    // An impossible schedule is not compared with a policy.
    let (_, words) = of_four_jobs(&EASY.replace("2,5,11,21,8", "2,5,10,20,8"), " --policy easy");
    assert!(words.contains("easy was not compared"), "{words}");
}

#[test]
fn processors_that_are_named_are_held_by_one_job_at_a_time() {
    let named = |second: &str| {
        let schedule = format!("job,start,processors,allocated\n1,0,4,0-3\n3,6,2,\"{second}\"\n2,11,8,0-7\n");
        of_four_jobs(&schedule, " --quiet")
    };
    assert_eq!(named("4,6"), (0, String::new()));
    let twice = "theirs.csv:3: processor-twice: job 3 is given processor 3 at 6 s, while job 1 has it\n";
    assert_eq!(named("3-4"), (1, twice.to_owned()));
    let beyond = "theirs.csv:3: processor-twice: job 3 is given 2 processors by name, of 0 to 7, and requested 2\n";
    assert_eq!(named("7-8"), (1, beyond.to_owned()));
}

#[test]
fn another_policy_is_recognized_by_the_first_start_that_it_would_not_have_made() {
    let (code, told) = of_four_jobs(EASY, " --policy fcfs");
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
    let record = |run: i32, processors: u32| {
        format!("7 0 -1 {run} {processors} -1 -1 {processors} 90 -1 1 1 1 -1 -1 -1 -1 -1\n")
    };
    // The first has not run, and the last ends before the one above it.
    let dir = Workdir::with("seven.swf", record(0, 4) + &record(60, 4) + &record(30, 2));
    let rows = "job,submit,start,finish,processors\n7,0,0,30,2\n7,0,0,60,4\n";
    let found = |rows: &str| {
        dir.file("theirs.csv", rows);
        check(&dir, "seven.swf --schedule theirs.csv --procs 8 --policy easy")
    };
    let (code, told) = found(rows);
    assert!(code == 0 && told.contains("every start is its own"), "{told}");
    let (code, told) = found(&rows.replace("7,0,0,30,2\n", ""));
    assert!(code == 1 && told.contains("missing-job: job 7 (line 3 of the log)"), "{told}");
    let (code, told) = found(&(rows.to_owned() + "7,0,0,0,4\n7,0,90,120,2\n"));
    assert!(code == 1 && told.contains("theirs.csv:5: job-twice: job 7 is there again"), "{told}");
}

#[test]
fn what_cannot_be_checked_is_refused_with_the_fix() {
    let mut all = String::new();
    let times = ["soon", "-1", "1e3", ".5", "0.0000000001"].map(|time| format!("job,start\n1,{time}\n"));
    let lists = ["3-1", "a"].map(|processors| format!("job,start,allocated\n1,0,{processors}\n"));
    let others = ["job,begin\n1,0\n", "job,start\n1\n"].map(str::to_owned);
    let schedules = times.iter().chain(&lists).chain(&others).map(|schedule| (schedule.as_str(), ""));
    for (schedule, further) in schedules.chain([(EASY, " --policy easie"), (EASY, " --policy exec+./mine.py")]) {
        let (code, told) = of_four_jobs(schedule, further);
        assert_eq!(code, 2, "{told}");
        all += &told;
    }
    insta::assert_snapshot!(all);
    Workdir::new().refuses("check no.swf --schedule no.csv", &["no such file"]);
}

/// Writes a workload and its schedule by an independent simulator without ties: both from one table, times in milliseconds.
fn oracle(dir: &Workdir, path: &Path) {
    let mut text = String::new();
    let packed = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    GzDecoder::new(packed).read_to_string(&mut text).expect("text");
    let (mut log, mut schedule) = (String::new(), "job,submit,start,finish,processors\n".to_owned());
    for row in text.lines().skip(1) {
        let cells: Vec<u64> = row.split(',').map(|cell| cell.parse().expect("a number")).collect();
        let [job, submit, start, end, width, run, estimate] = cells[..] else { panic!("seven columns: {row}") };
        let seconds = |millis: u64| format!("{}.{:03}", millis / 1_000, millis % 1_000);
        let [submit, start, end, run, estimate] = [submit, start, end, run, estimate].map(seconds);
        log += &format!("{job} {submit} -1 {run} {width} -1 -1 {width} {estimate} -1 1 -1 -1 -1 -1 -1 -1 -1\n");
        schedule += &format!("{job},{submit},{start},{end},{width}\n");
    }
    dir.file("log.swf", log);
    dir.file("theirs.csv", schedule);
}

#[test]
fn schedules_of_independent_simulators_without_ties_are_those_of_the_policies() {
    let Some(oracles) = test_data::oracles() else { return };
    let dir = Workdir::new();
    for (name, policy, processors) in [
        ("pyss-fcfs-tf-hpc2n", "fcfs", "240"),
        ("pyss-easy-tf-hpc2n", "easy", "240"),
        ("pyss-conservative-tf-hpc2n-exact", "cons", "240"),
        ("pyss-fcfs-tf-lublin_256-exact-2k", "fcfs", "256"),
        ("pyss-easy-tf-lublin_256-exact-2k", "easy", "256"),
    ] {
        oracle(&dir, &oracles.join(format!("{name}.csv.gz")));
        assert_own(&dir, &format!("log.swf --schedule theirs.csv --policy {policy} --procs {processors}"));
    }
}

/// The schedules of docs/conformance are those of their policies, which differ on some workload.
#[test]
fn the_conformance_folder_is_accepted_by_the_command_that_it_names() {
    let folder = workspace().join("docs/conformance");
    let (mut workloads, mut schedules) = (BTreeSet::new(), BTreeMap::<String, String>::new());
    for (name, text) in texts(&folder, ".csv") {
        let (workload, policy) = name.trim_end_matches(".csv").split_once('/').expect("a folder for each workload");
        let [log, schedule] = [format!("{workload}.swf"), name.clone()].map(|name| folder.join(name));
        let words = format!("{} --schedule {} --policy {policy}", log.display(), schedule.display());
        assert_own(&Workdir::new(), &words);
        workloads.insert(workload.to_owned());
        *schedules.entry(policy.to_owned()).or_default() += &text;
    }
    assert_eq!(workloads.len(), 7, "{workloads:?}");
    // Two are names of one order without predictions.
    let different: BTreeSet<&String> = schedules.values().collect();
    assert_eq!((schedules.len(), different.len()), (17, 16));
}
