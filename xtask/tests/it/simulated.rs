//! The exact output files of `simulate`, which users read with programs of their own.

use crate::program::{FOUR_JOBS, assert_self_contained, file, folder, manifest, names, table, tree, utf8, xtask};
use std::collections::BTreeSet;
use std::fs;

/// By hand: three jobs a week for twelve weeks. The small third job waits for the first two under FCFS, and passes the second under EASY.
#[test]
fn policies_are_compared_over_blocks_and_the_file_for_evalys_is_written_on_request() {
    let folder = folder();
    let mut log = "; MaxProcs: 8\n".to_owned();
    for week in 0..12 {
        // A job that runs, one too wide to start beside it, and a small one that may pass.
        let submit = week * 7 * 86_400;
        for (k, (procs, run)) in [(4, 1_000), (8, 10), (2, 100 + 10 * week)].into_iter().enumerate() {
            let number = 3 * week + k as u64 + 1;
            log += &format!("{number} {submit} -1 {run} {procs} -1 -1 {procs} {run} -1 1 7 1 -1 -1 -1 -1 -1\n");
        }
    }
    let (log, out) = (file(&folder, "weeks.swf", log), folder.path().join("out"));
    let run = ["simulate", "--policy", "fcfs,easy", "--baseline", "fcfs", "--format", "evalys", "--json", "--trace"];
    let told = xtask().args(run).arg(log).arg("--out").arg(&out).assert().code(0);
    let (header, rows) = table(&out.join("differences.csv"));
    assert_eq!(header, ["metric", "policy", "baseline", "mean", "ci_low", "ci_high", "blocks", "correlation"]);
    let wait = rows.iter().find(|row| row["metric"] == "wait_mean").expect("a row");
    // The queue is empty at the beginning of a week; the last instant belongs to the block before.
    assert_eq!((wait["policy"].as_str(), wait["baseline"].as_str(), wait["blocks"].as_str()), ("easy", "fcfs", "11"));
    // The small job of three no longer waits for 1 010 s.
    let number = |column: &str| wait[column].parse::<f64>().expect("a number");
    assert!((number("mean") + 1_010.0 / 3.0).abs() < 1e-6 && number("ci_high") < 0.0, "{wait:?}");
    let json: serde_json::Value = serde_json::from_slice(&told.get_output().stdout).expect("JSON");
    assert_eq!(json["differences"][0]["blocks"], 11);
    let page = fs::read_to_string(out.join("report.html")).expect("a page");
    assert!(page.contains("easy cuts mean wait by 5.6\u{a0}min ("), "the comparison in words");
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    let (header, rows) = table(&out.join("easy/evalys.csv"));
    assert_eq!(header[0], "job_id");
    assert_eq!(header[12], "allocated_resources");
    assert_eq!((rows[1]["execution_time"].as_str(), rows[1]["allocated_resources"].as_str()), ("1000", "0-3"));
    for figure in ["main-difference", "class-differences", "differences"] {
        assert!(out.join("figures").join(figure).with_extension("svg").exists(), "{figure}");
        assert!(out.join("data").join(figure).with_extension("csv").exists(), "{figure}");
    }
    // In order of finish: the small job of a week comes first.
    assert_eq!(rows[0]["allocated_resources"], "4-5");
}

#[test]
fn every_pair_of_policies_is_compared_once_and_the_baseline_is_easy_or_the_one_named() {
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    let run = |policies: &str, options: &[&str], code: i32| {
        let run = ["simulate", "--quiet", "--policy", policies, "--trace"];
        let ended = xtask().args(run).arg(&log).args(options).arg("--out").arg(&out).assert().code(code);
        String::from_utf8_lossy(&ended.get_output().stderr).into_owned()
    };
    let compared = |policies: &str, options: &[&str]| -> Vec<String> {
        run(policies, options, 0);
        let (_, rows) = table(&out.join("differences.csv"));
        let waits = rows.iter().filter(|row| row["metric"] == "wait_mean");
        waits.map(|row| format!("{} − {}", row["policy"], row["baseline"])).collect()
    };
    let all = "fcfs,easy,cons,easy:8";
    assert_eq!(
        compared(all, &[]),
        [
            "fcfs − easy",
            "cons − easy",
            "easy+reserve=8 − easy",
            "cons − fcfs",
            "easy+reserve=8 − fcfs",
            "easy+reserve=8 − cons"
        ]
    );
    assert_eq!(
        compared(all, &["--baseline", "easy+reserve=8"])[..2],
        ["fcfs − easy+reserve=8", "easy − easy+reserve=8"]
    );
    assert_eq!(compared("fcfs,cons", &[]), ["cons − fcfs"]);
    let told = run(all, &["--baseline", "con"], 2);
    assert!(told.contains("--baseline con: none of the policies compared; did you mean \"cons\"?"), "{told}");
}

