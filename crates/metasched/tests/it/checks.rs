//! "Checks for any correct implementation" of the specification, in its order. The checks that each job ends once and that limits
//! are kept are in `invariants`, for arbitrary worlds.

use crate::common::{POLICIES, Policy, presets, run};
use crate::generator::Load;
use metasched::config::{NoCandidate, Ties};
use metasched::{Config, Demand, Outcome, Readings, Submission};
use sim_core::{Job, JobId, Span, Streams, Time};

const REPLICATIONS: std::ops::Range<u32> = 0..10;

fn jobs(replication: u32) -> Vec<Submission> {
    Load::OF_THE_PAPER.submissions(&Streams::new(5, replication))
}

fn ends(config: &Config, policy: Policy, jobs: &[Submission]) -> Vec<Time> {
    run(config, policy, jobs).1.iter().map(|outcome| outcome.finish).collect()
}

/// Checks that two policies end each job at the same instant, in every replication.
fn check_equal(config: &Config, one: Policy, other: Policy) {
    for replication in REPLICATIONS {
        let jobs = jobs(replication);
        assert_eq!(ends(config, one, &jobs), ends(config, other, &jobs), "{one:?} and {other:?}, {replication}");
    }
}

#[test]
fn with_mpl_1_no_noise_and_no_local_users_the_prediction_is_exact_for_every_policy() {
    for no_candidate in [NoCandidate::Hold, NoCandidate::Dispatch] {
        for replication in REPLICATIONS {
            let mut config = Config { mpl: 1, ..Config::of_the_paper(0) };
            config.readings.no_candidate = no_candidate;
            config.clusters[1].speed = 0.7;
            let jobs = Load { sigma: 0.0, ..Load::OF_THE_PAPER }.submissions(&Streams::new(5, replication));
            let mut queued = 0;
            for policy in POLICIES {
                for outcome in run(&config, policy, &jobs).1 {
                    assert_eq!(outcome.predicted, Some(outcome.since_dispatch()), "{policy:?}: {outcome:?}");
                    queued += u32::from(outcome.was_queued());
                }
            }
            assert!(queued > 50, "{queued} jobs waited in a LoRaS queue");
        }
    }
}

#[test]
fn tat_and_ptt_with_w_1_end_each_job_at_the_same_instant_at_every_level() {
    for level in 0..=3 {
        check_equal(&Config::of_the_paper(level), Policy::Tat, Policy::Ptt(1.0));
        let mut config = Config::of_the_paper(level);
        config.readings.no_candidate = NoCandidate::Dispatch;
        check_equal(&config, Policy::Tat, Policy::Ptt(1.0));
    }
}

#[test]
fn ptt_is_tat_for_every_w_above_0_without_local_users() {
    for weight in [0.01, 0.1, 0.5, 0.9] {
        check_equal(&Config::of_the_paper(0), Policy::Tat, Policy::Ptt(weight));
    }
}

#[test]
fn ptt_is_tat_for_every_w_where_all_clusters_are_occupied() {
    for weight in [0.0, 0.1, 0.5, 0.9] {
        check_equal(&Config::of_the_paper(3), Policy::Tat, Policy::Ptt(weight));
    }
}

#[test]
fn under_reading_b_ptt_with_w_1_is_not_tat() {
    let config = Config { readings: Readings::reading_b(), ..Config::of_the_paper(1) };
    assert_ne!(ends(&config, Policy::Tat, &jobs(0)), ends(&config, Policy::Ptt(1.0), &jobs(0)));
}

#[test]
fn a_lone_jobs_turnaround_is_its_prediction_is_its_profile() {
    for readings in presets() {
        for policy in POLICIES {
            let config = Config { readings, ..Config::of_the_paper(0) };
            let job = Job::new(JobId(0), Time::from_secs(3), 4, Span::from_secs(240));
            let job = Submission { job, demand: Some(Demand::new(0.7, 120 * 1024)) };
            let (_, outcomes) = run(&config, policy, &[job]);
            assert_eq!(outcomes[0].predicted, Some(Span::from_secs(240)));
            assert_eq!(outcomes[0].turnaround(), Span::from_secs(240));
        }
    }
}

#[test]
fn ptt_with_w_0_is_ffit_without_local_users_where_jobs_are_dispatched_at_once() {
    let mut config = Config::of_the_paper(0);
    config.readings.no_candidate = NoCandidate::Dispatch;
    check_equal(&config, Policy::Ffit, Policy::Ptt(0.0));
    // All are tied at 0, so R6 decides.
    config.readings.ties = Ties::SmallestTr;
    check_equal(&config, Policy::Tat, Policy::Ptt(0.0));
}

#[test]
fn where_all_clusters_are_occupied_every_policy_slows_local_users_down_alike() {
    for replication in REPLICATIONS {
        let jobs = jobs(replication);
        let config = Config::of_the_paper(3);
        let worlds = POLICIES.map(|policy| run(&config, policy, &jobs).0);
        let window = worlds.iter().map(|world| world.makespan()).max().expect("six worlds").as_secs_f64();
        let slowdowns = worlds.map(|world| 1.0 + world.disturbance().expect("there are local users").0 / 15.0 / window);
        // The same CPU time over the same window: exactly equal.
        assert!(slowdowns.iter().all(|slowdown| slowdown.to_bits() == slowdowns[0].to_bits()), "{slowdowns:?}");
        assert!(slowdowns[0] > 1.2);
    }
}

#[test]
fn start_order_is_arrival_order_within_one_loras_queue() {
    for readings in presets() {
        for policy in POLICIES {
            let config = Config { readings, ..Config::of_the_paper(1) };
            let (_, outcomes) = run(&config, policy, &jobs(0));
            for cluster in 0..3 {
                let here: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.cluster.0 == cluster).collect();
                assert!(here.is_sorted_by_key(|outcome| outcome.arrival));
                assert!(here.is_sorted_by_key(|outcome| outcome.start), "{policy:?} on cluster {cluster}");
            }
        }
    }
}
