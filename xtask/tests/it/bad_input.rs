//! Bad input: one message that leads to the place and the fix, the right exit code, no panic, no partial output.

use crate::program::{FOUR_JOBS, SMALL, Workdir, tree, utf8};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Expects a message from `simulate` that names a log that cannot be read.
fn bad_log(name: &str, content: &[u8], words: &[&str]) {
    let run = format!("simulate {name} --policy fcfs,easy --quiet --json --out out");
    Workdir::with(name, content).refuses(&run, &[&[name], words].concat());
}

fn reproduce(arguments: &str, words: &[&str]) {
    Workdir::new().refuses(&format!("{SMALL} {arguments} --quiet --json --out out"), words);
}

fn log_with(line_3: &str) -> Vec<u8> {
    let mut lines: Vec<&str> = FOUR_JOBS.lines().collect();
    lines[2] = line_3;
    (lines.join("\n") + "\n").into_bytes()
}

#[test]
fn a_log_with_a_bad_line_is_refused_with_the_line_the_field_and_the_fix() {
    let check = |name, line: &str, words: &[&str]| bad_log(name, &log_with(line), words);
    check("text.swf", "this is text", &["text.swf:3: ", "18 columns", "found 3", "delete the line"]);
    check(
        "nan.swf",
        "2 105 -1 NaN 8 -1 -1 8 20 -1 1 7 1 -1 -1 -1 -1 -1",
        &["nan.swf:3: field 4 (run time)", "found \"NaN\"", "write a plain number"],
    );
    check(
        "negative.swf",
        "2 105 -1 10 -8 -1 -1 8 20 -1 1 7 1 -1 -1 -1 -1 -1",
        &["negative.swf:3: field 5 (allocated processors)", "found \"-8\"", "write -1"],
    );
}

#[test]
fn a_line_of_ten_megabytes_is_refused_before_it_fills_the_memory() {
    bad_log("long.swf", &log_with(&"7 ".repeat(5 << 20)), &["long.swf:3: the line is longer than 1 MiB"]);
}

#[test]
fn a_truncated_gzip_file_is_refused() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(b"; MaxProcs: 8\n").expect("into memory");
    for job in 1..5_000 {
        writeln!(packed, "{job} {job} -1 {} 4 -1 -1 4 90 -1 1 7 1 -1 -1 -1 -1 -1", job % 83).expect("into memory");
    }
    let packed = packed.finish().expect("into memory");
    bad_log("cut.swf.gz", &packed[..packed.len() / 2], &["cut.swf.gz:", "ends early", "fetch the file again"]);
}

#[test]
fn an_empty_file_a_folder_a_pipe_and_a_missing_file_are_refused() {
    bad_log("empty.swf", b"", &["no job record", "download"]);
    bad_log("comments.swf", b"; MaxProcs: 8\n", &["no job record", "only comments"]);
    let dir = Workdir::with("folder.swf", "");
    let check = |log: &str, words: &[&str]| {
        dir.refuses(&format!("simulate --policy fcfs,easy --quiet --json --out out --trace {log}"), words);
    };
    check(utf8(dir.0.path()), &[utf8(dir.0.path()), "is a folder", "name one file"]);
    check("missing.swf", &["missing.swf: there is no such file", "check the name"]);
    if cfg!(unix) {
        check("/dev/null", &["/dev/null: is a pipe or a device", "save it to a file"]);
    }
}

#[test]
fn a_log_that_would_outrun_the_clock_is_refused() {
    let longest = u32::MAX;
    let job = |number| format!("{number} {longest} -1 {longest} 8 -1 -1 8 {longest} -1 1 7 1 -1 -1 -1 -1 -1\n");
    let log: String = (1..=8).map(job).collect();
    bad_log("far.swf", format!("; MaxProcs: 8\n{log}").as_bytes(), &["300 years", "--max-jobs"]);
}

