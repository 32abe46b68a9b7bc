//! Policies of metasched by name, and a log under one of them.

use super::clusters::Clusters;
use super::log::Log;
use super::name::{Base, Chosen, Number};
use super::watch::{Known, RunRequest, Watch};
use super::world::{Entry, Named, Opened, Outcome, Wanted, World};
use crate::explain::history::{Explanation, SharedHeard, heard};
use crate::options::words;
use anyhow::{Context, Result};
use metasched::{
    Choice, Ffit, Intrusiveness, MetaLoras, OutcomeSink, Prediction, Ptt, Readings, Rr, SelectCluster, Submission, Tat,
    View, Weights,
};
use serde_json::{Value, json};
use sim_core::{Fact, Probe, SiteId, Streams, Time};
use std::rc::Rc;

/// Builds a policy, with W.
type Build = fn(&Readings, f64) -> Box<dyn SelectCluster>;

const W: Number =
    Number { key: "w", about: "a weight from 0 to 1", example: "0.5", suits: |weight| (0.0..=1.0).contains(weight) };

/// The policies.
pub(super) static POLICIES: [Base<Build>; 5] = [
    Base {
        name: "ffit",
        about: "the first cluster where the job can start now",
        number: None,
        build: |readings, _| Box::new(Ffit::new(readings)),
    },
    Base { name: "rr", about: "each cluster in turn", number: None, build: |readings, _| Box::new(Rr::new(readings)) },
    Base {
        name: "tat",
        about: "the cluster of the smallest predicted turnaround",
        number: None,
        build: |readings, _| Box::new(Tat::new(readings)),
    },
    Base {
        name: "ptt+w=W",
        about: "the same, weighed against local users: W = 1 counts turnaround alone, W = 0 users",
        number: Some(&W),
        build: |readings, weight| Box::new(Ptt::new(readings, Weights::Same(weight))),
    },
    Base {
        name: "ptt-occ+w=W",
        about: "the same, with the CPU and memory in use on its nodes in place of the users",
        number: Some(&W),
        build: |readings, weight| {
            let policy = Ptt::new(readings, Weights::Same(weight));
            Box::new(policy.with_intrusiveness(Intrusiveness::Occupancy))
        },
    },
];

/// Sum of the errors of predictions, in order of completion.
#[derive(Default)]
struct Errors {
    sum: f64,
    count: f64,
}

impl OutcomeSink for Errors {
    fn record(&mut self, outcome: &metasched::Outcome) {
        if let Some(error) = outcome.prediction_error() {
            self.sum += error;
            self.count += 1.0;
        }
    }
}

/// Time-shared clusters with local users, under a metascheduler that predicts.
struct Metasched {
    policies: Vec<Chosen<Build>>,
    clusters: Clusters,
}

pub(super) const ENTRY: Entry = Entry {
    model: "metasched",
    profile: "clean",
    place: "--clusters FILE",
    policies: || Base::names(&POLICIES),
    normal: |text| Some(Base::find(&POLICIES, text)?.ok()?.to_string()),
    open,
};

fn open(wanted: &Wanted<'_>) -> Result<Opened> {
    let policies = wanted.policies(|text| Base::find(&POLICIES, text))?;
    let path = wanted.options.clusters.as_deref();
    let path = path.context("--model metasched needs --clusters FILE; see --help for what the file holds")?;
    let clusters = Clusters::open(path)?;
    let named = policies.iter().map(Named::of).collect();
    let note = "Tasks share nodes: a processor here is room for one task, as many on a node as its MPL allows. Local slowdown \
                is averaged over the longest makespan of the policies.";
    let place = words("clusters", Some(path.display()));
    Ok(Opened {
        arguments: format!(" --model metasched{place}{}", words("estimates", Some(wanted.log.estimates))),
        notes: vec![note.to_owned()],
        ..wanted.opened(clusters.sites(), named, Metasched { policies, clusters })
    })
}

impl Metasched {
    fn policy(&self, policy: usize) -> Box<dyn SelectCluster> {
        let Chosen { base, number } = &self.policies[policy];
        (base.build)(&self.clusters.config.readings, *number)
    }

    fn model<P: SelectCluster, A: Iterator<Item = Submission>>(
        &self,
        at: &Opened,
        policy: P,
        arrivals: A,
    ) -> Result<MetaLoras<P, A, Errors>> {
        let streams = Streams::new(at.log.seed(), 0);
        Ok(MetaLoras::new(self.clusters.config.clone(), policy, arrivals, Errors::default(), &streams)?)
    }
}

impl World for Metasched {
    fn replay(&self, at: &Opened, policy: usize, asked: RunRequest<'_>) -> Result<Outcome> {
        let log = Log::open(&at.log, &at.sites)?;
        let watch = Watch::new(asked, &at.sites);
        let arrivals = log.jobs(watch.known(), |one| Submission { job: one.job, demand: None });
        let model = self.model(at, self.policy(policy), arrivals)?;
        let (world, watch) = at.run(policy, &|| true, model, watch)?;
        let makespan = world.makespan();
        let slowdown = world.local_slowdown(makespan);
        let Errors { sum, count } = world.into_outcomes();
        let mut outcome = Outcome::new(watch.finish(), log.finish()?);
        outcome.count("prediction_error_percent", (count > 0.0).then(|| 100.0 * sum / count));
        let makespan = makespan.as_secs_f64();
        outcome.disturbed = Some((makespan, slowdown.map(|slowdown| (slowdown - 1.0) * makespan)));
        Ok(outcome)
    }

