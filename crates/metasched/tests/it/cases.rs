//! Cases small enough to check by hand.

use crate::common::{Policy, Transcript, run, run_with};
use metasched::config::{Candidates, Cycle, EnoughResources, LocalSlowdown, NodeChoice, UsersAt};
use metasched::{Cluster, Config, Demand, Outcome, Submission};
use sim_core::{Fact, Job, JobId, Span, Streams, Time};

const MIB: u64 = 1024;

/// A job that runs as long as it was measured to run.
fn job(id: u32, submit: u64, tasks: u32, secs: u64, cpu: f64) -> Submission {
    let job = Job::new(JobId(id), Time::from_secs(submit), tasks, Span::from_secs(secs));
    Submission { job, demand: Some(Demand::new(cpu, 100 * MIB)) }
}

/// `clusters` of `nodes` nodes, users in the first `occupied`.
fn config(clusters: usize, nodes: u32, occupied: u32) -> Config {
    let clusters = vec![Cluster { nodes, speed: 1.0, memory: 1024 * MIB }; clusters];
    Config { clusters, ..Config::of_the_paper(occupied) }
}

fn secs(outcome: &Outcome) -> (f64, f64) {
    (outcome.start.as_secs_f64(), outcome.finish.as_secs_f64())
}

fn clusters(outcomes: &[Outcome]) -> Vec<u32> {
    outcomes.iter().map(|outcome| outcome.cluster.0).collect()
}

#[test]
fn two_tasks_on_a_node_share_its_cpu_and_pay_for_each_other() {
    // Both require 80 %, get 50 % each, at 1 / 1.05: 100 s of work take 168 s.
    let (_, outcomes) = run(&config(1, 1, 0), Policy::Tat, &[job(0, 0, 1, 100, 0.8), job(1, 0, 1, 100, 0.8)]);
    let expected = 100.0 * (0.8 / 0.5) * 1.05;
    assert!(outcomes.iter().all(|outcome| (secs(outcome).1 - expected).abs() < 1e-6), "{outcomes:?}");
    // The prediction of the first does not include the second; that of the second includes both.
    assert_eq!(outcomes[0].predicted, Some(Span::from_secs(100)));
    assert_eq!(outcomes[1].predicted, Some(outcomes[1].since_dispatch()));
}

#[test]
fn a_modest_task_is_slowed_by_switching_alone() {
    // 30 % and 90 %: the modest one gets its 30 %, the other 70 %.
    let (_, outcomes) = run(&config(1, 1, 0), Policy::Ffit, &[job(0, 0, 1, 100, 0.3), job(1, 0, 1, 1000, 0.9)]);
    assert!((secs(&outcomes[0]).1 - 105.0).abs() < 1e-6);
    // 105 s at 7/9 · 1/1.05, the rest alone.
    let expected = 105.0 + (1000.0 - 105.0 * (7.0 / 9.0) / 1.05);
    assert!((secs(&outcomes[1]).1 - expected).abs() < 1e-6, "{} and not {expected}", secs(&outcomes[1]).1);
}

#[test]
fn a_job_advances_at_the_rate_of_its_slowest_task() {
    // Two nodes. The second job shares the first node with the first job and has the other for itself.
    let (_, outcomes) = run(&config(1, 2, 0), Policy::Ffit, &[job(0, 0, 1, 1000, 0.8), job(1, 0, 2, 100, 0.8)]);
    assert!((secs(&outcomes[1]).1 - 168.0).abs() < 1e-6);
}

#[test]
fn local_users_take_their_share() {
    // 15 % for the user, 85 % for a task that requires all of it.
    let (world, outcomes) = run(&config(1, 1, 1), Policy::Ffit, &[job(0, 0, 1, 85, 1.0)]);
    assert!((secs(&outcomes[0]).1 - 100.0).abs() < 1e-6);
    // Eq. (3) under R10: 1 + CPU used, over a window twice as long as the run.
    assert!((1.0 + world.disturbance().expect("a user").0 / 200.0 - 1.425).abs() < 1e-6);
}