#[test]
fn a_job_wider_than_the_machine_is_rejected_counted_and_reported() {
    let dir = Workdir::with("wide.swf", FOUR_JOBS);
    let told = dir.run("simulate wide.swf --policy fcfs,easy --out out", 0).err;
    // One job in four: repairs of this size are reported even if others are not.
    assert!(told.contains("repair wider-than-machine: 1"), "{told}");
    for row in dir.rows("out/summary.csv") {
        assert_eq!((row["jobs"].as_str(), row["rejected"].as_str()), ("3", "1"));
    }
    assert!(dir.text("out/report.html").contains("wider-than-machine"));
}

#[test]
fn a_log_without_a_single_job_that_ran_is_no_reason_to_fail() {
    for (runtime, width) in [(-1, 4), (9, 64)] {
        let job = format!("; MaxProcs: 8\n1 0 -1 {runtime} {width} -1 -1 {width} 9 -1 1 7 1 -1 -1 -1 -1 -1\n");
        let dir = Workdir::with("log.swf", job);
        dir.run("simulate log.swf --policy easy --out out", 0);
        assert_eq!(dir.rows("out/summary.csv")[0]["jobs"], "0");
    }
}

/// Two days between failures that come every hour: e to the power of 48 attempts. Refused before the first, under every policy.
#[test]
fn a_job_that_never_finishes_between_outages_is_refused_at_once() {
    let log = "; MaxProcs: 8\n7 0 -1 172800 4 -1 -1 4 172800 -1 1 7 1 -1 -1 -1 -1 -1\n";
    let dir = Workdir::with("long.swf", log);
    for policy in ["fcfs", "easy", "cons", "best-gap", "bgt", "sg", "flex", "eg-edf", "eg-edf-tabu"] {
        let words = ["long.swf: job 7 runs for 172800 s", "--outages mtbf:1h,mttr:10m", "more than 300 years", "rarer"];
        let run = format!("simulate long.swf --policy {policy} --outages mtbf:1h,mttr:10m --quiet --json --out out");
        dir.refuses(&run, &words);
    }
}

#[test]
fn options_of_simulate_out_of_range_are_refused_with_what_they_may_be() {
    let dir = Workdir::with("log.swf", FOUR_JOBS);
    let check = |options: &str, words: &[&str]| {
        dir.refuses(&format!("simulate log.swf --policy fcfs,easy {options} --quiet --json --out out"), words);
    };
    check("--policy esay", &["\"esay\"", "did you mean \"easy\"?", "fcfs, easy, cons, flex, best-gap, bgt, sg"]);
    check(
        "--policy easy+reserve=x",
        &["\"easy+reserve=x\"", "reserve is \"x\"", "a number of reservations from 0 on, or all"],
    );
    check("--deadlines factor:0", &["--deadlines", "factor:F with F above 0", "factor:0"]);
    check("--outages mtbf:3,mttr:1h", &["--outages", "mtbf:SPAN,mttr:SPAN", "mtbf:3"]);
    check("--outages missing.csv", &["missing.csv: there is no such file"]);
    check("--inside machine", &["--inside", "--machines <FILE>"]);
    check("--estimates factor:0", &["--estimates", "factor:F (times the run time)", "factor:0"]);
    check("--estimates factor:NaN", &["--estimates", "factor:F (times the run time)", "factor:NaN"]);
    check("--procs 0", &["--procs", "0 is not in 1.."]);
    check("--max-jobs -1", &["'-1'"]);
    check("--jobs 0", &["--threads", "0 is not in 1.."]);
}

