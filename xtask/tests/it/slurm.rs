//! The command `slurm`, and `slurm+conf=FILE`: Slurm's controller as a policy of `simulate`, `check` and `experiment`.

use crate::program::{Workdir, manifest, names, said, workspace, xtask};

/// Returns a folder with a log of 64 processors, its 16 nodes in both forms, and accounts of its users.
fn prepared(longest: &str) -> Workdir {
    let job = |job: u32| {
        let (submit, run, width) = (100 + job * 530 + job % 7 * 41, 60 + job * 7_919 % 4_001, 1 + job * 104_729 % 29);
        format!("{job} {submit} -1 {run} {width} -1 -1 {width} {} -1 1 {} 1 -1 -1 -1 -1 -1\n", 2 * run, job % 5)
    };
    let dir = Workdir::with("log.swf", "; MaxProcs: 64\n".to_owned() + &(1..=400).map(job).collect::<String>());
    dir.file("nodes.toml", "[[nodes]]\ncount = 16\ncpus = 4\n");
    let partition = format!("PartitionName=all Nodes=ALL Default=YES MaxTime={longest}\n");
    dir.file("nodes.conf", format!("NodeName=n[1-16] CPUs=4\n{partition}"));
    let weights = "PriorityWeightAge=500\nPriorityWeightFairshare=9000\nPriorityWeightJobSize=300\n";
    dir.file("slurm.conf", format!("Include nodes.conf\nPriorityType=priority/multifactor\n{weights}"));
    let users: String = (0..5).map(|user| format!("User - 'u{user}':Fairshare={}\n", 1 + user)).collect();
    dir.file("cluster.cfg", format!("Cluster - 'c':Fairshare=1\nParent - 'root'\n{users}"));
    dir
}

/// Returns the starts in a table of jobs, in order of the jobs.
fn starts(dir: &Workdir, path: &str) -> Vec<[u32; 2]> {
    let whole = |text: &String| text.parse().expect("a whole number");
    let mut starts: Vec<[u32; 2]> = dir.rows(path).iter().map(|row| [&row["job"], &row["start"]].map(whole)).collect();
    starts.sort_unstable();
    starts
}

#[test]
fn its_starts_are_those_of_the_command_slurm_and_check_finds_them_its_own() {
    let dir = prepared("8-0");
    for (conf, further, settings, seed) in [
        ("nodes.toml", "", "", 0),
        ("nodes.toml", " --slurm-version 22.05", "+version=22.05", 7),
        ("nodes.toml", " --set bf_max_job_test=3 --set bf_interval=300", "+bf_max_job_test=3+bf_interval=300", 2),
        ("slurm.conf", " --accounts cluster.cfg", "+accounts=cluster.cfg", 3),
    ] {
        let policy = format!("slurm+conf={conf}{settings}");
        let slurm = format!("slurm --conf {conf} --trace log.swf --phases 1 --quiet --seed {seed}");
        dir.run(&format!("{slurm} --out t{seed}{further}"), 0);
        dir.run(&format!("simulate log.swf --policy easy,{policy} --quiet --seed {seed} --out o{seed}"), 0);
        let ours = starts(&dir, &format!("o{seed}/{policy}/jobs.csv"));
        assert!(ours.len() == 400 && ours == starts(&dir, &format!("t{seed}/base/jobs.csv")), "{policy}");
        let check = format!("check log.swf --policy {policy} --schedule o{seed}/");
        dir.run(&format!("{check}{policy}/jobs.csv --seed {seed}"), 0);
        dir.run(&format!("{check}{policy}/jobs.csv --seed 99"), 1);
        dir.run(&format!("{check}easy/jobs.csv"), 1);
    }
}