#[test]
fn the_slowdown_of_local_users_by_each_reading() {
    for (reading, expected) in [
        (LocalSlowdown::CpuUsed, 1.0 + 0.5 * 0.6),
        (LocalSlowdown::Queueing, 1.0 + 0.5 * (1.0 / (1.0 - 0.5 * 0.6) - 1.0)),
        (LocalSlowdown::PerTask, 1.0 + 0.5),
    ] {
        // One of two nodes is used, at 60 %, for the whole run.
        let mut config = config(1, 2, 1);
        config.readings.local_slowdown = reading;
        let (world, _) = run(&config, Policy::Ffit, &[job(0, 0, 1, 100, 0.6)]);
        let (seconds, nodes) = world.disturbance().expect("two users");
        let slowdown = 1.0 + seconds / f64::from(nodes) / world.makespan().as_secs_f64();
        assert!((slowdown - expected).abs() < 1e-9, "{reading:?}: {slowdown} and not {expected}");
    }
    let (world, _) = run(&config(1, 2, 0), Policy::Ffit, &[job(0, 0, 1, 100, 0.6)]);
    assert_eq!(world.disturbance(), None);
}

#[test]
fn mpl_is_4_and_2_beside_local_users() {
    let jobs: Vec<_> = (0..6).map(|id| job(id, 0, 1, 100, 0.2)).collect();
    for (occupied, at_once) in [(0, 4), (1, 2)] {
        let (_, outcomes) = run(&config(1, 1, occupied), Policy::Ffit, &jobs);
        assert_eq!(outcomes.iter().filter(|outcome| !outcome.was_queued()).count(), at_once);
    }
}

#[test]
fn memory_is_a_hard_limit() {
    // 1024 MiB, of which users hold 35 %: ten tasks of 100 MiB, or six; MPL has no effect here.
    let jobs: Vec<_> = (0..12).map(|id| job(id, 0, 1, 100, 0.01)).collect();
    for (occupied, at_once) in [(0, 10), (1, 6)] {
        let mut config = Config { mpl: 50, ..config(1, 1, occupied) };
        config.readings.mpl_beside_users = 50;
        let (_, outcomes) = run(&config, Policy::Ffit, &jobs);
        assert_eq!(outcomes.iter().filter(|outcome| !outcome.was_queued()).count(), at_once);
    }
}

#[test]
fn loras_takes_the_nodes_of_least_cpu_demand() {
    let jobs = [job(0, 0, 1, 500, 0.6), job(1, 1, 1, 500, 0.3), job(2, 2, 2, 500, 0.2), job(3, 3, 1, 500, 0.1)];
    let nodes = |choice| {
        let mut config = config(1, 3, 0);
        config.readings.node_choice = choice;
        let (_, told, _) = run_with(&config, Policy::Ffit.build(&config.readings), &jobs, Transcript::new());
        let seized = told.into_iter().filter_map(|(_, fact)| match fact {
            Fact::Seized { job, processor } => Some((job.0, processor.0)),
            _ => None,
        });
        seized.collect::<Vec<_>>()
    };
    assert_eq!(nodes(NodeChoice::LeastDemand), [(0, 0), (1, 1), (2, 2), (2, 1), (3, 2)]);
    assert_eq!(nodes(NodeChoice::FirstFit), [(0, 0), (1, 0), (2, 0), (2, 1), (3, 0)]);
}

#[test]
fn a_job_that_fits_nowhere_even_when_empty_is_rejected() {
    let wide = job(0, 0, 3, 10, 0.5);
    let heavy = Submission { demand: Some(Demand::new(0.5, 2000 * MIB)), ..job(1, 0, 1, 10, 0.5) };
    let fits = job(2, 0, 2, 10, 0.5);
    let (config, policy) = (config(2, 2, 0), Policy::Tat.build(&Default::default()));
    let (_, told, outcomes) = run_with(&config, policy, &[wide, heavy, fits], Transcript::new());
    let rejected = told.iter().filter(|(_, fact)| matches!(fact, Fact::Rejected { .. })).count();
    assert_eq!((rejected, outcomes.len()), (2, 1));
}

