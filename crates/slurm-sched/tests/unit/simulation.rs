//! Simulations: invariants on any cluster, and the timing of the loops worked by hand.

use super::read_csv;
use crate::site::accounts::Accounts;
use crate::site::workload::{Dependency, DependencyKind, SubmittedJob};
use crate::{EndState, Ended, Phases, Report, Site, Terms, Version, simulate};
use proptest::prelude::*;
use std::borrow::Borrow;

/// Returns a cluster of `nodes` nodes with a partition over all of them, and a higher one over the upper half.
fn site(nodes: u32, version: Version, parameters: &str) -> Site {
    let text = format!(
        "ClusterName=c\nSchedulerParameters={parameters}\nNodeName=n[1-{nodes}] CPUs=4 RealMemory=1000\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE\n\
         PartitionName=high Nodes=n[{}-{nodes}] PriorityTier=10\n",
        nodes / 2 + 1
    );
    super::site(&text, None, version)
}

fn jobs(rows: &[impl Borrow<str>]) -> Vec<SubmittedJob> {
    read_csv(&format!("id,submit,run,limit,args\n{}\n", rows.join("\n")))
}

fn reports(site: &Site, jobs: &[SubmittedJob], phases: Phases, explained: Option<u32>) -> Vec<Report> {
    let mut all = Vec::new();
    let terms = Terms { start: 1_700_000_000, zero: 1_700_000_200, phases };
    simulate(site, jobs, terms, explained, |report| all.push(report));
    all
}

fn ends(reports: &[Report]) -> Vec<Ended> {
    let end = |report: &Report| if let Report::Ended(ended) = report { Some(ended.clone()) } else { None };
    reports.iter().filter_map(end).collect()
}