#[test]
fn what_another_world_takes_and_policies_that_are_named_twice_are_refused() {
    let dir = Workdir::with("log.swf", FOUR_JOBS);
    for (line, expected) in [
        (
            "--model metasched --policy rr --passes per-instant",
            "--passes does not go with --model metasched, which takes --clusters FILE",
        ),
        ("--model hier-grid --policy p2p --machines m", "an option of --model gap-schedule and --profile alea31"),
        ("--policy easy --startup 0s", "an option of --profile alea31"),
        ("--policy easy,fcfs,easy", "--policy easy: is named twice; leave one out"),
        (
            "--policy easy:8,easy+reserve=8",
            "--policy easy+reserve=8: is named twice: easy:8 and easy+reserve=8 are both easy+reserve=8; leave one out",
        ),
        (
            "--model metasched --policy ptt+w=0.5,rr,ptt+w=0.50",
            "--policy ptt+w=0.50: is named twice: ptt+w=0.5 and ptt+w=0.50 are both ptt+w=0.5; leave one out",
        ),
    ] {
        dir.refuses(&format!("simulate log.swf --out out {line}"), &[expected]);
    }
}

#[test]
fn wrong_settings_of_policies_and_a_policy_under_two_names_are_refused_with_what_there_is() {
    const WRONG: &str = "easy+order=wpf3 easy+backfill=spt easy+ordr=sjf cons+reserve=2 fcfs+backfill=sjf easy+threshold=0 \
        easy+threshold=-1d easy+threshold=2w easy+threshold= easy+8 easy:8+reserve=9 easy+reserve=all+backfill=sjf \
        cons+compress=reserved+order=sjf easy+predict=tsafir easy+predict=mean-of-user=0 easy+predict=tsafrir+correct=never \
        easy+correct=tsafrir eg-edf+predict=tsafrir exec+";
    const TWICE: &str = "FCFS,fcfs SJF,fcfs+order=sjf EASY,easy EASY-SJBF,easy+backfill=spf CONS,cons \
        EASY++,easy+predict=tsafrir+correct=tsafrir+backfill=spf easy:8+order=saf,easy+reserve=8+order=saf flex:all,flex+reserve=all";
    let dir = Workdir::with("log.swf", FOUR_JOBS);
    let told = |policy: &str| dir.run(&format!("simulate log.swf --out out --policy {policy}"), 2).err;
    insta::assert_snapshot!([WRONG, TWICE].join(" ").split_whitespace().map(told).collect::<String>());
}

#[test]
fn a_machine_file_with_a_broken_line_is_refused_with_the_line_and_the_field() {
    let dir = Workdir::with("log.swf", FOUR_JOBS);
    let refused = |options: &str, words: &[&str]| {
        dir.refuses(&format!("simulate log.swf --policy fcfs,easy {options} --quiet --json --out out"), words);
    };
    let check = |name: &str, content: &str, words: &[&str]| {
        dir.file(name, content);
        refused(&format!("--machines {name}"), words);
    };
    check(
        "words.machines",
        "0\tone\t4\t2\t1.0\t1000\n1\ttwo\tfour\t2\t1.0\t1000\n",
        &["words.machines:2: field 3 (nodes)", "at least 1", "found \"four\""],
    );
    check(
        "blanks.machines",
        "0 one 4 2 1.0 1000\n",
        &["blanks.machines:1: ", "6 columns separated by tabs", "found 1"],
    );
    check("empty.machines", "", &["empty.machines: there is no cluster", "one line for each"]);
    dir.file("speeds.machines", "0\tone\t4\t2\t1.0\t1000\n1\ttwo\t4\t2\t2.5\t1000\n");
    let words = ["speeds.machines: cluster two has speed 2.5, and one has 1", "--inside cluster"];
    refused("--inside pool --machines speeds.machines", &words);
}

#[test]
fn a_folder_that_cannot_be_written_to_is_refused_before_any_work_is_done() {
    // Below a regular file, because permissions do not stop a superuser.
    let dir = Workdir::with("log.swf", FOUR_JOBS);
    for out in ["log.swf", "log.swf/out"] {
        for run in [SMALL, "simulate log.swf --policy fcfs"] {
            let told = dir.run(&format!("{run} --out {out}"), 3).err;
            assert!(told.contains(out) && told.contains("--out DIR"), "{told}");
        }
    }
    assert_eq!(tree(dir.0.path()).len(), 1, "only the log is there");
}