#[test]
fn ffit_takes_the_first_cluster_with_room_and_else_the_queue_of_the_first() {
    let jobs: Vec<_> = (0..4).map(|id| job(id, u64::from(id), 1, 100, 1.0)).collect();
    let mut config = Config { mpl: 1, ..config(2, 1, 0) };
    assert_eq!(clusters(&run(&config, Policy::Ffit, &jobs).1), [0, 1, 0, 0]);
    config.readings.enough_resources = EnoughResources::StaticFit;
    assert_eq!(clusters(&run(&config, Policy::Ffit, &jobs).1), [0, 0, 0, 0]);
}

#[test]
fn rr_takes_clusters_in_turn_whatever_their_state() {
    let jobs: Vec<_> = (0..4).map(|id| job(id, u64::from(id), 1, if id == 0 { 2 } else { 100 }, 1.0)).collect();
    let mut config = Config { mpl: 1, ..config(3, 1, 0) };
    assert_eq!(clusters(&run(&config, Policy::Rr, &jobs).1), [0, 1, 2, 0]);
    // Cluster 1 has been free again since 2 s; the others are busy.
    config.readings.cycle = Cycle::SkipBusy;
    let jobs = [job(0, 0, 1, 100, 1.0), job(1, 1, 1, 2, 1.0), job(2, 2, 1, 100, 1.0), job(3, 5, 1, 100, 1.0)];
    assert_eq!(clusters(&run(&config, Policy::Rr, &jobs).1), [0, 1, 2, 1]);
}

#[test]
fn tat_holds_a_job_that_can_start_nowhere_and_sends_it_to_the_first_cluster_with_room() {
    let jobs = [job(0, 0, 1, 100, 1.0), job(1, 0, 1, 50, 1.0), job(2, 1, 1, 10, 1.0), job(3, 2, 1, 10, 1.0)];
    let mut config = Config { mpl: 1, ..config(2, 1, 0) };
    let (_, outcomes) = run(&config, Policy::Tat, &jobs);
    assert_eq!(clusters(&outcomes), [0, 1, 1, 1]);
    assert_eq!(outcomes[2].dispatched, Time::from_secs(50));
    assert!(outcomes.iter().all(|outcome| !outcome.was_queued()));
    // Candidates by static fit: it joins the queue at once, with its wait in the prediction.
    config.readings.candidates = Candidates::StaticFit;
    let (_, outcomes) = run(&config, Policy::Tat, &jobs);
    assert_eq!(outcomes[2].dispatched, Time::from_secs(1));
    assert_eq!((outcomes[2].was_queued(), outcomes[2].predicted), (true, Some(Span::from_secs(59))));
}

#[test]
fn ptt_weighs_turnaround_against_local_users() {
    // Alone beside a user in cluster 1, or with the other job in cluster 2: TR is 100 or 105 s.
    let jobs = [job(0, 0, 1, 1000, 0.4), job(1, 1, 1, 100, 0.4)];
    let config = config(2, 1, 1);
    assert_eq!(clusters(&run(&config, Policy::Ptt(1.0), &jobs).1), [0, 1]);
    assert_eq!(clusters(&run(&config, Policy::Ptt(0.0), &jobs).1), [1, 1]);
    // Cluster 2 first. Then 100 (0.95 · 100/105 + 0.05) = 95.5 beside the user, 105 · 0.95 = 99.75 beside the job.
    assert_eq!(clusters(&run(&config, Policy::Ptt(0.95), &jobs).1), [1, 0]);
    // Half and half: 97.6 beside the user, 52.5 beside the job.
    assert_eq!(clusters(&run(&config, Policy::Ptt(0.5), &jobs).1), [1, 1]);
}

