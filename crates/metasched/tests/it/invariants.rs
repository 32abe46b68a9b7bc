//! Invariants of every workload on every platform, under every policy and reading.

use crate::common::{POLICIES, Policy, Transcript, World, world};
use metasched::config::{Forecasts, LocalSlowdown};
use metasched::{Cluster, Config, Demand, Readings, Submission};
use proptest::prelude::*;
use sim_core::{Fact, JobLog, Probe, Sim, Span, Streams, testkit};
use std::collections::BTreeMap;

/// A platform, its workload, and a policy.
#[derive(Clone, Debug)]
struct Case {
    config: Config,
    policy: Policy,
    jobs: Vec<Submission>,
}

impl Case {
    fn world(&self) -> World {
        world(&self.config, self.policy.build(&self.config.readings), &self.jobs, &Streams::new(3, 0))
    }

    fn start<P: Probe>(&self, probe: P) -> Sim<World, P> {
        Sim::new(self.world(), probe)
    }
}

fn of<T: Copy + std::fmt::Debug + 'static>(values: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(values)
}

fn readings() -> impl Strategy<Value = Readings> {
    testkit::answers(Readings::LIST).prop_map(|lines| toml::from_str(&lines).expect("they are answers"))
}

fn case() -> impl Strategy<Value = Case> {
    let cluster = (1..7_u32, of(&[0.5, 1.0, 2.0]), of(&[300, 1000, 2000])).prop_map(|(nodes, speed, memory)| Cluster {
        nodes,
        speed,
        memory,
    });
    let platform = (prop::collection::vec(cluster, 1..4), 0..4_u32, 1..5_u32);
    let demand = (of(&[0.3, 0.7, 0.9, 1.0]), of(&[0, 100, 250, 700]));
    let jobs = (testkit::workload(6), prop::collection::vec(demand, 60));
    (platform, readings(), jobs, of(&POLICIES)).prop_map(|(platform, readings, (jobs, demands), policy)| {
        let (clusters, occupied, mpl) = platform;
        let mut config = Config { clusters, mpl, readings, ..Config::of_the_paper(0) };
        config.local.clusters = occupied.min(u32::try_from(config.clusters.len()).expect("few"));
        // Jobs that outlive their profile: the testkit's estimates are at least the runtime, these are also below.
        let demands = demands.into_iter().map(|(cpu, memory)| Demand::new(cpu, memory));
        let jobs = jobs.into_iter().zip(demands).map(|(mut job, demand)| {
            if job.id.0 % 3 == 0 {
                job.request.estimate = Some(Span::from_secs(1 + u64::from(job.id.0 % 7)));
            }
            Submission { job, demand: Some(demand) }
        });
        Case { jobs: jobs.collect(), config, policy }
    })
}