#[test]
fn names_and_numbers_that_do_not_exist_are_refused_with_those_that_do() {
    let refused = |words: &str, expected: &[&str]| {
        Workdir::new().refuses(&format!("reproduce {words} --quiet --json --out out"), expected);
    };
    refused("multi-sight", &["\"multi-sight\"", "did you mean \"multi-site\"?"]);
    refused("multi-site --reps 0", &["--reps", "0 is not in 1.."]);
    refused("multi-site --reps few", &["--reps", "'few'"]);
    refused("zzz", &["\"zzz\"", "there are multi-site"]);
    reproduce("--set run.job=5", &["--set run.job=5", "did you mean \"run.jobs\"?"]);
    reproduce("--set zzz=1", &["--set zzz=1", "workloads/multi-site.toml lists them"]);
    reproduce("--only fgi4", &["--only fgi4", "did you mean \"fig4\"?", "run-length"]);
    reproduce("--only ", &["--only", "there are fig2"]);
}

#[test]
fn a_value_of_the_wrong_type_is_refused_with_its_key_and_what_it_may_be() {
    let check = |set: &str, words: &[&str]| {
        reproduce(&format!("--set {set}"), &[&["workloads/multi-site.toml", set], words].concat())
    };
    check("run.quick_jobs=many", &["run.quick_jobs: ", "expected a whole number, at least 0"]);
    check("run.quick_jobs=-1", &["run.quick_jobs: ", "expected a whole number, at least 0"]);
    check("run.quick_jobs=1.5", &["run.quick_jobs: ", "expected a whole number, at least 0"]);
    check("run.quick_jobs=", &["run.quick_jobs: ", "expected a whole number, at least 0"]);
    check("workload.mean_service=[1]", &["workload.mean_service: ", "expected a number"]);
    check("policy.thresholds=0.1", &["policy.thresholds: ", "expected a list such as [1, 2]"]);
    check("policy.approaches=[\"four\"]", &["policy.approaches: ", "`four`", "`one`, `two`, `three`"]);
    check("readings.release=gang-ed", &["readings.release: ", "`gang-ed`", "`task-end` or `gang-end`"]);
    check("readings.reserved_is_idle=maybe", &["readings.reserved_is_idle: ", "expected true or false"]);
    reproduce("--set run.jobs", &["--set run.jobs", "expected KEY=VALUE", "for example"]);
}