#[test]
fn several_logs_have_results_of_their_own_and_the_best_policy_of_each_is_printed() {
    let folder = folder();
    let [one, other] = ["one.swf", "other.swf"].map(|name| file(&folder, name, FOUR_JOBS));
    let (all, alone) = (folder.path().join("all"), folder.path().join("alone"));
    let simulate = |logs: &[&str], out: &std::path::Path, code: i32| {
        let run = xtask().args(["simulate", "--policy", "fcfs,easy", "--out"]).arg(out).args(logs).assert().code(code);
        [&run.get_output().stdout, &run.get_output().stderr].map(|text| String::from_utf8_lossy(text).into_owned())
    };
    let [text, _] = simulate(&[utf8(&one), utf8(&other)], &all, 0);
    let last: Vec<&str> = text.lines().rev().take(3).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(last, ["other", "one", "log"], "{text}");
    simulate(&[utf8(&other)], &alone, 0);
    assert_eq!(table(&all.join("other/easy/jobs.csv")), table(&alone.join("easy/jobs.csv")));
    assert!(all.join("one/report.html").exists());
    let [_, error] = simulate(&[utf8(&one), utf8(&one)], &all, 2);
    assert!(error.contains("two logs are called one"), "{error}");
}

#[test]
fn what_jobs_request_and_no_world_reads_is_reported_once_by_every_command() {
    const NOTE: &str =
        "50 % of jobs request memory (field 10), and the machine file gives memory per node; this world ignores both";
    let folder = folder();
    let log = file(
        &folder,
        "two.swf",
        "1 0 0 9 1 -1 -1 1 9 512 1 1 1 1 1 1 -1 -1\n2 5 0 9 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n",
    );
    let machines = file(&folder, "site.machines", "0\tzeus\t2\t4\t1.0\t1024\n");
    let toml = "name = \"two\"\nbaseline = \"easy\"\nmetrics = [\"wait_mean\"]\npolicies = [\"easy\", \"fcfs\"]\n[replicate]\nmethod = \"shake\"\ncount = 2\n[[log]]\nname = \"two\"\n\
                file = \"two.swf\"\nmachines = \"site.machines\"\n";
    let (toml, out) = (file(&folder, "two.toml", toml), folder.path().join("out"));
    let of_log: [&std::ffi::OsStr; 4] = ["--trace".as_ref(), log.as_ref(), "--machines".as_ref(), machines.as_ref()];
    let told = |words: &[&str], arguments: &[&std::ffi::OsStr]| {
        let ended = xtask().args(words).args(arguments).assert().code(0);
        let told = String::from_utf8_lossy(&ended.get_output().stderr).into_owned();
        assert_eq!(told.matches(NOTE).count(), 1, "{words:?}: {told}");
    };
    told(&["simulate", "--policy", "fcfs,easy", "--out", utf8(&out)], &of_log);
    assert_eq!(manifest(&out)["notes"], serde_json::json!([NOTE]));
    assert!(fs::read_to_string(out.join("report.html")).expect("a page").contains(NOTE));
    told(&["check", "--policy", "easy", "--schedule", utf8(&out.join("easy/jobs.csv"))], &of_log);
    told(&["explain", "--policy", "fcfs,easy", "--job", "1"], &of_log);
    told(&["experiment", "--out", utf8(&folder.path().join("experiment"))], &[toml.as_ref()]);
}

/// A job of 2.5 h on one processor every `90 × gap` seconds, for five months.
#[test]
fn a_policy_under_which_work_piles_up_is_saturated() {
    let folder = folder();
    let check = |gap: u64, saturated: &str| {
        let mut log = "; MaxProcs: 1\n".to_owned();
        for job in 1..=150_000 / gap {
            log += &format!("{job} {} -1 9000 1 -1 -1 1 9000 -1 1 7 1 -1 -1 -1 -1 -1\n", 90 * job * gap);
        }
        let (log, out) = (file(&folder, "log.swf", log), folder.path().join("out"));
        let run = ["simulate", "--policy", "fcfs,easy", "--trace"];
        let told = xtask().args(run).arg(log).arg("--out").arg(&out).assert().code(0);
        let told = String::from_utf8_lossy(&told.get_output().stdout).into_owned();
        let (header, rows) = table(&out.join("summary.csv"));
        let last = ["backlog_max", "backlog_end", "backlog_stretch", "drain", "saturated"];
        assert!(header.windows(5).any(|five| five == last), "{header:?}");
        assert!(rows.iter().all(|row| row["saturated"] == saturated), "{rows:?}");
        let (_, rows) = table(&out.join("differences.csv"));
        assert!(saturated == "no" || rows.iter().all(|row| row["ci_low"].is_empty()), "{rows:?}");
        assert_eq!(told.contains("no interval: a policy is saturated"), saturated == "yes", "{told}");
        let page = fs::read_to_string(out.join("report.html")).expect("a page");
        for text in [told, page] {
            assert_eq!(text.contains("fcfs is saturated: work arrives faster"), saturated == "yes", "{text}");
        }
    };
    check(60, "yes");
    check(150, "no");
}

