//! Schedules of a few jobs, worked out by hand, in the output of `simulate`.

use crate::program::{FOUR_JOBS, Workdir, manifest};

/// First line of `POLICY/jobs.csv`.
const HEADER: &str = "job,submit,start,finish,processors,site,user,requested,run,deadline,state,allocated\n";

/// By hand: job 1 holds 4 of 8 processors from 0 to 10, job 2 needs all 8. Under FCFS job 3 waits behind it. Under EASY it may start at
/// once, since its estimate of 5 s ends before the expected end of job 1 (20). It is cut at that estimate, and delays job 2 by one second.
#[test]
fn jobs_are_listed_with_the_logs_own_numbers_and_in_seconds_from_the_first_submit() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    dir.run("simulate four.swf --policy easy,fcfs --out out", 0);
    let jobs = |policy: &str| dir.text(&format!("out/{policy}/jobs.csv"));
    let wide = "4,7,,,16,,8,15,10,,rejected,\n";
    let one = "1,0,0,10,4,pool,7,20,10,,done,0-3\n";
    assert_eq!(
        jobs("fcfs"),
        format!("{HEADER}{wide}{one}2,5,10,20,8,pool,7,20,10,,done,0-7\n3,6,20,25,2,pool,8,5,5,,cut,0-1\n")
    );
    assert_eq!(
        jobs("easy"),
        format!("{HEADER}{wide}{one}3,6,6,11,2,pool,8,5,5,,cut,4-5\n2,5,11,21,8,pool,7,20,10,,done,0-7\n")
    );
    // The same in the log's own format, in order of submission; fractional times are kept.
    let swf = dir.text("out/easy/schedule.swf");
    let records: Vec<&str> = swf.lines().filter(|line| !line.starts_with(';')).collect();
    assert!(swf.contains("; MaxProcs: 8\n"), "{swf}");
    assert_eq!(
        records,
        [
            "1 0 0 10 4 -1 -1 4 20 -1 1 7 1 -1 -1 -1 -1 -1",
            "2 5 6 10 8 -1 -1 8 20 -1 1 7 1 -1 -1 -1 -1 -1",
            "3 6 0 5 2 -1 -1 2 5 -1 0 8 1 -1 -1 -1 -1 -1",
            "4 7 -1 -1 -1 -1 -1 16 15 -1 5 8 1 -1 -1 -1 -1 -1",
        ]
    );
}

/// By hand: cluster `slow` has two machines of 2 processors, `fast` one of 4 at twice the speed. Jobs 1 and 3 find both idle, go to the
/// fast one and take half their time there; jobs 2 and 4 are wider than any place.
#[test]
fn a_job_runs_inside_one_cluster_or_one_machine() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    dir.file("m.machines", "0\tslow\t2\t2\t1\t1000\n1\tfast\t1\t4\t2\t1000\n");
    let jobs = |inside: &str| {
        let run =
            format!("simulate four.swf --policy easy,eg-edf --inside {inside} --machines m.machines --out {inside}");
        let text = dir.run(&run, 0).out;
        assert!(text.contains("2 jobs were rejected: no place is wider than 4 processors"), "{text}");
        ["easy", "eg-edf"].map(|policy| dir.text(&format!("{inside}/{policy}/jobs.csv")))
    };
    let [easy, plan] = jobs("cluster");
    let wide = "2,5,,,8,,7,20,10,,rejected,\n";
    let wider = "4,7,,,16,,8,15,10,,rejected,\n";
    let ran = |place: &str| {
        let three = format!("3,6,6,8.5,2,{place},8,5,5,,cut,4-5\n");
        format!("{HEADER}1,0,0,5,4,{place},7,20,10,,done,4-7\n{wide}{wider}{three}")
    };
    assert_eq!(easy, ran("fast"));
    assert_eq!(plan, easy, "both are idle when a job comes");
    let [easy, _] = jobs("machine");
    assert_eq!(easy, ran("fast-0"));
}