#[test]
fn a_value_out_of_range_is_refused_with_its_key_and_its_range() {
    let check = |set: &str, words: &[&str]| {
        reproduce(&format!("--set {set}"), &[&["workloads/multi-site.toml", set], words].concat())
    };
    check("policy.thresholds=[-1]", &["policy.thresholds is -1", "expected 0 to 1000000000"]);
    check("policy.thresholds=[nan]", &["policy.thresholds is NaN", "expected 0 to 1000000000"]);
    check("policy.overheads=[-2]", &["policy.overheads is -2", "expected at least 0"]);
    check("policy.approaches=[]", &["policy.approaches is empty"]);
    check("workload.local_interarrival=[0]", &["local_interarrival is 0", "expected 0.000001 to 100000000"]);
    check("workload.gang_interarrival=inf", &["gang_interarrival is inf", "expected 0.000001 to 100000000"]);
    check("workload.gang_sizes=[0]", &["gang_sizes", "at least 1"]);
    check("workload.mean_service=-1", &["mean_service is -1", "expected 0.000001 to 100000000"]);
    check("grid.processors=[16]", &["grid.speeds has 2 numbers and grid.processors has 1"]);
    check("grid.processors=[0,16]", &["site 1 has no processors", "at least 1"]);
    check("grid.speeds=[0,1]", &["site 1 has speed 0", "above 0"]);
    check("run.bounded_slowdown_floor=0", &["run.bounded_slowdown_floor is 0", "expected 0.000000001 to 1000000000"]);
    check("run.bounded_slowdown_floor=1e300", &["run.bounded_slowdown_floor is 1000", "to 1000000000"]);
    check("run.quick_jobs=0", &["run.quick_jobs is 0", "at least 1"]);
    check("grid.speeds=[1e-300,1]", &["outrun the clock", "grid.speeds"]);
    check("grid.processors=[4000000000,4000000000]", &["grid.processors", "too many"]);
    check("workload.gang_sizes=[2,64]", &["workload.gang_sizes", "64 never fits on 32 processors"]);
    check("workload.gang_sizes=[2,2]", &["workload.gang_sizes holds 2 twice"]);
    check("workload.mean_service=100000000", &["outrun the clock", "workload.mean_service"]);
    check("workload.local_interarrival=[100000000]", &["outrun the clock", "workload.local_interarrival"]);
    let of = |slug: &str, set: &str, word: &str| {
        let run = format!("reproduce {slug} --quick --set {} --quiet --json --out out", set.replace(' ', ""));
        Workdir::new().refuses(&run, &[&format!("workloads/{slug}.toml"), word]);
    };
    of("metaloras", "platform.nodes=[5, 5]", "platform.speeds has 3 numbers and platform.nodes has 2");
    of("metaloras", "platform.nodes=[5, 0, 5]", "cluster 2 has no nodes");
    of("metaloras", "platform.memory=0", "platform.memory is 0");
    of("metaloras", "local_users.clusters=[0, 1, 2, 4]", "users occupy 4 of 3 clusters");
    of("metaloras", "local_users.levels=[0, 30, 30, 100]", "local_users.levels holds 30 twice");
    of("metaloras", "policy.weights=[0.0, 1.0]", "policy.weights leaves out 0.5");
    of("metaloras", "policy.tradeoff_weights=[2.0]", "policy.tradeoff_weights is 2; expected 0 to 1");
    of("metaloras", "workload.cpu=[0.7, 0.45, 0.75, 9.0]", "workload.cpu is 9; expected 0.000001 to 1");
    of("metaloras", "workload.interarrival=1e8", "may outrun the clock");
    of("metaloras", "workload.copies=100000", "at most 100000");
    of("metaloras", "readings.ties=random", "`first-cluster` or `smallest-tr`");
    of("metaloras", "reading_b.ties=random", "[reading_b]");
    of("swift-gap", "clusters.zegox=[0, 12]", "clusters.zegox");
    of("swift-gap", "workload.records=[]", "workload.records is empty");
    of("swift-gap", "run.quick_records=[0]", "run.quick_records");
    of("swift-gap", "run.drawn_replications=0", "run.drawn_replications is 0");
    of("swift-gap", "readings.weight=most", "readings.weight");
}

#[test]
fn a_run_that_no_row_of_runs_csv_names_is_refused() {
    let check = |run: &str, word: &str| {
        let words = ["--run", word, "runs.csv"];
        Workdir::new().refuses_all(&["reproduce", "multi-site", "--quick", "--run", run], &words);
    };
    let cell = "approach=1 lambda=10 threshold=0 overhead=0.1 jobs=20000";
    check("third", "ending in rep=N");
    check(&format!("{cell} rep=x"), "ending in rep=N");
    check(&format!("{cell} rep=-1"), "ending in rep=N");
    check(&format!("{} rep=0", cell.replace("approach=1", "approach=9")), "no such run");
}

#[test]
fn a_file_in_the_place_of_a_folder_of_results_is_refused_and_stays() {
    for name in ["cells", "figures"] {
        let words = [&format!("no manifest.json ({name})")[..], "--out DIR"];
        Workdir::with(name, "").refuses(&format!("{SMALL} --only fig4 --quiet --out ."), &words);
    }
}