/// The heaviest page is that of the longest log whose schedule is drawn: the page of a longer log has only its curves.
#[test]
fn the_page_of_any_log_weighs_three_megabytes_at_most() {
    let folder = folder();
    let (log, out) = (folder.path().join("lublin.swf"), folder.path().join("out"));
    let generate = ["workload", "generate", "lublin", "--procs", "64", "--count", "3100", "--seed", "5", "--quiet"];
    xtask().args(generate).args(["--estimates", "tsafrir", "--out"]).arg(&log).assert().code(0);
    let weigh = |jobs: &str, policies: &str| {
        let run = ["simulate", "--quiet", "--policy", policies, "--max-jobs", jobs];
        xtask().args(run).arg("--trace").arg(&log).arg("--out").arg(&out).assert().code(0);
        let page = fs::read_to_string(out.join("report.html")).expect("a page");
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
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    xtask().args(["simulate", "--policy", "fcfs,easy", "--trace"]).arg(log).arg("--out").arg(&out).assert().code(0);
    let mut expected: BTreeSet<String> = [
        "best.csv",
        "columns.md",
        "differences.csv",
        "easy/jobs.csv",
        "easy/schedule.swf",
        "fcfs/jobs.csv",
        "fcfs/schedule.swf",
        "manifest.json",
        "report.html",
        "summary.csv",
        "data/bounded-slowdown-distribution.csv",
        "data/queue-length.csv",
        "data/utilization.csv",
        "data/wait-distribution.csv",
    ]
    .map(str::to_owned)
    .into();
    let plots = ["bounded-slowdown-distribution", "wait-distribution", "queue-length", "utilization"];
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
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    let run = |further: &[&str]| {
        let run = ["simulate", "--policy", "fcfs,easy", "--trace"];
        xtask().args(run).arg(&log).arg("--out").arg(&out).args(further).assert().code(0);
        tree(&out)
    };
    let all = run(&[]);
    let some = run(&["--tables", "jobs,summary", "--no-report"]);
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
    let folder = folder();
    let (log, out) = (file(&folder, "four.swf", FOUR_JOBS), folder.path().join("out"));
    let run = ["simulate", "--policy", "easy:2,flex:all", "--trace"];
    xtask().args(run).arg(log).arg("--out").arg(&out).assert().code(0);
    let (_, rows) = table(&out.join("summary.csv"));
    let named: Vec<_> = rows.iter().map(|row| row["policy"].as_str()).collect();
    assert_eq!(named, ["easy+reserve=2", "flex+reserve=all"]);
    let written = names(&out);
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
    let folder = folder();
    let log = file(&folder, "groups.swf", format!("; MaxProcs: 13\n{}", jobs.collect::<String>()));
    let out = folder.path().join("out");
    xtask().args(["simulate", "--policy", "SJF,EASY++", "--trace"]).arg(log).arg("--out").arg(&out).assert().code(0);
    let full = "easy+predict=tsafrir+correct=tsafrir+backfill=spf";
    for name in ["summary.csv", "best.csv", "data/queue-length.csv"] {
        let text = fs::read_to_string(out.join(name)).expect(name);
        assert!(text.contains(full) && !text.contains("EASY++"), "{name}: {text}");
    }
    let page = fs::read_to_string(out.join("report.html")).expect("the page").replace("<wbr>", "");
    for expected in [
        format!("title=\"{full}\" data-sort>EASY++</th>"),
        format!("SJF (fcfs+order=sjf), EASY++ ({full}) on 13 processors"),
        "jobs waited 30 s on average, in the simulation under SJF 0 s.".to_owned(),
        ">3 others</td><td class=\"n\">3</td>".to_owned(),
        "No table by user or by partition: the log names at most one.".to_owned(),
    ] {
        assert!(page.contains(&expected), "{expected}");
    }
    let command = manifest(&out)["command_line"].as_str().expect("a command").to_owned();
    assert!(command.ends_with(" --policy SJF,EASY++ --estimates user --baseline SJF"), "{command}");
}
