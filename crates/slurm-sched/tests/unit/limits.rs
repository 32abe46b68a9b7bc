//! Limits of associations and QOS: cases, and random runs in which no job exceeds a limit.

use crate::Version;
use crate::cluster::limits::{Demand, Limits};
use proptest::prelude::*;
use std::sync::Arc;

/// Returns the limits of an idle cluster with these accounts.
fn limits(enforce: &str, accounts: &str) -> Limits {
    let text = format!(
        "NodeName=n[1-8] CPUs=4\nPartitionName=main Nodes=ALL Default=YES\nPartitionName=small Nodes=ALL QOS=part\n\
        AccountingStorageEnforce={enforce}\n"
    );
    Limits::new(Arc::new(super::site(&text, Some(accounts), Version::V22_05)))
}

/// Returns a job of `nodes` nodes of four CPUs for an hour.
fn job(association: usize, qos: usize, nodes: u64) -> Demand {
    Demand {
        association: Some(association),
        qos: Some(qos),
        tres: [4 * nodes, 0, nodes],
        limit: 3600,
        ..Demand::default()
    }
}

#[test]
fn a_limit_holds_where_it_is_set_first() {
    // Associations: 0 root, 1 a, 2 b, 3 ann and 4 bob in a, 5 ann in b. QOS: 0 normal, 1 q, 2 part.
    let tree = |root: &str, a: &str, ann: &str, q: &str, part: &str| {
        format!(
            "Cluster - 'c':Fairshare=1{root}\nParent - 'root'\nAccount - 'a':Fairshare=1{a}\nAccount - 'b'\nParent - 'a'\nUser - 'ann':Fairshare=1{ann}\n\
            User - 'bob'\nParent - 'b'\nUser - 'ann'\nQOS - 'q'{q}\nQOS - 'part'{part}\n"
        )
    };
    let [ann, bob, other] = [3, 4, 5];
    let small = |association, qos, nodes| Demand { partition: 1, ..job(association, qos, nodes) };
    let user_1 = |association, qos, nodes| Demand { user: 1, ..job(association, qos, nodes) };
    // Limits of root, account a, user ann in a, QOS q, QOS part; running jobs; the job that would start; reason.
    type Case<'a> = ([&'a str; 5], &'a [Demand], Demand, Option<&'a str>);
    let cases: &[Case<'_>] = &[
        (["", "", "", "", ""], &[job(ann, 1, 8)], job(ann, 1, 8), None),
        (["", ":GrpJobs=2", "", "", ""], &[job(ann, 0, 1)], job(bob, 0, 1), None),
        (["", ":GrpJobs=2", "", "", ""], &[job(ann, 0, 1), job(bob, 0, 1)], job(bob, 0, 1), Some("AssocGrpJobsLimit")),
        (["", ":GrpJobs=1", "", "", ""], &[job(ann, 0, 1)], job(other, 0, 1), None),
        ([":GrpTRES=node=4", "", "", "", ""], &[job(ann, 0, 3)], job(other, 0, 2), Some("AssocGrpNodeLimit")),
        ([":GrpTRES=node=5", ":GrpTRES=cpu=16", "", "", ""], &[job(ann, 0, 3)], job(other, 0, 2), None),
        // Max limits of an account apply to each of its users, unless a user has its own.
        (["", ":MaxJobs=1", "", "", ""], &[job(ann, 0, 1)], job(bob, 0, 1), None),
        (["", ":MaxJobs=1", "", "", ""], &[job(bob, 0, 1)], job(bob, 0, 1), Some("AssocMaxJobsLimit")),
        (["", ":MaxJobs=1", ":MaxJobs=2", "", ""], &[job(ann, 0, 1)], job(ann, 0, 1), None),
        (["", ":MaxTRESPerJob=cpu=8", "", "", ""], &[], job(ann, 0, 3), Some("AssocMaxCpuPerJobLimit")),
        (["", ":MaxWallDurationPerJob=59", "", "", ""], &[], job(ann, 0, 1), Some("AssocMaxWallDurationPerJobLimit")),
        (["", ":MaxTRESMinsPerJob=cpu=480", "", "", ""], &[], job(ann, 0, 2), None),
        (["", ":MaxTRESMinsPerJob=cpu=479", "", "", ""], &[], job(ann, 0, 2), Some("AssocMaxCpuMinutesPerJobLimit")),
        // A QOS replaces limits of associations.
        (["", ":GrpJobs=1", "", ":GrpJobs=2", ""], &[job(ann, 1, 1)], job(bob, 1, 1), None),
        (["", "", "", ":GrpJobs=2", ""], &[job(ann, 1, 1), job(other, 1, 1)], job(bob, 1, 1), Some("QOSGrpJobsLimit")),
        (["", "", "", ":MaxJobsPerUser=1", ""], &[job(ann, 1, 1)], user_1(bob, 1, 1), None),
        (["", "", "", ":MaxJobsPerUser=1", ""], &[job(ann, 1, 1)], job(other, 1, 1), Some("QOSMaxJobsPerUserLimit")),
        (["", "", "", ":MaxTRESPerUser=cpu=16", ""], &[job(ann, 1, 3)], job(ann, 1, 2), Some("QOSMaxCpuPerUserLimit")),
        (
            ["", "", "", ":MaxTRESPerAccount=node=4", ""],
            &[job(ann, 1, 3)],
            user_1(bob, 1, 2),
            Some("QOSMaxNodePerAccountLimit"),
        ),
        (["", "", "", ":MaxTRESPerAccount=node=4", ""], &[job(ann, 1, 3)], job(other, 1, 2), None),
        (["", "", "", ":MaxWall=59", ""], &[], job(ann, 0, 2), None),
        (["", "", "", ":MaxWall=59", ""], &[], job(ann, 1, 2), Some("QOSMaxWallDurationPerJobLimit")),
        // The QOS of the partition precedes that of the job, unless the latter overrides it.
        (["", "", "", ":GrpJobs=5", ":GrpJobs=1"], &[small(ann, 1, 1)], small(bob, 1, 1), Some("QOSGrpJobsLimit")),
        (["", "", "", ":GrpJobs=5:Flags=OverPartQOS", ":GrpJobs=1"], &[small(ann, 1, 1)], small(bob, 1, 1), None),
        (["", "", "", "", ":GrpJobs=1"], &[job(ann, 2, 1)], small(bob, 1, 1), Some("QOSGrpJobsLimit")),
    ];
    for (own, running, job, expected) in cases {
        let accounts = tree(own[0], own[1], own[2], own[3], own[4]);
        for (enforce, expected) in [("limits", *expected), ("associations", None)] {
            let mut state = limits(enforce, &accounts);
            running.iter().for_each(|job| state.started(job));
            assert_eq!(state.reason(job).as_deref(), expected, "{own:?} {running:?} {job:?} {enforce}");
            running.iter().for_each(|job| state.ended(job));
            assert_eq!(format!("{state:?}"), format!("{:?}", limits(enforce, &accounts)), "all is given back");
        }
    }
}

