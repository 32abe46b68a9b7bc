//! Simulations: invariants on any cluster, and the timing of the loops worked by hand.

use crate::read_csv;
use proptest::prelude::*;
use slurm_sched::accounts::Accounts;
use slurm_sched::conf::Conf;
use slurm_sched::workload::SubmittedJob;
use slurm_sched::{By, Ended, Phases, Report, Site, Terms, Version, simulate};
use std::fmt::Write as _;

/// Returns a cluster of `nodes` nodes with a partition over all of them, and a higher one over the upper half.
fn site(nodes: u32, version: Version, parameters: &str) -> Site {
    let text = format!(
        "ClusterName=c\nSchedulerParameters={parameters}\nNodeName=n[1-{nodes}] CPUs=4 RealMemory=1000\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE\n\
         PartitionName=high Nodes=n[{}-{nodes}] PriorityTier=10\n",
        nodes / 2 + 1
    );
    let conf = Conf::read("slurm.conf", &text, version, &[]).unwrap_or_else(|faults| panic!("{faults}"));
    Site { conf, accounts: None, version }
}

fn jobs(rows: &[String]) -> Vec<SubmittedJob> {
    let text = rows.iter().fold(String::from("id,submit,run,limit,args\n"), |mut text, row| {
        writeln!(text, "{row}").expect("a string");
        text
    });
    read_csv(&text)
}

fn reports(site: &Site, jobs: &[SubmittedJob], phases: Phases) -> Vec<Report> {
    let mut all = Vec::new();
    simulate(site, jobs, Terms { start: 1_700_000_000, zero: 1_700_000_200, phases }, |report| all.push(report));
    all
}

fn ends(reports: &[Report]) -> Vec<Ended> {
    let end = |report: &Report| if let Report::Ended(ended) = report { Some(ended.clone()) } else { None };
    reports.iter().filter_map(end).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_node_is_held_twice_and_no_job_runs_beyond_its_limit(
        nodes in 2_u32..70,
        is_new in any::<bool>(),
        parameters in prop::sample::select(vec![
            "", "bf_resolution=120,bf_max_job_test=8", "bf_window=10,bf_interval=7", "bf_max_job_user=3", "bf_node_space_size=4",
            "default_queue_depth=2,partition_job_depth=3", "bf_window_linear=60,batch_sched_delay=10",
        ]),
        offsets in (0_i64..60, 0_i64..30, any::<bool>()),
        wishes in prop::collection::vec((0_i64..400, 0_i64..3000, 1_i64..40, 1_u32..70, any::<bool>()), 1..50),
    ) {
        let version = if is_new { Version::V24_11 } else { Version::V22_05 };
        let site = site(nodes, version, parameters);
        let mut submit = 0;
        let rows: Vec<String> = wishes.iter().zip(1..).map(|(&(gap, run, limit, width, is_high), id)| {
            submit += gap;
            let (partition, most) = if is_high { ("high", nodes - nodes / 2) } else { ("all", nodes) };
            format!("{id},{submit},{run},{limit},-N {} --exclusive -p {partition}", width.min(most))
        }).collect();
        let jobs = jobs(&rows);
        let phases = Phases { full: offsets.0, backfill: offsets.1, backfill_first: offsets.2, ..Phases::default() };
        let ends = ends(&reports(&site, &jobs, phases));
        prop_assert_eq!(ends.len(), jobs.len(), "every job fits an empty cluster, so each starts");
        for ended in &ends {
            let job = jobs.iter().find(|job| job.id == ended.job).expect("a job of the workload");
            let partition = &site.conf.partitions[site.conf.partition(&ended.partition).expect("a partition")];
            prop_assert_eq!(ended.nodes.len(), job.request.nodes.expect("-N") as usize);
            prop_assert!(ended.nodes.iter().all(|node| partition.nodes.contains(node)));
            prop_assert!(ended.start > ended.submit, "sbatch starts no job itself");
            // A check every 30 s ends jobs past their limit.
            let (ran, limit) = (ended.end - ended.start, job.limit.expect("a limit"));
            let is_right = if ended.is_cut { ran > limit && ran <= job.run.min(limit + 30) } else { ran == job.run };
            prop_assert!(is_right, "job {} ran {ran} s of {} with a limit of {limit}", job.id, job.run);
        }
        for (at, one) in ends.iter().enumerate() {
            let overlap = |other: &&Ended| other.start < one.end && one.start < other.end;
            for other in ends[at + 1..].iter().filter(overlap) {
                let shared = one.nodes.iter().any(|node| other.nodes.contains(node));
                prop_assert!(!shared, "jobs {} and {} share a node", one.job, other.job);
            }
        }
    }

    #[test]
    fn no_job_starts_beyond_a_limit_of_its_accounts(
        parameters in prop::sample::select(vec!["", "assoc_limit_stop", "bf_interval=5,sched_interval=20"]),
        wishes in prop::collection::vec((0_i64..400, 1_i64..2000, 1_u32..6, any::<bool>()), 1..40),
    ) {
        let mut site = site(16, Version::V22_05, parameters);
        let dump = "Cluster - 'c':GrpTRES=node=9\nParent - 'root'\nAccount - 'a':GrpJobs=3\nAccount - 'b':GrpTRES=cpu=24\n\
            Parent - 'a'\nUser - 'root'\nParent - 'b'\nUser - 'root':MaxTRESPerJob=node=4\n";
        (site.accounts, site.conf.enforces_limits) = (Some(Accounts::read("cluster.cfg", dump).expect("valid")), true);
        let mut submit = 0;
        let rows: Vec<String> = wishes.iter().zip(1..).map(|(&(gap, run, width, is_a), id)| {
            submit += gap;
            format!("{id},{submit},{run},30,-N {width} --exclusive -A {}", if is_a { "a" } else { "b" })
        }).collect();
        let ends = ends(&reports(&site, &jobs(&rows), Phases::default()));
        prop_assert_eq!(ends.len(), wishes.iter().filter(|wish| wish.3 || wish.2 <= 4).count(), "one may never start");
        for one in &ends {
            let (of_a, of_b): (Vec<&Ended>, Vec<&Ended>) =
                ends.iter().filter(|job| job.start <= one.start && one.start < job.end).partition(|job| wishes[job.job as usize - 1].3);
            let nodes = |jobs: &[&Ended]| jobs.iter().map(|job| job.nodes.len()).sum::<usize>();
            prop_assert!(of_a.len() <= 3 && nodes(&of_b) <= 6 && nodes(&of_a) + nodes(&of_b) <= 9, "{of_a:?} {of_b:?}");
        }
    }
}

