//! The world against its slow twin: the same clusters, starts, ends and predictions, to the nanosecond.

use crate::common::{POLICIES, presets, run};
use crate::generator::Load;
use crate::obvious;
use metasched::{Cluster, Config, Submission};
use sim_core::Streams;

fn check(config: &Config, jobs: &[Submission], name: &str) {
    for policy in POLICIES {
        let twins = obvious::run(config, policy, jobs);
        for outcome in run(config, policy, jobs).1 {
            let this = obvious::End {
                cluster: outcome.cluster.index(),
                dispatched: outcome.dispatched.as_nanos(),
                start: outcome.start.as_nanos(),
                finish: outcome.finish.as_nanos(),
                predicted: outcome.predicted.expect("every job has a forecast").as_nanos(),
            };
            assert_eq!(this, twins[outcome.job.index()], "{name}: {policy:?}, job {}", outcome.job);
        }
    }
}

#[test]
fn the_papers_platform_at_every_level_under_both_presets() {
    for readings in presets() {
        for level in 0..=3 {
            for replication in 0..3 {
                let config = Config { readings, ..Config::of_the_paper(level) };
                let jobs = Load::OF_THE_PAPER.submissions(&Streams::new(11, replication));
                check(&config, &jobs, &format!("level {level}, replication {replication}"));
            }
        }
    }
}

#[test]
fn unequal_clusters() {
    for readings in presets() {
        for replication in 0..3 {
            let cluster = |nodes, speed, memory| Cluster { nodes, speed, memory };
            let clusters = vec![cluster(12, 0.8, 512 << 10), cluster(4, 1.3, 2048 << 10), cluster(20, 1.0, 700 << 10)];
            let config = Config { clusters, readings, ..Config::of_the_paper(2) };
            for interarrival in [10.0, 20.0, 40.0] {
                let load = Load { copies: 8, interarrival, sigma: 0.3 };
                check(&config, &load.submissions(&Streams::new(12, replication)), &format!("every {interarrival} s"));
            }
        }
    }
}