proptest! {
    #[test]
    fn no_running_jobs_are_beyond_a_limit(steps in prop::collection::vec((any::<bool>(), 3..6_usize, 0..3_usize, 1..5_u64, 0..2_usize), 1..60)) {
        let accounts = "Cluster - 'c':GrpTRES=node=12\nParent - 'root'\nAccount - 'a':GrpTRES=cpu=24:GrpJobs=4\nAccount - 'b':MaxJobs=2\nParent - 'a'\n\
            User - 'ann'\nUser - 'bob'\nParent - 'b'\nUser - 'ann'\nQOS - 'q':MaxTRESPerUser=node=3\nQOS - 'part':MaxJobsPerAccount=2\n";
        let mut state = limits("safe", accounts);
        let mut running: Vec<Demand> = Vec::new();
        for (starts, association, qos, nodes, partition) in steps {
            let job = Demand { user: usize::from(association == 4), partition, ..job(association, qos, nodes) };
            if !starts && !running.is_empty() {
                state.ended(&running.remove(0));
            } else if state.reason(&job).is_none() {
                state.started(&job);
                running.push(job);
            }
            let of = |wanted: &dyn Fn(&Demand) -> bool| running.iter().filter(|job| wanted(job)).copied().collect::<Vec<_>>();
            let sum = |jobs: &[Demand], at: usize| jobs.iter().map(|job| job.tres[at]).sum::<u64>();
            let in_a = of(&|job| job.association != Some(5));
            prop_assert!(sum(&running, 2) <= 12 && sum(&in_a, 0) <= 24 && in_a.len() <= 4 && running.len() - in_a.len() <= 2);
            for user in 0..2 {
                prop_assert!(sum(&of(&|job| job.user == user && job.qos == Some(1)), 2) <= 3);
                // The partition's QOS precedes; jobs that request it count, too.
                let of_part = of(&|job| job.partition == 1 || job.qos == Some(2));
                prop_assert!(of_part.iter().filter(|job| job.association != Some(5)).count() <= 2);
            }
        }
    }
}