#[test]
fn passes_come_at_the_seconds_that_the_loops_timers_say() {
    /// Lists passes up to a second: `d` of the default depth, `f` full, `b` backfill.
    fn passes(parameters: &str, rows: &[&str], phases: Phases, until: i64) -> String {
        let rows: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
        let said =
            reports(&site(4, Version::V22_05, parameters), &jobs(&rows), phases).into_iter().filter_map(|report| {
                let (kind, time) = match report {
                    Report::MainPass { time, is_full } => (if is_full { 'f' } else { 'd' }, time),
                    Report::BackfillPass { time } => ('b', time),
                    Report::Waits { .. } | Report::Ended(_) => return None,
                };
                (0..until).contains(&time).then(|| format!("{kind}{time}"))
            });
        said.collect::<Vec<_>>().join(" ")
    }
    let none = Phases::default();
    let one = ["1,10,1000,20,-N 4 --exclusive"];
    let cases = [
        // A quiet system: both loops see a submission after a second; the start makes backfill run again after 30 s.
        ("", &one[..], none, 80, "d11 b11 f40 b41"),
        // A second submission within batch_sched_delay waits for it.
        ("", &["1,10,1000,20,-N 4 --exclusive", "2,11,9,20,-N 1 --exclusive"], none, 80, "d11 b11 d14 f40 b41"),
        (
            "batch_sched_delay=10",
            &["1,10,1000,20,-N 4 --exclusive", "2,11,9,20,-N 1 --exclusive"],
            none,
            60,
            "d11 b11 d21 f40 b41",
        ),
        ("sched_interval=20,bf_interval=10", &one[..], none, 50, "f0 d11 b11 f20 b21 f40"),
        ("", &one[..], Phases { full: 10, backfill_first: true, ..none }, 80, "b11 d11 f30 b41"),
        // Two blocked jobs: a full pass skips the second, which makes backfill run again each time.
        (
            "bf_interval=25",
            &["1,10,900,20,-N 4 --exclusive", "2,50,9,20,-N 4 --exclusive", "3,50,9,20,-N 4 --exclusive"],
            none,
            110,
            "d11 b11 b36 f40 d51 b61 b86 f100",
        ),
        // The end at 61 asks for a pass after a second; the job that the pass starts at 62 is a change for backfill.
        ("", &["1,10,50,20,-N 4 --exclusive", "2,20,100,20,-N 4 --exclusive"], none, 80, "d11 b11 d21 f40 b41 d62 b71"),
    ];
    for (parameters, rows, phases, until, expected) in cases {
        assert_eq!(passes(parameters, rows, phases, until), expected, "{parameters} {rows:?}");
    }
}