#[test]
fn what_it_cannot_do_is_refused() {
    for (longest, policy, expected) in [
        ("8-0", "slurm", "slurm: needs conf=FILE, a slurm.conf or its nodes alone (.toml)"),
        ("8-0", "slurm+conf=no.conf", "no.conf: file: cannot be read"),
        ("8-0", "slurm+conf=nodes.toml+bf_max_jobtest=3", "bf_max_jobtest"),
        ("8-0", "slurm+conf=nodes.toml --procs 60", "have 64 processors, and the machine 60 (speed 1)"),
        ("8-0", "slurm+conf=nodes.toml --estimates mean-of-user:2", "leave predictions of run times out"),
        ("8-0", "slurm+conf=slurm.conf+version=23.02", "expected 22.05, 24.11 or nearest:VERSION"),
        ("60", "slurm+conf=slurm.conf", "never starts on the idle cluster (no partition admits it: State, MaxTime"),
    ] {
        prepared(longest).refuses(&format!("simulate log.swf --quiet --out out --policy {policy}"), &[expected]);
    }
    let dir = Workdir::with("nodes.toml", "[[nodes]]\ncount = 0\ncpus = 4\n");
    dir.refuses("slurm --conf nodes.toml --trace no.csv", &["nodes.toml", "line 2, column 9"]);
}

#[test]
fn variants_of_a_sacct_file_are_compared_beside_the_log() {
    let dir = Workdir::new();
    let row = |job: u32| {
        let (submit, nodes, run) = (1_700_000_000 + 97 * job, 1 + job * 7 % 5, 100 + job * 389 % 2000);
        let (start, limit, user, cpus) = (submit + 60, run / 60 + 5, job % 3, 4 * nodes);
        format!("{job}|u{user}|||main|{submit}|{submit}|{start}|{run}|{limit}|{nodes}|{cpus}|COMPLETED\n")
    };
    let heading =
        "JobIDRaw|User|Account|QOS|Partition|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|NNodes|AllocCPUS|State\n";
    dir.file("jobs.sacct", heading.to_owned() + &(1..80).map(row).collect::<String>());
    let conf = "NodeName=n[1-8] CPUs=4\nPartitionName=main Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE\n";
    dir.file("slurm.conf", conf);
    let read = |name: &str| dir.text(&format!("out/{name}"));
    let compare = |variants: &str, code| {
        let words = "slurm --conf slurm.conf --trace jobs.sacct --phases 3 --seed 7 --out out --compare";
        let said = dir.run(&format!("{words} {variants} --quiet"), code);
        said.out + &said.err
    };
    let results = || {
        let variants = "base,slow=SchedulerParameters=bf_interval=600,none=\"SchedulerType=sched/builtin;KillWait=5\"";
        let text = compare(variants, 0);
        (text, ["summary.csv", "differences.csv", "breakdown.csv", "slow/jobs.csv"].map(read))
    };
    let (text, files) = results();
    let [summary, differences, breakdown, jobs] = &files;
    let names: Vec<&str> = summary.lines().map(|row| row.split(',').next().unwrap_or("")).collect();
    assert_eq!(names, ["variant", "base", "slow", "none", "log"]);
    assert!(differences.contains("\nwait_mean,none,base,") && differences.contains(",3\n"), "{differences}");
    assert!(breakdown.contains("\nuser,u1,27,wait_mean,log,60,,,"), "{breakdown}");
    assert_eq!(jobs.lines().count(), 80);
    assert!(read("report.html").contains("Mean wait by user"));
    assert!(text.contains("Differences to base, paired by phase (3)"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("none  ") && line.contains(" mean wait  ")), "{text}");
    assert_eq!(results().1, files, "the same command has the same results");
    let manifest = manifest(&dir.path("out"));
    let expected = serde_json::json!([
        { "name": "base", "settings": [] },
        { "name": "slow", "settings": ["SchedulerParameters=bf_interval=600"] },
        { "name": "none", "settings": ["SchedulerType=sched/builtin", "KillWait=5"] },
    ]);
    assert_eq!(manifest["variants"], expected, "{manifest}");
    let variants = ["base,x=bf_licenses=yes", "base,base", "base,", "deep=bf_window=2880,bf_interval=10", "log"];
    let mut told = variants.map(|variants| compare(variants, 2)).concat();
    let jobs = dir.text("jobs.sacct");
    for (from, to) in [("|1700000097|", "|2026-01-01T00:00:00|"), ("|3|12|", "||12|"), ("NNodes", "Nodes")] {
        dir.file("bad.sacct", jobs.replacen(from, to, 1));
        told += &dir.refuses("slurm --conf slurm.conf --trace bad.sacct", &[]);
    }
    insta::assert_snapshot!(told);
}