proptest! {
    #[test]
    fn every_job_ends_exactly_once_or_is_rejected(case in case()) {
        let (world, log) = case.start(JobLog::collecting()).run();
        // A job that started twice, or ended without a start, would have stopped the log.
        prop_assert_eq!(log.counts().submitted, case.jobs.len() as u64);
        prop_assert_eq!(log.counts().finished + log.counts().rejected, case.jobs.len() as u64);
        prop_assert_eq!((log.present(), world.present()), (0, 0));
        prop_assert_eq!(world.outcomes().len() as u64, log.counts().finished);
        for (record, outcome) in log.sink().iter().zip(world.outcomes()) {
            prop_assert_eq!((record.job.id, record.start, record.finish), (outcome.job, outcome.start, outcome.finish));
            prop_assert_eq!((record.site, record.job.submit), (outcome.cluster, outcome.arrival));
            prop_assert!(outcome.arrival <= outcome.dispatched && outcome.dispatched <= outcome.start);
            // No job is faster than alone on its nodes.
            let speed = case.config.clusters[record.site.index()].speed;
            let alone = record.job.runtime.scaled(1.0 / speed);
            prop_assert!(record.finish.since(record.start) + Span::from_nanos(1) >= alone);
        }
    }

    /// Counted from the transcript alone.
    #[test]
    fn mpl_and_memory_are_never_exceeded_and_a_job_has_one_task_per_node(case in case()) {
        let first_of = |cluster: usize| case.config.clusters[..cluster].iter().map(|cluster| cluster.nodes).sum::<u32>();
        let (world, told) = case.start(Vec::new()).run();
        let (mut jobs, mut nodes) = (BTreeMap::new(), BTreeMap::<_, Vec<_>>::new());
        let mut places = BTreeMap::<_, u32>::new();
        for (at, fact) in told {
            match fact {
                Fact::Started { job, site, processors } => {
                    prop_assert_eq!(jobs.insert(job, (site, processors)), None);
                }
                Fact::Seized { job, processor } => {
                    let (site, _) = jobs[&job];
                    let node = processor.0 - first_of(site.index());
                    prop_assert!(node < case.config.clusters[site.index()].nodes);
                    *places.entry(job).or_default() += 1;
                    let here = nodes.entry(processor).or_default();
                    prop_assert!(!here.contains(&job));
                    here.push(job);
                    let users = world.clusters()[site.index()].has_users(node);
                    let mpl = if users { case.config.mpl.min(case.config.readings.mpl_beside_users) } else { case.config.mpl };
                    prop_assert!(here.len() <= mpl as usize, "{} tasks on {} at {}", here.len(), processor, at);
                    let memory = case.config.clusters[site.index()].memory;
                    let of_users = if users { memory * 35 / 100 } else { 0 };
                    let of_task = |job: &sim_core::JobId| case.jobs[job.index()].demand.expect("given").memory();
                    prop_assert!(here.iter().map(of_task).sum::<u64>() + of_users <= memory);
                }
                Fact::Released { job, processor } => {
                    let here = nodes.get_mut(&processor).expect("it was seized");
                    here.retain(|other| *other != job);
                    *places.get_mut(&job).expect("it was seized") -= 1;
                }
                Fact::Finished { job } => prop_assert_eq!(places[&job], 0),
                _ => {}
            }
        }
    }

    #[test]
    fn a_fork_continues_like_its_original(case in case(), steps in 0..200_u32) {
        let mut original = case.start(());
        for _ in 0..steps {
            original.step();
        }
        let branch = original.fork(Transcript::new());
        let mut rest = original.fork(Transcript::new());
        while rest.step() {}
        prop_assert_eq!(branch.run().1, rest.into_parts().1);
    }

    #[test]
    fn the_same_seed_gives_the_same_run_and_a_probe_changes_nothing(case in case()) {
        let (silent, ()) = case.start(()).run();
        let (heard, transcript) = case.start(Transcript::new()).run();
        prop_assert_eq!(silent.outcomes(), heard.outcomes());
        prop_assert_eq!(transcript, case.start(Transcript::new()).run().1);
    }

    /// Forecasts change only the recorded predictions.
    #[test]
    fn forecasts_change_nothing(mut case in case()) {
        let (with, ()) = case.start(()).run();
        case.config.forecasts = Forecasts::AsThePolicyAsks;
        let (without, ()) = case.start(()).run();
        let ends = |world: &World| -> Vec<_> {
            world.outcomes().iter().map(|outcome| (outcome.job, outcome.cluster, outcome.finish)).collect()
        };
        prop_assert_eq!(ends(&with), ends(&without));
    }

    /// Under every policy: CPU time is demand times work, on the occupied nodes.
    #[test]
    fn local_users_bear_the_cpu_time_of_the_jobs_on_their_nodes(mut case in case()) {
        case.config.readings.local_slowdown = LocalSlowdown::CpuUsed;
        let (world, ()) = case.start(()).run();
        let mut expected = 0.0;
        for outcome in world.outcomes() {
            let Submission { job, demand } = case.jobs[outcome.job.index()];
            let cluster = &world.clusters()[outcome.cluster.index()];
            if cluster.has_users(0) {
                let tasks = f64::from(job.request.processors);
                expected += demand.expect("given").cpu() * job.runtime.as_secs_f64() * tasks / cluster.speed();
            }
        }
        let (found, _) = world.disturbance().unwrap_or_default();
        prop_assert!((found - expected).abs() <= 1e-9 * expected, "{found} and not {expected}");
    }
}