#[test]
fn the_main_pass_is_first_come_first_served_and_backfill_fills_the_gap() {
    let rows = ["1,10,590,10,-N 3 --exclusive", "2,20,60,10,-N 4 --exclusive", "3,30,60,2,-N 1 --exclusive"];
    let ends = ends(&reports(&site(4, Version::V22_05, ""), &jobs(&rows.map(str::to_owned)), Phases::default()));
    let started: Vec<(u32, i64, By)> = ends.iter().map(|ended| (ended.job, ended.start, ended.by)).collect();
    assert_eq!(started, [(3, 41, By::Backfill), (1, 11, By::Main), (2, 602, By::Main)]);
}

#[test]
fn a_job_over_a_limit_is_passed_over_and_one_too_young_gets_no_plan() {
    /// Lists starts as `job@second`.
    fn starts(site: &Site, rows: &[&str]) -> String {
        let rows: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
        let mut ends = ends(&reports(site, &jobs(&rows), Phases::default()));
        ends.sort_by_key(|ended| ended.job);
        ends.iter().map(|ended| format!("{}@{}", ended.job, ended.start)).collect::<Vec<_>>().join(" ")
    }
    let rows =
        ["1,10,90,5,-N 1 --exclusive -A a", "2,11,90,5,-N 1 --exclusive -A a", "3,12,90,5,-N 1 --exclusive -A b"];
    let dump = "Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'a':Fairshare=1\nAccount - 'b':Fairshare=1\n\
        Parent - 'a'\nUser - 'root':Fairshare=1:MaxJobs=1\nParent - 'b'\nUser - 'root':Fairshare=1\n";
    let mut limited = site(4, Version::V22_05, "");
    limited.accounts = Some(Accounts::read("cluster.cfg", dump).unwrap_or_else(|faults| panic!("{faults}")));
    assert_eq!(starts(&limited, &rows), "1@11 2@14 3@14", "without `limits` in AccountingStorageEnforce");
    limited.conf.enforces_limits = true;
    assert_eq!(starts(&limited, &rows), "1@11 2@102 3@14");
    limited.conf.scheduling.assoc_limit_stop = true;
    assert_eq!(starts(&limited, &rows), "1@11 2@102 3@41", "the main pass stops at job 2, backfill does not");

    // Job 2 needs all nodes and waits for job 1. Job 3 fits beside job 1, but not before the plan of job 2.
    let rows = ["1,10,300,6,-N 3 --exclusive", "2,20,60,5,-N 4 --exclusive", "3,30,600,60,-N 1 --exclusive"];
    assert_eq!(starts(&site(4, Version::V22_05, ""), &rows), "1@11 2@312 3@373");
    assert_eq!(starts(&site(4, Version::V22_05, "bf_min_age_reserve=600"), &rows), "1@11 2@632 3@31");
}

#[test]
fn a_run_ends_although_jobs_can_never_start() {
    // Job 2 is wider than the cluster, job 3 over a limit of its partition, job 4 needs a node that is down.
    let mut site = site(4, Version::V22_05, "");
    site.conf.nodes[3].up = false;
    site.conf.partitions[0].max_time = Some(3600);
    let rows = [
        "1,10,300,6,-N 1 --exclusive",
        "2,20,60,5,-N 9 --exclusive",
        "3,30,60,900,-N 1 --exclusive",
        "4,40,60,5,-N 4 --exclusive",
    ];
    let ends = ends(&reports(&site, &jobs(&rows.map(str::to_owned)), Phases::default()));
    assert_eq!(ends.iter().map(|ended| ended.job).collect::<Vec<_>>(), [1]);
}