/// A job of two partitions without a limit, one that was eligible a minute after its submission, one that was requeued, a number that is
/// used again, and lines that are left out.
#[test]
fn jobs_of_sacct_are_submitted_as_they_were() {
    let text = "JobIDRaw|User|Account|QOS|Partition|Submit|Eligible|Start|ElapsedRaw|TimelimitRaw|NNodes|AllocCPUS|State\n\
        12|ann|phys|high|main|1700000100|1700000160|1700000200|300|10|2|8|COMPLETED\n\
        12.batch||phys||||||||1|4|COMPLETED\n\
        11|eve|chem||main|1600000000|1600000000|1600000000|60|1|1|4|COMPLETED\n\
        11|bob|chem||a,b|1700000000|2023-11-14T22:13:20|1700000000|60|UNLIMITED|1|4|TIMEOUT\n\
        13|bob|chem||main|1700000200|Unknown|Unknown|0|Partition_Limit|0|0|CANCELLED by 7\n\
        14|bob|chem||main|1700000300|1700000300|1700000400|5|Partition_Limit|1|4|NODE_FAIL\n\
        14|bob|chem||main|1700000405|1700000526|1700000600|50|Partition_Limit|1|4|COMPLETED\n\
        15|bob|chem||main|1700000300|1700000300|1700000400|5|1|1|4|RUNNING\n";
    let dir = Workdir::with("jobs.sacct", text);
    let conf = "NodeName=n[1-8] CPUs=4\nPartitionName=main Nodes=ALL Default=YES\nPartitionName=a Nodes=n[1-4]\n";
    dir.file("slurm.conf", conf.to_owned() + "PartitionName=b Nodes=n[5-8]\n");
    let slurm = "slurm --conf slurm.conf --trace jobs.sacct --zone UTC";
    dir.run(&format!("{slurm} --phases 1 --quiet --out out"), 0);
    let said = dir.text("out/base/jobs.csv") + &dir.run(&format!("{slurm} --explain 11,12,14"), 0).out;
    insta::assert_snapshot!(format!("{said}\n{:#}", manifest(&dir.path("out"))["notes"]));
    // In the log itself the jobs waited 0 s, 100 s, 100 s and 195 s.
    assert_eq!(dir.rows("out/summary.csv")[1]["wait_mean"], "98.75");
}

#[test]
fn the_experiment_of_its_page_runs_and_an_edited_file_is_noticed() {
    let dir = prepared("8-0");
    let (_, block) = include_str!("../../../docs/slurm.md").split_once("```toml\n").expect("an experiment");
    let text = block.split("```").next().expect("its end").replace("KTH-SP2-1996-2.1-cln.swf.gz", "log.swf");
    dir.file("mine.toml", text.replace("\"blocks\"", "\"shake\"").replace("count = 30", "count = 2"));
    let experiment = || {
        dir.run("experiment mine.toml --quiet --out out", 0);
        (dir.text("out/cells/plan.jsonl"), dir.text("out/report.html"), dir.rows("out/runs.csv"))
    };
    let (plan, page, runs) = experiment();
    assert_eq!((runs.len(), runs[2]["policy"].as_str()), (6, "slurm+conf=nodes.toml"));
    assert_ne!(runs[0]["wait_mean"], runs[2]["wait_mean"], "EASY knows no nodes");
    assert!(page.contains("whole nodes (CPUs of a node: 4)"), "assumptions");
    dir.file("nodes.toml", "[[nodes]]\ncount = 8\ncpus = 4\n[[nodes]]\ncount = 8\ncpus = 4\nweight = 2\n");
    assert_ne!(plan, experiment().0, "the plan names the content of the file");
}

#[test]
fn every_decision_of_the_recordings_in_the_repository_is_the_controllers() {
    let folder = workspace().join("crates/slurm-sched/tests/recorded");
    for name in names(&folder).iter().filter_map(|name| name.strip_suffix(".log.gz")) {
        let words = format!("slurm follow {name}.log.gz --conf {name}.conf --trace {name}.csv --json");
        let found = said(xtask().current_dir(&folder).args(words.split(' ')), 0).json();
        assert!(found["starts"].as_u64() > Some(15) && found["plans"].as_u64() > Some(100), "{name}: {found}");
    }
}
