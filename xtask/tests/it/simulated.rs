//! The exact output files of `simulate`, which users read with programs of their own.

use crate::program::{FOUR_JOBS, Workdir, assert_self_contained, generate, manifest, names, number, table, tree};
use std::collections::BTreeSet;

/// By hand: three jobs a week for twelve weeks. The small third job waits for the first two under FCFS, and passes the second under EASY.
#[test]
fn policies_are_compared_over_blocks() {
    let mut log = "; MaxProcs: 8\n".to_owned();
    for week in 0..12 {
        // A job that runs, one too wide to start beside it, and a small one that may pass.
        let submit = week * 7 * 86_400;
        for (k, (procs, run)) in [(4, 1_000), (8, 10), (2, 100 + 10 * week)].into_iter().enumerate() {
            let number = 3 * week + k as u64 + 1;
            log += &format!("{number} {submit} -1 {run} {procs} -1 -1 {procs} {run} -1 1 7 1 -1 -1 -1 -1 -1\n");
        }
    }
    let dir = Workdir::with("weeks.swf", log);
    let run = "simulate weeks.swf --policy fcfs,easy --baseline fcfs --json --out out";
    assert_eq!(dir.run(run, 0).json()["differences"][0]["blocks"], 11);
    let (header, rows) = table(&dir.path("out/differences.csv"));
    assert_eq!(header, ["metric", "policy", "baseline", "mean", "ci_low", "ci_high", "blocks", "correlation"]);
    let wait = rows.iter().find(|row| row["metric"] == "wait_mean").expect("a row");
    // The queue is empty at the beginning of a week; the last instant belongs to the block before.
    assert_eq!((wait["policy"].as_str(), wait["baseline"].as_str(), wait["blocks"].as_str()), ("easy", "fcfs", "11"));
    // The small job of three no longer waits for 1 010 s.
    assert!((number(&wait["mean"]) + 1_010.0 / 3.0).abs() < 1e-6 && number(&wait["ci_high"]) < 0.0, "{wait:?}");
    let page = dir.text("out/report.html");
    assert!(page.contains("easy cuts mean wait by 5.6\u{a0}min ("), "the comparison in words");
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    // In order of finish: the small job of a week comes first.
    let rows = dir.rows("out/easy/jobs.csv");
    assert_eq!((rows[0]["allocated"].as_str(), rows[1]["allocated"].as_str()), ("4-5", "0-3"));
    for figure in ["main-difference", "class-differences", "differences"] {
        assert!(dir.path(&format!("out/figures/{figure}.svg")).exists(), "{figure}");
        assert!(dir.path(&format!("out/data/{figure}.csv")).exists(), "{figure}");
    }
}

#[test]
fn no_share_of_a_baseline_of_zero_is_shown() {
    let job = |number: u32| format!("{number} {} -1 100 1 -1 -1 1 500 -1 1 7 1 -1 -1 -1 -1 -1\n", 1_000 * number);
    let dir = Workdir::with("idle.swf", (1..4).map(job).fold("; MaxProcs: 8\n".to_owned(), |log, job| log + &job));
    dir.run("simulate idle.swf --policy fcfs,easy --out out", 0);
    let page = dir.text("out/report.html");
    assert!(page.contains("fcfs and easy have the same mean wait, 0\u{a0}s.") && !page.contains("NaN %"), "{page}");
}

#[test]
fn every_pair_of_policies_is_compared_once_and_the_baseline_is_easy_or_the_one_named() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    let compared = |policies: &str| -> String {
        dir.run(&format!("simulate four.swf --quiet --out out --policy {policies}"), 0);
        let waits = dir.rows("out/differences.csv").into_iter().filter(|row| row["metric"] == "wait_mean");
        waits.map(|row| format!("{} − {}", row["policy"], row["baseline"])).collect::<Vec<_>>().join(", ")
    };
    let (all, eight) = ("fcfs,easy,cons,easy:8", "easy+reserve=8");
    let pairs = format!("fcfs − easy, cons − easy, {eight} − easy, cons − fcfs, {eight} − fcfs, {eight} − cons");
    assert_eq!(compared(all), pairs);
    let others = compared(&format!("{all} --baseline {eight}"));
    assert!(others.starts_with(&format!("fcfs − {eight}, easy − {eight}, ")), "{others}");
    assert_eq!(compared("fcfs,cons"), "cons − fcfs");
    let unknown = "--baseline con: none of the policies compared; did you mean \"cons\"?";
    dir.refuses(&format!("simulate four.swf --out none --policy {all} --baseline con"), &[unknown]);
}