/// By hand: job 3 may pass job 2 under any number of reservations, since its expected end is in time. Without reservations any job that
/// fits may pass; of these jobs, no other fits.
#[test]
fn reservations_are_counted_in_the_policys_name() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    let policies = ["easy", "easy+reserve=0", "easy+reserve=1", "easy+reserve=all", "cons", "flex+reserve=2"];
    dir.run(&format!("simulate four.swf --policy {} --out out", policies.join(",")), 0);
    let jobs = policies.map(|policy| dir.text(&format!("out/{policy}/jobs.csv")));
    assert!(jobs.iter().all(|other| *other == jobs[0]), "{jobs:?}");
    assert_eq!(dir.rows("out/summary.csv").iter().map(|row| row["policy"].as_str()).collect::<Vec<_>>(), policies);
}

/// By hand: jobs 3 to 5 are promised 20 s, 10 s and 30 s; then job 1 ends 16 s early. The first job to move decides. On one cluster the
/// searches of bgt and sg find no alternatives; the run and its page report it.
#[test]
fn both_orders_of_compression_have_names_and_idle_searches_are_reported() {
    const FIVE_JOBS: &str = "\
1 0 -1  4 2 -1 -1 2 20 -1 1 7 1 -1 -1 -1 -1 -1
2 0 -1 10 2 -1 -1 2 10 -1 1 7 1 -1 -1 -1 -1 -1
3 1 -1 10 3 -1 -1 3 10 -1 1 7 1 -1 -1 -1 -1 -1
4 1 -1 10 2 -1 -1 2 10 -1 1 7 1 -1 -1 -1 -1 -1
5 1 -1 10 2 -1 -1 2 10 -1 1 7 1 -1 -1 -1 -1 -1
";
    let dir = Workdir::with("five.swf", FIVE_JOBS);
    let run = "simulate five.swf --quiet --procs 4 --out out --policy";
    // One policy under two names is refused.
    dir.run(&format!("{run} cons,cons+compress=arrival"), 2);
    let stderr = dir.run(&format!("{run} cons,cons+compress=reserved,easy+reserve=all,bgt,sg"), 0).err;
    let starts = |policy: &str| {
        let rows = dir.rows(&format!("out/{policy}/jobs.csv"));
        let mut starts: Vec<_> = rows.iter().map(|row| (row["job"].clone(), row["start"].clone())).collect();
        starts.sort();
        starts.into_iter().map(|(_, start)| start).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(starts("cons"), "0 0 20 4 10");
    for policy in ["cons+compress=reserved", "bgt", "sg"] {
        assert_eq!(starts(policy), "0 0 14 4 24", "{policy}");
    }
    // With new reservations in order of arrival, job 3 gets 10 s, and job 4, once promised 10 s, comes after it.
    assert_eq!(starts("easy+reserve=all"), "0 0 10 20 20");
    let page = dir.text("out/report.html");
    let manifest = manifest(&dir.path("out"));
    let notes = manifest["notes"].as_array().expect("a list");
    assert_eq!(notes.len(), 2);
    for (policy, note) in ["bgt", "sg"].iter().zip(notes) {
        let note = note.as_str().expect("a sentence");
        assert!(note.starts_with(policy) && note.contains("cons+compress=reserved"), "{note}");
        assert!(stderr.contains(note) && page.contains(note), "{note}: {stderr}");
    }
}

/// By hand: the third job fills a gap before the second, which is promised 20 s. When the first job ends early, all but Best
/// Gap compress their plans.
#[test]
fn best_gap_alone_keeps_to_its_plan() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    dir.run("simulate four.swf --policy cons,best-gap,bgt,sg --seed 7 --out out", 0);
    let jobs = ["cons", "best-gap", "bgt", "sg"].map(|policy| dir.text(&format!("out/{policy}/jobs.csv")));
    assert!(jobs[0].contains("\n2,5,11,21,8,pool,"), "{jobs:?}");
    assert!([&jobs[2], &jobs[3]].into_iter().all(|other| *other == jobs[0]), "{jobs:?}");
    assert_eq!(jobs[1], jobs[0].replace("\n2,5,11,21,", "\n2,5,20,30,"));
    assert!(dir.text("out/report.html").contains("--seed 7"), "the command tells the seed of the search");
}
