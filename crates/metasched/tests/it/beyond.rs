//! Beyond the paper (§4, "future work").

use crate::common::{POLICIES, Policy, run, run_with};
use crate::generator::Load;
use metasched::config::Forecasts;
use metasched::{Cluster, Config, Demand, Intrusiveness, Ptt, Readings, Submission, Weights};
use sim_core::{Job, JobId, Span, Streams, Time};

#[test]
fn ptt_occ_distinguishes_clusters_that_all_have_local_users() {
    // Cluster 1 runs a modest job. By LT alone both clusters are alike, and the first is not slower for another modest one.
    let job = |id, submit| Submission {
        job: Job::new(JobId(id), Time::from_secs(submit), 1, Span::from_secs(100)),
        demand: Some(Demand::new(0.2, 100 << 10)),
    };
    let clusters = vec![Cluster { nodes: 1, speed: 1.0, memory: 1 << 20 }; 2];
    let config = Config { clusters, task_overhead: 0.0, ..Config::of_the_paper(2) };
    let ptt = || Ptt::new(&config.readings, Weights::Same(0.0));
    let jobs = [job(0, 0), job(1, 1)];
    let (_, (), by_users) = run_with(&config, ptt(), &jobs, ());
    let (_, (), by_occupancy) = run_with(&config, ptt().with_intrusiveness(Intrusiveness::Occupancy), &jobs, ());
    assert_eq!(by_users[1].cluster.0, 0);
    assert_eq!(by_occupancy[1].cluster.0, 1);
}

#[test]
fn a_weight_per_cluster_protects_the_users_of_that_cluster() {
    let config = Config::of_the_paper(2);
    // Few jobs at a time: if all others are full, a job goes to the one that would be spared.
    let jobs = Load { interarrival: 150.0, ..Load::OF_THE_PAPER }.submissions(&Streams::new(3, 0));
    let on_first = |weights| {
        let (_, (), outcomes) = run_with(&config, Ptt::new(&config.readings, weights), &jobs, ());
        outcomes.iter().filter(|outcome| outcome.cluster.0 == 0).count()
    };
    let (alike, first_spared) = (on_first(Weights::Same(0.9)), on_first(Weights::PerCluster(vec![0.0, 0.9, 0.9])));
    assert!(first_spared < alike, "{first_spared} jobs, {alike} if the users of both count alike");
}

#[test]
#[should_panic(expected = "a weight lies between 0 and 1")]
fn a_weight_above_1_is_refused() {
    let _ = Ptt::new(&Readings::default(), Weights::PerCluster(vec![0.5, 1.5]));
}

/// Plain jobs, as in a log: without demands, some without estimates.
#[test]
fn any_stream_of_jobs_can_be_the_parallel_workload() {
    let jobs = (0..200_u32).map(|id| {
        let mut job = Job::new(
            JobId(id),
            Time::from_secs(u64::from(id) * 20),
            1 + id % 7,
            Span::from_secs(100 + u64::from(id % 13) * 50),
        );
        job.request.estimate = (id % 5 != 0).then_some(Span::from_secs(900));
        Submission { job, demand: None }
    });
    let jobs: Vec<Submission> = jobs.collect();
    let mut config = Config::of_the_paper(0);
    config.clusters = vec![
        Cluster { nodes: 8, speed: 1.0, memory: 1 << 20 },
        Cluster { nodes: 4, speed: 2.5, memory: 1 << 21 },
        Cluster { nodes: 32, speed: 0.5, memory: 1 << 19 },
    ];
    for policy in POLICIES {
        assert_eq!(run(&config, policy, &jobs).1.len(), 200);
    }
}

#[test]
fn one_to_ten_thousand_clusters() {
    for clusters in [1, 10_000] {
        let cluster = Cluster { nodes: 5, speed: 1.0, memory: 1 << 20 };
        let mut config = Config { forecasts: Forecasts::AsThePolicyAsks, ..Config::of_the_paper(0) };
        config.clusters = vec![cluster; clusters];
        config.local.clusters = u32::try_from(clusters / 2).expect("few");
        let jobs = Load::OF_THE_PAPER.submissions(&Streams::new(2, 0));
        for policy in POLICIES {
            let (_, outcomes) = run(&config, policy, &jobs);
            assert_eq!(outcomes.len(), 60);
            let used: Vec<u32> = outcomes.iter().map(|outcome| outcome.cluster.0).collect();
            match policy {
                _ if clusters == 1 => {}
                Policy::Rr => assert!(used.is_sorted() && used[59] == 59),
                Policy::Ffit => assert!(used.iter().all(|&cluster| cluster < 60)),
                // The first without users, again and again.
                Policy::Ptt(0.0) => assert!(used.iter().all(|&cluster| (5000..5060).contains(&cluster))),
                // Most demanding applications are slower beside users.
                Policy::Ptt(_) | Policy::Tat => assert!(used.iter().any(|&cluster| cluster >= 5000)),
            }
        }
    }
}

#[test]
fn tat_takes_the_first_of_two_clusters_that_tie_and_not_a_slower_one() {
    let mut config = Config::of_the_paper(0);
    config.clusters[1].speed = 0.9;
    let job = Job::new(JobId(0), Time::ZERO, 2, Span::from_secs(100));
    for (speed, chosen) in [(1.0 - 1e-12, 0), (0.999, 2)] {
        config.clusters[0].speed = speed;
        assert_eq!(run(&config, Policy::Tat, &[Submission { job, demand: None }]).1[0].cluster.0, chosen);
    }
}