#[test]
fn a_job_that_outlives_its_profile_is_believed_to_end_soon() {
    // Profile 100 s, true run time 300 s. At 200 s it is believed to have 2 s left, and the next job waits for it: MPL is 1.
    let mut config = Config { mpl: 1, ..config(1, 1, 0) };
    config.readings.candidates = Candidates::StaticFit;
    let mut long = job(0, 0, 1, 300, 1.0);
    long.job.request.estimate = Some(Span::from_secs(100));
    let (_, outcomes) = run(&config, Policy::Tat, &[long, job(1, 40, 1, 10, 1.0), job(2, 200, 1, 10, 1.0)]);
    assert_eq!(outcomes[1].predicted, Some(Span::from_secs(60 + 10)));
    assert_eq!(outcomes[2].predicted, Some(Span::from_secs(2 + 10 + 10)));
    assert_eq!(outcomes[2].finish, Time::from_secs(320));
}

#[test]
fn hidden_loss_slows_real_tasks_beside_users_and_no_prediction() {
    let mut config = config(1, 1, 1);
    config.readings.hidden_loss = 0.15;
    let (_, outcomes) = run(&config, Policy::Ptt(0.5), &[job(0, 0, 1, 85, 0.5)]);
    assert_eq!(outcomes[0].predicted, Some(Span::from_secs(85)));
    assert!((secs(&outcomes[0]).1 - 100.0).abs() < 1e-6);
}

#[test]
fn local_users_sit_where_reading_r1_says() {
    let occupied = |users_at, replication| {
        let mut config = config(5, 1, 2);
        config.readings.users_at = users_at;
        let policy = Policy::Tat.build(&config.readings);
        let world = crate::common::world(&config, policy, &[], &Streams::new(1, replication));
        let has_users = |(i, cluster): (usize, &metasched::Loras)| cluster.has_users(0).then_some(i);
        world.clusters().iter().enumerate().filter_map(has_users).collect::<Vec<_>>()
    };
    assert_eq!(occupied(UsersAt::FirstClusters, 0), [0, 1]);
    assert_eq!(occupied(UsersAt::LastClusters, 0), [3, 4]);
    let drawn: Vec<_> = (0..20).map(|replication| occupied(UsersAt::Random, replication)).collect();
    assert!(drawn.iter().all(|clusters| clusters.len() == 2));
    assert!(drawn.iter().any(|clusters| *clusters != drawn[0]));
}

#[test]
fn local_users_sit_in_the_clusters_that_are_named() {
    let mut config = Config { occupied: Some(vec![3, 1]), ..config(5, 1, 2) };
    let (world, _) = run(&config, Policy::Tat, &[]);
    let occupied: Vec<bool> = world.clusters().iter().map(|cluster| cluster.has_users(0)).collect();
    assert_eq!(occupied, [false, true, false, true, false]);
    for nonsense in [vec![5], vec![1, 1]] {
        config.occupied = Some(nonsense);
        let refused = config.validate().expect_err("no such cluster").to_string();
        assert!(refused.contains("no position among 5 clusters"), "{refused}");
    }
}

#[test]
fn a_slow_cluster_takes_longer_and_tat_knows() {
    let mut config = config(2, 1, 0);
    config.clusters[0].speed = 0.5;
    let (_, outcomes) = run(&config, Policy::Tat, &[job(0, 0, 1, 100, 0.5)]);
    assert_eq!((outcomes[0].cluster.0, outcomes[0].finish), (1, Time::from_secs(100)));
    let (_, outcomes) = run(&config, Policy::Ffit, &[job(0, 0, 1, 100, 0.5)]);
    assert_eq!((outcomes[0].cluster.0, outcomes[0].finish), (0, Time::from_secs(200)));
}