#[test]
fn several_logs_have_results_of_their_own_and_the_best_policy_of_each_is_printed() {
    let dir = Workdir::with("one.swf", FOUR_JOBS);
    dir.file("other.swf", FOUR_JOBS);
    let text = dir.run("simulate one.swf other.swf --policy fcfs,easy --out all", 0).out;
    let last: Vec<&str> = text.lines().rev().take(3).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(last, ["other", "one", "log"], "{text}");
    dir.run("simulate other.swf --policy fcfs,easy --out alone", 0);
    assert_eq!(dir.rows("all/other/easy/jobs.csv"), dir.rows("alone/easy/jobs.csv"));
    assert!(dir.path("all/one/report.html").exists());
    dir.refuses("simulate one.swf one.swf --policy fcfs,easy --out all", &["two logs are called one"]);
}

#[test]
fn what_jobs_request_and_no_world_reads_is_reported_once_by_every_command() {
    const NOTE: &str =
        "50 % of jobs request memory (field 10), and the machine file gives memory per node; this world ignores both";
    let log = "1 0 0 9 1 -1 -1 1 9 512 1 1 1 1 1 1 -1 -1\n2 5 0 9 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n";
    let dir = Workdir::with("two.swf", log);
    dir.file("site.machines", "0\tzeus\t2\t4\t1.0\t1024\n");
    let toml = "name = \"two\"\nbaseline = \"easy\"\nmetrics = [\"wait_mean\"]\npolicies = [\"easy\", \"fcfs\"]\n[replicate]\nmethod = \"shake\"\ncount = 2\n[[log]]\nname = \"two\"\n\
                file = \"two.swf\"\nmachines = \"site.machines\"\n";
    dir.file("two.toml", toml);
    for words in [
        "simulate two.swf --machines site.machines --policy fcfs,easy --out out",
        "check two.swf --machines site.machines --policy easy --schedule out/easy/jobs.csv",
        "explain two.swf --machines site.machines --policy fcfs,easy --job 1",
        "experiment two.toml --out experiment",
    ] {
        let told = dir.run(words, 0).err;
        assert_eq!(told.matches(NOTE).count(), 1, "{words}: {told}");
    }
    assert_eq!(manifest(&dir.path("out"))["notes"], serde_json::json!([NOTE]));
    assert!(dir.text("out/report.html").contains(NOTE));
    // Columns from the tenth on.
    let (plain, memory, after) = ("-1 1 1 1 1 1 -1 -1 -1", "512 1 1 1 1 1 -1 -1 -1", "-1 1 1 1 1 1 1 1 -1");
    let parts = ["-1 1 1 1 1 1 1 -1 -1 {} q 1:ppn=8", "-1 1 1 1 1 1 2 -1 -1", "-1 1 1 1 1 1 1 -1 -1"];
    let most = [&[memory, plain][..], &[after; 1_998]].concat();
    let mut told = String::new();
    for (jobs, machines) in [
        (&[plain, "0 1 1 1 1 1 3 0 -1", "-1 1 1 1 1 1 3 -1 -1 {} q -1"][..], "procs 8"),
        (&[plain], "machines site.machines"),
        (&[memory, plain], "procs 8"),
        (&[memory], "machines site.machines"),
        (&[plain, plain, after], "procs 8"),
        (&parts, "procs 8"),
        // Shares are never rounded to none or all.
        (&most, "procs 8"),
    ] {
        let lines = (1..).zip(jobs).map(|(number, rest)| format!("{number} 0 0 9 1 -1 -1 1 9 {rest}\n"));
        dir.file("log.swf", lines.collect::<String>());
        dir.run(&format!("simulate log.swf --{machines} --policy fcfs --no-report --quiet --out notes"), 0);
        told += &format!("{:#}\n", manifest(&dir.path("notes"))["notes"]);
    }
    insta::assert_snapshot!(told);
}

