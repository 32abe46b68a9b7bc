//! Policies of metasched by name, and a log under one of them.

use super::clusters;
use super::name::{Chosen, Registry};
use super::watch::{Log, Outcome, Watch};
use super::world::{Entry, Named, Opened, Wanted, World};
use crate::options::words;
use anyhow::{Context, Result};
use metasched::{Config, Ffit, Intrusiveness, MetaLoras, Ptt, Readings, Rr, SelectCluster, Submission, Tat, Weights};
use sim_core::Streams;

/// Builds a policy, with W.
type Build = fn(&Readings, f64) -> Box<dyn SelectCluster>;

pub(super) const POLICIES: Registry<Build> = Registry {
    policies: &[
        ("ffit", "the first cluster where the job can start now", |readings, _| Box::new(Ffit::new(readings))),
        ("rr", "each cluster in turn", |readings, _| Box::new(Rr::new(readings))),
        ("tat", "the cluster of the smallest predicted turnaround", |readings, _| Box::new(Tat::new(readings))),
        (
            "ptt+w=W",
            "the same, weighed against local users: W = 1 counts turnaround alone, W = 0 users",
            |readings, weight| Box::new(Ptt::new(readings, Weights::Same(weight))),
        ),
        (
            "ptt-occ+w=W",
            "the same, with the CPU and memory in use on its nodes in place of the users",
            |readings, weight| {
                let policy = Ptt::new(readings, Weights::Same(weight));
                Box::new(policy.with_intrusiveness(Intrusiveness::Occupancy))
            },
        ),
    ],
    key: "w",
    expected: "a weight from 0 to 1, as in ptt+w=0.5",
    suits: |weight| (0.0..=1.0).contains(weight),
};

/// Sum of the errors of predictions, in order of completion.
#[derive(Copy, Clone, Default)]
struct PredictionErrors {
    sum: f64,
    count: f64,
}

impl Extend<metasched::Outcome> for PredictionErrors {
    fn extend<I: IntoIterator<Item = metasched::Outcome>>(&mut self, outcomes: I) {
        for error in outcomes.into_iter().filter_map(|outcome| outcome.prediction_error()) {
            self.sum += error;
            self.count += 1.0;
        }
    }
}

/// Time-shared clusters with local users, under a metascheduler that predicts.
struct Metasched {
    policies: Vec<Chosen<Build>>,
    config: Config,
}

pub(super) const ENTRY: Entry = Entry {
    model: "metasched",
    profile: "clean",
    place: "--clusters FILE",
    policies: || POLICIES.names(),
    normal: |text| Some(POLICIES.find(text)?.ok()?.to_string()),
    open,
};

fn open(wanted: &Wanted<'_>) -> Result<Opened> {
    let policies = wanted.policies(|text| POLICIES.find(text))?;
    let path = wanted.options.clusters.as_deref();
    let path = path.context("--model metasched needs --clusters FILE; see --help for what the file holds")?;
    let (config, sites) = clusters::open(path)?;
    let named = policies.iter().map(Named::of).collect();
    let note = "Tasks share nodes: a processor here is room for one task, as many on a node as its MPL allows. Local slowdown \
                is averaged over the longest makespan of the policies.";
    let place = words("clusters", Some(path.display()));
    Ok(Opened {
        arguments: format!(" --model metasched{place}{}", words("estimates", Some(wanted.log.estimates))),
        notes: vec![note.to_owned()],
        ..wanted.opened(sites, named, Metasched { policies, config })
    })
}

impl World for Metasched {
    fn replay(&self, at: &Opened, policy: usize, watch: Watch) -> Result<Outcome> {
        let log = Log::open(&at.log, &at.sites)?;
        let arrivals = log.jobs(watch.known(), |one| Submission { job: one.job, demand: None });
        let (Chosen { build, number, .. }, config) = (&self.policies[policy], self.config.clone());
        let at_work = build(&config.readings, *number);
        let model =
            MetaLoras::new(config, at_work, arrivals, PredictionErrors::default(), &Streams::new(at.log.seed(), 0))?;
        let (world, watch) = at.run(policy, model, watch)?;
        let PredictionErrors { sum, count } = *world.outcomes();
        let makespan = world.makespan();
        let disturbance = world.disturbance().map(|(seconds, nodes)| {
            // By way of the slowdown over the policy's own makespan, as results on record were rounded.
            let node_time = u128::from(nodes) * u128::from(makespan.as_nanos());
            ((1.0 + seconds / (node_time as f64 / 1e9)) - 1.0) * makespan.as_secs_f64()
        });
        let disturbed = Some((makespan.as_secs_f64(), disturbance));
        drop(world); // it borrows the log
        let mut outcome = watch.finish(log.finish()?);
        outcome.totals.count("prediction_error_percent", (count > 0.0).then(|| 100.0 * sum / count));
        outcome.disturbed = disturbed;
        Ok(outcome)
    }

    /// Adds the slowdown of local users over the longest makespan of the policies, one window for all.
    fn compare(&self, outcomes: &mut [Outcome]) {
        let window =
            outcomes.iter().filter_map(|outcome| outcome.disturbed).map(|(makespan, _)| makespan).fold(0.0, f64::max);
        for outcome in outcomes {
            let disturbance = outcome.disturbed.and_then(|(_, disturbance)| disturbance).filter(|_| window > 0.0);
            outcome.totals.count("local_slowdown", disturbance.map(|disturbance| 1.0 + disturbance / window));
        }
    }
}