/// Products of the options of sbatch that exceed 32 and 64 bits.
#[test]
fn a_job_of_any_size_waits_for_ever_and_another_one_runs() {
    let site = super::site(
        "ClusterName=c\nNodeName=n[1-8] CPUs=4\nPartitionName=all Nodes=ALL Default=YES\n",
        None,
        Version::V24_11,
    );
    for args in [
        "-n 100000 -c 50000 --exclusive",
        "-N 999999999 --ntasks-per-node 999999999 -c 999999999 --exclusive",
        "-N 20 --mem=999999999P --exclusive",
        "-N 20 --mem-per-cpu=999999999P --exclusive",
    ] {
        let rows = [format!("1,0,60,10,{args}"), "2,0,60,10,-N 1 --exclusive".to_owned()];
        let ended: Vec<u32> =
            ends(&reports(&site, &jobs(&rows), Phases::default(), None)).iter().map(|end| end.job).collect();
        assert_eq!(ended, [2], "{args}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_node_is_held_twice_no_limit_exceeded_and_passes_that_end_early_decide_as_whole_ones(
        (nodes, is_new, tiers) in (8_u32..256, any::<bool>(), (1_u32..3, 1_u32..3)),
        offsets in (0_i64..60, 0_i64..30, any::<bool>()),
        parameters in prop::sample::select(vec![
            "", "", "bf_max_job_test=40", "default_queue_depth=2,partition_job_depth=30,bf_window_linear=60",
            "bf_resolution=300,bf_window=60,bf_max_job_start=2", "bf_max_job_user_part=30,bf_interval=60",
            "bf_max_job_part=60,bf_node_space_size=30", "bf_min_age_reserve=900", "bf_one_resv_per_job,assoc_limit_stop",
        ]),
        (job_size, one_size, weight, most_jobs) in (prop::sample::select(vec![0, 900]), any::<bool>(), 1_u32..4, 2_usize..60),
        wishes in prop::collection::vec((0_i64..40, 1_i64..1500, 1_i64..70, 1_u32..1000, 0_u32..60), 200..280),
    ) {
        let version = if is_new { Version::V24_11 } else { Version::V22_05 };
        let (half, third, most) = (nodes / 2, nodes / 3, nodes - nodes / 8);
        let text = format!(
            "ClusterName=c\nSchedulerParameters={parameters}\nPriorityType=priority/multifactor\nPriorityWeightAge=500\n\
             PriorityWeightJobSize={job_size}\nPriorityCalcPeriod=2\nAccountingStorageType=accounting_storage/slurmdbd\n\
             AccountingStorageEnforce=limits\nNodeName=n[1-{third}] CPUs={}\nNodeName=n[{}-{nodes}] CPUs=4 Weight={weight}\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE\nPartitionName=low Nodes=n[1-{half}] PriorityTier={}\n\
             PartitionName=high Nodes=n[{third}-{nodes}] PriorityTier={}\n",
            if one_size { 4 } else { 8 }, third + 1, tiers.0, tiers.1
        );
        let dump = format!("Cluster - 'c':GrpTRES=node={most}\nParent - 'root'\nAccount - 'a':GrpJobs={most_jobs}\nAccount - 'b':GrpTRES=node={third}\n\
            Parent - 'a'\nUser - 'root'\nParent - 'b'\nUser - 'root':MaxTRESPerJob=node={half}\n");
        let site = super::site(&text, Some(&dump), version);
        let mut submit = 0;
        let job = |(&(gap, run, minutes, width, odd), id): (&(i64, i64, i64, u32, u32), u32)| {
            // Most jobs are there at the begin.
            submit += if id % 4 == 0 { gap } else { 0 };
            let account = if odd < 40 { "a" } else { "b" };
            let text = format!("{id},{submit},{run},{minutes},-N {} --exclusive -A {account}", 1 + width % third / 2);
            let mut job = jobs(&[text]).remove(0);
            let request = &mut job.request;
            let named = [&["low"][..], &["high"], &["low", "high"], &[]][(odd % 20 / 2).min(3) as usize];
            request.partitions = named.iter().map(|name| (*name).to_owned()).collect();
            match odd % 20 {
                6 => request.required = vec![format!("n{}", 1 + width % nodes)],
                7 | 8 => request.excluded = vec![format!("n{}", 1 + width % nodes)],
                9 | 10 => request.time_min = Some(minutes * 20),
                11 => request.dependencies = vec![vec![Dependency { kind: DependencyKind::AfterAny, job: Some(id / 2) }]],
                12 => request.priority = Some(400),
                _ => {}
            }
            job
        };
        let jobs: Vec<SubmittedJob> = wishes.iter().zip(1..).map(job).collect();
        let phases = Phases { full: offsets.0, backfill: offsets.1, backfill_first: offsets.2, ..Phases::default() };
        // An explanation, here of an unknown job, makes all plans.
        let [short, full] = [None, Some(u32::MAX)].map(|explained| reports(&site, &jobs, phases, explained));
        prop_assert!(short == full, "{:?}", short.iter().zip(&full).find(|(one, other)| one != other));
        let ends = ends(&full);
        prop_assert_eq!(ends.len(), jobs.len(), "every job fits an empty cluster, so each starts");
        for ended in &ends {
            let job = jobs.iter().find(|job| job.id == ended.job).expect("a job of the workload");
            let partition = &site.conf.partitions[site.conf.partition(&ended.partition).expect("a partition")];
            prop_assert_eq!(ended.nodes.len(), job.request.nodes.expect("-N") as usize);
            prop_assert!(ended.nodes.iter().all(|node| partition.nodes.contains(node)));
            prop_assert!(ended.start > ended.submit, "sbatch starts no job itself");
            // A check every 30 s ends jobs at or past their limit.
            let (ran, limit) = (ended.end - ended.start, job.limit.expect("a limit"));
            let is_right = if ended.state == EndState::Timeout { ran >= limit && ran <= job.run.min(limit + 30) } else { ran == job.run };
            prop_assert!(is_right, "job {} ran {ran} s of {} with a limit of {limit}", job.id, job.run);
        }
        for (at, one) in ends.iter().enumerate() {
            let overlap = |other: &&Ended| other.start < one.end && one.start < other.end;
            let at_start = ends.iter().filter(|other| other.start <= one.start && one.start < other.end);
            let (of_a, of_b): (Vec<&Ended>, Vec<&Ended>) = at_start.partition(|other| wishes[other.job as usize - 1].4 < 40);
            let count = |jobs: &[&Ended]| jobs.iter().map(|job| job.nodes.len()).sum::<usize>();
            prop_assert!(of_a.len() <= most_jobs && count(&of_b) <= third as usize, "{of_a:?} {of_b:?}");
            prop_assert!(count(&of_a) + count(&of_b) <= most as usize, "{of_a:?} {of_b:?}");
            for other in ends[at + 1..].iter().filter(overlap) {
                let shared = one.nodes.iter().any(|node| other.nodes.contains(node));
                prop_assert!(!shared, "jobs {} and {} share a node", one.job, other.job);
            }
        }
    }
}

#[test]
fn passes_come_at_the_seconds_that_the_loops_timers_say() {
    /// Lists passes up to a second: `d` of the default depth, `f` full, `b` backfill.
    fn passes(parameters: &str, rows: &[&str], phases: Phases, until: i64) -> String {
        let site = site(4, Version::V22_05, parameters);
        let said = reports(&site, &jobs(rows), phases, None).into_iter().filter_map(|report| {
            let (kind, time) = match report {
                Report::MainPass(time, is_full) => (if is_full { 'f' } else { 'd' }, time),
                Report::BackfillPass(time) => ('b', time),
                Report::Waits(..) | Report::Ended(_) => return None,
            };
            (0..until).contains(&time).then(|| format!("{kind}{time}"))
        });
        said.collect::<Vec<_>>().join(" ")
    }
    let none = Phases::default();
    let two = ["1,10,1000,20,-N 4 --exclusive", "2,11,9,20,-N 1 --exclusive"];
    let one = &two[..1];
    let blocked = ["1,10,900,20,-N 4 --exclusive", "2,50,9,20,-N 4 --exclusive", "3,50,9,20,-N 4 --exclusive"];
    let cases = [
        // A quiet system: both loops see a submission after a second; the start makes backfill run again after 30 s.
        ("", one, none, 80, "d11 b11 f40 b41"),
        // A second submission within batch_sched_delay waits for it.
        ("", &two, none, 80, "d11 b11 d14 f40 b41"),
        ("batch_sched_delay=10", &two, none, 60, "d11 b11 d21 f40 b41"),
        ("sched_interval=20,bf_interval=10", one, none, 50, "f0 d11 b11 f20 b21 f40"),
        ("", one, Phases { full: 10, backfill_first: true, ..none }, 80, "b11 d11 f30 b41"),
        // Two blocked jobs: a full pass skips the second, which makes backfill run again each time.
        ("bf_interval=25", &blocked, none, 110, "d11 b11 b36 f40 d51 b61 b86 f100"),
        // The end at 61 asks for a pass after a second; the job that the pass starts at 62 is a change for backfill.
        ("", &["1,10,50,20,-N 4 --exclusive", "2,20,100,20,-N 4 --exclusive"], none, 80, "d11 b11 d21 f40 b41 d62 b71"),
    ];
    for (parameters, rows, phases, until, expected) in cases {
        assert_eq!(passes(parameters, rows, phases, until), expected, "{parameters} {rows:?}");
    }
}

/// Lists starts as `job@second`.
fn starts(site: &Site, rows: &[&str]) -> String {
    let mut ends = ends(&reports(site, &jobs(rows), Phases::default(), None));
    ends.sort_by_key(|ended| ended.job);
    ends.iter().map(|ended| format!("{}@{}", ended.job, ended.start)).collect::<Vec<_>>().join(" ")
}

#[test]
fn in_the_main_pass_a_job_with_required_nodes_bars_those_alone() {
    let mut site = site(3, Version::V22_05, "");
    site.conf.scheduling.backfill = false;
    let rows = [
        "1,10,300,6,-N 2 --exclusive -w n[1,3]",
        "2,20,60,5,-N 1 --exclusive -w n1",
        // Its n1 is kept for job 2: the first pass that finds this keeps n2 from job 4, later ones pass it over.
        "3,20,60,5,-N 2 --exclusive -w n[1-2]",
        "4,20,600,20,-N 1 --exclusive",
        // More nodes than are left: it bars the partition. It is stopped at its limit, and the clean-up calls for a pass.
        "5,50,600,1,-N 2 --exclusive",
        "6,60,60,5,-N 2 --exclusive",
    ];
    assert_eq!(starts(&site, &rows), "1@11 2@312 3@643 4@40 5@704 6@790");
}

#[test]
fn a_job_over_a_limit_is_passed_over_and_one_too_young_gets_no_plan() {
    let rows =
        ["1,10,90,5,-N 1 --exclusive -A a", "2,11,90,5,-N 1 --exclusive -A a", "3,12,90,5,-N 1 --exclusive -A b"];
    let dump = "Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'a':Fairshare=1\nAccount - 'b':Fairshare=1\n\
        Parent - 'a'\nUser - 'root':Fairshare=1:MaxJobs=1\nParent - 'b'\nUser - 'root':Fairshare=1\n";
    let mut limited = site(4, Version::V22_05, "");
    limited.accounts = Accounts::read("cluster.cfg", dump).unwrap_or_else(|faults| panic!("{faults}"));
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
    assert_eq!(starts(&site, &rows), "1@11");
}