/// A job of 2.5 h on one processor every `90 × gap` seconds, for five months.
#[test]
fn a_policy_under_which_work_piles_up_is_saturated() {
    for (gap, saturated) in [(60, "yes"), (150, "no")] {
        let job = |job| format!("{job} {} -1 9000 1 -1 -1 1 9000 -1 1 7 1 -1 -1 -1 -1 -1\n", 90 * job * gap);
        let log: String = (1..=150_000 / gap).map(job).collect();
        let dir = Workdir::with("log.swf", format!("; MaxProcs: 1\n{log}"));
        let told = dir.run("simulate log.swf --policy fcfs,easy --out out", 0).out;
        let (header, rows) = table(&dir.path("out/summary.csv"));
        let last = ["backlog_max", "backlog_end", "backlog_stretch", "drain", "saturated"];
        assert!(header.windows(5).any(|five| five == last), "{header:?}");
        assert!(rows.iter().all(|row| row["saturated"] == saturated), "{rows:?}");
        let rows = dir.rows("out/differences.csv");
        assert!(saturated == "no" || rows.iter().all(|row| row["ci_low"].is_empty()), "{rows:?}");
        assert_eq!(told.contains("no interval: a policy is saturated"), saturated == "yes", "{told}");
        for text in [told, dir.text("out/report.html")] {
            assert_eq!(text.contains("fcfs is saturated: work arrives faster"), saturated == "yes", "{text}");
        }
    }
}

/// The heaviest page is that of the longest log whose schedule is drawn: the page of a longer log has only its curves.
#[test]
fn the_page_of_any_log_weighs_three_megabytes_at_most() {
    let dir = Workdir::new();
    generate(&dir, 3_100, 5);
    let weigh = |jobs: &str, policies: &str| {
        dir.run(&format!("simulate lublin.swf --quiet --policy {policies} --max-jobs {jobs} --out out"), 0);
        let page = dir.text("out/report.html");
        assert!(page.len() < 3_000_000, "{} bytes of {jobs} jobs under {policies}", page.len());
        (page.contains("Schedule under"), page.len())
    };
    // The largest number of bars, of several policies and of one; with one job more there are none.
    let (is_drawn, several) = weigh("1000", "cons,easy,flex");
    assert!(is_drawn && several > 600_000, "it is no heavy page: {several} bytes");
    assert!(weigh("3000", "easy").0);
    let (is_drawn, longer) = weigh("3001", "easy");
    assert!(!is_drawn && longer < 600_000, "{longer} bytes");
}

#[test]
fn simulate_writes_the_files_of_the_design_and_no_others() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    dir.run("simulate four.swf --policy fcfs,easy --out out", 0);
    let out = dir.path("out");
    let tables = "best.csv columns.md differences.csv easy/jobs.csv easy/schedule.swf fcfs/jobs.csv fcfs/schedule.swf \
                  manifest.json report.html summary.csv";
    let mut expected: BTreeSet<String> = tables.split(' ').map(str::to_owned).collect();
    let plots = ["bounded-slowdown-distribution", "wait-distribution", "queue-length", "utilization"];
    expected.extend(plots.map(|plot| format!("data/{plot}.csv")));
    for plot in plots.into_iter().chain(["gantt-easy", "gantt-fcfs"]) {
        expected.insert(format!("figures/{plot}.svg"));
        if cfg!(feature = "png") {
            expected.insert(format!("figures/{plot}.png"));
        }
    }
    assert_eq!(tree(&out).into_keys().collect::<BTreeSet<_>>(), expected);
    assert_self_contained(&out);

    let (header, rows) = table(&out.join("summary.csv"));
    assert_eq!(header[..4], ["policy", "jobs", "rejected", "cut"]);
    for metric in ["wait", "response", "slowdown", "bounded_slowdown", "tardiness"] {
        for form in ["mean", "median", "p95", "max", "weighted_mean"] {
            assert!(header.contains(&format!("{metric}_{form}")), "{metric}_{form}");
        }
    }
    assert!(header.contains(&"utilization".to_owned()) && header.contains(&"makespan".to_owned()));
    assert_eq!(rows.iter().map(|row| row["policy"].as_str()).collect::<Vec<_>>(), ["fcfs", "easy"]);
    assert_eq!(manifest(&out)["repairs"]["wider-than-machine"], 1);
}

