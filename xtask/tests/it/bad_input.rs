//! Bad input: one message that leads to the place and the fix, the right exit code, no panic, no partial output.

use crate::program::{FOUR_JOBS, SMALL, Workdir, tree, utf8};

/// Expects a message from `simulate` that names a log that cannot be read.
fn bad_log(name: &str, content: &[u8], words: &[&str]) {
    let run = format!("simulate {name} --policy fcfs,easy --quiet --json --out out");
    Workdir::with(name, content).refuses(&run, &[&[name], words].concat());
}

#[test]
fn a_log_with_a_bad_line_is_refused_with_the_line_the_field_and_the_fix() {
    let log = FOUR_JOBS.replace("2 105 -1 10", "2 105 -1 NaN");
    bad_log("nan.swf", log.as_bytes(), &["nan.swf:3: field 4 (run time)", "found \"NaN\"", "write a plain number"]);
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

#[test]
fn options_of_simulate_and_names_of_policies_are_refused_with_what_they_may_be() {
    const OPTIONS: &str = "--policy esay; --policy easy+reserve=x; --policy easy --deadlines factor:0; \
        --policy easy --inside machine; --policy easy --estimates factor:0; \
        --policy easy --estimates factor:NaN; --policy easy --procs 0; --policy easy --max-jobs -1; --policy easy --jobs 0; \
        --model metasched --policy rr --passes per-instant; --model hier-grid --policy p2p --machines m; --policy easy --startup 0s";
    const SETTINGS: &str = "easy+order=wpf3 easy+backfill=spt easy+ordr=sjf cons+reserve=2 fcfs+backfill=sjf easy+threshold=0 \
        easy+threshold=-1d easy+threshold=2w easy+threshold= easy+8 easy:8+reserve=9 easy+reserve=all+backfill=sjf \
        cons+compress=reserved+order=sjf easy+predict=tsafir easy+predict=mean-of-user=0 easy+predict=tsafrir+correct=never \
        easy+correct=tsafrir eg-edf+predict=tsafrir exec+";
    const TWICE: &str = "easy,fcfs,easy FCFS,fcfs SJF,fcfs+order=sjf EASY,easy EASY-SJBF,easy+backfill=spf CONS,cons \
        EASY++,easy+predict=tsafrir+correct=tsafrir+backfill=spf easy:8+order=saf,easy+reserve=8+order=saf flex:all,flex+reserve=all";
    let dir = Workdir::with("log.swf", FOUR_JOBS);
    let named = [SETTINGS, TWICE].into_iter().flat_map(|names| names.split(' ')).map(|name| format!("--policy {name}"));
    let weights = "--model metasched --policy ptt+w=0.5,rr,ptt+w=0.50".to_owned();
    let options = OPTIONS.split("; ").map(str::to_owned).chain([weights]).chain(named);
    let told = options.map(|options| dir.refuses(&format!("simulate log.swf {options} --quiet --json --out out"), &[]));
    insta::assert_snapshot!(told.collect::<String>());
}

#[test]
fn a_machine_file_with_a_broken_line_is_refused_with_the_line_and_the_field() {
    let dir = Workdir::with("log.swf", FOUR_JOBS);
    let refused = |options: &str, words: &[&str]| {
        dir.refuses(&format!("simulate log.swf --policy fcfs,easy {options} --quiet --json --out out"), words);
    };
    dir.file("words.machines", "0\tone\t4\t2\t1.0\t1000\n1\ttwo\tfour\t2\t1.0\t1000\n");
    let words = ["words.machines:2: field 3 (nodes)", "at least 1", "found \"four\""];
    refused("--machines words.machines", &words);
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
    const WRONG: &str = "multi-sight; zzz; multi-site --reps 0; multi-site --reps few; multi-site --set run.job=5; multi-site --set zzz=1; \
        multi-site --only fgi4; multi-site --only ";
    let told = |words| Workdir::new().refuses(&format!("reproduce {words} --quiet --json --out out"), &[]);
    insta::assert_snapshot!(WRONG.split("; ").map(told).collect::<String>());
}

#[test]
fn a_value_of_the_wrong_type_or_out_of_range_is_refused_with_its_key_and_what_it_may_be() {
    const MULTI_SITE: &str = "run.quick_jobs=many run.quick_jobs=-1 run.quick_jobs=1.5 run.quick_jobs= workload.mean_service=[1] \
        policy.thresholds=0.1 policy.approaches=[\"four\"] readings.release=gang-ed readings.reserved_is_idle=maybe run.jobs \
        policy.thresholds=[-1] policy.thresholds=[nan] policy.overheads=[-2] policy.approaches=[] workload.local_interarrival=[0] \
        workload.gang_interarrival=inf workload.gang_sizes=[0] workload.mean_service=-1 grid.processors=[16] grid.processors=[0,16] \
        grid.speeds=[0,1] run.bounded_slowdown_floor=0 run.bounded_slowdown_floor=1e300 run.quick_jobs=0 grid.speeds=[1e-300,1] \
        grid.processors=[4000000000,4000000000] workload.gang_sizes=[2,64] workload.gang_sizes=[2,2] \
        workload.mean_service=100000000 workload.local_interarrival=[100000000]";
    const METALORAS: &str = "platform.nodes=[5,5] platform.nodes=[5,0,5] platform.memory=0 local_users.clusters=[0,1,2,4] \
        local_users.levels=[0,30,30,100] policy.weights=[0.0,1.0] policy.tradeoff_weights=[2.0] workload.cpu=[0.7,0.45,0.75,9.0] \
        workload.interarrival=1e8 workload.copies=100000 readings.ties=random reading_b.ties=random";
    const SWIFT_GAP: &str =
        "clusters.zegox=[0,12] workload.records=[] run.quick_records=[0] run.drawn_replications=0 readings.weight=most";
    let mut told = String::new();
    for (run, sets) in [
        ("reproduce multi-site --quick", MULTI_SITE),
        ("reproduce metaloras --quick", METALORAS),
        ("reproduce swift-gap --quick", SWIFT_GAP),
    ] {
        for set in sets.split_whitespace() {
            told += &Workdir::new().refuses(&format!("{run} --set {set} --quiet --json --out out"), &[]);
        }
    }
    insta::assert_snapshot!(told);
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