    fn explain(&self, at: &Opened, policy: usize, jobs: &[u64]) -> Result<Vec<Explanation>> {
        let (log, heard, names) = (Log::open(&at.log, &at.sites)?, heard(jobs), at.sites.names());
        let arrivals = log.jobs(Known::default(), |one| {
            heard.borrow_mut().comes(one);
            Submission { job: one.job, demand: None }
        });
        let recording = Recording { policy: self.policy(policy), heard: Rc::clone(&heard), names: names.clone() };
        let (model, events) =
            (self.model(at, recording, arrivals)?, MetaschedEvents { heard: Rc::clone(&heard), names });
        at.run(policy, &|| !heard.borrow().is_done(), model, events)?;
        log.finish()?;
        let explanations = heard.borrow_mut().explanations(&at.policies[policy].name, "waits");
        Ok(explanations)
    }

    /// Adds the slowdown of local users over the longest makespan of the policies, one window for all.
    fn compare(&self, outcomes: &mut [Outcome]) {
        let window =
            outcomes.iter().filter_map(|outcome| outcome.disturbed).map(|(makespan, _)| makespan).fold(0.0, f64::max);
        for outcome in outcomes {
            let disturbance = outcome.disturbed.and_then(|(_, disturbance)| disturbance).filter(|_| window > 0.0);
            outcome.count("local_slowdown", disturbance.map(|disturbance| 1.0 + disturbance / window));
        }
    }
}

/// Policy that records its decisions on followed jobs, with the predictions for them.
struct Recording {
    policy: Box<dyn SelectCluster>,
    heard: SharedHeard,
    names: Vec<String>,
}

impl SelectCluster for Recording {
    fn select(&mut self, view: &mut View<'_>) -> Option<Choice> {
        let (job, now) = (view.job().job, view.now());
        let predicted = self.heard.borrow().follows(job).then(|| predictions(view, &self.names));
        let choice = self.policy.select(view);
        if let Some((words, predicted)) = predicted {
            let chosen = choice.map(|choice| self.names[choice.cluster.index()].as_str());
            let facts = json!({ "predicted": predicted, "chosen": chosen });
            let (event, fate) = chosen.map_or_else(
                || ("waits", "the policy lets it wait".to_owned()),
                |name| ("dispatched", format!("the policy sends it to {name}")),
            );
            let words = || format!("first in the input queue; predicted are, from now: {words}; {fate}");
            self.heard.borrow_mut().push(job, now, event, words, || facts);
        }
        choice
    }
}

/// Predictions of the clusters for the job at the head of the input queue, in words and for programs.
fn predictions(view: &mut View<'_>, names: &[String]) -> (String, Vec<Value>) {
    let sites: Vec<SiteId> = view.sites().collect();
    let all = sites.into_iter().map(|site| {
        let name = &names[site.index()];
        if !view.fits(site) {
            return (format!("{name} cannot hold it"), json!({ "site": name, "fits": false }));
        }
        let can_start = view.can_start(site);
        let Some(Prediction { turnaround, wait, local_nodes, .. }) = view.predict(site) else {
            return (
                format!("no end is in sight on {name}"),
                json!({ "site": name, "fits": true, "can_start": can_start }),
            );
        };
        let start = if can_start { "it could start now".to_owned() } else { format!("it would wait {wait} s") };
        let words = format!("its end on {name} in {turnaround} s ({start}; local users on {local_nodes} of its nodes)");
        let (turnaround, wait) = (turnaround.as_secs_f64(), wait.as_secs_f64());
        let facts = json!({
            "site": name, "fits": true, "can_start": can_start, "turnaround": turnaround, "wait": wait,
            "local_nodes": local_nodes,
        });
        (words, facts)
    });
    let (words, facts): (Vec<String>, Vec<Value>) = all.unzip();
    (words.join(", "), facts)
}

struct MetaschedEvents {
    heard: SharedHeard,
    names: Vec<String>,
}

impl Probe for MetaschedEvents {
    fn observe(&mut self, now: Time, fact: &Fact) {
        let mut heard = self.heard.borrow_mut();
        match fact {
            Fact::Started { job, site, .. } => {
                let name = &self.names[site.index()];
                heard.push(*job, now, "starts", || format!("starts on {name}"), || json!({ "site": name }));
            }
            Fact::Finished { job } => {
                heard.push(*job, now, "ends", || "ends".to_owned(), || json!({}));
                heard.end(*job);
            }
            Fact::Rejected { job, .. } => {
                let words = || "is rejected: no cluster can hold it".to_owned();
                heard.push(*job, now, "rejected", words, || json!({}));
                heard.end(*job);
            }
            Fact::Submitted(_) | Fact::Interrupted { .. } | Fact::Seized { .. } | Fact::Released { .. } => {}
        }
    }
}