#[test]
fn simulate_writes_the_tables_that_are_named_with_the_same_bytes() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    let out = dir.path("out");
    let run = |words: &str| {
        dir.run(words, 0);
        tree(&out)
    };
    let all = run("simulate four.swf --policy fcfs,easy --out out");
    let some = run("simulate four.swf --policy fcfs,easy --out out --tables jobs,summary --no-report");
    assert_eq!(
        some.keys().map(String::as_str).collect::<Vec<_>>(),
        ["easy/jobs.csv", "fcfs/jobs.csv", "manifest.json", "summary.csv"]
    );
    assert!(some.iter().all(|(name, content)| name == "manifest.json" || all[name] == *content));
    let command = manifest(&out)["command_line"].as_str().expect("a command").to_owned();
    assert!(command.ends_with(" --tables jobs,summary --no-report"), "{command}");
}

/// Names are legal file names on every system. A name in the old notation with a colon is the same policy as in the notation with keys: one
/// folder, one row.
#[test]
fn policies_of_old_names_are_called_by_their_new_ones() {
    let dir = Workdir::with("four.swf", FOUR_JOBS);
    dir.run("simulate four.swf --policy easy:2,flex:all --out out", 0);
    let rows = dir.rows("out/summary.csv");
    let named: Vec<_> = rows.iter().map(|row| row["policy"].as_str()).collect();
    assert_eq!(named, ["easy+reserve=2", "flex+reserve=all"]);
    let written = names(&dir.path("out"));
    assert!(written.contains("figures/gantt-easy+reserve=2.svg"), "{written:?}");
    // Characters that Windows forbids in a name or that a shell interprets.
    let forbidden =
        |name: &&String| name.contains(['<', '>', ':', '"', '\\', '|', '?', '*', ' ', '$', '&', ';', '(', '!']);
    assert_eq!(written.iter().find(forbidden), None);
}

/// Thirteen jobs of as many groups in one partition, of which each waited 30 s on the machine and none waits in the simulation.
#[test]
fn the_page_calls_policies_as_they_were_called_and_shows_groups_and_the_waits_of_the_log() {
    let jobs = (1..=13).map(|job| format!("{job} {job} 30 60 1 -1 -1 1 90 -1 1 7 {job} -1 -1 1 -1 -1\n"));
    let dir = Workdir::with("groups.swf", format!("; MaxProcs: 13\n{}", jobs.collect::<String>()));
    dir.run("simulate --trace groups.swf --policy SJF,EASY++ --out out", 0);
    let full = "easy+predict=tsafrir+correct=tsafrir+backfill=spf";
    for name in ["summary.csv", "best.csv", "data/queue-length.csv"] {
        let text = dir.text(&format!("out/{name}"));
        assert!(text.contains(full) && !text.contains("EASY++"), "{name}: {text}");
    }
    let page = dir.text("out/report.html").replace("<wbr>", "");
    for expected in [
        format!("title=\"{full}\" data-sort>EASY++</th>"),
        format!("SJF (fcfs+order=sjf), EASY++ ({full}) on 13 processors"),
        "jobs waited 30 s on average, in the simulation under SJF 0 s.".to_owned(),
        ">3 others</td><td class=\"n\">3</td>".to_owned(),
        "No table by user or by partition: the log names at most one.".to_owned(),
    ] {
        assert!(page.contains(&expected), "{expected}");
    }
    let command = manifest(&dir.path("out"))["command_line"].as_str().expect("a command").to_owned();
    assert!(command.ends_with(" --policy SJF,EASY++ --estimates user --baseline SJF"), "{command}");
}
