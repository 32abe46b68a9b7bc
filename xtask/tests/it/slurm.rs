//! `slurm+conf=FILE`: Slurm's controller as a policy of `simulate`, `check` and `experiment`.

use crate::program::{file, folder, table, xtask};
use predicates::str::contains;
use std::fmt::Write as _;
use tempfile::TempDir;

/// Returns a folder with a log of 64 processors, its 16 nodes in both forms, and accounts of its users.
fn prepared() -> TempDir {
    let folder = folder();
    let mut log = "; MaxProcs: 64\n".to_owned();
    for job in 1_u32..=400 {
        let (submit, run, width) = (100 + job * 530 + job % 7 * 41, 60 + job * 7_919 % 4_001, 1 + job * 104_729 % 29);
        let _ = writeln!(
            log,
            "{job} {submit} -1 {run} {width} -1 -1 {width} {} -1 1 {} 1 -1 -1 -1 -1 -1",
            2 * run,
            job % 5
        );
    }
    file(&folder, "log.swf", log);
    file(&folder, "nodes.toml", "[[nodes]]\ncount = 16\ncpus = 4\n");
    file(&folder, "nodes.conf", "NodeName=n[1-16] CPUs=4\nPartitionName=all Nodes=ALL Default=YES MaxTime=8-0\n");
    let shares =
        "PriorityWeightAge=500\nPriorityWeightFairshare=9000\nPriorityWeightJobSize=300\nPriorityDecayHalfLife=1-0\n";
    let conf = format!("Include nodes.conf\nPriorityType=priority/multifactor\nSelectType=select/linear\n{shares}");
    file(&folder, "slurm.conf", conf);
    let users: String = (0..5).map(|user| format!("User - 'u{user}':Fairshare={}\n", 1 + user)).collect();
    file(&folder, "cluster.cfg", format!("Cluster - 'c':Fairshare=1\nParent - 'root'\n{users}"));
    folder
}

/// Returns the starts in a table of jobs, in order of the jobs.
fn starts(folder: &TempDir, path: &str) -> Vec<(u32, f64)> {
    let number = |text: &String| text.parse::<f64>().expect("a number");
    let (_, rows) = table(&folder.path().join(path));
    let mut starts: Vec<(u32, f64)> =
        rows.iter().map(|row| (row["job"].parse().expect("a job"), number(&row["start"]))).collect();
    starts.sort_by_key(|(job, _)| *job);
    starts
}

#[test]
fn its_starts_are_those_of_the_command_slurm_and_check_finds_them_its_own() {
    let folder = prepared();
    let run = |words: &str, code: i32| {
        xtask().current_dir(&folder).args(words.split(' ')).assert().code(code).get_output().clone()
    };
    for (conf, further, settings, seed) in [
        ("nodes.toml", "", "", "0"),
        ("nodes.toml", " --slurm-version 22.05", "+version=22.05", "7"),
        ("nodes.toml", " --set bf_max_job_test=3 --set bf_interval=300", "+bf_max_job_test=3+bf_interval=300", "2"),
        ("slurm.conf", " --accounts cluster.cfg", "+accounts=cluster.cfg", "3"),
    ] {
        run(&format!("slurm --conf {conf} --trace log.swf --phases 1 --seed {seed} --out theirs --quiet{further}"), 0);
        let policy = format!("slurm+conf={conf}{settings}");
        run(&format!("simulate log.swf --policy easy,{policy} --seed {seed} --out ours --quiet"), 0);
        let (ours, theirs) =
            (starts(&folder, &format!("ours/{policy}/jobs.csv")), starts(&folder, "theirs/base/jobs.csv"));
        assert_eq!(ours.len(), 400);
        assert_eq!(ours, theirs, "{policy}");
        let check = format!("check log.swf --schedule ours/{policy}/jobs.csv --policy {policy} --seed");
        let same = String::from_utf8(run(&format!("{check} {seed}"), 0).stdout).expect("UTF-8");
        assert!(same.contains("every start is its own"), "{same}");
        run(&format!("{check} 99"), 1);
        run(&format!("check log.swf --schedule ours/easy/jobs.csv --policy {policy}"), 1);
        for name in ["ours", "theirs"] {
            std::fs::remove_dir_all(folder.path().join(name)).expect("results");
        }
    }
}

