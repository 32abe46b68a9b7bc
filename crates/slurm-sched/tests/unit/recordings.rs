//! Recordings of a running slurmctld, followed pass by pass.

use super::{read_csv, site};
use crate::follow::log::{Event, events};
use crate::site::workload::SubmittedJob;
use crate::{Comparison, Phases, Report, Site, Terms, Version, follow, simulate, version_of};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use std::path::{Path, PathBuf};

fn log(path: &Path) -> BufReader<flate2::read::GzDecoder<std::fs::File>> {
    let file = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufReader::new(flate2::read::GzDecoder::new(file))
}

fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Reads the site, the jobs and the log of a recording.
fn recording(
    folder: &Path,
    log_name: &str,
    conf: &str,
    trace: &str,
    accounts: Option<&str>,
) -> (Site, Vec<SubmittedJob>, PathBuf) {
    let path = folder.join(log_name);
    let version = version_of(log(&path)).expect("a log").expect("shows its version").expect("is modelled");
    let (site, jobs) = (site(&text(folder, conf), accounts, version), read_csv(&text(folder, trace)));
    site.check(trace, &jobs).unwrap_or_else(|faults| panic!("{faults}"));
    (site, jobs, path)
}

#[test]
fn every_start_plan_and_priority_of_the_recordings_is_the_controllers() {
    let Some(folder) = test_data::slurm("fixtures") else { return };
    let accounts = text(&folder, "accounts.cfg");
    let tied = "Cluster - 'oracle':Fairshare=1:QOS='normal'\nParent - 'root'\nUser - 'root':Fairshare=1\n\
        Account - 'p':Fairshare=1\nAccount - 'q':Fairshare=1\n\
        Parent - 'p'\nAccount - 'p1':Fairshare=1\nAccount - 'p2':Fairshare=1\n\
        Parent - 'q'\nAccount - 'q1':Fairshare=1\nAccount - 'q2':Fairshare=1\n\
        Parent - 'p1'\nUser - 'root':Fairshare=1\nParent - 'p2'\nUser - 'root':Fairshare=1\n\
        Parent - 'q1'\nUser - 'root':Fairshare=1\nParent - 'q2'\nUser - 'root':Fairshare=1\n";
    // Log, configuration, workload, accounts; starts, plans and priorities in the log.
    let cases = [
        ("w1-free.log.gz", "w1.slurm.conf", "w1.csv", None, [60, 27_184, 27_275]),
        ("w3-lockstep.log.gz", "w3.slurm.conf", "w3.csv", None, [50, 6_327, 6_411]),
        ("w3-24.11-part.log.gz", "w3.slurm.conf", "w3.csv", None, [44, 5_757, 5_833]),
        ("w4-fair-tree.log.gz", "w4.slurm.conf", "w4.csv", Some(accounts.as_str()), [21, 3_488, 3_541]),
        ("tie.log.gz", "tie.slurm.conf", "../oracle/tie.csv", Some(tied), [6, 36, 42]),
    ];
    for (name, conf, trace, accounts, counts) in cases {
        let (site, jobs, path) = recording(&folder, name, conf, trace, accounts);
        let found: Comparison = follow(&site, &jobs, log(&path)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(found.is_equal(), "{name}: {found:#?}");
        assert_eq!([found.starts, found.plans, found.priorities], counts, "{name}");
    }
}

#[test]
fn an_altered_decision_in_a_log_is_found_at_its_line_and_explained() {
    let Some(folder) = test_data::slurm("fixtures") else { return };
    let (site, jobs, path) = recording(&folder, "w3-lockstep.log.gz", "w3.slurm.conf", "w3.csv", None);
    let text = std::io::read_to_string(log(&path)).expect("text");
    // Line with the start of job 3 by the main pass, its alteration, and the difference.
    for (from, to, theirs) in
        [("NodeList=n1 ", "NodeList=n7 ", "starts on n7"), ("Allocate", "Delay", "no start, no plan")]
    {
        let (line, old) =
            (1..).zip(text.lines()).find(|(_, line)| line.contains("Allocate JobId=3 ")).expect("a start");
        let altered = text.replace(old, &old.replace(from, to));
        let found = follow(&site, &jobs, altered.as_bytes()).expect("a log");
        assert!(!found.is_equal() && found.wrong_starts > 0, "{to}");
        let first = found.first_difference.expect("a difference");
        assert_eq!((first.pass, first.job), ("main", 3));
        assert_eq!([&first.ours, &first.theirs], ["starts on n1", theirs]);
        assert!(first.line <= line && first.rule.contains("order of priority"), "{first:?}");
    }
}

#[test]
fn a_log_that_ends_within_a_pass_or_a_line_has_no_difference() {
    let Some(folder) = test_data::slurm("fixtures") else { return };
    let (site, jobs, path) = recording(&folder, "w3-lockstep.log.gz", "w3.slurm.conf", "w3.csv", None);
    let text = std::io::read_to_string(log(&path)).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    for last in (300..700).step_by(7) {
        let whole = lines[..last].join("\n");
        for log in [&format!("{whole}\n"), &whole[..whole.len() - 9]] {
            let found = follow(&site, &jobs, log.as_bytes()).expect("a log");
            assert!(found.is_equal(), "{last} lines: {found:#?}");
        }
    }
    let nothing = follow(&site, &jobs, "".as_bytes()).expect_err("nothing").to_string();
    assert!(nothing.starts_with("no line that decides; record the log with"), "{nothing}");
}

#[test]
fn jobs_and_nodes_that_scontrol_changes_are_followed() {
    let text = "NodeName=n[1-4] CPUs=4\nPartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE\n";
    let site = site(text, None, Version::V22_05);
    let jobs = read_csv(
        "1,10,900,20,-N 2 --exclusive\n2,15,900,5,-N 1 --exclusive\n3,15,900,5,-N 1 --exclusive\n4,30,60,5,-N 3 --exclusive\n5,35,60,5,-N 1 --exclusive\n",
    );
    // The forms are those of a recorded log.
    let lines = "20 debug:  sched: Running job scheduler for default depth.
        30 _slurm_rpc_submit_batch_job: JobId=1 InitPrio=4294901759 usec=0
        33 debug:  sched: Running job scheduler for default depth.
        33 sched: Allocate JobId=1 NodeList=n[1-2] #CPUs=8 Partition=main
        35 _slurm_rpc_submit_batch_job: JobId=2 InitPrio=4294901758 usec=0
        35 _slurm_rpc_submit_batch_job: JobId=3 InitPrio=4294901757 usec=0
        36 sched: _hold_job_rec: hold on JobId=2 by uid 0
        36 sched: _update_job: set priority to 0 for JobId=2
        37 update_node: node n3 state set to DRAINED
        38 debug:  sched: Running job scheduler for default depth.
        38 sched: Allocate JobId=3 NodeList=n4 #CPUs=4 Partition=main
        39 update_node: node n3 state set to IDLE
        39 sched: _release_job_rec: release hold on JobId=2 by uid 0
        41 debug:  sched: Running job scheduler for default depth.
        42 Node n3 now responding
        44 debug:  sched: Running job scheduler for default depth.
        44 sched: Allocate JobId=2 NodeList=n3 #CPUs=4 Partition=main
        50 _slurm_rpc_submit_batch_job: JobId=4 InitPrio=4294901755 usec=0
        51 sched: _update_job: setting time_limit to 50 for JobId=1
        51 _update_job: setting min_nodes from 3 to 4 for JobId=4
        51 sched: _update_job: set priority to 4294901754 for JobId=4
        52 sched: _update_job: set priority to 77 for JobId=4
        53 sched/backfill: _attempt_backfill: beginning
        53 sched/backfill: _attempt_backfill: BACKFILL: test for JobId=4 Prio=77 Partition=main Reservation=NONE
        53 sched/backfill: _dump_job_sched: JobId=4 to start at 2023-11-14T23:03:33, end at 2023-11-14T23:08:00 on nodes n[1-4] in partition main
        53 sched/backfill: _attempt_backfill: completed testing 1(1) jobs, usec=0
        54 requeue job JobId=3 due to failure of node n4
        54 update_node: node n4 state set to DOWN
        54 Requeuing JobId=3
        54 node_did_resp: node n4 returned to service
        55 _slurm_rpc_submit_batch_job: JobId=5 InitPrio=4294901753 usec=0
        56 debug:  sched: Running job scheduler for default depth.
        56 sched: Allocate JobId=5 NodeList=n4 #CPUs=4 Partition=main\n";
    let log: String = lines
        .lines()
        .map(|line| format!("[2023-11-14T22:13:{}.000]{}\n", &line.trim()[..2], &line.trim()[2..]))
        .collect();
    let found = follow(&site, &jobs, log.as_bytes()).expect("a log");
    assert!(found.is_equal() && (found.starts, found.plans, found.priorities) == (4, 1, 6), "{found:#?}");
    let other = log.replace("node n3 state", "node n33 state");
    let fault = follow(&site, &jobs, other.as_bytes()).expect_err("an unknown node").to_string();
    assert_eq!(fault, "line 9: \"n33\" is not in slurm.conf; use the slurm.conf of the time of the log");
}

/// Start of the controller of the oracle, and the zero of its workloads.
const LOCKSTEP: Terms = Terms {
    start: 1_700_000_000,
    zero: 1_700_000_200,
    phases: Phases { full: 0, backfill: 0, decay: 0, limits: 0, backfill_first: false },
};

#[test]
fn a_free_run_has_the_passes_and_starts_of_lockstep_logs_at_the_same_seconds() {
    let Some(folder) = test_data::slurm("fixtures") else { return };
    let accounts = text(&folder, "accounts.cfg");
    let cases = [
        ("w3-lockstep.log.gz", "w3.slurm.conf", "w3.csv", None),
        ("w3-24.11-part.log.gz", "w3.slurm.conf", "w3.csv", None),
        ("w4-fair-tree.log.gz", "w4.slurm.conf", "w4.csv", Some(accounts.as_str())),
    ];
    for (name, conf, trace, accounts) in cases {
        let (site, jobs, path) = recording(&folder, name, conf, trace, accounts);
        let mut theirs = Vec::new();
        for entry in events(log(&path), &site, BTreeSet::new()) {
            let entry = entry.expect("a line");
            let what = match entry.event {
                Event::MainPass(true) => "full pass".to_owned(),
                Event::MainPass(false) => "default pass".to_owned(),
                Event::BackfillPass => "backfill pass".to_owned(),
                Event::Decision(by, start) if start.planned.is_none() => {
                    let nodes = site.conf.node_list(start.nodes.iter());
                    format!("{} starts {} on {nodes}", by.name(), start.job)
                }
                _ => continue,
            };
            theirs.push((entry.time - LOCKSTEP.zero, what));
        }
        let mut ours = Vec::new();
        simulate(&site, &jobs, LOCKSTEP, None, |report| {
            ours.push(match report {
                Report::Waits(..) => return,
                Report::MainPass(time, true) => (time, "full pass".to_owned()),
                Report::MainPass(time, false) => (time, "default pass".to_owned()),
                Report::BackfillPass(time) => (time, "backfill pass".to_owned()),
                Report::Ended(job) => {
                    let (by, nodes) = (job.by.name(), site.conf.node_list(job.nodes));
                    (job.start, format!("{by} starts {} on {nodes}", job.job))
                }
            });
        });
        // The log of 24.11 stops where an end hung.
        let end = if name.contains("24.11") { 10_400 } else { theirs.last().expect("a line").0 };
        let up_to_end = |mut all: Vec<(i64, String)>| {
            all.retain(|(time, _)| *time < end);
            all.sort();
            all
        };
        let (ours, theirs) = (up_to_end(ours), up_to_end(theirs));
        let lacks = |all: &[(i64, String)], other: &[(i64, String)]| -> Vec<(i64, String)> {
            all.iter().filter(|one| !other.contains(one)).cloned().collect()
        };
        // An end whose request was counted late, because the agent's thread raced with the background loop.
        let late = |second: i64| {
            if name.starts_with("w3-lockstep") { vec![(second, "default pass".to_owned())] } else { vec![] }
        };
        assert_eq!((lacks(&ours, &theirs), lacks(&theirs, &ours)), (late(4761), late(4763)), "{name}");
    }
}

/// Workloads recorded on Debian's slurmctld 22.05: a row of the workload; the last start, its scheduler and nodes.
#[test]
fn a_free_run_has_the_starts_and_nodes_of_jobs_beyond_their_limits_and_of_requeued_ones() {
    let over_time = include_str!("../recorded/over-time.txt");
    let stopped = include_str!("../recorded/stopped.txt");
    let requeued = include_str!("../recorded/requeued.txt");
    for (nodes, over, step, depth, recorded) in
        [(16, 5, 120, 10, over_time), (12, 0, 120, 500, stopped), (8, 0, 60, 500, requeued)]
    {
        let text = format!(
            "SchedulerParameters=bf_interval=30,bf_resolution={step},bf_max_job_test={depth}\nOverTimeLimit={over}\n\
             NodeName=n[1-{nodes}] CPUs=4\nPartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE\n"
        );
        let site = site(&text, None, Version::V22_05);
        let rows = recorded.lines().map(|line| line.split_once("; ").expect("a row and its start"));
        let (rows, theirs): (Vec<&str>, Vec<&str>) = rows.unzip();
        let mut ours = BTreeMap::new();
        simulate(&site, &read_csv(&rows.join("\n")), LOCKSTEP, None, |report| {
            let Report::Ended(job) = report else { return };
            let (by, nodes) = (job.by.name(), site.conf.node_list(job.nodes));
            // The last run of a job stays.
            ours.insert(job.job, format!("{} {by} {nodes}", job.start));
        });
        assert_eq!(ours.into_values().collect::<Vec<_>>(), theirs);
    }
}