#[test]
fn what_it_cannot_do_is_refused() {
    let folder = prepared();
    for (words, expected) in [
        ("--policy slurm", "slurm: needs conf=FILE, a slurm.conf or its nodes alone (.toml)"),
        ("--policy slurm+conf=no.conf", "no.conf: file: cannot be read"),
        ("--policy slurm+conf=nodes.toml+bf_max_jobtest=3", "bf_max_jobtest"),
        ("--policy slurm+conf=nodes.toml --procs 60", "have 64 processors, and the machine 60 (speed 1)"),
        ("--policy slurm+conf=nodes.toml --outages mtbf:9d,mttr:1d", "leave --outages out"),
        ("--policy slurm+conf=nodes.toml --estimates mean-of-user:2", "leave predictions of run times out"),
        ("--policy slurm+conf=slurm.conf+DefaultTime=5", "DefaultTime"),
        (
            "--policy easy,slurm+conf=slurm.conf+version=23.02",
            "version is \"23.02\"; expected 22.05, 24.11 or nearest:VERSION",
        ),
    ] {
        let arguments = words.split(' ');
        let run = xtask()
            .current_dir(&folder)
            .args(["simulate", "log.swf", "--quiet", "--out", "out"])
            .args(arguments)
            .assert();
        run.code(2).stderr(contains(expected));
    }
    // A job that no setting lets start ends the run with the reason.
    file(&folder, "nodes.conf", "NodeName=n[1-16] CPUs=4\nPartitionName=all Nodes=ALL Default=YES MaxTime=60\n");
    let never = ["simulate", "log.swf", "--policy", "slurm+conf=slurm.conf", "--out", "out"];
    let run = xtask().current_dir(&folder).args(never).assert().code(2);
    run.stderr(contains(
        "never starts on the idle cluster (no partition admits it: State, MaxTime, MinNodes or MaxNodes)",
    ));
}

#[test]
fn the_experiment_of_its_page_runs_and_an_edited_file_is_noticed() {
    let folder = prepared();
    let page = include_str!("../../../docs/slurm.md");
    let (_, block) = page.split_once("```toml\n").expect("an experiment");
    let text = block.split("```").next().expect("its end");
    let small = [("KTH-SP2-1996-2.1-cln.swf.gz", "log.swf"), ("\"blocks\"", "\"shake\""), ("count = 30", "count = 2")];
    let text = small.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "no {from} in {text}");
        text.replace(from, to)
    });
    file(&folder, "mine.toml", text);
    let experiment = || {
        xtask().current_dir(&folder).args(["experiment", "mine.toml", "--out", "out", "--quiet"]).assert().code(0);
        let plan = std::fs::read_to_string(folder.path().join("out/cells/plan.jsonl")).expect("a plan");
        (plan, table(&folder.path().join("out/runs.csv")).1)
    };
    let (plan, runs) = experiment();
    assert_eq!((runs.len(), runs[2]["policy"].as_str()), (6, "slurm+conf=nodes.toml"));
    assert_ne!(runs[0]["wait_mean"], runs[2]["wait_mean"], "EASY knows no nodes");
    let html = std::fs::read_to_string(folder.path().join("out/report.html")).expect("a page");
    assert!(html.contains("whole nodes (CPUs of a node: 4)"), "assumptions");
    file(&folder, "nodes.toml", "[[nodes]]\ncount = 8\ncpus = 4\n[[nodes]]\ncount = 8\ncpus = 4\nweight = 2\n");
    let (other, _) = experiment();
    assert_ne!(plan, other, "the plan names the content of the file");
}
